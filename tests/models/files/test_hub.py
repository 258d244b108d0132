"""Whom a download trusts: certificates, endpoints; and how little of a token is shown."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.models import Access
from sapo_desktop.models.files.hub import Hub
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
    hub = Hub(Access(endpoint=f"https://127.0.0.1:{server.server_address[1]}", token="hf_secret"))
    try:
        with pytest.raises(DownloadError, match=r"cannot prove its identity.*clock"):
            hub.listing("someone/small", "main", print)
    finally:
        server.shutdown()
        server.server_close()


def test_a_host_that_is_not_there_is_asked_again_and_given_up() -> None:
    waits: list[float] = []
    said: list[str] = []
    with pytest.raises(DownloadError, match=r"connection to 127.0.0.1 broke.*after 8 tries"):
        Hub(Access(endpoint="http://127.0.0.1:9"), waits.append).listing(
            "someone/small", "main", lambda text: said.append(str(text))
        )
    assert len(said) == len(waits) == 7 and waits == sorted(waits)


def test_a_token_is_in_no_words() -> None:
    assert "secret" not in repr(Access(token="hf_secret"))
