"""The gate between the node's state and its computing: who may go on, and who is suspended.

One place changes the state (core/state.py), says so, and makes it true: while paused the hosts are suspended
where they stand, so a pause takes effect within a second whatever they compute. A request that needs a host
although the node is paused wakes them for as long as it takes; the round itself then stops at its next phase.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.state import NodeState, Trigger, transition
from sapo_desktop.worker.messages import Event, StateChanged


class Suspendable(Protocol):
    """A host, as far as the gate is concerned."""

    def suspend(self) -> None: ...

    def resume(self) -> None: ...


class Gate:
    """The node's state, made true. `hosts` are suspended while it is paused."""

    def __init__(self, hosts: Sequence[Suspendable], publish: Callable[[Event], None]) -> None:
        self.state = NodeState.STARTING
        self.reason = "Starting"
        self._hosts = hosts
        self._publish = publish
        self._open = asyncio.Event()
        self._awake = 0
        self._resume_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def move(self, trigger: Trigger, reason: str) -> None:
        """Change state; UsageError where `trigger` makes no sense now."""
        self.state = transition(self.state, trigger)
        self.reason = reason
        if self.state in (NodeState.WORKING, NodeState.FINISHING):
            self._open.set()
        else:
            self._open.clear()
        if self.state is not NodeState.PAUSED:
            self.cancel_timer()  # a pause that something else ended must not resume anything later
        self._suspend_or_resume()
        self._publish(StateChanged(state=self.state.value, reason=reason))

    def explain(self, reason: str) -> None:
        """Another reason for the same state."""
        if reason != self.reason:
            self.reason = reason
            self._publish(StateChanged(state=self.state.value, reason=reason))

    async def wait(self) -> None:
        """Return when work may go on."""
        await self._open.wait()

    @property
    def is_open(self) -> bool:
        return self._open.is_set()

    def pause(self, seconds: float | None, resume: Callable[[], None]) -> None:
        """Pause now; with `seconds`, call `resume` after that long unless something else comes first."""
        if seconds is not None and not 0 < seconds < 10**8:
            raise UsageError("Pause for a time above zero, such as 15m or 1h.")
        self.cancel_timer()
        if seconds is None:
            self.move(Trigger.PAUSE, "Paused")
            return
        until = time.localtime(time.time() + seconds)
        form = "%H:%M" if seconds < 20 * 3600 else "%A %H:%M"
        self.move(Trigger.PAUSE, f"Paused until {time.strftime(form, until)}")
        loop = asyncio.get_running_loop()
        self._resume_at = loop.time() + seconds
        self._timer = loop.call_later(seconds, resume)

    def cancel_timer(self) -> None:
        self._resume_at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def resumes_in(self) -> float | None:
        """Seconds until a timed pause ends."""
        if self._resume_at is None:
            return None
        return max(0.0, self._resume_at - asyncio.get_running_loop().time())

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

    def _suspend_or_resume(self) -> None:
        asleep = self.state is NodeState.PAUSED and not self._awake
        for host in self._hosts:
            if asleep:
                host.suspend()
            else:
                host.resume()
