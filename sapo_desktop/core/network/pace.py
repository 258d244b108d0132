"""Bytes a second, for all connections of a node together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

_STEP_SECONDS = 0.25
"""The longest wait in one go, so that another rate holds soon."""


class Pace:
    """Lets bytes pass in the order in which they ask, as fast as `rate` says.

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
        """Bytes a second; 0: no limit."""
        self.passed = 0
        """Bytes so far."""
        self._clock, self._sleep = clock, sleep
        self._owed = 0.0
        self._time = clock()
        self._turn = asyncio.Lock()

    async def take(self, size: int) -> None:
        """Return once so many bytes may pass."""
        if not self.rate and not self._turn.locked():
            self.passed += size  # nobody waits, and nothing is to be remembered
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
        """So many bytes passed."""
        self.passed += size
        self._owed += size
