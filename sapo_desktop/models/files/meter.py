"""How far a download is: bytes, speed, time left. The time is an argument; `done` never goes back.

Bytes may be lost (a file that turns out wrong is fetched anew); then the meter stands still until they are made up for.
"""

from __future__ import annotations

import threading
from collections import deque

from sapo_desktop.core.models import Stage, Transfer
from sapo_desktop.core.sentences import Text

_WINDOW = 15.0
"""Seconds over which the speed is taken."""
_SHORTEST = 1.0
"""Seconds of transfer before a speed is named."""


class Meter:
    """Counts bytes of all files of one model.

    Args:
        total: bytes of all files; 0 while unknown.
    """

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.done = 0
        self._here = 0
        self._arrivals: deque[tuple[float, int]] = deque()
        self._lock = threading.Lock()  # one thread counts, another one tells
        self._began: float | None = None

    def present(self, count: int) -> None:
        """So many bytes are there already, or (negative) are lost. They say nothing about the speed."""
        self._here += count
        self.done = max(self.done, self._here)

    def arrived(self, count: int, now: float) -> None:
        """So many bytes have come in."""
        self.present(count)
        self._began = now if self._began is None else self._began
        with self._lock:
            self._arrivals.append((now, count))
            while self._arrivals[0][0] < now - _WINDOW:
                self._arrivals.popleft()

    @property
    def missing(self) -> int:
        """Bytes that have yet to come."""
        return max(0, self.total - self._here)

    def speed(self, now: float) -> float:
        """Bytes a second over the last seconds; 0 while too little has come to tell."""
        if self._began is None or now - self._began < _SHORTEST:
            return 0.0
        with self._lock:
            counted = sum(count for time, count in self._arrivals if time >= now - _WINDOW)
        return counted / min(_WINDOW, now - self._began)

    def shown(self, now: float, stage: Stage, file: str = "", text: Text = "") -> Transfer:
        """What to tell at this moment."""
        speed = self.speed(now) if stage == "fetching" else 0.0
        return Transfer(
            stage=stage,
            file=file,
            done=min(self.done, self.total) if self.total else self.done,
            total=self.total,
            speed=speed,
            left=self.missing / speed if speed > 0 and self.total else None,
            text=text,
        )
