"""Looks at this computer: the facts by which a node decides whether it is a guest in the way.

Only what the settings ask for is looked at. What costs more than a glance is looked at every few seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil
from msgspec.structs import replace

from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings, between_commas
from sapo_desktop.system.hardware import taken_by_others
from sapo_desktop.system.presence import programs, sensors
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


# Whether the computer runs on its battery, and which one that is. Linux: the kernel's list of power supplies. It
# holds the batteries of mice, headsets and pens too, which power nothing but themselves (scope Device), and any name
# may stand there. Windows and macOS have one answer for the computer.


SUPPLIES = Path("/sys/class/power_supply")
_STORES = ("Battery", "UPS")
_PLUGS = ("Mains", "USB", "Wireless")


class Power(NamedTuple):
    """What powers the computer; without a battery, or where that cannot be detected: no battery."""

    on_battery: bool = False
    charge: int | None = None
    """Percent; None without a battery, or where it does not say."""
    battery: str = ""
    """As the system names the one that is in use, or all of them."""


def power(supplies: Path = SUPPLIES) -> Power:
    """What powers the computer now. `supplies`: where Linux lists them."""
    if sys.platform == "linux":
        return _linux(supplies)
    else:
        try:
            battery = psutil.sensors_battery()
        except (OSError, ValueError, RuntimeError):  # what drivers write is not always what psutil expects
            return Power()
        return Power() if battery is None else Power(battery.power_plugged is False, round(battery.percent))


class _Supply(NamedTuple):
    folder: Path
    kind: str

    def text(self, name: str) -> str:
        """What the kernel says under that name; empty where it does not."""
        try:
            return (self.folder / name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def number(self, name: str) -> int | None:
        text = self.text(name)
        return int(text) if text.isascii() and text.isdecimal() else None

    @property
    def powers_the_computer(self) -> bool:
        return self.text("scope") != "Device" and self.text("present") != "0"

    @property
    def plugged_in(self) -> bool:
        """Whether power comes in here. A USB port that charges a phone calls itself online too."""
        roles = [one.read_text() for one in self.folder.glob("device/typec/port*/power_role")]
        gives = roles and not any("[sink]" in role for role in roles)
        return self.number("online") not in (None, 0) and not gives


def _linux(supplies: Path) -> Power:
    try:
        folders = sorted(supplies.iterdir())
    except OSError:
        return Power()
    found = [_Supply(folder, "") for folder in folders]
    found = [one._replace(kind=one.text("type")) for one in found if one.powers_the_computer]
    stores = [one for one in found if one.kind in _STORES]
    plugs = [one for one in found if one.kind in _PLUGS]
    if not stores:
        return Power()
    draining = [one for one in stores if one.text("status") == "Discharging"]
    unsaid = [one for one in stores if one.text("status") in ("", "Unknown")]
    mains_out = any(one.kind == "Mains" for one in plugs) and unsaid
    on_battery = not any(one.plugged_in for one in plugs) and bool(draining or mains_out)
    named = (draining or unsaid or stores) if on_battery else stores
    return Power(on_battery, _charge(stores), ", ".join(one.folder.name for one in named))


def _charge(stores: Iterable[_Supply]) -> int | None:
    """Percent of all of them together: by what each holds where every one says that, else their mean."""
    for now, full in (("energy_now", "energy_full"), ("charge_now", "charge_full")):
        pairs = [(one.number(now), one.number(full)) for one in stores]
        held = [(a, b) for a, b in pairs if a is not None and b]
        if held and len(held) == len(pairs):
            return min(100, round(100 * sum(a for a, _ in held) / sum(b for _, b in held)))
    percents = [each for one in stores if (each := one.number("capacity")) is not None]
    return round(sum(percents) / len(percents)) if percents else None
