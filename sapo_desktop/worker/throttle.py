"""Keeps what a node computes within its share of the processor, from one moment to the next.

A number of threads is a promise about the next round; this one holds at once, on every system, and for all processes of
the node together: who took more than it may is suspended until time has made up for it. Pure but for what it is handed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

TICK_SECONDS = 0.1
"""Between looks, while something may compute."""
_MEAN_SECONDS = 10.0
SLACK_SECONDS = 0.2
"""Of processor time that may be taken ahead, for each core."""


class Throttle:
    """A bucket of processor time.

    Args:
        spent: seconds of processor time that each process of the node (by its id) has used since it began.
        hold: suspends what computes, or lets it go on.
        clock: monotonic seconds.
    """

    def __init__(
        self, spent: Callable[[], Mapping[int, float]], hold: Callable[[bool], None], clock: Callable[[], float]
    ) -> None:
        self._spent, self._hold, self._clock = spent, hold, clock
        self._seen = dict(spent())
        self._time = clock()
        self._left = 0.0
        self.used = 0.0
        """Cores in use, as a mean over some seconds."""

    def look(self, cores: float) -> None:
        """Count what was used since the last look; at most `cores` seconds of it a second are free."""
        now, seen = self._clock(), dict(self._spent())
        passed = max(1e-6, now - self._time)
        used = sum(max(0.0, spent - self._seen.get(pid, spent)) for pid, spent in seen.items())
        self._time, self._seen = now, seen
        self._left = min(SLACK_SECONDS * cores, self._left + passed * cores - used)
        weight = min(1.0, passed / _MEAN_SECONDS)
        self.used += weight * (used / passed - self.used)
        self._hold(self._left < 0)
