"""Checkpoints: immutable folders from which training continues after any kill.

```
checkpoints/
├── 00000025/          what the engine saved, state.msgpack (counters), manifest.json (sizes and hashes)
├── damaged/           what did not verify, moved aside, never deleted
├── .new-…             being written; deleted at the next start
└── .gone-…            being deleted; likewise
```
A checkpoint exists once its folder is renamed into place; before that every file and the folder are synced, the
manifest last. One process uses a store at a time, which the data folder's lock ensures. The engine decides what it
writes, and `worker/store/keeper.py` when.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.core.files.durable import disk_errors_as, remove_tree, sync_folder, sync_tree
from sapo_desktop.core.files.reading import UNREADABLE, UnfitFile, read_bytes
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.learning.counters import Counters
from sapo_desktop.worker.store.sealed import FORMAT, MANIFEST, Contents, Unsound, check, fingerprints, seal, unseal

STATE, DAMAGED = "state.msgpack", "damaged"
_NEW, _GONE = ".new-", ".gone-"
_BROKEN = (*UNREADABLE, UnfitFile, FileNotFoundError, NotADirectoryError, IsADirectoryError)


class Checkpoint(Record, frozen=True):
    """A checkpoint that verified when it was read or written."""

    number: int
    """Its round, or one more than the newest number if that is taken (after a manual roll-back)."""
    round: int
    bytes: int
    folder: Path
    counters: Counters


class Damaged(Record, frozen=True):
    """A checkpoint that did not verify, and where it was moved."""

    number: int
    reason: Text
    moved_to: Path


class Newest(Record, frozen=True):
    """The newest checkpoint that verifies (None: training starts from the base), and newer damaged ones."""

    checkpoint: Checkpoint | None
    damaged: list[Damaged]


class Summary(Record, frozen=True):
    """An entry in a list of checkpoints, from the manifest alone, so not verified."""

    number: int
    round: int
    created: float
    bytes: int
    model: str
    """Hash of its base model; empty if its counters cannot be read."""


class CheckpointStore:
    """The checkpoints of one data folder. `folder` is created if necessary; leftovers of a killed run are deleted."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self._clock = clock
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in [*folder.glob(f"{_NEW}*"), *folder.glob(f"{_GONE}*")]:
            shutil.rmtree(leftover, ignore_errors=True)  # what cannot be deleted does no harm
        self.stuck: Text = ""
        """Why a checkpoint that was to be deleted still exists."""

    def begin(self, round_number: int) -> Path:
        """Create an empty folder for the engine to write into; ends in `commit` or `discard`."""
        with disk_errors_as(CheckpointError, sentence("The checkpoint could not be started")):
            return Path(tempfile.mkdtemp(prefix=f"{_NEW}{round_number:08d}-", dir=self.folder))

    def discard(self, path: Path) -> None:
        """Delete what `begin` started."""
        remove_tree(path)

    def commit(self, path: Path, counters: Counters) -> Checkpoint:
        """Turn a begun folder into a checkpoint, durably.

        Raises:
            CheckpointError: it could not be written (for example, disk full). Older checkpoints are untouched, the
                folder is deleted, and training may continue.
        """
        number = self.next_number(counters.round)
        try:
            with disk_errors_as(
                CheckpointError, sentence("Checkpoint {number} could not be written", number=str(number))
            ):
                (path / STATE).write_bytes(msgspec.msgpack.encode(counters))
                body = Contents(
                    format=FORMAT,
                    number=number,
                    round=counters.round,
                    created=self._clock(),
                    files=fingerprints(path),
                )
                (path / MANIFEST).write_bytes(seal(body))
                sync_tree(path)
                final = self._path(number)
                path.rename(final)
                sync_folder(self.folder)
        except CheckpointError:
            remove_tree(path)
            raise
        return self._checkpoint(body, counters)

    def next_number(self, round_number: int) -> int:
        """The number that a checkpoint of that round would get now."""
        return max(round_number, max(self.numbers(), default=-1) + 1)

    def numbers(self) -> list[int]:
        """Numbers of the checkpoints in the folder, oldest first, not verified."""
        names = (entry.name for entry in self.folder.iterdir() if entry.is_dir())
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    def summaries(self) -> list[Summary]:
        """The checkpoints with a readable manifest, oldest first."""
        items: list[Summary] = []
        for number in self.numbers():
            try:
                body = unseal(read_bytes(self._path(number) / MANIFEST))
            except (Unsound, *_BROKEN):
                continue  # reported and moved aside when it is needed
            counters = self._counters(number)
            model = counters.model if counters else ""
            items.append(Summary(number=number, round=body.round, created=body.created, bytes=body.size, model=model))
        return items

    def newest_of(self, model: str) -> Checkpoint | None:
        """The newest checkpoint of that base model that verifies; others stay in place."""
        for number in reversed(self.numbers()):
            counters = self._counters(number)
            if counters is not None and counters.model == model:
                try:
                    return self._verified(number)
                except Unsound:
                    continue  # reported and moved aside when it is the newest of all
        return None

    def read(self, number: int) -> Checkpoint:
        """The checkpoint of that number, verified.

        Raises:
            CheckpointError: there is none, it is damaged, or a newer program wrote it.
        """
        if not self._path(number).is_dir():
            have = ", ".join(map(str, self.numbers())) or sentence("none yet")
            raise CheckpointError(
                "There is no checkpoint {number}. There are {numbers} and `base`.", number=str(number), numbers=have
            )
        try:
            return self._verified(number)
        except Unsound as error:
            raise CheckpointError(
                "Checkpoint {number} is damaged ({reason}); choose another one.", number=str(number), reason=error.text
            ) from error

    def get(self, name: str) -> Checkpoint | None:
        """The checkpoint that `base`, `last` or a number names; None: the base, the untrained adapter. The guard
        decides which is `best`.

        Raises:
            CheckpointError: no such checkpoint, a damaged one, or an unknown name.
        """
        if name == "base":
            return None
        if name == "last":
            numbers = self.numbers()
            return self.read(numbers[-1]) if numbers else None
        if name == "best":
            raise CheckpointError(
                sentence(
                    "There is no best checkpoint yet. It is chosen at the first held-out score (setting "
                    "validate_every). Use `last` or `base`."
                )
            )
        if not (name.isascii() and name.isdigit()):
            raise CheckpointError("There is no checkpoint '{name}'. Choose base, best, last or a number.", name=name)
        return self.read(int(name))

    def newest_valid(self) -> Newest:
        """The newest checkpoint that verifies; newer, damaged ones are moved to `damaged/` and reported."""
        damaged: list[Damaged] = []
        for number in reversed(self.numbers()):
            try:
                return Newest(checkpoint=self._verified(number), damaged=damaged)
            except Unsound as error:
                damaged.append(Damaged(number=number, reason=error.text, moved_to=self._set_aside(number)))
        return Newest(checkpoint=None, damaged=damaged)

    def prune(self, keep: int) -> list[int]:
        """Delete all but the newest `keep`, and for each base model the newest and its best, from which it can
        continue when chosen again. Returns the deleted numbers; if others remain, `stuck` says why the oldest of
        them does."""
        kept, gone = self._last_of_each_model(), list[int]()
        self.stuck = ""
        for number in self.numbers()[: -keep or None]:
            if number in kept:
                continue
            # Renamed first: a kill in between must not leave half a checkpoint that looks damaged.
            doomed = self.folder / f"{_GONE}{number:08d}-{time.monotonic_ns()}"
            try:
                with disk_errors_as(
                    CheckpointError, sentence("Old checkpoint {number} could not be deleted", number=str(number))
                ):
                    self._path(number).rename(doomed)
                    remove_tree(doomed)
                gone.append(number)
            except CheckpointError as error:
                self.stuck = self.stuck or error.text
        return gone

    def _last_of_each_model(self) -> set[int]:
        kept: dict[str, set[int]] = {}
        for number in reversed(self.numbers()):
            counters = self._counters(number)
            if counters is not None and counters.model not in kept:
                kept[counters.model] = {number, counters.guard.best_checkpoint or number}
        return set().union(*kept.values())

    def _counters(self, number: int) -> Counters | None:
        """Not verified; None if they cannot be read."""
        try:
            return msgspec.msgpack.decode(read_bytes(self._path(number) / STATE), type=Counters)
        except (*_BROKEN, OSError):
            return None

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08d}"

    def _set_aside(self, number: int) -> Path:
        (self.folder / DAMAGED).mkdir(exist_ok=True)
        target = Path(tempfile.mkdtemp(prefix=f"{number:08d}-", dir=self.folder / DAMAGED))
        shutil.move(self._path(number), target)
        sync_folder(self.folder)
        return target / self._path(number).name

    def _verified(self, number: int) -> Checkpoint:
        folder = self._path(number)
        try:
            body = unseal(read_bytes(folder / MANIFEST))
            if body.number != number:
                raise Unsound("its manifest belongs to checkpoint {number}", number=str(body.number))
            for name, file in body.files.items():
                check(folder / name, name, file)
            counters = msgspec.msgpack.decode(read_bytes(folder / STATE), type=Counters)
        except _BROKEN as error:
            raise Unsound(str(error)) from error
        except OSError as error:
            if error.errno == errno.EIO:  # the disk itself lost it
                raise Unsound(str(error)) from error
            raise CheckpointError(
                "Checkpoint {number} cannot be read ({error}). Choose another one.",
                number=str(number),
                error=str(error),
            ) from error
        return self._checkpoint(body, counters)

    def _checkpoint(self, body: Contents, counters: Counters) -> Checkpoint:
        folder = self._path(body.number)
        return Checkpoint(number=body.number, round=body.round, bytes=body.size, folder=folder, counters=counters)
