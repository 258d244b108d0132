"""Steps for the calendar: day of the year, and its rest by seven (2023 began on a Sunday)."""

from __future__ import annotations

import calendar
import re
from datetime import date
from typing import Any

from .arithmetic import add, subtract

WEEKDAYS = ["Saturday", "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]  # by day of 2023, rest by 7
ORDINALS = {"first": 0, "second": 7, "third": 14, "fourth": 21}


def calendar_arithmetic(entry: dict[str, Any]) -> str | None:
    """Steps for the paper's four kinds of question in 2023; None for the other kinds."""
    writer = {
        "is_leap_year": _leap_year,
        "weekday_of_date": _weekday,
        "recurring_event_day": _recurring,
        "count_days": _count_days,
    }.get(entry["metadata"]["task"])
    return writer(entry) if writer else None


def _leap_year(entry: dict[str, Any]) -> str:
    """The last two digits by four; at the turn of a century, the first two."""
    year = entry["metadata"]["year"]
    part, name = (year // 100, "century ") if year % 100 == 0 else (year % 100, "")
    return f"{name}{part}%4={part % 4}<answer>{'Yes' if part % 4 == 0 else 'No'}</answer>"


def _day_of_year(day: date) -> tuple[str, int]:
    """``March 59+15=74``: days before the month, plus the day."""
    before = (day.replace(day=1) - date(day.year, 1, 1)).days
    return f"{calendar.month_name[day.month]} {before} {add(before, day.day)}", before + day.day


def _rest(number: int) -> str:
    """``74-70=4 Wednesday``."""
    return f"{number}-{number - number % 7}={number % 7} {WEEKDAYS[number % 7]}"


def _weekday(entry: dict[str, Any]) -> str:
    work, number = _day_of_year(date.fromisoformat(entry["metadata"]["target_date"]))
    return f"{work} {_rest(number)}<answer>{WEEKDAYS[number % 7]}</answer>"


def _recurring(entry: dict[str, Any]) -> str:
    """The weekday of the month's first day, the first such weekday, then weeks later."""
    data = entry["metadata"]
    work, number = _day_of_year(date(data["year"], data["month"], 1))
    first = (WEEKDAYS.index(data["weekday"]) - number) % 7 + 1
    length = calendar.monthrange(data["year"], data["month"])[1]
    if data["ordinal"] == "last":
        day = first + 28 if first + 28 <= length else first + 21
        found = f"{first}+28={first + 28} of {length} {day}"
    else:
        day = first + ORDINALS[data["ordinal"]]
        found = f"{first}+{ORDINALS[data['ordinal']]}={day}"
    return f"{work} {_rest(number)} {data['weekday']} {first} {found}<answer>{day}</answer>"


def _count_days(entry: dict[str, Any]) -> str:
    """Length of the span, its whole weeks, and whether the weekday lies in the days that are left."""
    match = re.search(r"How many (\w+)s are|occurrences of (\w+) from|times does (\w+) occur", entry["question"])
    if match is None:
        raise ValueError(f"no weekday to count in {entry['question']!r}")
    weekday = next(name for name in match.groups() if name)
    start, end = (date.fromisoformat(entry["metadata"][key]) for key in ("start_date", "end_date"))
    first_work, first = _day_of_year(start)
    last_work, last = _day_of_year(end)
    span = last - first + 1
    wait = (WEEKDAYS.index(weekday) - first) % 7
    count = span // 7 + (1 if wait < span % 7 else 0)
    sign = "<" if wait < span % 7 else ">" if wait > span % 7 else "="
    return (
        f"{first_work} {last_work} {subtract(last, first)} +1={span} {span}/7={span // 7}r{span % 7} "
        f"{WEEKDAYS[first % 7]} {weekday} {wait}{sign}{span % 7} {count}<answer>{count}</answer>"
    )
