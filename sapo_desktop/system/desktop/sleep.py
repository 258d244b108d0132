"""Announces that the computer is about to sleep, so that unsaved work can be written first.

Linux: logind on the system bus, which delays the sleep for programs that ask, by default up to five seconds. Other
systems are not asked. A wake-up is detected by the clock on all systems (worker/guest.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sapo_desktop.system.presence import bus

_NAME, _PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
_MANAGER = f"{_NAME}.Manager"
_DELAY = ("sleep", "SAPO Desktop", "What was learned is written", "delay")


def follow(before: Callable[[], None]) -> None:
    """Call `before` ahead of every sleep, which waits until it returns. Never ends; for a separate thread.

    Raises NoBus if nothing announces sleep, or no longer does.
    """
    with bus.speaking("SYSTEM", _NAME, _PATH, descriptors=True) as line:
        signals = line.signals(_MANAGER)
        held = _hold(line)
        for name, arguments in signals:
            if name != "PrepareForSleep":
                continue
            (begins,) = arguments
            if begins:
                try:
                    before()
                finally:
                    held.close()
            else:
                held = _hold(line)


def _hold(line: bus.Line) -> Any:
    """A lock that delays the next sleep until it is closed."""
    (held,) = line.call(f"{_MANAGER}.Inhibit", "ssss", _DELAY)
    return held
