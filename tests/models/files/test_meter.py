"""What is shown of a download: it never goes back, and the speed is that of the last seconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.models.files.meter import Meter

EVENTS = st.lists(
    st.tuples(st.sampled_from(["present", "arrived", "lost", "shown"]), st.integers(0, 5000), st.floats(0, 30)),
    max_size=60,
)


@given(EVENTS, st.integers(0, 100_000))
def test_progress_never_goes_back_whatever_is_lost(events: list[tuple[str, int, float]], total: int) -> None:
    meter, now, here, shown = Meter(total), 0.0, 0, []
    for what, count, seconds in events:
        now += seconds
        match what:
            case "present":
                meter.present(count)
                here += count
            case "arrived":
                meter.arrived(count, now)
                here += count
            case "lost":
                meter.present(-min(count, here))
                here -= min(count, here)
            case _:
                shown.append(meter.shown(now, "fetching"))
        assert meter.missing == max(0, total - here)
    done = [transfer.done for transfer in shown]
    assert done == sorted(done)
    assert all(transfer.done <= total for transfer in shown if total)
    assert all(transfer.speed >= 0 and (transfer.left is None or transfer.left >= 0) for transfer in shown)


def test_speed_is_that_of_the_last_seconds_and_tells_the_time_left() -> None:
    meter = Meter(1_000_000)
    meter.present(100_000)
    for second in range(11):
        meter.arrived(1000, float(second))
    assert meter.speed(10.0) == pytest.approx(1100)
    for second in range(11, 60):
        meter.arrived(3000, float(second))
    shown = meter.shown(59.0, "fetching")
    assert shown.speed == pytest.approx(3200, rel=0.01)
    assert shown.left == pytest.approx((1_000_000 - 100_000 - 11_000 - 147_000) / shown.speed)


def test_nothing_is_said_of_the_speed_before_there_is_one() -> None:
    meter = Meter(1000)
    meter.arrived(500, 5.0)
    assert meter.shown(5.2, "fetching").speed == 0.0 and meter.shown(5.2, "fetching").left is None
    assert meter.shown(9.0, "waiting").speed == 0.0
