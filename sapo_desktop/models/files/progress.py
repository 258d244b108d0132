"""Progress of a download or import: bytes, speed, time left. The shown value never decreases."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Self

from sapo_desktop.core.models import Stage, Transfer
from sapo_desktop.core.sentences import Text

Report = Callable[[Transfer], None]
_BETWEEN = 0.25
"""Minimum seconds between two reports of the same stage."""
_WINDOW = 15.0
"""Seconds over which the speed is measured."""
_SHORTEST = 1.0
"""Minimum seconds of transfer before a speed is shown."""


class Progress:
    """Counts the bytes of all files of one model and reports them, a few times a second; changes of stage at once.
    Inside `with`, it also reports while a connection stalls, so that the speed falls.

    Args:
        total: bytes of all files; 0 while unknown.
        clock: monotonic seconds.
    """

    def __init__(self, report: Report, total: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self._report, self._clock = report, clock
        self._whole = 0
        """Bytes of completed files."""
        self._part = 0
        """Bytes of the current file."""
        self._shown = 0
        self._arrivals: deque[tuple[float, int]] = deque()
        self._began: float | None = None
        self._last: tuple[Stage, str, Text] = ("asking", "", "")
        self._reported = float("-inf")
        self._lock = threading.RLock()  # the library may count in one thread while another one reports
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_reporting, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._ended.set()
        self._thread.join()

    def say(self, stage: Stage, file: str = "", text: Text = "") -> None:
        """Set the current stage."""
        with self._lock:
            now, this = self._clock(), (stage, file, text)
            if this != self._last or now - self._reported >= _BETWEEN:
                self._last, self._reported = this, now
                self._report(self._transfer(now))

    def begin(self, file: str, stage: Stage = "fetching") -> None:
        """A file starts from its beginning, whatever arrived before."""
        self._part = 0
        self.say(stage, file)

    def arrived(self, count: int) -> None:
        """Count bytes of the file that arrived; a negative number was lost."""
        with self._lock:
            now = self._clock()
            self._part += count
            self._began = now if self._began is None else self._began
            self._arrivals.append((now, max(0, count)))
            while self._arrivals[0][0] < now - _WINDOW:
                self._arrivals.popleft()
            self.say(*self._last)

    def finished(self, size: int) -> None:
        """The file is complete, whether it arrived now or before."""
        self._whole, self._part = self._whole + size, 0

    def _keep_reporting(self) -> None:
        while not self._ended.wait(_BETWEEN):
            with self._lock:
                self.say(*self._last)

    def _transfer(self, now: float) -> Transfer:
        stage, file, text = self._last
        done = self._whole + self._part
        self._shown = max(self._shown, min(done, self.total) if self.total else done)
        speed = self._speed(now) if stage in ("fetching", "copying") else 0.0
        left = max(0, self.total - done) / speed if speed > 0 and self.total else None
        return Transfer(stage=stage, file=file, done=self._shown, total=self.total, speed=speed, left=left, text=text)

    def _speed(self, now: float) -> float:
        """Recent bytes per second; 0 while too little arrived to tell."""
        if self._began is None or now - self._began < _SHORTEST:
            return 0.0
        counted = sum(count for moment, count in self._arrivals if moment >= now - _WINDOW)
        return counted / min(_WINDOW, now - self._began)
