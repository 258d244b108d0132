"""The progress of a download or an import: it never goes back, and its speed is that of the last seconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.models import Transfer
from sapo_desktop.models.files.progress import Progress

EVENTS = st.lists(
    st.tuples(st.sampled_from(["begin", "arrived", "lost", "finished"]), st.integers(0, 5000), st.floats(0, 30)),
    max_size=60,
)


class Timed:
    """A progress at a clock of its own, and its reports."""

    def __init__(self, total: int) -> None:
        self.now = 0.0
        self.reports: list[Transfer] = []
        self.progress = Progress(self.reports.append, total, lambda: self.now)


@given(EVENTS, st.integers(0, 100_000))
def test_progress_never_goes_back_whatever_is_lost(events: list[tuple[str, int, float]], total: int) -> None:
    timed = Timed(total)
    for what, count, seconds in events:
        timed.now += seconds
        match what:
            case "begin":
                timed.progress.begin("file")
            case "arrived":
                timed.progress.arrived(count)
            case "lost":
                timed.progress.arrived(-count)
            case _:
                timed.progress.finished(count)
    done = [transfer.done for transfer in timed.reports]
    assert done == sorted(done)
    assert all(transfer.done <= total for transfer in timed.reports if total)
    assert all(transfer.speed >= 0 and (transfer.left is None or transfer.left >= 0) for transfer in timed.reports)


def test_speed_is_that_of_the_last_seconds_and_tells_the_time_left() -> None:
    timed = Timed(1_000_000)
    timed.progress.finished(100_000)
    timed.progress.begin("file")
    for second in range(60):
        timed.now = float(second)
        timed.progress.arrived(1000 if second < 11 else 3000)
    shown = timed.reports[-1]
    assert shown.speed == pytest.approx(3200, rel=0.01)
    assert shown.left == pytest.approx((1_000_000 - 100_000 - 11_000 - 147_000) / shown.speed)


def test_nothing_is_said_of_the_speed_before_there_is_one() -> None:
    timed = Timed(1000)
    timed.progress.begin("file")
    timed.now = 0.3
    timed.progress.arrived(500)
    assert timed.reports[-1].speed == 0.0 and timed.reports[-1].left is None
    timed.now = 9.0
    timed.progress.say("waiting")
    assert timed.reports[-1].speed == 0.0


def test_reports_come_a_few_times_a_second_and_a_change_of_stage_at_once() -> None:
    timed = Timed(1000)
    timed.progress.begin("file")
    for step in range(100):
        timed.now = step / 100
        timed.progress.arrived(1)
    assert len(timed.reports) <= 6
    timed.progress.say("checking", "file")
    assert timed.reports[-1].stage == "checking"
