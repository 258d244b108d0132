"""How many threads to compute with: as many as get the processor to themselves.

Threads that wait for each other after every operation lose far more than their share on a busy computer. With both of
two cores in use by others, two threads were a third as fast as one. So this compares our CPU time with wall time. It
starts with one thread. While it runs undisturbed, the number doubles, up to the settings' limit. Below four fifths of
the processor it halves, and doubles again after an undisturbed while, which grows after each failed attempt. Time is an
argument; nothing is measured here.
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW = 0.5
"""Seconds over which a share is measured."""
CROWDED = 0.8
"""Share of the wanted processor time below which the processor counts as crowded."""
ALONE = 0.9
FIRST_PATIENCE = 10.0
LONGEST_PATIENCE = 320.0


@dataclass(frozen=True)
class Used:
    """Seconds since a fixed moment."""

    wall: float
    cpu: float
    """CPU seconds of all threads of this process."""


class ThreadPace:
    """The number of threads, between 1 and `most`."""

    def __init__(self, most: int, start: Used) -> None:
        self.most = max(1, most)
        self.count = 1
        self._since = start
        self._alone_since = start.wall
        self._patience = 0.0
        """Undisturbed seconds before more threads are tried; 0 until it was crowded once."""

    def begin(self, now: Used) -> None:
        """Computing resumes after a rest, which is not measured."""
        self._alone_since += now.wall - self._since.wall
        self._since = now

    def passed(self, now: Used) -> int:
        """Record a pass; return the number of threads for the next one."""
        wall = now.wall - self._since.wall
        if wall < WINDOW:
            return self.count
        share = (now.cpu - self._since.cpu) / (wall * self.count)
        self._since = now
        if share < CROWDED:
            self._crowded(now)
        elif share < ALONE:
            self._alone_since = now.wall
        elif self.count < self.most and now.wall - self._alone_since >= self._patience:
            self.count = min(self.most, 2 * self.count)
            self._alone_since = now.wall
        return self.count

    def _crowded(self, now: Used) -> None:
        if self.count > 1:
            alone = now.wall - self._alone_since
            # More threads that ran undisturbed for a while were no mistake; other programs started since.
            before = 0.0 if alone >= FIRST_PATIENCE else self._patience
            self._patience = min(LONGEST_PATIENCE, max(FIRST_PATIENCE, 2 * before))
        self._alone_since = now.wall
        self.count = max(1, self.count // 2)
