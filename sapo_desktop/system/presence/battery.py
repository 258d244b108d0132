"""Whether the computer runs on its battery, and which one that is.

Linux: the kernel's list of power supplies. It holds the batteries of mice, headsets and pens too, which power nothing
but themselves (scope Device), and any name may stand there. Windows and macOS have one answer for the computer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import psutil

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
