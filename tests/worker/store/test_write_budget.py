"""No 24 hours see more written than allowed, whatever the sizes, the pace and the restarts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapo_desktop.worker.store.write_budget import DAY, WriteBudget, Written

ALLOWANCE = 10e9


def simulate(size: int, every: float, days: int, restart_after: int | None = None) -> list[Written]:
    """Ask for a checkpoint of `size` bytes every `every` seconds; the worker restarts every so many asks."""
    written: list[Written] = []
    budget = WriteBudget(ALLOWANCE, [], 0.0)
    for ask in range(int(days * DAY / every)):
        now = ask * every
        if restart_after and ask % restart_after == 0:
            budget = WriteBudget(ALLOWANCE, [w for w in written if w.time >= now - 2 * DAY], now)
        if budget.allows(size, now):
            budget.spend(size, now)
            written.append(Written(time=now, bytes=size))
    return written


def most_in_a_day(written: list[Written]) -> int:
    most, total, start = 0, 0, 0
    for last in written:
        total += last.bytes
        while written[start].time <= last.time - DAY:
            total -= written[start].bytes
            start += 1
        most = max(most, total)
    return most


@pytest.mark.parametrize("size", [10**7, 10**9, 4 * 10**9, 7 * 10**9, 10**10])
@pytest.mark.parametrize("restart_after", [None, 1000, 3])
def test_no_day_exceeds_the_allowance_and_none_is_without(size: int, restart_after: int | None) -> None:
    days = 6
    written = simulate(size, 600.0, days, restart_after)
    assert most_in_a_day(written) <= ALLOWANCE
    asked = size * days * DAY / 600.0
    assert sum(w.bytes for w in written) >= min(asked, 0.4 * ALLOWANCE * (days - 2))  # half a day's, long run


def test_small_checkpoints_are_written_at_every_round() -> None:
    assert len(simulate(10**6, 30.0, 1)) == DAY / 30


def test_one_larger_than_the_day_is_never_routine() -> None:
    assert simulate(10**10 + 1, 3600.0, 3) == []


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 20_000), st.integers(1, 6 * 10**9)), max_size=60),
    st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_a_restart_forgets_nothing(asks: list[tuple[float, int]], restarts: list[bool]) -> None:
    now, written = 0.0, list[Written]()
    budget = WriteBudget(ALLOWANCE, [], now)
    for (pause, size), restart in zip(asks, restarts, strict=False):
        now += pause
        if restart:
            budget = WriteBudget(ALLOWANCE, [w for w in written if w.time >= now - 2 * DAY], now)
        if budget.allows(size, now):
            budget.spend(size, now)
            written.append(Written(time=now, bytes=size))
    assert not written or most_in_a_day(written) <= ALLOWANCE + 1


def test_what_had_to_be_written_counts() -> None:
    budget = WriteBudget(ALLOWANCE, [], 0.0)
    for _ in range(6):
        budget.spend(10**9, 0.0)
    assert not budget.allows(10**6, 0.0)
    assert not budget.allows(10**6, 0.19 * DAY)  # 1 GB over what it held: a fifth of a day at 5 GB a day
    assert budget.allows(10**6, 0.21 * DAY)


def test_a_clock_set_back_gains_nothing() -> None:
    budget = WriteBudget(ALLOWANCE, [], 1000.0)
    budget.spend(5 * 10**9, 1000.0)
    assert not budget.allows(10**6, 0.0)
    assert not budget.allows(10**6, 10.0)
