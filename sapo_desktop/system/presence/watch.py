"""Looks at this computer: the facts by which a node decides whether it is a guest in the way.

Only what the settings ask for is looked at. What costs more than a glance is looked at every few seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings, between_commas
from sapo_desktop.system.hardware import taken_by_others
from sapo_desktop.system.presence import programs, sensors
from sapo_desktop.system.presence.battery import power
from sapo_desktop.system.presence.idle import CannotTell, Idle

"""Settings that hold while nobody uses the computer; 0 in each: the same as otherwise."""
SLOW_SECONDS = 10.0
"""Between looks at programs, sensors, cards and the link."""
LINK_SECONDS = 60.0
"""The same of the link on Windows, which starts a program for it that takes seconds."""


class Presence(Record, frozen=True, kw_only=True):
    """What was seen. A field that nobody asked for, or that cannot be told, has its default."""

    on_battery: bool = False
    charge: int | None = None
    """Percent."""
    battery: str = ""
    """As the system names it."""
    idle: float | None = None
    """Seconds without input."""
    idle_unknown: Text = ""
    """Why that cannot be told."""
    metered: bool = False
    program: str | None = None
    """One of those that the node is to pause for, which runs."""
    card_share: float = 0.0
    """What other programs hold of the graphics card's memory, in percent."""
    degrees: float | None = None


class Watch:
    """Looks, again and again. `clock`: monotonic seconds; `own`: the processes of this node."""

    def __init__(self, own: Callable[[], Sequence[int]], clock: Callable[[], float] = time.monotonic) -> None:
        self._own = own
        self._clock = clock
        self._idle = Idle()
        self._slow: tuple[float, Settings, Presence] | None = None
        self._metered, self._asked = False, 0.0
        self._asking: threading.Thread | None = None

    def look(self, settings: Settings) -> Presence:
        """As things are now; may take some seconds where a service does not answer."""
        now = self._clock()
        if self._slow is None or self._slow[1] != settings or now - self._slow[0] >= SLOW_SECONDS:
            self._slow = now, settings, self._look_slowly(settings)
        plug = power()
        idle, unknown = self._look_for_somebody() if wants_idle(settings) else (None, "")
        return replace(self._slow[2], idle=idle, idle_unknown=unknown, **plug._asdict())

    def close(self) -> None:
        self._idle.close()

    def _look_slowly(self, settings: Settings) -> Presence:
        return Presence(
            metered=not settings.silo and settings.on_metered == "pause" and self._is_metered(),
            program=programs.first_of(between_commas(settings.pause_for)),
            card_share=taken_by_others(self._own()) if settings.device != "cpu" else 0.0,
            degrees=sensors.degrees() if settings.hottest else None,
        )

    def _is_metered(self) -> bool:
        if sys.platform == "win32":
            first, now = self._asking is None, self._clock()
            if self._asking is None or (not self._asking.is_alive() and now - self._asked >= LINK_SECONDS):
                self._asked, self._asking = now, threading.Thread(target=self._ask_for_link, daemon=True)
                self._asking.start()
            if first:  # no node is to begin on a link that it has to leave; later none is to wait with who comes back
                self._asking.join()
        else:
            self._ask_for_link()
        return self._metered

    def _ask_for_link(self) -> None:
        self._metered = sensors.is_metered() is True

    def _look_for_somebody(self) -> tuple[float | None, Text]:
        try:
            return self._idle.seconds(), ""
        except CannotTell as error:
            return None, error.text


def wants_idle(settings: Settings) -> bool:
    """Whether it matters that somebody uses the computer."""
    return settings.when_in_use != "continue"
