"""What a node takes of its computer, measured: shown beside each cap, and added up as energy."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sapo_desktop.core.settings import Settings
from sapo_desktop.system.presence.energy import Energy
from sapo_desktop.worker.control.messages.facts import Usage

KEEP_SECONDS = 60.0
"""Between writes of what was added up."""


class Taken(NamedTuple):
    """As of one look."""

    cpu: Mapping[int, float]
    """Seconds of processor time of each process since it began."""
    memory: int
    sent: int
    """Bytes to peers so far."""
    received: int


class Meter:
    """Looks, again and again.

    Args:
        take: a look at the node.
        keep: told joules that are to be added to what is kept.
        kept: joules that are kept already.
    """

    def __init__(
        self,
        take: Callable[[], Taken],
        keep: Callable[[int], None],
        kept: int,
        clock: Callable[[], float] = time.monotonic,
        energy: Energy | None = None,
    ) -> None:
        self._take, self._keep, self._clock = take, keep, clock
        self._energy = energy or Energy()
        self._before = take()
        self._time = self._kept_at = clock()
        self._unkept = 0.0
        self.now = Usage(joules=kept)
        self.disk = 0
        """Bytes, as they were counted last."""

    def look(self, settings: Settings) -> Usage:
        """What was taken since the last look."""
        now, taken, before = self._clock(), self._take(), self._before
        passed = max(1e-3, now - self._time)
        cpu = sum(max(0.0, spent - before.cpu.get(pid, spent)) for pid, spent in taken.cpu.items())
        joules = self._energy.look(cpu, settings.core_watts, list(taken.cpu))
        self._before, self._time = taken, now
        self._unkept += joules
        self.now = Usage(
            cores=cpu / passed,
            memory=taken.memory,
            sent=max(0, taken.sent - before.sent) / passed,
            received=max(0, taken.received - before.received) / passed,
            disk=self.disk,
            watts=joules / passed,
            joules=self.now.joules + joules,
            measured=self._energy.measured,
        )
        if now - self._kept_at >= KEEP_SECONDS:
            self.keep()
        return self.now

    def keep(self) -> None:
        """Have what was added up written."""
        whole, self._kept_at = int(self._unkept), self._clock()
        if whole:
            self._unkept -= whole
            self._keep(whole)
