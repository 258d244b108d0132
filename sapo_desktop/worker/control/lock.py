"""One worker per data folder: a lock of the operating system, held for the worker's life.

The system releases it however the worker ends, so a remaining lock file means nothing and needs no cleanup. After its
first byte, the file contains the process id, for the message that the folder is in use.
"""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Self

from sapo_desktop.core.errors import FolderInUse
from sapo_desktop.core.files.reading import UnfitFile, open_regular
from sapo_desktop.core.sentences import Sentence, quoted, sentence
from sapo_desktop.system.folders import DataFolder, FolderError, explained

LOOK_SECONDS = 5.0
"""Interval of the checks whether the folder still exists."""


class FolderLock:
    """Holds a data folder inside `with FolderLock(folder): ...`."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            FolderInUse: another worker has it; says which and how to reach it.
            FolderError: the folder cannot be written, or its disk does not support locks.
        """
        from filelock import lock_descriptor  # its import takes 40 ms, and a client only asks who holds a folder

        try:
            # A link put there by somebody would empty another of our files.
            descriptor = os.open(self._folder.lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                if not lock_descriptor(descriptor, blocking=False):
                    raise FolderInUse(self._in_use())
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f" {os.getpid()}".encode("ascii"))
            except BaseException:
                os.close(descriptor)
                raise
        except OSError as error:
            raise explained(error, self._folder.root) from error
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The file stays: otherwise two workers could lock two files of the same name.
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    async def until_lost(self) -> FolderError:
        """Return once the folder was removed or replaced: then the lock is worthless."""
        while not self._is_lost():
            await asyncio.sleep(LOOK_SECONDS)
        root = str(self._folder.root)
        return FolderError(
            "The data folder {folder} was removed, so the node using it stops. The next start creates a new one.",
            folder=root,
        )

    def _is_lost(self) -> bool:
        assert self._descriptor is not None
        try:
            return not os.path.samestat(self._folder.lock.stat(), os.fstat(self._descriptor))
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False  # a disk that does not answer now may do so later

    def _in_use(self) -> Sentence:
        pid = holder(self._folder)
        return sentence(
            "{who} already runs on {folder}. Commands with `--data {data}` reach it (`status`, `pause`, "
            "`quit`). A second node needs another --data folder.",
            who=sentence("Process {pid}", pid=str(pid)) if pid else sentence("Another worker"),
            folder=str(self._folder.root),
            data=quoted(self._folder.root),
        )


_LONGEST = 100
"""Maximum bytes read from a lock file."""


def holder(folder: DataFolder) -> int | None:
    """The process id in the lock file; None if there is none. It may have ended."""
    try:
        with open_regular(folder.lock) as file:
            file.seek(1)  # the first byte is locked, and on Windows others cannot read a locked byte
            text = file.read(_LONGEST).decode("ascii", "replace")
    except (FileNotFoundError, UnfitFile):
        return None
    return int(text) if text.isdecimal() else None
