"""How long a download waits for a hub, how often it tries again, and when it gives up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from sapo_desktop.core.errors import DownloadError, Explained
from sapo_desktop.core.sentences import Text, Value, sentence

Sleep = Callable[[float], None]


@dataclass(frozen=True)
class Patience:
    """Times are seconds. With the defaults a dead line is given up after about nine minutes."""

    tries: int = 12
    """Failures in a row, without bytes in between that are worth it."""
    worth: int = 64 * 1024
    """Bytes that have to arrive so that a failure counts as the first one again."""
    first: float = 1.0
    longest: float = 60.0
    head: float = 90.0
    """From a request to the end of its answer's head."""
    silence: float = 30.0
    """Between two pieces of an answer."""
    slowest: float = 1000.0
    """Bytes a second; a body slower than that over `window` is dropped and asked for again."""
    window: float = 60.0
    longest_asked: float = 3600.0
    """Most that a hub may ask us to wait."""


class Trouble(Explained):
    """Something that may be gone at the next try. `wait`: seconds that the hub asks for."""

    def __init__(self, text: Text, wait: float | None = None, **values: Value) -> None:
        super().__init__(text, in_terminal="", **values)
        self.wait = wait


class Retries:
    """Counts failures in a row and waits between tries, longer each time, never all nodes at once."""

    def __init__(self, patience: Patience, sleep: Sleep = time.sleep, draw: Callable[[], float] = random.random):
        self.patience = patience
        self._sleep = sleep
        self._draw = draw
        self._failures = 0

    def moved(self) -> None:
        """Enough has arrived: the next failure is a first one."""
        self._failures = 0

    def wait(self, trouble: Trouble, say: Callable[[Text], None]) -> None:
        """Wait before the next try, and say so.

        Raises:
            DownloadError: it was tried often enough, or the hub asks for too long a wait.
        """
        self._failures += 1
        if self._failures >= self.patience.tries:
            raise DownloadError(
                "{trouble} After {count} tries this was given up. What has arrived is kept: try again later, and "
                "it goes on from there.",
                trouble=trouble.text,
                count=self._failures,
            ) from trouble
        if trouble.wait is not None and trouble.wait > self.patience.longest_asked:
            raise DownloadError(
                "{trouble} It asks to wait {minutes} minutes: try again then.",
                trouble=trouble.text,
                minutes=round(trouble.wait / 60),
            ) from trouble
        seconds = self._seconds(trouble.wait)
        say(
            sentence(
                "{trouble} Trying again in {seconds} s ({count} of {tries}).",
                trouble=trouble.text,
                seconds=round(seconds),
                count=self._failures + 1,
                tries=self.patience.tries,
            )
        )
        self._sleep(seconds)

    def _seconds(self, asked: float | None) -> float:
        """What was asked, and a little more; else a time that doubles, by half at random."""
        if asked is not None:
            return asked + self._draw()
        limit = min(self.patience.longest, self.patience.first * 2.0 ** (self._failures - 1))
        return limit * (0.5 + 0.5 * self._draw())
