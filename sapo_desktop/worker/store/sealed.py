"""Folders whose manifest proves their content: size and SHA-256 of every file, and of the manifest itself.

Against damage (bit rot, a partial file, a disk that lied), not against an attacker: nothing here is signed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import CheckpointError, Explained
from sapo_desktop.core.files.reading import open_regular
from sapo_desktop.core.records import Record

FORMAT = 1
MANIFEST = "manifest.json"


class File(Record, frozen=True):
    """Fingerprint of one file."""

    size: int
    sha256: str


class Contents(Record, frozen=True):
    """The manifest's description of its folder; `files` by path within it, with `/` between parts."""

    format: int
    number: int
    round: int
    created: float
    files: dict[str, File]

    @property
    def size(self) -> int:
        """Total bytes of all files."""
        return sum(file.size for file in self.files.values())


class _Manifest(Record, frozen=True):
    sha256: str
    """Over `body` exactly as it is: a flipped bit in the manifest shows too."""
    body: msgspec.Raw


class _Format(Record, frozen=True):
    format: int


class Unsound(Explained):
    """What is wrong with one checkpoint; becomes Damaged or CheckpointError."""


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / MANIFEST)


def fingerprints(folder: Path) -> dict[str, File]:
    """Fingerprints of every file below the folder except the manifest."""
    return {path.relative_to(folder).as_posix(): _fingerprint(path) for path in _files(folder)}


def _fingerprint(path: Path) -> File:
    with open_regular(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return File(size=os.fstat(file.fileno()).st_size, sha256=digest)


def check(path: Path, name: str, expected: File) -> None:
    """Raise Unsound if the file differs from its manifest."""
    size = path.stat().st_size  # first, so that an endless file is not read to its end
    if size != expected.size or _fingerprint(path) != expected:
        raise Unsound(
            "{name} differs from what was written ({found} of {expected} bytes)",
            name=name,
            found=size,
            expected=expected.size,
        )


def seal(body: Contents) -> bytes:
    """The manifest file's content."""
    raw = msgspec.json.encode(body)
    return msgspec.json.encode(_Manifest(sha256=hashlib.sha256(raw).hexdigest(), body=msgspec.Raw(raw)))


def unseal(data: bytes) -> Contents:
    """Parse a manifest file.

    Raises:
        Unsound: it differs from what was written. msgspec's errors if it is not a manifest at all.
        CheckpointError: a newer program wrote it.
    """
    manifest = msgspec.json.decode(data, type=_Manifest)
    if hashlib.sha256(manifest.body).hexdigest() != manifest.sha256:
        raise Unsound("{name} differs from what was written", name=MANIFEST)
    written = msgspec.json.decode(manifest.body, type=_Format).format
    if written > FORMAT:
        raise CheckpointError(
            "A newer SAPO Desktop wrote these checkpoints (format {version}; this one knows {newest}). "
            "Install the newer version, or use another data folder.",
            version=written,
            newest=FORMAT,
        )
    return msgspec.json.decode(manifest.body, type=Contents)
