"""A rate, measured: what a peer, a link or a stranger may still cost."""

from __future__ import annotations


class Bucket:
    """A rate: holds at most `capacity`, gains `rate` a second; `now` is any monotonic clock."""

    __slots__ = ("_level", "_rate", "_time", "capacity")  # a relay has a dozen for each of 2,000 sessions

    def __init__(self, capacity: float, rate: float, now: float) -> None:
        self.capacity = capacity
        self._rate = rate
        self._level = capacity
        self._time = now

    def level(self, now: float) -> float:
        """What it holds now; a clock that goes back adds nothing."""
        self._level = max(self._level, min(self.capacity, self._level + self._gained(now)))
        return self._level

    def make_up(self, now: float) -> None:
        """Gain all that the time since the last look brings, above the capacity too: for who stood still in it, and
        now takes in one moment what came one after the other."""
        self._level += self._gained(now)

    def _gained(self, now: float) -> float:
        gained = max(0.0, now - self._time) * self._rate
        self._time = max(self._time, now)
        return gained

    def take(self, amount: float, now: float, *, slack: float = 0.0) -> bool:
        """Take `amount` if that leaves at least -`slack`; else leave it as it is."""
        if self.level(now) - amount < -slack:
            return False
        self._level -= amount
        return True

    def turn(self, capacity: float, rate: float, now: float) -> None:
        """From now on hold at most `capacity`, and gain `rate` a second."""
        self._level = min(self.level(now), capacity)
        self.capacity, self._rate = capacity, rate

    def hold(self, amount: float) -> None:
        """Hold this much now, whatever it held."""
        self._level = min(self.capacity, amount)

    @property
    def rate(self) -> float:
        """What it gains a second."""
        return self._rate
