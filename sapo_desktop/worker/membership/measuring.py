"""The swarm's reward as it was measured last, worked out in a thread: the bootstrap takes seconds where many are heard.

An estimate holds until another group is marked or another author leaves it. Who only looks is shown the one before
while the next is worked out.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import NamedTuple

from sapo_desktop.core.records import SwarmReward
from sapo_desktop.swarm.trust.reward import RewardMeter
from sapo_desktop.tasks.catalogue import TaskKey

_PATIENCE = 1.0
"""Seconds that who only looks waits for a new estimate."""
_HOLDS_SECONDS = 300.0
"""After these an estimate is anew without new marks too: old ones leave the window."""
_MOST_KEPT = 16
_SEED = 1


class _Basis(NamedTuple):
    """What an estimate rests on."""

    revision: int
    excluded: frozenset[bytes]
    period: int


class _Kept(NamedTuple):
    basis: _Basis
    reward: SwarmReward | None


class Measuring:
    """Estimates by their tasks. `excluded`: authors that are left out now; `clock`: as for the meter's marks."""

    def __init__(
        self, meter: RewardMeter, excluded: Callable[[], Collection[bytes]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._meter = meter
        self._excluded = excluded
        self._clock = clock
        self._kept: OrderedDict[frozenset[TaskKey], _Kept] = OrderedDict()
        self._running: dict[frozenset[TaskKey], asyncio.Task[SwarmReward | None]] = {}

    def known(self, tasks: Collection[TaskKey]) -> SwarmReward | None:
        """The last estimate on these tasks, at once; None where there is none."""
        kept = self._kept.get(frozenset(tasks))
        return kept.reward if kept else None

    async def exact(self, tasks: Collection[TaskKey]) -> SwarmReward | None:
        """The estimate on these tasks with all that is marked by now; None where nothing of them was lately."""
        wanted, basis = frozenset(tasks), self._basis()
        while (running := self._running.get(wanted)) is not None:
            await asyncio.wait({running})  # it may rest on less
        kept = self._kept.get(wanted)
        if kept is not None and kept.basis == basis:
            return kept.reward
        return await asyncio.shield(self._begin(wanted))

    async def look(self, tasks: Collection[TaskKey]) -> None:
        """Bring `known` up to date, or have it brought, where that takes long."""
        wanted = frozenset(tasks)
        kept = self._kept.get(wanted)
        if kept is not None and kept.basis == self._basis():
            return
        await asyncio.wait({self._running.get(wanted) or self._begin(wanted)}, timeout=_PATIENCE)

    def _begin(self, tasks: frozenset[TaskKey]) -> asyncio.Task[SwarmReward | None]:
        task = self._running[tasks] = asyncio.create_task(self._measure(tasks))
        return task

    async def _measure(self, tasks: frozenset[TaskKey]) -> SwarmReward | None:
        basis = self._basis()
        heard = self._meter.heard(tasks)  # a copy: marks come in meanwhile
        try:
            reward = await asyncio.to_thread(heard.estimate, basis.excluded, self._clock(), _SEED)
        finally:
            del self._running[tasks]
        self._kept[tasks] = _Kept(basis, reward)
        self._kept.move_to_end(tasks)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return reward

    def _basis(self) -> _Basis:
        return _Basis(self._meter.revision, frozenset(self._excluded()), int(self._clock() // _HOLDS_SECONDS))
