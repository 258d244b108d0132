"""Log files of child processes: appended to, turned over at start when large, quoted when something died."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

MAX_LOG_BYTES = 1_000_000


def open_log(path: Path, limit: int = MAX_LOG_BYTES) -> BinaryIO:
    """Open `path` for appending, for this user only; a log above `limit` bytes first becomes `NAME.1`.

    Only the one before is kept, so a log and its predecessor stay bounded unless one run alone writes more.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > limit:
        path.replace(path.with_name(path.name + ".1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")


def log_size(path: Path) -> int:
    """Bytes in a log, 0 where there is none: what `last_lines` takes as `since`."""
    return path.stat().st_size if path.exists() else 0


def log_tail(path: Path, lines: int, limit: int = 256 * 1024) -> list[str]:
    """The last lines, whole ones in at most `limit` bytes; of the log before too where this one was just begun."""
    text = b""
    for one in (path, path.with_name(path.name + ".1")):
        if len(text) < limit and text.count(b"\n") < lines:
            text = _end(one, limit - len(text)) + text
    whole = text if len(text) < limit else text.partition(b"\n")[2]
    return whole.decode("utf-8", "replace").splitlines()[-lines:]


def _end(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - limit))
            return log.read(limit)
    except FileNotFoundError:
        return b""


def last_lines(path: Path, since: int = 0, lines: int = 8, limit: int = 4000) -> str:
    """The last lines written after byte `since`, at most `limit` bytes; empty where there are none."""
    try:
        with path.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(since, end - limit))
            text = log.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.rstrip().splitlines()[-lines:])
