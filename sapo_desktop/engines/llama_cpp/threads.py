"""How many threads to compute with: as many as get the processor to themselves.

Threads that wait for each other after every operation lose far more than their share on a busy machine: with both of
two cores kept busy by others, two threads made a third of what one made. So the share of the processor that ours got
is watched, CPU time against wall time. One thread begins; while it is alone their number is doubled, up to what the
settings allow; below four fifths of the processor it is halved, and doubled again after a while of being alone, each
time later if that was in vain. Time is an argument; nothing is measured here.
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW = 0.5
"""Seconds that a share is taken over."""
CROWDED = 0.8
"""Share of the wanted processor time below which threads wait for each other."""
ALONE = 0.9
FIRST_PATIENCE = 10.0
LONGEST_PATIENCE = 320.0


@dataclass(frozen=True)
class Used:
    """Seconds since any fixed moment."""

    wall: float
    cpu: float
    """Of all threads of this process."""


class ThreadPace:
    """The number of threads, between 1 and `most`."""

    def __init__(self, most: int, start: Used) -> None:
        self.most = max(1, most)
        self.count = 1
        self._since = start
        self._alone_since = start.wall
        self._patience = 0.0
        """Seconds of being alone before more threads are tried; none until it was crowded once."""

    def begin(self, now: Used) -> None:
        """Computing goes on after a rest, which says nothing."""
        self._alone_since += now.wall - self._since.wall
        self._since = now

    def passed(self, now: Used) -> int:
        """Take note of a pass; return how many threads the next one should use."""
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
            # More threads that were alone for a while were no mistake: others have come since.
            before = 0.0 if alone >= FIRST_PATIENCE else self._patience
            self._patience = min(LONGEST_PATIENCE, max(FIRST_PATIENCE, 2 * before))
        self._alone_since = now.wall
        self.count = max(1, self.count // 2)
