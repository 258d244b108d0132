"""What a power cut leaves of a folder: the writes of a program in their order, and what of them had to be on the disk.

Stricter than any file system in use: what was not synced is there or not as chance has it, each write by itself or in
part, and each folder's names up to any of their changes, whatever became of the other folders. A file's sync promises
its content, a folder's its names. The folder that is watched exists; how a name moves from one folder to another is not
taken apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from random import Random
from typing import Literal

SECTOR = 512
"""Bytes of which a disk writes all or none."""
Cut = Literal["kept", "dropped", "chance"]
"""What becomes of everything that was not synced."""


@dataclass(frozen=True)
class Op:
    """One change, or one sync. Paths are relative to the folder that is watched, which is `.` itself."""

    kind: Literal["file", "folder", "write", "truncate", "sync", "rename", "remove"]
    path: str
    to: str = ""
    at: int = 0
    """Where a write begins, or how long a file is made, in bytes."""
    data: bytes = b""


@dataclass(eq=False)
class _File:
    synced: bytes = b""
    now: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Writes since the last sync, by where they begin; None: cut off, or made longer, there."""

    def change(self, at: int, data: bytes | None) -> None:
        self.now = _changed(self.now, at, data)
        self.pending.append((at, data))

    def sync(self) -> None:
        self.synced = self.now
        self.pending.clear()

    def left(self, cut: Cut, rng: Random) -> bytes:
        if cut != "chance":
            return self.now if cut == "kept" else self.synced
        content = self.synced
        for at, data in self.pending:
            fate = rng.choice(("kept", "dropped", "torn"))
            if fate == "torn" and data is not None:
                content = _changed(content, at, data[: rng.randrange(len(data) // SECTOR + 1) * SECTOR])
            elif fate == "kept":
                content = _changed(content, at, data)
        return content


@dataclass(eq=False)
class _Folder:
    synced: dict[str, _File | _Folder] = field(default_factory=dict)
    now: dict[str, _File | _Folder] = field(default_factory=dict)
    pending: list[dict[str, _File | _Folder | None]] = field(default_factory=list)
    """Changes of names since the last sync, each of them all or none."""

    def change(self, names: dict[str, _File | _Folder | None]) -> None:
        _rename(self.now, names)
        self.pending.append(names)

    def sync(self) -> None:
        self.synced = dict(self.now)
        self.pending.clear()

    def left(self, cut: Cut, rng: Random) -> dict[str, _File | _Folder]:
        if cut != "chance":
            return self.now if cut == "kept" else self.synced
        names = dict(self.synced)
        for change in self.pending[: rng.randrange(len(self.pending) + 1)]:
            _rename(names, change)
        return names


class Disk:
    """A folder as programs see it, and behind that what of it a power cut has to leave."""

    def __init__(self) -> None:
        self._root = _Folder()

    def take(self, op: Op) -> None:
        """Let one thing happen.

        Raises:
            KeyError: there is no such file or folder: something that changed it was not recorded.
        """
        if op.kind in ("file", "folder"):
            folder, name = self._place(op.path)
            folder.change({name: _File() if op.kind == "file" else _Folder()})
        elif op.kind == "remove":
            folder, name = self._place(op.path)
            folder.change({name: None})
        elif op.kind == "rename":
            self._rename(op)
        else:
            found = self._find(op.path)
            if op.kind == "sync":
                found.sync()
            elif isinstance(found, _File):
                found.change(op.at, op.data if op.kind == "write" else None)

    def holds(self, path: str) -> bool:
        """Whether programs see this file or folder."""
        try:
            self._find(path)
        except KeyError:
            return False
        return True

    def length(self, path: str) -> int:
        """Bytes of a file as programs see it. Raises KeyError: there is none."""
        found = self._find(path)
        return len(found.now) if isinstance(found, _File) else 0

    def leave(self, to: Path, cut: Cut, rng: Random) -> None:
        """Write what a power cut now leaves into a folder, which is made."""
        _write(self._root, to, cut, rng)

    def _rename(self, op: Op) -> None:
        (source, name), (target, new) = self._place(op.path), self._place(op.to)
        moved = source.now[name]
        if source is target:
            source.change({name: None, new: moved})
            return
        for folder, names in ((target, {new: moved}), (source, {name: None})):
            folder.change(names)
            folder.sync()

    def _find(self, path: str) -> _File | _Folder:
        found: _File | _Folder = self._root
        for part in PurePosixPath(path).parts:
            if not isinstance(found, _Folder):
                raise KeyError(path)
            found = found.now[part]
        return found

    def _place(self, path: str) -> tuple[_Folder, str]:
        pure = PurePosixPath(path)
        folder = self._find(str(pure.parent))
        if not isinstance(folder, _Folder):
            raise KeyError(path)
        return folder, pure.name


def _changed(content: bytes, at: int, data: bytes | None) -> bytes:
    if data is None:
        return content[:at].ljust(at, b"\0")
    return content[:at].ljust(at, b"\0") + data + content[at + len(data) :]


def _rename(names: dict[str, _File | _Folder], change: dict[str, _File | _Folder | None]) -> None:
    for name, what in change.items():
        if what is None:
            names.pop(name, None)
        else:
            names[name] = what


def _write(folder: _Folder, to: Path, cut: Cut, rng: Random) -> None:
    to.mkdir(mode=0o700)
    for name, what in folder.left(cut, rng).items():
        if isinstance(what, _Folder):
            _write(what, to / name, cut, rng)
        else:
            (to / name).write_bytes(what.left(cut, rng))
