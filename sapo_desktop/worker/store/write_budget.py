"""How often checkpoints may be written, so that no disk wears out: at most so many bytes in any 24 hours.

A token bucket: it holds half a day's allowance and gains half a day's allowance a day, so any 24 hours see at
most the whole (what it held plus what it gained). Pure: time is an argument.
"""

from __future__ import annotations

from collections.abc import Sequence

from sapo_desktop.core.records import Record

DAY = 86400.0


class Written(Record, frozen=True):
    """One checkpoint as history knows it."""

    time: float
    bytes: int


class WriteBudget:
    """`bytes_a_day`: the setting. `before`: what the last day or two saw written, oldest first; `now`:
    Unix time.
    """

    def __init__(self, bytes_a_day: float, before: Sequence[Written], now: float) -> None:
        self._day = bytes_a_day
        self._capacity = self._level = bytes_a_day / 2
        self._time = before[0].time if before else now
        for written in before:
            self.spend(written.bytes, written.time)
        self._refill(now)

    def allows(self, size: int, now: float) -> bool:
        """Whether a routine checkpoint of `size` bytes may be written.

        One larger than the bucket waits for a full bucket, which is once in a day or more; one larger than
        the whole daily allowance is never routine. Finishing and quitting do not ask.
        """
        self._refill(now)
        return size <= self._day and self._level >= min(size, self._capacity)

    def spend(self, size: int, now: float) -> None:
        """Take note of a checkpoint that was written, asked for or not."""
        self._refill(now)
        self._level = max(self._level - size, -self._capacity)

    def _refill(self, now: float) -> None:
        # A clock that was set back gains nothing and takes nothing.
        gained = max(0.0, now - self._time) / DAY * self._capacity
        self._level = min(self._capacity, self._level + gained)
        self._time = now
