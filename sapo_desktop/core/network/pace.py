"""A shared limit of bytes per second for all connections of a node."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

_STEP_SECONDS = 0.25
"""The longest single wait, so that a new rate applies soon."""


class Pace:
    """Lets bytes pass in the order of the requests, at `rate`.

    Args:
        clock: monotonic seconds.
    """

    def __init__(
        self,
        rate: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.rate = rate
        """Bytes per second; 0: no limit."""
        self.passed = 0
        """Total bytes so far."""
        self._clock, self._sleep = clock, sleep
        self._owed = 0.0
        self._time = clock()
        self._turn = asyncio.Lock()

    async def take(self, size: int) -> None:
        """Return when so many bytes may pass."""
        if not self.rate and not self._turn.locked():
            self.passed += size  # nobody waits, so there is nothing to remember
            return
        async with self._turn:
            while (wait := self.wait()) > 0:
                await self._sleep(min(wait, _STEP_SECONDS))
            self.note(size)

    def wait(self) -> float:
        """Seconds until the next bytes may pass."""
        now = self._clock()
        self._owed = max(0.0, self._owed - (now - self._time) * self.rate) if self.rate else 0.0
        self._time = now
        return self._owed / self.rate if self.rate else 0.0

    def note(self, size: int) -> None:
        """Count bytes that passed."""
        self.passed += size
        self._owed += size
