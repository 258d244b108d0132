"""What is asked of a release's address: bounded, followed nowhere worse, and kept only where the hash holds."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sapo_desktop.core.errors import DownloadError, NoRoom
from sapo_desktop.core.models import AskRelease, FetchRelease
from sapo_desktop.core.updates.manifest import LONGEST, NAME, SIGNATURE_NAME
from sapo_desktop.models.files.download import Surface
from sapo_desktop.models.files.patience import Patience, Retries
from sapo_desktop.models.files.release import ask_release, fetch_release
from sapo_desktop.swarm.sockets.certificate import self_signed, server_context
from tests.models.hub_server import with_a_network

CONTENT = b"an installer" * 10_000
FILE = "sapo-desktop-1.2.0.run"
HURRIED = Surface(
    patience=Patience(tries=3, first=0.0, silence=5),
    retries=lambda patience: Retries(patience, lambda _: None),
)


class Site:
    """Files at an address; `answers`: what comes first in a file's place, by path."""

    def __init__(self) -> None:
        self.files = {NAME: b"{}", SIGNATURE_NAME: b"00", FILE: CONTENT}
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

    def fetch(self, folder: Path, surface: Surface = HURRIED, sha256: str = "") -> str:
        sha256 = sha256 or hashlib.sha256(CONTENT).hexdigest()
        request = FetchRelease(address=self.address, folder=str(folder), name=FILE, bytes=len(CONTENT), sha256=sha256)
        return fetch_release(request, lambda transfer: None, surface).path


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
    found = ask_release(AskRelease(address=site.address), HURRIED)
    assert (found.document, found.signature) == (b"{}", b"00") and site.asked == [NAME, SIGNATURE_NAME]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (said(404, b""), "404"),
        (said(503, b""), "503"),
        (said(200, b"x" * (LONGEST + 1)), "more than"),
        (said(302, b"", Location="file:///etc/passwd"), "not followed"),
        (said(200, b"x", length=5), "broke"),
    ],
)
def test_what_cannot_be_had_is_said_and_not_asked_for_again(
    site: Site, answer: Callable[[BaseHTTPRequestHandler], None], words: str
) -> None:
    site.answers[NAME] = [answer]
    with pytest.raises(DownloadError, match=words):
        ask_release(AskRelease(address=site.address), HURRIED)
    assert site.asked == [NAME]


def test_a_host_that_does_not_prove_who_it_is_is_not_heard(tmp_path: Path, site: Site) -> None:
    context, _ = server_context(*self_signed(tmp_path))
    site.server.socket = context.wrap_socket(site.server.socket, server_side=True)
    with pytest.raises(DownloadError, match="does not prove who it is"):
        ask_release(AskRelease(address=site.address.replace("http:", "https:")), HURRIED)
    assert site.asked == []


def test_a_file_is_there_once_it_is_what_the_manifest_says(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "Downloads"
    assert Path(site.fetch(folder)).read_bytes() == CONTENT
    assert site.fetch(folder) == str(folder / FILE) and site.asked == [FILE]
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_a_line_that_breaks_is_gone_on_with(site: Site, tmp_path: Path) -> None:
    site.answers[FILE] = [said(200, CONTENT[:70_000], length=len(CONTENT)), said(503, b"")]
    assert Path(site.fetch(tmp_path)).read_bytes() == CONTENT and len(site.asked) == 3


def test_other_bytes_are_thrown_away(site: Site, tmp_path: Path) -> None:
    site.files[FILE] = CONTENT[:-1] + b"X"
    with pytest.raises(DownloadError, match=r"has the SHA-256 .* thrown away: try again later"):
        site.fetch(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_lies_there_is_never_written_over(site: Site, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("mine")
    with pytest.raises(DownloadError, match="is another file"):
        site.fetch(tmp_path)
    assert (tmp_path / FILE).read_text() == "mine" and site.asked == []


def test_no_disk_is_filled(site: Site, tmp_path: Path) -> None:
    with pytest.raises(NoRoom, match="choose another folder"):
        site.fetch(tmp_path, Surface(patience=HURRIED.patience, free=lambda folder: 2_000_100_000))
    assert list(tmp_path.iterdir()) == [] and site.asked == []


def test_a_folder_that_cannot_be_is_said(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match="could not be downloaded"):
        site.fetch(tmp_path / "file" / "below")
