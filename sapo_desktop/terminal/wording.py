"""Numbers, durations and sizes as people write them; pure functions.

Sizes are in powers of 1000 (KB, MB, GB). Durations are read and written in the same form: `90s`, `15m`, `1h30m`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.sentences import Size

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_LONGEST = 366 * 86400.0


def parse_duration(text: str) -> float:
    """Seconds in `90s`, `15m`, `1h`, `1h30m`, `2d`. Raises UsageError for anything else or more than a year."""
    match = _DURATION.fullmatch(text.strip().lower().replace(" ", ""))
    if match is None or not any(match.groups()):
        raise UsageError(f"{text!r} is not a duration. Write 90s, 15m, 1h or 1h30m.")
    seconds = sum(float(part) * unit for part, unit in zip(match.groups(), _UNITS.values(), strict=True) if part)
    if not 0 < seconds <= _LONGEST:
        raise UsageError(f"{text!r} is not a duration between a second and a year.")
    return seconds


def parse_until(text: str, now: datetime) -> datetime:
    """The next local midnight for `tomorrow`, the next such time for `14:30`. `now` is local time."""
    wanted = text.strip().lower()
    if wanted == "tomorrow":
        hour, minute = 0, 0
    elif match := _CLOCK.fullmatch(wanted):
        hour, minute = int(match[1]), int(match[2])
    else:
        raise UsageError(f"{text!r} is not a time: write tomorrow or a time of day such as 14:30.")
    # Computed in local time: a night in which clocks change still ends at 00:00.
    wall = now.replace(tzinfo=None)
    moment = wall.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if moment <= wall:
        moment += timedelta(days=1)
    return moment.astimezone()


def duration(seconds: float) -> str:
    """`2.9s`, `45s`, `3m 20s`, `1h 05m`, `2d 3h`."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d {whole % 86400 // 3600}h"


def size(count: float) -> str:
    """`512 B`, `3.6 MB`, `1.2 GB`."""
    return str(Size(bytes=round(count)))


def percent(share: float | None) -> str:
    """`27%`, or `-` for no value. Only all is 100% and only nothing is 0%."""
    if share is None:
        return "-"
    if 0 < share < 1:
        return f"{min(99, max(1, round(100 * share)))}%"
    return f"{round(100 * share)}%"


def amount(count: int, noun: str, plural: str | None = None) -> str:
    """`1 round`, `3 rounds`, `1,240 answers`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def nearest(word: str, known: Iterable[str]) -> str:
    """` Did you mean X?` for the closest known word, or nothing; ends an error's sentence."""
    choices = list(known)
    close = difflib.get_close_matches(word, choices, n=1, cutoff=0.5)
    if not close:
        lower = {choice.lower(): choice for choice in choices}
        close = [lower[found] for found in difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.5)]
    return f" Did you mean {close[0]}?" if close else ""
