"""Hours of a week: reading and looking up."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core import schedule, settings_file
from sapo_desktop.core.errors import SettingsError
from tests.builders import schedule_of

MONDAY_NOON = time.mktime((2026, 11, 23, 12, 0, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("", schedule.ALWAYS),
        ("mon-sun 0-24", schedule.ALWAYS),
        ("mon 18-24 0-2", {0, 1, *range(18, 24)}),
        ("fri 22-2", {4 * 24 + 22, 4 * 24 + 23, 5 * 24, 5 * 24 + 1}),
        ("sat-mon 1-2", {1, 5 * 24 + 1, 6 * 24 + 1}),
        ("Tue 5-6", {24 + 5}),
    ],
)
def test_what_a_person_writes_is_read(text: str, hours: set[int]) -> None:
    assert schedule.parse(text) == hours


@given(st.frozensets(st.integers(0, schedule.WEEK_HOURS - 1), min_size=1))
def test_every_week_can_be_written(hours: schedule.Hours) -> None:
    assert schedule.parse(schedule_of(hours)) == hours


@pytest.mark.parametrize("text", ["monday 1-2", "mon", "mon 5-5", "mon 24-25", "mon 9:30-10", "mon 1-2, tue", "1-2"])
def test_what_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(SettingsError, match="mon-fri 18-8"):
        schedule.parse(text)


def test_a_week_without_an_hour_is_refused_with_what_would_do() -> None:
    with pytest.raises(SettingsError, match=r"never runs.*pause the node"):
        schedule.parse("never")


def test_the_next_change_is_the_full_hour_at_which_it_is_otherwise() -> None:
    work = schedule.parse("mon-fri 9-17")
    assert (
        schedule.is_open(work, MONDAY_NOON) and schedule.next_change(work, MONDAY_NOON + 61) == MONDAY_NOON + 5 * 3600
    )
    evening = MONDAY_NOON + 5 * 3600
    assert not schedule.is_open(work, evening) and schedule.next_change(work, evening) == evening + 16 * 3600
    assert schedule.next_change(schedule.ALWAYS, MONDAY_NOON) is None


def test_a_settings_file_with_another_schedule_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('schedule = "always"')
    with pytest.raises(SettingsError, match="mon-fri 18-8"):
        settings_file.read(path, 0.0)
    with pytest.raises(SettingsError, match="never runs"):
        settings_file.parse_value("schedule", "never")
