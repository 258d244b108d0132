"""Notices as the log shows them: those that the worker kept and those that came since, once each. No Qt."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from sapo_desktop.worker.control.messages.facts import Notice

SEVERITY = {"info": 0, "warning": 1, "error": 2}
MOST = 2000
"""Kept in the window; the worker keeps fewer."""


def merged(*sources: Iterable[Notice]) -> list[Notice]:
    """All of them, once each, oldest first; the newest where there are too many."""
    found = {item: None for source in sources for item in source}
    return sorted(found, key=lambda item: item.time)[-MOST:]


def matching(items: Iterable[Notice], least: str, query: str) -> list[Notice]:
    """Those of this level or above that have every word of the query."""
    words = query.casefold().split()
    severe = [item for item in items if SEVERITY.get(item.level, 2) >= SEVERITY.get(least, 0)]
    return [item for item in severe if all(word in str(item.text).casefold() for word in words)]


def as_text(items: Sequence[Notice]) -> str:
    """For the clipboard: a line each, the next lines of a longer one set in."""
    return "\n".join(f"{_stamp(item.time)} {item.level}: {_set_in(str(item.text))}" for item in items)


def tail(lines: Sequence[str], most: int) -> str:
    """The end of a log, whole lines only, of at most `most` characters."""
    kept: list[str] = []
    left = most + 1  # no line end follows the last one
    for line in reversed(lines):
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    if not kept and lines:
        return lines[-1][-most:]  # one line that is longer than all that is shown
    return "\n".join(reversed(kept))


def _stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def _set_in(text: str) -> str:
    return text.replace("\n", "\n    ")
