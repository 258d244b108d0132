"""Tells when the computer is about to sleep, so that what is not on disk yet gets there first.

Linux: logind on the system's bus, which holds the sleep back for those who ask for it, five seconds as it comes. Other
systems are not asked. That a computer woke up again is seen by its clock, everywhere (worker/guest.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sapo_desktop.system.presence import bus

_NAME, _PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
_MANAGER = f"{_NAME}.Manager"
_DELAY = ("sleep", "SAPO Desktop", "What was learned is written", "delay")


def follow(before: Callable[[], None]) -> None:
    """Call `before` ahead of every sleep, which waits until it returns. Without end, for a thread of its own.

    Raises NoBus where nobody tells of sleep, or no longer.
    """
    with bus.speaking("SYSTEM", _NAME, _PATH, descriptors=True) as line:
        signals = line.signals(_MANAGER)
        held = _hold(line)
        for name, told in signals:
            if name != "PrepareForSleep":
                continue
            (begins,) = told
            if begins:
                try:
                    before()
                finally:
                    held.close()
            else:
                held = _hold(line)


def _hold(line: bus.Line) -> Any:
    """What holds the next sleep back until it is closed."""
    (held,) = line.call(f"{_MANAGER}.Inhibit", "ssss", _DELAY)
    return held
