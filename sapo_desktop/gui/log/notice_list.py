"""Notices for the log page: those that the worker stored and newer ones, once each. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sapo_desktop.gui.words import numbers
from sapo_desktop.worker.control.messages.facts import Notice

SEVERITY = {"info": 0, "warning": 1, "error": 2}
MOST = 2000
"""Kept in the window; the worker keeps fewer."""


def merged(*sources: Iterable[Notice]) -> list[Notice]:
    """All of them, once each, oldest first; only the newest if there are too many."""
    found = {item: None for source in sources for item in source}
    return sorted(found, key=lambda item: item.time)[-MOST:]


def matching(items: Iterable[Notice], least: str, query: str) -> list[Notice]:
    """Notices of at least this level that contain every word of the query."""
    words = query.casefold().split()
    severe = [item for item in items if SEVERITY.get(item.level, 2) >= SEVERITY.get(least, 0)]
    return [item for item in severe if all(word in str(item.text).casefold() for word in words)]


def as_text(items: Sequence[Notice]) -> str:
    """For the clipboard: a line each, with further lines indented."""
    return "\n".join(f"{numbers.stamp(item.time)} {item.level}: {item.text}".replace("\n", "\n    ") for item in items)


def tail(lines: Sequence[str], most: int) -> str:
    """The end of a log, whole lines only, of at most `most` characters."""
    text = "\n".join(lines)
    if len(text) <= most:
        return text
    # A single line longer than the limit has no beginning.
    return text[-most - 1 :].partition("\n")[2] or text[-most:]
