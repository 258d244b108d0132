"""Simulates power cuts: a program's writes in their order, and which of them must be on the disk.

Stricter than any file system in use: data that was not synced survives by chance. Each write survives alone, whole or
in part, and each folder's names up to any of their changes, independent of other folders. Syncing a file promises its
content, syncing a folder its names. The watched folder exists. A move between two folders counts as one change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from random import Random
from typing import Literal

SECTOR = 512
"""Bytes that a disk writes atomically."""
Cut = Literal["kept", "dropped", "chance"]
"""The fate of everything that was not synced."""


@dataclass(frozen=True)
class Op:
    """One change, or one sync. Paths are relative to the watched folder, which is `.`."""

    kind: Literal["file", "folder", "write", "truncate", "sync", "rename", "remove"]
    path: str
    to: str = ""
    at: int = 0
    """The start of a write, or the new length of a file, in bytes."""
    data: bytes = b""


@dataclass(eq=False)
class _File:
    synced: bytes = b""
    now: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Writes since the last sync, by their start; None: truncated or extended there."""

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
    """Changes of names since the last sync, each atomic."""

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
    """A folder as programs see it, and the part of it that survives a power cut."""

    def __init__(self) -> None:
        self._root = _Folder()

    def take(self, op: Op) -> None:
        """Apply one change.

        Raises:
            KeyError: there is no such file or folder, so a change was not recorded.
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
        """Write what a power cut would leave now into a new folder."""
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
