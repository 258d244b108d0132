"""Writing so that a power cut leaves either the old or the new content, with disk errors explained.

To make a rename durable: sync the files, sync their folder, rename, sync the parent. Windows has no sync for folders
(its renames are journalled), so that step does nothing there.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.sentences import Text, sentence

_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def disk_errors_as(error_type: type[SapoError], what: Text) -> Iterator[None]:
    """Turn an OSError in the block into `error_type`, which says what failed and what to do."""
    try:
        yield
    except OSError as error:
        full = sentence("the disk is full: free some space")
        other = sentence("{error}: check the folder and its permissions", error=error.strerror or str(error))
        advice = full if error.errno in _FULL else other
        said = sentence("{what} ({advice}). What was stored before is unchanged.", what=what, advice=advice)
        raise error_type(said) from error


def sync_file(path: Path) -> None:
    """Wait until the file's content is on the disk."""
    descriptor = os.open(path, os.O_RDWR)  # Windows syncs only what is open for writing
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in the folder are on the disk. Does nothing on Windows."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Sync every file below the folder, then the folders from the inside out."""
    for path in sorted(folder.rglob("*"), reverse=True):
        (sync_folder if path.is_dir() else sync_file)(path)
    sync_folder(folder)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file's whole content durably; readers see the old or the new content."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def replace_durably(part: Path, path: Path) -> None:
    """Rename a finished file to its final name; a power cut leaves the old or the new file, whole."""
    sync_file(part)
    part.replace(path)
    sync_folder(path.parent)


def remove_tree(folder: Path) -> None:
    """Delete a folder and everything in it. A missing folder is no error."""
    if folder.exists():
        shutil.rmtree(folder)


def remove_leftovers(path: Path) -> None:
    """Delete what a kill during `write_atomically` left next to `path`. Only the single writer of `path` may call
    this."""
    for leftover in path.parent.glob(f".{path.name}-*"):
        leftover.unlink(missing_ok=True)
