"""Manifests for tests, signed by keys that are made from a number."""

import datetime
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
from nacl.signing import SigningKey

from sapo_desktop.core.updates.decision import signed_bytes
from sapo_desktop.core.updates.manifest import NAME, SIGNATURE_NAME, Manifest, Release, ReleaseFile

DAY = 86_400.0
NOW = datetime.datetime(2026, 6, 15, 12, tzinfo=datetime.UTC).timestamp()
FILE = ReleaseFile(name="sapo-desktop_1.2.0_amd64.deb", bytes=5, sha256="0" * 64, system="linux")


def key(number: int) -> SigningKey:
    return SigningKey(bytes([number]) * 32)


def public(number: int) -> str:
    return bytes(key(number).verify_key).hex()


RELEASE = Release(address="https://release.example/sapo", page="https://release.example", keys=[public(1), public(2)])


def manifest(**changed: Any) -> bytes:
    """A document of the day before NOW, good for a month."""
    plain = Manifest(
        product="sapo-desktop",
        format=1,
        number=7,
        version="1.2.0",
        least_version="1.0.0",
        date=datetime.date(2026, 6, 14),
        expires=datetime.date(2026, 7, 14),
        changelog="**Faster**: rounds.",
        files=[FILE],
    )
    return msgspec.json.encode(msgspec.structs.replace(plain, **changed))


def signed(document: bytes, by: int = 1) -> bytes:
    return key(by).sign(signed_bytes(document)).signature.hex().encode() + b"\n"


@contextmanager
def served(folder: Path, asked: list[str] | None = None, **changed: Any) -> Iterator[str]:
    """A release in `folder`, signed, at the address that is given. `asked`: takes the paths."""
    document = manifest(**changed)
    folder.mkdir()
    for name, content in ((NAME, document), (SIGNATURE_NAME, signed(document))):
        (folder / name).write_bytes(content)

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(folder))

        def log_message(self, *_: object) -> None:
            if asked is not None:
                asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
