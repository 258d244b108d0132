"""A token bucket: how much a peer, a link or a stranger may still cost."""

from __future__ import annotations


class Bucket:
    """A rate limit that holds at most `capacity` and gains `rate` per second; `now` is any monotonic clock. Only
    `make_up` can raise it above the capacity."""

    __slots__ = ("_level", "_rate", "_time", "capacity")  # a relay has a dozen for each of 2,000 sessions

    def __init__(self, capacity: float, rate: float, now: float) -> None:
        self.capacity = capacity
        self._rate = rate
        self._level = capacity
        self._time = now

    def level(self, now: float) -> float:
        """What it holds now; a clock that goes back adds nothing."""
        gained = max(0.0, now - self._time) * self._rate
        self._time = max(self._time, now)
        if self._level > self.capacity:
            self._level = max(self.capacity, self._level - gained)
        else:
            self._level = min(self.capacity, self._level + gained)
        return self._level

    def make_up(self, since: float, now: float) -> None:
        """Gain what the time since then brings, even above the capacity. A reader that stalled receives at once what
        arrived over time."""
        self._level = self.level(since) + max(0.0, now - max(since, self._time)) * self._rate
        self._time = max(self._time, now)

    def take(self, amount: float, now: float, *, slack: float = 0.0) -> bool:
        """Take `amount` if that leaves at least -`slack`; otherwise take nothing."""
        if self.level(now) - amount < -slack:
            return False
        self._level -= amount
        return True

    def turn(self, capacity: float, rate: float, now: float) -> None:
        """From now on hold at most `capacity`, and gain `rate` per second."""
        self._level = min(self.level(now), capacity)
        self.capacity, self._rate = capacity, rate

    def hold(self, amount: float) -> None:
        """Set the current level, whatever it was."""
        self._level = min(self.capacity, amount)

    @property
    def rate(self) -> float:
        """Gain per second."""
        return self._rate
