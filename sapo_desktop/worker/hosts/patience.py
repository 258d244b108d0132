"""How long to wait for another process: by its activity, not by the clock if other programs use the processors.

A process that loads, or computes for us, may take any time as long as it makes progress: its limit is on time without
any activity. A host that handles strangers' texts has a limit on its total time, which stops while it waits for a
processor; so a hung host is killed in time, and a starved one is not. Time in which we suspended it, or did not run
ourselves, never counts.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

from sapo_desktop.core.sentences import Sentence, Text, sentence
from sapo_desktop.system import processes

LOOK_SECONDS = 5.0
"""Interval of the checks of a host's activity."""
FULL = 0.85
"""The busy share of all processors from which on the computer counts as busy."""
_OTHERS_FROM = 0.6
"""Other programs' share of that from which on they are named as the reason."""
_SAID_AFTER = 10.0
"""Seconds of loading before a message."""


Answer = TypeVar("Answer")


class Sight(NamedTuple):
    """One observation of a host and the computer. `at`, `node_cpu`: seconds; the latter of all processes of the
    node."""

    at: float
    effort: processes.Effort
    node_cpu: float
    processors: processes.Processors


def look(pid: int, at: float, *, loading: bool) -> Sight:
    """Observe process `pid`, and the whole node, which is slower, only while it loads."""
    node_cpu = processes.family_cpu() if loading else 0.0
    return Sight(at, processes.effort(pid), node_cpu, processes.processors())


def others_share(before: processes.Processors, now: processes.Processors, node_cpu: float) -> float | None:
    """The share of all processors that other programs used in between; None if the computer was not busy, or not
    because of them. `node_cpu`: seconds of processor time of the node meanwhile."""
    used = now.busy - before.busy
    others = used - node_cpu
    if now.share_since(before) < FULL or others < _OTHERS_FROM * used:
        return None
    return others / (now.total - before.total)


class Patience:
    """The remaining time of one call.

    Args:
        limit: seconds; None: unlimited. For a host that loads or computes: seconds without any activity.
    """

    def __init__(self, limit: float | None, *, loading: bool = False, computes: bool = False) -> None:
        self.limit = limit
        self.loading = loading
        self.by_effort = loading or computes
        self._spent = 0.0
        self._first: Sight | None = None
        self._reported = False

    @property
    def left(self) -> float:
        """Minimum remaining seconds."""
        return math.inf if self.limit is None else self.limit - self._spent

    def heard(self) -> None:
        """The host reported progress."""
        if self.by_effort:
            self._spent = 0.0

    def count(self, seconds: float, before: Sight | None, now: Sight) -> None:
        """Count so many seconds, in which the host was not suspended; `before`: the observation at their start, if
        any."""
        self._first = self._first or now
        if before is None:
            self._spent += 0.0 if self.by_effort else seconds
            return
        cpu = now.effort.cpu - before.effort.cpu
        if self.by_effort:
            self._spent = 0.0 if now.effort != before.effort else self._spent + seconds
        elif cpu > 0 and now.processors.share_since(before.processors) >= FULL:
            self._spent += min(seconds, cpu)
        else:
            self._spent += seconds

    def busy(self, now: Sight) -> Sentence | None:
        """The message that the computer is busy, once, if loading takes long for that reason."""
        first = self._first
        if first is None or self._reported or not self.loading or now.at - first.at < _SAID_AFTER:
            return None
        share = others_share(first.processors, now.processors, now.node_cpu - first.node_cpu)
        if share is None:
            return None
        self._reported = True
        return sentence(
            "The computer is busy: other programs use {share}% of its processors, so starting takes longer.",
            share=round(100 * share),
        )


class Suspension:
    """Whether the process is suspended."""

    def __init__(self) -> None:
        self.is_on = False
        self.switched = asyncio.Event()

    def switch(self, on: bool) -> None:
        self.is_on = on
        self.switched.set()


async def settled(
    answer: asyncio.Future[Answer],
    patience: Patience,
    pid: Callable[[], int | None],
    *,
    every: float | None = None,
    suspension: Suspension | None = None,
    on_busy: Callable[[Text], None] | None = None,
) -> bool:
    """Wait until `answer` is done; False if the time of process `pid` is used up before. `every`: seconds between
    checks of its activity."""
    clock, suspension = asyncio.get_running_loop().time, suspension or Suspension()
    seen: Sight | None = None  # most answers come before the first check
    while not answer.done():
        # Before the state is read: a change in between then wakes the wait at once instead of being missed.
        suspension.switched.clear()
        suspended, began = suspension.is_on, clock()
        if patience.left <= 0 and not suspended:
            return False
        span = min(every or LOOK_SECONDS, patience.left)
        switched = asyncio.ensure_future(suspension.switched.wait())
        either: set[asyncio.Future[Answer] | asyncio.Future[Literal[True]]] = {answer, switched}
        timeout = None if suspended or patience.limit is None else span
        try:
            await asyncio.wait(either, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            switched.cancel()
        process = pid()
        if answer.done() or patience.limit is None or process is None:
            continue
        now = look(process, clock(), loading=patience.loading)
        if not suspended:
            # A late check is our own delay.
            patience.count(min(clock() - began, span), seen, now)
            if on_busy is not None and (busy := patience.busy(now)) is not None:
                on_busy(busy)
        seen = now
    return True
