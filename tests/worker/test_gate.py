import asyncio
import time

from sapo_desktop.core.why import Paused, Ready, RoundsDone, Training, Why
from sapo_desktop.worker.control.messages import Event, StateChanged
from sapo_desktop.worker.gate import Gate
from sapo_desktop.worker.governor import Activity, Decision
from sapo_desktop.worker.state import NodeState, Trigger
from tests.worker.fakes import FakeHost


def decision(activity: Activity, why: Why, resume_at: float | None = None) -> Decision:
    return Decision(activity=activity, why=why, threads=1, silo=True, low_priority=True, resume_at=resume_at)


WORK = decision("work", Training(round=7))
PAUSE = decision("pause", Paused())


def test_a_pause_suspends_and_a_request_wakes_for_as_long_as_it_takes() -> None:
    async def scene() -> None:
        host, events = FakeHost(), list[Event]()
        gate = Gate([host], events.append)
        gate.follow(WORK, lambda: None)
        assert gate.is_open and not host.suspended
        gate.follow(PAUSE, lambda: None)
        assert host.suspended and not gate.is_open
        async with gate.awake():
            async with gate.awake():
                assert not host.suspended
            assert not host.suspended
        assert host.suspended
        gate.follow(WORK, lambda: None)
        assert not host.suspended
        states = [event.state for event in events if isinstance(event, StateChanged)]
        assert states == ["working", "paused", "working"]

    asyncio.run(scene())


def test_a_decision_is_due_when_a_pause_is_over() -> None:
    async def scene() -> None:
        due = asyncio.Event()
        gate = Gate([], lambda event: None)
        until = time.time() + 0.01
        gate.follow(decision("pause", Paused(until=until), until), due.set)
        assert gate.reason.startswith("Paused until")
        assert gate.resumes_in is not None and gate.resumes_in <= 0.01
        await asyncio.wait_for(due.wait(), 5)

    asyncio.run(scene())


def test_a_moment_that_came_too_early_is_waited_for_again() -> None:
    async def scene() -> None:
        gate = Gate([], lambda event: None)
        until = time.time() + 0.01
        again, looked = asyncio.Event(), list[float]()

        def look() -> None:
            looked.append(time.time())
            if len(looked) > 1:
                again.set()
                return
            gate.follow(decision("pause", Paused(until=until), until), look)  # the clock says that it is not over

        gate.follow(decision("pause", Paused(until=until), until), look)
        await asyncio.wait_for(again.wait(), 5)

    asyncio.run(scene())


def test_a_pause_that_was_overtaken_leads_to_nothing() -> None:
    async def scene() -> None:
        gate = Gate([], lambda event: None)
        gate.follow(WORK, lambda: None)
        until = time.time() + 3600
        gate.follow(decision("pause", Paused(until=until), until), lambda: None)
        gate.move(Trigger.ROUNDS_DONE, RoundsDone(round=5))
        assert gate.resumes_in is None and gate.state is NodeState.IDLE

    asyncio.run(scene())


def test_a_pause_is_no_part_of_the_time_that_work_takes() -> None:
    gate = Gate([], lambda event: None)
    before = gate.clock()
    time.sleep(0.002)
    assert gate.clock() == before, "nothing works yet"
    gate.follow(WORK, lambda: None)
    began = gate.clock()
    assert began - before < 0.002
    gate.follow(PAUSE, lambda: None)
    paused = gate.clock()
    time.sleep(0.002)
    gate.follow(WORK, lambda: None)
    assert began <= paused <= gate.clock() < paused + 0.002


def test_the_same_reason_is_told_once() -> None:
    events = list[Event]()
    gate = Gate([], events.append)
    for _ in range(3):
        gate.follow(WORK, lambda: None)
    gate.follow(decision("work", Training(round=8)), lambda: None)
    told = [event.why for event in events if isinstance(event, StateChanged)]
    assert told == [Training(round=7), Training(round=8)]


def test_a_node_that_nobody_wants_to_work_waits_for_requests() -> None:
    gate = Gate([], lambda event: None)
    gate.follow(decision("idle", Ready()), lambda: None)
    assert gate.state is NodeState.IDLE and not gate.is_open


def test_work_waits_at_the_gate() -> None:
    async def scene() -> None:
        gate = Gate([], lambda event: None)
        waiting = asyncio.create_task(gate.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        gate.follow(WORK, lambda: None)
        await asyncio.wait_for(waiting, 5)

    asyncio.run(scene())
