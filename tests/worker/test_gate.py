import asyncio

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.state import NodeState, Trigger
from sapo_desktop.worker.gate import Gate
from sapo_desktop.worker.messages import Event, StateChanged
from tests.worker.fakes import FakeHost


def test_a_pause_suspends_and_a_request_wakes_for_as_long_as_it_takes() -> None:
    async def scene() -> None:
        host, events = FakeHost(), list[Event]()
        gate = Gate([host], events.append)
        gate.move(Trigger.READY, "Training")
        assert gate.is_open and not host.suspended
        gate.pause(None, lambda: None)
        assert host.suspended and not gate.is_open
        async with gate.awake():
            async with gate.awake():
                assert not host.suspended
            assert not host.suspended
        assert host.suspended
        gate.move(Trigger.RESUME, "Training")
        assert not host.suspended
        states = [event.state for event in events if isinstance(event, StateChanged)]
        assert states == ["working", "paused", "working"]

    asyncio.run(scene())


def test_a_timed_pause_ends_by_itself_and_says_when() -> None:
    async def scene() -> None:
        resumed = asyncio.Event()
        gate = Gate([], lambda event: None)
        gate.move(Trigger.READY, "Training")
        gate.pause(0.01, resumed.set)
        assert gate.reason.startswith("Paused until")
        assert gate.resumes_in is not None and gate.resumes_in <= 0.01
        await asyncio.wait_for(resumed.wait(), 5)

    asyncio.run(scene())


def test_another_pause_replaces_the_timer() -> None:
    async def scene() -> None:
        gate = Gate([], lambda event: None)
        gate.move(Trigger.READY, "Training")
        gate.pause(3600, lambda: None)
        gate.pause(None, lambda: None)
        assert gate.resumes_in is None
        assert gate.state is NodeState.PAUSED

    asyncio.run(scene())


@pytest.mark.parametrize("seconds", [0.0, -5.0, 1e12, float("nan")])
def test_a_pause_of_no_time_is_refused(seconds: float) -> None:
    gate = Gate([], lambda event: None)
    with pytest.raises(UsageError, match="15m"):
        gate.pause(seconds, lambda: None)


def test_work_waits_at_the_gate() -> None:
    async def scene() -> None:
        gate = Gate([], lambda event: None)
        waiting = asyncio.create_task(gate.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        gate.move(Trigger.READY, "Training")
        await asyncio.wait_for(waiting, 5)

    asyncio.run(scene())
