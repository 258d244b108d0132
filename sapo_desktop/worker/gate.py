"""The gate between the node's state and its computing: who may go on, and who is suspended.

One place changes the state (worker/state.py), says so, and makes it true: while paused the hosts are suspended
where they stand, so a pause takes effect within a second whatever they compute. A request that needs a host
although the node is paused wakes them for as long as it takes; the round itself then stops at its next phase.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from sapo_desktop.core.why import Starting, Why, in_english
from sapo_desktop.worker.control.messages import Event, StateChanged
from sapo_desktop.worker.governor import Activity, Decision
from sapo_desktop.worker.state import NodeState, Trigger, transition

_AT_WORK: dict[Activity, Trigger | None] = {
    "work": Trigger.RESUME,
    "pause": Trigger.PAUSE,
    "finish": Trigger.FINISH,
    "idle": None,
}
"""What leads to an activity from another one; a node that works becomes idle by its rounds' end only."""
_TRIGGERS = {
    (NodeState.STARTING, "work"): Trigger.READY,
    (NodeState.STARTING, "finish"): Trigger.READY,
    (NodeState.STARTING, "idle"): Trigger.READY_IDLE,
    (NodeState.IDLE, "work"): Trigger.START,
}


class Suspendable(Protocol):
    """A host, as far as the gate is concerned."""

    def suspend(self) -> None: ...

    def resume(self) -> None: ...


class Gate:
    """The node's state, made true. `hosts` are suspended while it is paused."""

    def __init__(self, hosts: Sequence[Suspendable], publish: Callable[[Event], None]) -> None:
        self.state = NodeState.STARTING
        self.why: Why = Starting()
        self._hosts = hosts
        self._publish = publish
        self._open = asyncio.Event()
        self._shut = asyncio.Event()
        self._shut.set()
        self._closed_at = time.perf_counter()
        self._closed_seconds = 0.0
        self._awake = 0
        self._resume_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def reason(self) -> str:
        """One sentence for a person, in English."""
        return in_english(self.why, time.time())

    def move(self, trigger: Trigger, why: Why) -> None:
        """Change state; UsageError where `trigger` makes no sense now."""
        before, self.state = self.state, transition(self.state, trigger)
        told, self.why = self.why, why
        self._open_or_close(self.state in (NodeState.WORKING, NodeState.FINISHING))
        if self.state is not NodeState.PAUSED:
            self.cancel_timer()  # a pause that something else ended must not resume anything later
        self._suspend_or_resume()
        if (before, told) != (self.state, why):
            event = StateChanged(state=self.state.value, reason=self.reason, why=why, resume_at=self._resume_at)
            self._publish(event)

    def follow(self, decision: Decision, again: Callable[[], None]) -> None:
        """Do as decided; `again` is called when a new decision is due."""
        self._set_timer(decision.resume_at, again)
        trigger = _TRIGGERS.get((self.state, decision.activity), _AT_WORK[decision.activity])
        if trigger is not None:
            self.move(trigger, decision.why)

    async def wait(self) -> None:
        """Return when work may go on."""
        await self._open.wait()

    async def wait_shut(self) -> None:
        """Return when no work may go on."""
        await self._shut.wait()

    @property
    def is_open(self) -> bool:
        return self._open.is_set()

    def clock(self) -> float:
        """Seconds by a clock that stands still while work may not go on: a pause is no part of what it interrupts."""
        return (time.perf_counter() if self.is_open else self._closed_at) - self._closed_seconds

    @property
    def resumes_in(self) -> float | None:
        """Seconds until a timed pause ends."""
        return None if self._resume_at is None else max(0.0, self._resume_at - time.time())

    def cancel_timer(self) -> None:
        self._resume_at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, at: float | None, again: Callable[[], None]) -> None:
        if at == self._resume_at and (at is None or self._timer is not None):
            return
        self.cancel_timer()
        self._resume_at = at
        if at is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, at - time.time()), self._due, again)

    def _due(self, again: Callable[[], None]) -> None:
        # Gone first: where the clock was set back meanwhile, the same moment is waited for again.
        self._timer = None
        again()

    @contextlib.asynccontextmanager
    async def awake(self) -> AsyncIterator[None]:
        """Let the hosts compute for a request although the node is paused."""
        self._awake += 1
        self._suspend_or_resume()
        try:
            yield
        finally:
            self._awake -= 1
            self._suspend_or_resume()

    def _open_or_close(self, may_work: bool) -> None:
        if may_work and not self.is_open:
            self._closed_seconds += time.perf_counter() - self._closed_at
            self._open.set()
            self._shut.clear()
        elif not may_work and self.is_open:
            self._closed_at = time.perf_counter()
            self._open.clear()
            self._shut.set()

    def _suspend_or_resume(self) -> None:
        asleep = self.state is NodeState.PAUSED and not self._awake
        for host in self._hosts:
            if asleep:
                host.suspend()
            else:
                host.resume()
