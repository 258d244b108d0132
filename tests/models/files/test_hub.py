"""What is asked of a hub, and whom is believed: certificates, redirects, ranges, waits."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.models import Access
from sapo_desktop.models.files.hub import Hub, Remote, _end_of_range, _origin, _redirected
from sapo_desktop.models.files.patience import Patience, Trouble
from sapo_desktop.swarm.sockets.certificate import self_signed, server_context
from tests.models.hub_server import with_a_network


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    with_a_network(monkeypatch)


def test_a_host_that_does_not_prove_who_it_is_gets_nothing(tmp_path: Path) -> None:
    context, _ = server_context(*self_signed(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def ask() -> None:
        access = Access(endpoint=f"https://127.0.0.1:{server.server_address[1]}", token="hf_secret")
        with Hub(access, Patience(silence=5)) as hub:
            hub.listing("someone/small", "main")

    try:
        with pytest.raises(DownloadError, match=r"does not prove who it is.*clock"):
            ask()
    finally:
        server.shutdown()
        server.server_close()


def test_a_host_that_is_not_there_is_a_passing_trouble() -> None:
    def ask() -> None:
        with Hub(Access(endpoint="http://127.0.0.1:9"), Patience(silence=5)) as hub:
            hub.listing("someone/small", "main")

    with pytest.raises(Trouble, match=r"connection to 127.0.0.1 broke"):
        ask()


@pytest.mark.parametrize("target", ["http://hub.example/x", "file:///etc/passwd", "ftp://hub.example/x"])
def test_a_redirect_never_leads_to_less(target: str) -> None:
    with pytest.raises(DownloadError, match="not followed"):
        _redirected("https://hub.example/x", target)
    assert _redirected("https://hub.example/x", "//elsewhere.example/y") == "https://elsewhere.example/y"


@given(st.text() | st.from_regex(r"(https?:)?//[\[\]0-9a-z:.@\x00-\x20]*/?.*", fullmatch=True))
def test_no_address_ends_in_anything_but_a_sentence(location: str) -> None:
    try:
        target = _redirected("http://hub.example/a/b", location)
    except (DownloadError, Trouble):
        return
    httpx2.Request("GET", target)
    assert _origin(target)[0] in ("http", "https") and _origin(target)[1]


@pytest.mark.parametrize(
    "given",
    [
        *("", "bytes 0-99/100", "bytes 50-99/101", "bytes 50-99", "items 50-99/100", "bytes 50-100/100"),
        *("bytes 50-49/100", f"bytes 50-{'9' * 5000}/*"),
    ],
)
def test_only_the_part_that_was_asked_for_is_taken(given: str) -> None:
    with pytest.raises(Trouble, match="another part"):
        _end_of_range(given, 50, 100, "x")
    assert _end_of_range("bytes 50-99/100", 50, 100, "x") == 100
    assert _end_of_range("bytes 50-79/*", 50, 100, "x") == 80


def test_an_etag_is_a_hash_where_it_looks_like_one() -> None:
    assert Remote("u", "a" * 64, 1).sha256 == "a" * 64 and Remote("u", "a" * 64, 1).blob is None
    assert Remote("u", "a" * 40, 1).blob == "a" * 40 and Remote("u", "a" * 40, 1).sha256 is None
    assert Remote("u", "odd", 1).sha256 is None and Remote("u", None, 1).blob is None


def test_a_token_is_in_no_words() -> None:
    assert "secret" not in repr(Access(token="hf_secret"))
