"""Deletes what a node keeps: what it learned, its identity, or all of it.

Only files with the names of a data folder are deleted, never the folder as a whole: `--data` may have named any folder
of the user's. What a keyring keeps is forgotten there.
"""

from __future__ import annotations

import contextlib
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.system.desktop import autostart
from sapo_desktop.system.folders import DataFolder, shared_models
from sapo_desktop.system.identity import NAMES, keeper_in

What = Literal["learned", "models", "identity", "everything"]
_LEARNED = ("checkpoints", "cache", "wishes.json", *(f"history.sqlite{end}" for end in ("", "-wal", "-shm")))
_IDENTITY = ("control", "node-id")
_REST = ("settings.toml", "window.json", "updates.json", "logs", "tasks", "engine")


def places(folder: DataFolder, what: Iterable[What]) -> list[Path]:
    """What would be deleted, of what is there."""
    wanted = set(what)
    names: list[str] = []
    for kind, of_kind in (("learned", _LEARNED), ("identity", _IDENTITY), ("everything", _REST)):
        if {kind, "everything"} & wanted:
            names += of_kind
    found = [folder.root / name for name in names if (folder.root / name).exists()]
    # All nodes of the user share the models: everything of another node's folder is without them.
    own = folder.root == DataFolder.default()
    models = [shared_models()] if "models" in wanted or (own and "everything" in wanted) else []
    return [*found, *(path for path in models if path.is_dir() and path not in found)]


def size(path: Path) -> int:
    """Bytes of a file, or of all in a folder. A running node may delete some meanwhile."""
    total = 0
    for file in [path, *path.rglob("*")]:
        with contextlib.suppress(FileNotFoundError):
            found = file.lstat()
            total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total


def erase(folder: DataFolder, what: Iterable[What]) -> None:
    """Delete it. No node may run; who calls this holds the folder's lock, or knows that nobody else does.

    Raises:
        UsageError: this is no node's folder.
        SapoError: something could not be deleted; the rest of it is still there.
    """
    wanted = set(what)
    if not (folder.root / "node-id").is_file():
        raise UsageError("{folder} is no node's folder, so nothing was deleted.", folder=str(folder.root))
    if {"identity", "everything"} & wanted:
        for name in NAMES:
            keeper_in(folder, name).forget()
    if "everything" in wanted:
        autostart.follow(False, folder.root)
    for path in places(folder, wanted):
        try:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        except OSError as error:
            raise SapoError(
                "{path} could not be deleted: {reason}. Close what uses it and try again.",
                path=str(path),
                reason=error.strerror or str(error),
            ) from error


def leave(folder: DataFolder) -> None:
    """After everything: the lock, which nobody holds by now, and the folder where nothing else is in it."""
    folder.lock.unlink(missing_ok=True)
    if not any(folder.root.iterdir()):
        folder.root.rmdir()
