"""Requests to a release's address: bounded, and never redirected to anything less secure."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.models import AskRelease
from sapo_desktop.core.updates.manifest import LONGEST, NAME, SIGNATURE_NAME
from sapo_desktop.models.files.client import ask_release
from tests.models.hub_server import with_a_network


class Site:
    """Files at an address; `answers`: what comes first in a file's place, by path."""

    def __init__(self) -> None:
        self.files = {NAME: b"{}", SIGNATURE_NAME: b"00"}
        self.answers: dict[str, list[Callable[[BaseHTTPRequestHandler], None]]] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.removeprefix("/of/")
                site.asked.append(name)
                if site.answers.get(name):
                    site.answers[name].pop(0)(self)
                elif name in site.files:
                    said(200, site.files[name])(self)
                else:
                    said(404, b"")(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/of"


def said(
    status: int, body: bytes, length: int | None = None, **headers: str
) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with_a_network(monkeypatch)
    found = Site()
    try:
        yield found
    finally:
        found.server.shutdown()
        found.server.server_close()


def test_the_manifest_and_its_signature_come_as_they_are(site: Site) -> None:
    found = ask_release(AskRelease(address=site.address))
    assert (found.document, found.signature) == (b"{}", b"00") and site.asked == [NAME, SIGNATURE_NAME]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (said(404, b""), "404"),
        (said(503, b""), "503"),
        (said(200, b"x" * (LONGEST + 1)), "more than"),
        (said(302, b"", Location="file:///etc/passwd"), "cannot be reached"),
        (said(200, b"x", length=5), "broke"),
    ],
)
def test_what_cannot_be_had_is_said_and_not_asked_for_again(
    site: Site, answer: Callable[[BaseHTTPRequestHandler], None], words: str
) -> None:
    site.answers[NAME] = [answer]
    with pytest.raises(DownloadError, match=words):
        ask_release(AskRelease(address=site.address))
    assert site.asked == [NAME]
