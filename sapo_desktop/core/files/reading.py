"""Opening and copying files that others may have put there: regular files only, of bounded size.

A folder that was downloaded, unpacked or chosen may hold a pipe that nobody writes to, an endless device, or a link to
private files. So a file is checked before it is opened, and again when it is open, so that what is read is what was
checked. A refusal is an OSError with its reason, so that code that handles disk errors handles it too.
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
"""Bytes: no file that this program writes for itself is longer, except model and history data."""
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for undecodable bytes. It also passes on errors for invalid UTF-8 and for nesting beyond
Python's limit."""

_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
"""Windows has no such flag; there the check before opening must suffice."""


class UnfitFile(OSError):
    """The file exists but is not read; `strerror` says why."""


def open_regular(path: Path, *, links: bool = True) -> BufferedReader:
    """Open the file for reading. `links`: also if the name is a link to a regular file.

    Raises:
        OSError: it does not exist or may not be read.
        UnfitFile: it is not a regular file, is a link, or changed between the check and the opening.
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
        OSError: as `open_regular`; UnfitFile if it is longer.
    """
    with open_regular(path) as file:
        content = file.read(most + 1)  # the size seen before does not count: the file may grow meanwhile
    if len(content) > most:
        raise UnfitFile(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return content


def read_json(path: Path, kind: type[T], most: int = MOST_OF_OUR_OWN) -> T:
    """The JSON in a file, decoded as that type.

    Raises:
        OSError: as `read_bytes`.
        msgspec.DecodeError: it does not match the type, however deeply it is nested.
    """
    try:
        return msgspec.json.decode(read_bytes(path, most), type=kind)
    except UNREADABLE as error:
        raise msgspec.DecodeError(str(error)) from error


def read_text(path: Path, most: int = MOST_OF_OUR_OWN) -> str:
    """Like `read_bytes`, decoded as UTF-8, without a byte order mark and with every line end as `\n`. Raises
    UnicodeDecodeError."""
    return read_bytes(path, most).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def create_like(source: BufferedReader, target: Path) -> BufferedRandom:
    """Create a new file for a copy of `source`: permissions follow the umask, and nobody gains read access. Raises
    FileExistsError."""
    of = os.fstat(source.fileno())
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(target, flags, 0o600 | (of.st_mode & 0o066))
    made = os.fstat(descriptor)
    # Members of another group than the source's count as others there. While the file is empty, they have read nothing.
    if hasattr(os, "fchmod") and made.st_gid != of.st_gid:
        os.fchmod(descriptor, stat.S_IMODE(made.st_mode) & (0o607 | (of.st_mode & 0o006) << 3))
    return os.fdopen(descriptor, "r+b")


def copy_regular(source: Path, target: Path, *, links: bool = True) -> None:
    """Copy a file's content into a new file and replace an existing one; permissions as `create_like`. OSError as
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
