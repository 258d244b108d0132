"""The facts by which a node decides whether it is in the way of the computer's user.

Only what the settings need is checked; expensive checks run every few seconds.
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
"""Interval of the checks of programs, sensors, cards and the connection."""
LINK_SECONDS = 60.0
"""The same for the connection on Windows, which starts a program that takes seconds."""


class Presence(Record, frozen=True, kw_only=True):
    """The observed facts. A field that is not needed or unknown has its default."""

    on_battery: bool = False
    charge: int | None = None
    """Percent."""
    battery: str = ""
    """The system's name for it."""
    idle: float | None = None
    """Seconds without input."""
    idle_unknown: Text = ""
    """Why that is unknown."""
    metered: bool = False
    program: str | None = None
    """A running program for which the node should pause."""
    card_share: float = 0.0
    """Share of the graphics card's memory that other programs use, in percent."""
    degrees: float | None = None


class Watch:
    """Makes the checks repeatedly. `clock`: monotonic seconds; `own`: the processes of this node."""

    def __init__(self, own: Callable[[], Sequence[int]], clock: Callable[[], float] = time.monotonic) -> None:
        self._own = own
        self._clock = clock
        self._idle = Idle()
        self._slow: tuple[float, Settings, Presence] | None = None
        self._metered, self._asked = False, 0.0
        self._asking: threading.Thread | None = None

    def look(self, settings: Settings) -> Presence:
        """The current facts; may take seconds if a service does not answer."""
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
            if first:  # only at the start, which may depend on the link; later, a returning user must not wait
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


# Whether the computer runs on a battery, and which one. Linux: the kernel's list of power supplies, which also has the
# batteries of mice, headsets and pens (scope Device), under any name. Windows and macOS have one answer for the
# computer.


SUPPLIES = Path("/sys/class/power_supply")
_STORES = ("Battery", "UPS")
_PLUGS = ("Mains", "USB", "Wireless")


class Power(NamedTuple):
    """The computer's power source. Without a battery, or if that is unknown: no battery."""

    on_battery: bool = False
    charge: int | None = None
    """Percent; None without a battery, or if unknown."""
    battery: str = ""
    """The system's name of the battery in use, or of all."""


def power(supplies: Path = SUPPLIES) -> Power:
    """The current power source. `supplies`: Linux's list."""
    if sys.platform == "linux":
        return _linux(supplies)
    else:
        try:
            battery = psutil.sensors_battery()
        except (OSError, ValueError, RuntimeError):  # drivers do not always write what psutil expects
            return Power()
        return Power() if battery is None else Power(battery.power_plugged is False, round(battery.percent))


class _Supply(NamedTuple):
    folder: Path
    kind: str

    def text(self, name: str) -> str:
        """The kernel's value of that name; empty if there is none."""
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
        """Whether this supplies power. A USB port that charges a phone also reports online."""
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
    """Percent of all together: weighted by capacity if all report it, otherwise their mean."""
    for now, full in (("energy_now", "energy_full"), ("charge_now", "charge_full")):
        pairs = [(one.number(now), one.number(full)) for one in stores]
        held = [(a, b) for a, b in pairs if a is not None and b]
        if held and len(held) == len(pairs):
            return min(100, round(100 * sum(a for a, _ in held) / sum(b for _, b in held)))
    percents = [each for one in stores if (each := one.number("capacity")) is not None]
    return round(sum(percents) / len(percents)) if percents else None
