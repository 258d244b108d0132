"""One file from a hub to the disk: from where it stopped, counted, hashed, never longer than it should be.

What is on the disk is trusted only as far as its hash goes: a file that was gone on with and turns out wrong is fetched
once more from the beginning, and only then is the hub said to send wrong bytes.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import DownloadError, Explained, NoRoom
from sapo_desktop.core.models import KeptFile, Stage
from sapo_desktop.core.network.pace import Pace
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.models.files.hub import Hub, Remote
from sapo_desktop.models.files.meter import Meter
from sapo_desktop.models.files.patience import Retries, Trouble

_PIECE = 1 << 20
_LOOK_AT_DISK = 64 << 20
"""Bytes between two looks at the room that is left."""
_ADVICE = sentence(
    "It was thrown away. A proxy or mirror may be at fault: try again, or set another hub_endpoint, or import the "
    "model from a folder."
)
Say = Callable[[Stage, str, Text], None]
"""Stage, file, and a sentence: called often; the receiver decides what is passed on."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Which content the bytes on the disk are the beginning of."""

    content: str
    """SHA-256 or the hub's ETag; empty: nothing tells, so it cannot be gone on with."""
    bytes: int


@dataclass(frozen=True)
class Wanted:
    """A file as it has to be."""

    repository: str
    commit: str
    name: str
    remote: Remote
    bytes: int
    sha256: str | None

    @property
    def content(self) -> str:
        return self.sha256 or self.remote.etag or ""


@dataclass(frozen=True)
class Surroundings:
    """What the transfers of one download share."""

    hub: Hub
    meter: Meter
    say: Say
    identities: dict[str, Identity]
    """Of the files that are under way, by name."""
    keep_identities: Callable[[], None]
    check_room: Callable[[], None]
    retries: Callable[[], Retries]
    clock: Callable[[], float] = time.monotonic
    pace: Pace = field(default_factory=Pace)


class _WrongBytes(Explained):
    """The file is complete, or longer than that, and not what it should be."""


def bytes_present(path: Path, wanted: Wanted, identity: Identity | None) -> int:
    """Bytes on the disk with which `wanted` can be gone on with."""
    if not path.is_file() or path.is_symlink() or identity is None or not wanted.content:
        return 0
    same = identity.content == wanted.content and identity.bytes == wanted.bytes
    size = path.stat().st_size
    return size if same and size <= wanted.bytes else 0


class FileTransfer:
    """Brings one file to `path`. What of it is there already (`bytes_present`) the meter has counted."""

    def __init__(self, path: Path, wanted: Wanted, around: Surroundings) -> None:
        self._path = path
        self._wanted = wanted
        self._around = around
        self._counted = bytes_present(path, wanted, around.identities.get(wanted.name))
        """Bytes of this file that are on the disk, and that the meter has."""
        self._sha256 = hashlib.sha256()
        """Of these."""

    def run(self) -> KeptFile:
        """Returns when the file is whole and verified.

        Raises:
            DownloadError: it cannot be had, or is not what it should be; NoRoom where the disk has too little room.
        """
        # A file that another run began may have holes after a power cut: it gets a second chance, in one go.
        for chances in (1, 0) if self._counted else (0,):
            try:
                self._to_the_end()
                self._verify()
                break
            except _WrongBytes as wrong:
                self._begin_anew()
                if not chances:
                    raise DownloadError(joined([wrong.text, _ADVICE])) from wrong
        return KeptFile(bytes=self._wanted.bytes, sha256=self._sha256.hexdigest())

    def _to_the_end(self) -> None:
        if self._counted:
            self._hash_what_is_there()
        else:
            self._begin_anew()
        retries = self._around.retries()
        while self._counted < self._wanted.bytes:
            before = self._counted
            try:
                self._go_on()
            except Trouble as trouble:
                if self._counted - before >= retries.patience.worth:
                    retries.moved()
                retries.wait(trouble, self._waiting)
                self._look_up(retries)

    def _look_up(self, retries: Retries) -> None:
        """A fresh address, for signed ones end; the file itself must not have changed."""
        wanted = self._wanted
        while True:
            try:
                remote = self._around.hub.look_up(wanted.repository, wanted.commit, wanted.name)
                break
            except Trouble as trouble:
                retries.wait(trouble, self._waiting)
        if (remote.etag, remote.bytes) != (wanted.remote.etag, wanted.remote.bytes):
            raise DownloadError(
                "{name} of {repository} changed on the hub meanwhile: try again.",
                name=wanted.name,
                repository=wanted.repository,
            )
        self._wanted = dataclasses.replace(wanted, remote=remote)

    def _waiting(self, text: Text) -> None:
        self._around.say("waiting", self._wanted.name, text)

    def _hash_what_is_there(self) -> None:
        self._sha256 = hashlib.sha256()
        with self._path.open("rb") as file:
            while piece := file.read(_PIECE):
                self._sha256.update(piece)
                self._around.say("checking", self._wanted.name, "")

    def _begin_anew(self) -> None:
        """An empty file, known to be the beginning of what is wanted."""
        wanted = self._wanted
        self._lose(self._counted)
        self._sha256 = hashlib.sha256()
        self._path.unlink(missing_ok=True)
        self._around.identities[wanted.name] = Identity(content=wanted.content, bytes=wanted.bytes)
        self._around.keep_identities()
        with self._path.open("xb"):
            pass

    def _lose(self, count: int) -> None:
        self._around.meter.present(-count)
        self._counted -= count

    def _go_on(self) -> None:
        """Fetch the rest. Raises Trouble, with all that has arrived in file and digest."""
        wanted, start = self._wanted, self._counted
        with self._around.hub.body(wanted.remote, wanted.repository, wanted.name, start, wanted.bytes) as body:
            if body.start < start:
                self._begin_anew()  # a host without ranges sends all of it again
            self._write_down(body.chunks)
        if self._counted < body.end and not body.sized:
            # An end without an error: nothing tells that these were bytes of the file.
            self._lose(self._counted - body.start)
            os.truncate(self._path, body.start)
            self._hash_what_is_there()
        if self._counted < wanted.bytes:
            raise Trouble(
                "The connection ended after {count} of {total} bytes of {name}.",
                count=self._counted,
                total=wanted.bytes,
                name=wanted.name,
            )

    def _write_down(self, chunks: Iterator[bytes]) -> None:
        with self._path.open("r+b", buffering=0) as file:
            file.seek(self._counted)
            looked = self._counted
            for piece in chunks:
                self._take(piece, file.fileno())
                if self._counted - looked >= _LOOK_AT_DISK:
                    self._around.check_room()
                    looked = self._counted

    def _take(self, piece: bytes, descriptor: int) -> None:
        if self._counted + len(piece) > self._wanted.bytes:
            raise _WrongBytes(
                "The hub sends more of {name} than the {count} bytes it has.",
                name=self._wanted.name,
                count=self._wanted.bytes,
            )
        _write(descriptor, piece, self._path)
        self._sha256.update(piece)
        self._counted += len(piece)
        self._around.meter.arrived(len(piece), self._around.clock())
        self._around.pace.note(len(piece))
        while (wait := self._around.pace.wait()) > 0:
            time.sleep(min(1.0, wait))
            self._around.say("fetching", self._wanted.name, "")
        self._around.say("fetching", self._wanted.name, "")

    def _verify(self) -> None:
        wanted, found = self._wanted, self._sha256.hexdigest()
        if wanted.sha256 is not None and found != wanted.sha256:
            raise _WrongBytes(
                "{name} has the SHA-256 {found}... where {expected}... was expected.",
                name=wanted.name,
                found=found[:16],
                expected=wanted.sha256[:16],
            )
        if wanted.remote.blob is not None and _git_hash(self._path, wanted.bytes) != wanted.remote.blob:
            raise _WrongBytes("{name} is not what the hub says it is.", name=wanted.name)


def _git_hash(path: Path, size: int) -> str:
    """What git, and so the hub, calls a small file: a name for content here, no protection."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)).hexdigest()


def _write(descriptor: int, piece: bytes, path: Path) -> None:
    try:
        left = memoryview(piece)
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoom(
                "The disk of {folder} is full. What has arrived is kept: free some space and try again, and it "
                "goes on from there.",
                folder=str(path.parent),
            ) from error
        raise DownloadError(
            "{path} cannot be written: {reason}. Look at the folder's permissions, or choose another folder "
            "for models.",
            path=str(path),
            reason=str(error.strerror or error),
        ) from error
