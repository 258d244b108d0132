"""Bytes per second, with a clock that only sleeping moves."""

import asyncio

import pytest

from sapo_desktop.core.network.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


async def test_all_together_get_the_rate_and_the_first_comes_first() -> None:
    clock = Clock()
    pace = Pace(1000, clock, clock.sleep)
    done: list[int] = []

    async def send(number: int) -> None:
        for _ in range(5):
            await pace.take(500)
        done.append(number)

    await asyncio.gather(send(1), send(2))
    assert (done, pace.passed) == ([1, 2], 5000)
    assert clock.now == pytest.approx(4.5), "the last piece is owed, not waited for"


async def test_another_rate_holds_for_what_waits_already() -> None:
    clock = Clock()
    pace = Pace(10, clock, clock.sleep)
    await pace.take(10_000)
    waiting = asyncio.create_task(pace.take(1))
    await asyncio.sleep(0)
    pace.rate = 100_000
    await waiting
    assert clock.now < 0.5


async def test_without_a_rate_nothing_waits() -> None:
    clock = Clock()
    pace = Pace(0, clock, clock.sleep)
    for _ in range(100):
        await pace.take(10**9)
    assert clock.now == 0.0 and pace.passed == 100 * 10**9
