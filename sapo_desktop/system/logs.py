"""Log files: appended, rotated when large (also while they are written), and quoted after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import BinaryIO, TextIO

MAX_LOG_BYTES = 1_000_000
REPEAT_SECONDS = 60.0
"""During this time a repeated line is only counted."""
_MOST_LINES = 64
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""A link put there by somebody would make us write to, and cut, another of our files."""
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK
_LOOK_SECONDS = 10.0


def open_log(path: Path, limit: int = MAX_LOG_BYTES) -> BinaryIO:
    """Open `path` for appending, for this user only; a log above `limit` bytes is first renamed to `NAME.1`.

    Only one old log is kept; `bounded_logs` rotates the log while it is written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > limit:
        path.replace(path.with_name(path.name + ".1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_LINK, 0o600), "ab")


def turn_over(path: Path, limit: int = MAX_LOG_BYTES) -> bool:
    """If the log exceeds `limit` bytes, copy its end to `NAME.1` and empty it. Returns whether it did.

    The file itself stays, because processes write to it through their own descriptors (opened for appending).
    """
    if path.is_symlink():
        return False
    try:
        with os.fdopen(os.open(path, os.O_RDWR | _NO_LINK | getattr(os, "O_BINARY", 0)), "r+b") as log:
            if log.seek(0, os.SEEK_END) <= limit:
                return False
            log.seek(-limit, os.SEEK_END)
            text = log.read(limit)
            earlier = path.with_name(path.name + ".1")
            if earlier.is_symlink():
                earlier.unlink()
            with os.fdopen(os.open(earlier, _FRESH, 0o600), "wb") as before:
                before.write(text.partition(b"\n")[2])
            log.truncate(0)
    except FileNotFoundError:
        return False
    return True


@contextlib.asynccontextmanager
async def bounded_logs(folder: Path) -> AsyncIterator[None]:
    """Inside, the logs of a folder are rotated as they grow: no handler sees what child processes write."""
    looking = asyncio.create_task(_keep_bounded(folder))
    try:
        yield
    finally:
        looking.cancel()


async def _keep_bounded(folder: Path) -> None:
    while sys.platform != "win32":  # on Windows, a child would keep writing after the hole
        for path in sorted(folder.glob("*.log")):
            await asyncio.to_thread(turn_over, path)
        await asyncio.sleep(_LOOK_SECONDS)


class JsonLines(logging.Formatter):
    """One JSON object per line: Unix time, level, message, and the traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": round(record.created, 3), "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def begin_log(stream: TextIO, path: Path, *, as_json: bool = False) -> None:
    """Send this process's messages to `stream`, which is the log at `path`, or a terminal."""
    handler = LogHandler(stream, path)
    handler.setFormatter(JsonLines() if as_json else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes a repeated message once, then how often it was repeated, and rotates its file.

    Anybody may cause a node's messages: they must neither fill the disk nor push out what is worth reading.
    """

    def __init__(
        self,
        stream: TextIO,
        path: Path,
        *,
        limit: int = MAX_LOG_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream)
        self._path = path
        self._limit = limit
        self._clock = clock
        self._written: OrderedDict[str, _Written] = OrderedDict()

    def emit(self, record: logging.LogRecord) -> None:
        now = self._clock()
        for text in [text for text, one in self._written.items() if now - one.time >= REPEAT_SECONDS]:
            self._forget(text)
        text = _whole_message(record)
        if text in self._written:
            self._written[text].repeats += 1
            return
        self._written[text] = _Written(now, record)
        if len(self._written) > _MOST_LINES:
            self._forget(next(iter(self._written)))
        self._write(record)

    def close(self) -> None:
        with self.lock or contextlib.nullcontext():
            for text in list(self._written):
                self._forget(text)
        super().close()

    def _forget(self, text: str) -> None:
        """Write how often a message was repeated; after that it counts as new."""
        one = self._written.pop(text)
        if one.repeats:
            said = logging.LogRecord(
                one.record.name, one.record.levelno, "", 0, "%s (repeated %d times)", (one.message, one.repeats), None
            )
            self._write(said)

    def _write(self, record: logging.LogRecord) -> None:
        super().emit(record)
        try:
            written, log = os.fstat(self.stream.fileno()), self._path.stat()
        except (OSError, ValueError):
            return  # not a file, or a deleted one
        if written.st_size > self._limit and os.path.samestat(written, log):
            turn_over(self._path, self._limit)
            os.lseek(self.stream.fileno(), 0, os.SEEK_END)  # for streams not opened for appending


class _Written:
    """A message, when it was written, and how often it was repeated."""

    def __init__(self, at: float, record: logging.LogRecord) -> None:
        self.time = at
        self.record = record
        self.message = record.getMessage()
        self.repeats = 0


def _whole_message(record: logging.LogRecord) -> str:
    """What makes two messages equal."""
    error = record.exc_info[1] if record.exc_info else None
    return f"{record.name} {record.levelno} {record.getMessage()}" + (f" {error!r}" if error else "")


def add_line(path: Path, line: bytes, limit: int) -> None:
    """Append a line to such a file. Raises OSError."""
    with open_log(path, limit) as file:
        file.write(line + b"\n")


def log_size(path: Path) -> int:
    """Bytes in a log, 0 if there is none: the `since` of `last_lines`."""
    return path.stat().st_size if path.exists() else 0


def log_tail(path: Path, lines: int, limit: int = 256 * 1024) -> list[str]:
    """The last whole lines in at most `limit` bytes, including the previous log's if this one was just started."""
    text = b""
    for one in (path, path.with_name(path.name + ".1")):
        if len(text) < limit and text.count(b"\n") < lines:
            text = _end(one, limit - len(text)) + text
    whole = text if len(text) < limit else text.partition(b"\n")[2]
    return whole.decode("utf-8", "replace").splitlines()[-lines:]


def _end(path: Path, limit: int, since: int = 0) -> bytes:
    """The last bytes, only from those after byte `since`."""
    try:
        with path.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(since if since <= size else 0, size - limit))
            return log.read(limit)
    except FileNotFoundError:
        return b""


def last_lines(path: Path, since: int = 0, lines: int = 8, limit: int = 4000) -> str:
    """The last lines written after byte `since`, at most `limit` bytes; empty if there are none. A log shorter than
    `since` was rotated meanwhile."""
    text = _end(path, limit, since).decode("utf-8", "replace")
    return "\n".join(text.rstrip().splitlines()[-lines:])
