"""Durations, times, sizes and suggestions, by worked examples."""

from datetime import datetime

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.terminal.wording import amount, duration, nearest, parse_duration, parse_until, percent, size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("15m", 900), ("1h", 3600), ("1h30m", 5400), ("2d", 172800), ("1.5h", 5400), (" 1H 30M ", 5400)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "90", "h", "1x", "-5m", "0s", "30m1h", "400d", "1e9s", "nan"])
def test_no_durations(text: str) -> None:
    with pytest.raises(UsageError):
        parse_duration(text)


def test_tomorrow_is_the_next_midnight() -> None:
    now = datetime(2026, 11, 21, 14, 5).astimezone()
    assert parse_until("tomorrow", now).replace(tzinfo=None) == datetime(2026, 11, 22)


def test_a_time_of_day_is_the_next_one() -> None:
    now = datetime(2026, 11, 21, 14, 5).astimezone()
    assert parse_until("14:30", now).replace(tzinfo=None) == datetime(2026, 11, 21, 14, 30)
    assert parse_until("14:05", now).replace(tzinfo=None) == datetime(2026, 11, 22, 14, 5)
    with pytest.raises(UsageError):
        parse_until("25:00", now)


def test_tomorrow_is_midnight_in_the_night_when_clocks_change(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        moment = parse_until("tomorrow", datetime(2026, 10, 25, 1, 0).astimezone())
        assert moment.isoformat() == "2026-10-26T00:00:00+01:00"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.94, "2.9s"), (45, "45s"), (59.7, "1m 00s"), (200, "3m 20s"), (3900, "1h 05m"), (183600, "2d 3h")],
)
def test_spans_as_people_write_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(512, "512 B"), (3_600_000, "3.6 MB"), (999_000_000_000_000, "999.0 TB")])
def test_sizes_are_powers_of_1000(count: float, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(("share", "text"), [(None, "-"), (0, "0%"), (0.001, "1%"), (0.999, "99%"), (1, "100%")])
def test_only_nothing_is_0_percent_and_only_all_is_100(share: float | None, text: str) -> None:
    assert percent(share) == text


def test_amounts() -> None:
    assert [amount(1, "round"), amount(1240, "round")] == ["1 round", "1,240 rounds"]


def test_the_nearest_word() -> None:
    assert nearest("gdc", ["gcd", "lcm"]) == " Did you mean gcd?"
    assert nearest("GCD", ["gcd", "lcm"]) == " Did you mean gcd?"
    assert nearest("zzz", ["gcd", "lcm"]) == ""
