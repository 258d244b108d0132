"""Opening and copying files that somebody else may have put there: regular files only, each of a bounded size.

A folder that was downloaded, unpacked or named may hold a pipe that nobody writes to, a device without an end, or a
link to what is nobody's business. So a file is looked at before it is opened and once more when it is open: what is
read is what was looked at. What is refused is an OSError with its reason, so that whoever handles a disk's errors
handles this too.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")
MOST_OF_OUR_OWN = 16_000_000
"""Bytes: no file that this program writes for itself, data of a model or of the history aside, is longer."""
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for bytes that are none of the type: it lets texts that are no UTF-8 and maps nested deeper than
Python's own limit through as they come."""

_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
"""Windows has none; there the look before opening is all."""


class UnfitFile(OSError):
    """There is something of that name which is not read; `strerror` says why."""


def open_regular(path: Path, *, links: bool = True) -> BufferedReader:
    """The file, open for reading. `links`: also where the name is a link to one.

    Raises:
        OSError: it is not there or may not be read.
        UnfitFile: it is no regular file, a link, or changed between the look and the opening.
    """
    looked = path.stat(follow_symlinks=links)
    _refuse_other(looked, path)
    file = os.fdopen(os.open(path, _OPEN | (0 if links else _NO_LINK)), "rb")
    try:
        opened = os.fstat(file.fileno())
        _refuse_other(opened, path)
        if not os.path.samestat(looked, opened):
            raise UnfitFile(errno.EAGAIN, "it changed while it was opened", str(path))
    except BaseException:
        file.close()
        raise
    return file


def read_bytes(path: Path, most: int = MOST_OF_OUR_OWN) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        OSError: as `open_regular`; UnfitFile where it is longer.
    """
    with open_regular(path) as file:
        content = file.read(most + 1)  # never by the size it had: it may grow meanwhile
    if len(content) > most:
        raise UnfitFile(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return content


def read_json(path: Path, kind: type[T], most: int = MOST_OF_OUR_OWN) -> T:
    """The JSON in a file, as that type.

    Raises:
        OSError: as `read_bytes`.
        msgspec.DecodeError: it is none of that type, however deeply it is nested.
    """
    try:
        return msgspec.json.decode(read_bytes(path, most), type=kind)
    except UNREADABLE as error:
        raise msgspec.DecodeError(str(error)) from error


def read_text(path: Path, most: int = MOST_OF_OUR_OWN) -> str:
    """As `read_bytes`, decoded as UTF-8, without its mark, which Windows' editors may add, and with every line end as
    `\\n`. UnicodeDecodeError where it is none."""
    return read_bytes(path, most).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def create_like(source: BufferedReader, target: Path) -> BufferedRandom:
    """A new file for a copy of `source`: its permissions as the umask has them, for nobody else than may read the
    source. FileExistsError where there is one."""
    of = os.fstat(source.fileno())
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(target, flags, 0o600 | (of.st_mode & 0o066))
    made = os.fstat(descriptor)
    # Members of another group than the source's are everybody else there; of an empty file they have read nothing yet.
    if hasattr(os, "fchmod") and made.st_gid != of.st_gid:
        os.fchmod(descriptor, stat.S_IMODE(made.st_mode) & (0o607 | (of.st_mode & 0o006) << 3))
    return os.fdopen(descriptor, "r+b")


def copy_regular(source: Path, target: Path, *, links: bool = True) -> None:
    """Copy a file's content into a new file, in place of one that is there; permissions as `create_like`. OSError as
    `open_regular`."""
    with open_regular(source, links=links) as file:
        target.unlink(missing_ok=True)
        with create_like(file, target) as copy:
            while piece := file.read(1 << 20):
                copy.write(piece)


def _refuse_other(found: os.stat_result, path: Path) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise UnfitFile(errno.ELOOP, "it is a link", str(path))
    if not stat.S_ISREG(found.st_mode):
        raise UnfitFile(errno.EINVAL, "it is no regular file", str(path))
