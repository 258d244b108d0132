"""One file from a hub to the disk: from where it stopped, counted, hashed, never longer than it should be.

What is on the disk is trusted only as far as its hash goes: a file that was gone on with and turns out wrong is fetched
once more from the beginning, and only then is the hub said to send wrong bytes.
"""

from __future__ import annotations

import copy
import dataclasses
import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import DownloadError, NoRoom
from sapo_desktop.core.models import KeptFile, Stage
from sapo_desktop.core.network.pace import Pace
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.models.files.hub import Body, Hub, Remote
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
    sender: str | None = None
    """ETag of the host that sent the bytes."""


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
    advice: Text = _ADVICE
    """What to do about a file that came wrong twice."""


class _Digest:
    """Hashes of the bytes of a file so far."""

    def __init__(self, wanted: Wanted) -> None:
        self.count = 0
        self._sha256 = hashlib.sha256()
        # What git, and so the hub, calls a small file: a name for content here, no protection.
        self._blob = hashlib.sha1(b"blob %d\0" % wanted.bytes, usedforsecurity=False) if wanted.remote.blob else None

    def update(self, piece: bytes) -> None:
        self.count += len(piece)
        self._sha256.update(piece)
        if self._blob is not None:
            self._blob.update(piece)

    def copy(self) -> _Digest:
        """As it is now."""
        fresh = copy.copy(self)
        fresh._sha256 = self._sha256.copy()
        fresh._blob = self._blob.copy() if self._blob is not None else None
        return fresh

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    @property
    def blob(self) -> str | None:
        return self._blob.hexdigest() if self._blob is not None else None


class _WrongBytes(Exception):
    """The file is complete, or longer than that, and not what it should be."""

    def __init__(self, text: Text) -> None:
        super().__init__(text)
        self.text = text


class _Differs(Exception):
    """A host sends the beginning again, and it is not what has arrived."""


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
        self._digest = _Digest(wanted)
        self._counted = bytes_present(path, wanted, around.identities.get(wanted.name))
        """Bytes of this file that the meter has."""

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
                    raise DownloadError(joined([wrong.text, self._around.advice])) from wrong
        return KeptFile(bytes=self._wanted.bytes, sha256=self._digest.sha256)

    def _to_the_end(self) -> None:
        if self._counted:
            self._hash_what_is_there()
        else:
            self._begin_anew()
        retries = self._around.retries()
        while self._digest.count < self._wanted.bytes:
            before = self._digest.count
            try:
                self._go_on()
            except Trouble as trouble:
                if self._digest.count - before >= retries.patience.worth:
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
                sentence(
                    "{name} of {repository} changed on the hub meanwhile: try again.",
                    name=wanted.name,
                    repository=wanted.repository,
                )
            )
        self._wanted = dataclasses.replace(wanted, remote=remote)

    def _waiting(self, text: Text) -> None:
        self._around.say("waiting", self._wanted.name, text)

    def _hash_what_is_there(self) -> None:
        self._digest = _Digest(self._wanted)
        with self._path.open("rb") as file:
            while piece := file.read(_PIECE):
                self._digest.update(piece)
                self._around.say("checking", self._wanted.name, "")

    def _begin_anew(self) -> None:
        """An empty file, known to be the beginning of what is wanted."""
        self._around.meter.present(-self._counted)
        self._counted = 0
        self._digest = _Digest(self._wanted)
        self._path.unlink(missing_ok=True)
        with self._path.open("xb"):
            pass

    def _go_on(self) -> None:
        """Fetch the rest. Raises Trouble, with all that has arrived in file and digest."""
        wanted, start = self._wanted, self._digest.count
        with self._around.hub.body(wanted.remote, wanted.repository, wanted.name, start, wanted.bytes) as body:
            self._take_over(body)
            before = self._digest.copy()
            try:
                self._write_down(body)
            except _Differs as differs:
                if body.sized:
                    self._begin_anew()
                raise Trouble(
                    sentence(
                        "The rest of {name} does not fit what arrived before: the file was changed there.",
                        name=wanted.name,
                    )
                ) from differs
        reached = self._digest.count
        if reached < body.end:
            self._go_back(before)  # an end without an error: nothing tells that these were bytes of the file
        if reached < wanted.bytes:
            raise Trouble(
                sentence(
                    "The connection ended after {count} of {total} bytes of {name}.",
                    count=reached,
                    total=wanted.bytes,
                    name=wanted.name,
                )
            )

    def _write_down(self, body: Body) -> None:
        with self._path.open("r+b", buffering=0) as file:
            file.seek(self._digest.count)
            looked = self._digest.count
            for piece in self._missing(body):
                self._take(piece, file.fileno())
                if self._digest.count - looked >= _LOOK_AT_DISK:
                    self._around.check_room()
                    looked = self._digest.count

    def _take_over(self, body: Body) -> None:
        """Make the file fit what is about to come.

        Raises:
            Trouble: what comes is a part of something else.
        """
        known = self._around.identities.get(self._wanted.name)
        if body.start > 0 and known is not None and _are_other(known.sender, body.etag):
            self._begin_anew()
            raise Trouble(sentence("{name} changed where it is fetched from; it begins anew.", name=self._wanted.name))
        if self._digest.count == 0:
            self._identify(sender=body.etag)  # before the first byte: what is on the disk is never of an unknown file

    def _missing(self, body: Body) -> Iterator[bytes]:
        """What comes, from where the file on the disk ends. A host without ranges sends what is there again, and has
        to send the same: a page of something in between must not cost what has arrived.

        Raises:
            _Differs: it is not the same.
        """
        with self._path.open("rb") as file:
            left = self._digest.count - body.start
            for piece in body.chunks:
                again = piece[:left]
                if file.read(len(again)) != again:
                    raise _Differs
                left -= len(again)
                self._around.say("fetching", self._wanted.name, "")
                if len(again) < len(piece):
                    yield piece[len(again) :]

    def _go_back(self, before: _Digest) -> None:
        """Leave the file as it was at that time."""
        os.truncate(self._path, before.count)
        self._around.meter.present(before.count - self._digest.count)
        self._counted += before.count - self._digest.count
        self._digest = before

    def _identify(self, sender: str | None) -> None:
        wanted = self._wanted
        self._around.identities[wanted.name] = Identity(content=wanted.content, bytes=wanted.bytes, sender=sender)
        self._around.keep_identities()

    def _take(self, piece: bytes, descriptor: int) -> None:
        if self._digest.count + len(piece) > self._wanted.bytes:
            raise _WrongBytes(
                sentence(
                    "The hub sends more of {name} than the {count} bytes it has.",
                    name=self._wanted.name,
                    count=self._wanted.bytes,
                )
            )
        _write(descriptor, piece, self._path)
        self._digest.update(piece)
        self._counted += len(piece)
        self._around.meter.arrived(len(piece), self._around.clock())
        self._around.pace.note(len(piece))
        while (wait := self._around.pace.wait()) > 0:
            time.sleep(min(1.0, wait))
            self._around.say("fetching", self._wanted.name, "")
        self._around.say("fetching", self._wanted.name, "")

    def _verify(self) -> None:
        wanted, found = self._wanted, self._digest.sha256
        if wanted.sha256 is not None and found != wanted.sha256:
            raise _WrongBytes(
                sentence(
                    "{name} has the SHA-256 {found}... where {expected}... was expected.",
                    name=wanted.name,
                    found=found[:16],
                    expected=wanted.sha256[:16],
                )
            )
        if wanted.remote.blob is not None and self._digest.blob != wanted.remote.blob:
            raise _WrongBytes(sentence("{name} is not what the hub says it is.", name=wanted.name))


def _are_other(before: str | None, now: str | None) -> bool:
    """Whether two ETags of one host tell that the content changed."""
    return before is not None and now is not None and before != now


def _write(descriptor: int, piece: bytes, path: Path) -> None:
    try:
        left = memoryview(piece)
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoom(
                sentence(
                    "The disk of {folder} is full. What has arrived is kept: free some space and give the same "
                    "command.",
                    folder=str(path.parent),
                )
            ) from error
        raise DownloadError(
            sentence("{path} cannot be written: {reason}.", path=str(path), reason=str(error.strerror or error))
        ) from error
