"""Numbers, durations, sizes and times in the window's language. Sizes are in powers of 1000."""

from __future__ import annotations

import math

from PySide6.QtCore import QDateTime, QLocale

from sapo_desktop.gui.words.language import tr

NOTHING = "–"
"""Stands for a missing value."""


def number(value: float | None, digits: int = 3) -> str:
    """`0.634`; a dash if there is none."""
    if value is None or math.isnan(value):
        return NOTHING
    return QLocale().toString(float(value), "f", digits)


def mean(value: float) -> str:
    """`7.6`, and `8` for whole ones."""
    return number(value, 0 if value == round(value) else 1)


def count(value: int | None) -> str:
    """`1,240`."""
    return NOTHING if value is None else QLocale().toString(value)


def signed(value: float | None, digits: int = 3) -> str:
    """`+0.012`, `−0.004`."""
    if value is None or math.isnan(value):
        return NOTHING
    rounded = round(value, digits)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else "±"
    return f"{sign}{number(abs(rounded), digits)}"


def percent(share: float | None) -> str:
    """`27%`. Only all is 100%, and only nothing is 0%."""
    if share is None or math.isnan(share):
        return NOTHING
    whole = min(99, max(1, round(100 * share))) if 0 < share < 1 else round(100 * share)
    return tr("{number}%").format(number=QLocale().toString(whole))


def between(low: str, high: str) -> str:
    """`67% to 73%`, which stays in one line."""
    return tr("{low} to {high}").format(low=low, high=high).replace(" ", "\u00a0")


def points(low: float, high: float) -> str:
    """`+6 to +12 points`, of a hundred: the interval of a difference of two shares. Never its middle: next to the
    rounded shares it could differ from what a reader computes."""
    return tr("{interval} points").format(interval=between(signed(100 * low, 0), signed(100 * high, 0)))


def energy(joules: float) -> str:
    """`0.52 kWh`; not 0.00 for what was little."""
    kwh = joules / 3.6e6
    return tr("under 0.01 kWh") if 0 < kwh < 0.005 else tr("{energy} kWh").format(energy=number(kwh, 2 if kwh else 0))


def size(bytes_: float | None) -> str:
    """`512 B`, `3.6 MB`, `1.2 GB`."""
    if bytes_ is None:
        return NOTHING
    for unit in ("B", "KB", "MB", "GB"):
        if abs(bytes_) < 1000:
            return f"{number(bytes_, 0 if unit == 'B' or abs(bytes_) >= 100 else 1)} {unit}"
        bytes_ /= 1000
    return f"{number(bytes_, 1)} TB"


def span(seconds: float | None) -> str:
    """`2.9 s`, `45 s`, `3 min 20 s`, `1 h 5 min`, `2 d 3 h`."""
    if seconds is None:
        return NOTHING
    if 0 < seconds < 0.05:
        return tr("under 0.1 s")
    if seconds < 10:
        return tr("{seconds} s").format(seconds=number(seconds, 1 if seconds else 0))
    whole = round(seconds)
    if whole < 60:
        return tr("{seconds} s").format(seconds=whole)
    if whole < 3600:
        return tr("{minutes} min {seconds} s").format(minutes=whole // 60, seconds=whole % 60)
    if whole < 86400:
        return tr("{hours} h {minutes} min").format(hours=whole // 3600, minutes=whole % 3600 // 60)
    return tr("{days} d {hours} h").format(days=whole // 86400, hours=whole % 86400 // 3600)


def left(seconds: float) -> str:
    """The rest of a pause, rounded up: `15 min`, `2 h 5 min`, finally `40 s`."""
    if seconds < 60:
        return tr("{seconds} s").format(seconds=math.ceil(seconds))
    minutes = math.ceil(seconds / 60)
    if minutes < 60:
        return tr("{minutes} min").format(minutes=minutes)
    return tr("{hours} h {minutes} min").format(hours=minutes // 60, minutes=minutes % 60)


def countdown(seconds: float) -> str:
    """`14:59`, `2:05:00`: a remaining time in which every second counts."""
    whole = math.ceil(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def clock(moment: float) -> str:
    """The time of day of a Unix time: `14:30`."""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(moment)).time(), "HH:mm")


def day_and_clock(moment: float) -> str:
    """`Tue 14:30`."""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(moment)), "ddd HH:mm")


def stamp(moment: float) -> str:
    """`2026-11-21 14:30:05`: a time in a table, the same in every language."""
    return QDateTime.fromSecsSinceEpoch(int(moment)).toString("yyyy-MM-dd HH:mm:ss")


def plain(value: float) -> str:
    """`0.25`, `1e-05`: all digits."""
    return QLocale().toString(float(value), "g", 6)
