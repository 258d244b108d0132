"""The hours of a week in which a node may compute, as a person writes them: `mon-fri 18-8; sat,sun 0-24`.

Days, then spans of whole hours in local time. A span that ends at or before its start continues into the next day. An
empty text means always.
"""

from __future__ import annotations

import re
import time

from sapo_desktop.core.errors import SettingsError
from sapo_desktop.core.sentences import sentence

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_HOURS = 24
WEEK_HOURS = DAY_HOURS * len(DAYS)
NEVER = "never"
"""A week without any hour; no setting may have this value."""
Hours = frozenset[int]
"""Hours of the week, 0 to 167; hour 0 begins at midnight on Monday."""
ALWAYS: Hours = frozenset(range(WEEK_HOURS))
_SPAN = re.compile(r"(\d{1,2})-(\d{1,2})")


def parse(text: str) -> Hours:
    """Parse the text. Raises SettingsError with what would be valid."""
    if text.strip().lower() == NEVER:
        raise SettingsError(
            sentence("A schedule without any hour never runs. Leave it empty to run always, or pause the node instead.")
        )
    entries = [entry.split() for entry in text.lower().split(";") if entry.strip()]
    if not entries:
        return ALWAYS
    found: set[int] = set()
    for days, *spans in entries:
        if not spans:
            raise _unread(days)
        for day in _days(days):
            found.update(hour for span in spans for hour in _hours(day, span))
    return frozenset(found)


def is_open(hours: Hours, now: float) -> bool:
    """Whether Unix time `now` is in one of these hours, in local time."""
    return hour_of_week(now) in hours


def next_change(hours: Hours, now: float) -> float | None:
    """The next Unix time at which `is_open` changes; None: never."""
    there = is_open(hours, now)
    local = time.localtime(now)
    moment = now - now % 1 + 3600 - 60 * local.tm_min - local.tm_sec
    for _ in range(WEEK_HOURS + 1):
        if is_open(hours, moment) != there:
            return moment
        moment += 3600
    return None


def hour_of_week(now: float) -> int:
    local = time.localtime(now)
    return DAY_HOURS * local.tm_wday + local.tm_hour


def _days(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if first not in DAYS or (dash and last not in DAYS):
            raise _unread(part)
        begin = DAYS.index(first)
        count = (DAYS.index(last) - begin) % len(DAYS) + 1 if dash else 1
        found += [(begin + more) % len(DAYS) for more in range(count)]
    return found


def _hours(day: int, span: str) -> list[int]:
    match = _SPAN.fullmatch(span)
    begin, end = (int(match[1]), int(match[2])) if match else (99, 99)
    if begin >= DAY_HOURS or end > DAY_HOURS or begin == end:
        raise _unread(span)
    count = end - begin if end > begin else DAY_HOURS - begin + end
    return [(DAY_HOURS * day + begin + more) % WEEK_HOURS for more in range(count)]


def _unread(part: str) -> SettingsError:
    return SettingsError(
        "'{part}' is not part of a schedule: write days and whole hours like mon-fri 18-8; sat,sun 0-24", part=part
    )
