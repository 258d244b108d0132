"""Whether this computer runs on its battery."""

from __future__ import annotations

from typing import NamedTuple

import psutil


class Power(NamedTuple):
    on_battery: bool = False
    charge: int | None = None
    """Percent; None without a battery, or where it does not say."""


def power() -> Power:
    """On battery where there is one and no plug; not where that cannot be told."""
    try:
        battery = psutil.sensors_battery()
    except (OSError, ValueError, RuntimeError):  # what drivers write is not always what psutil expects
        return Power()
    return Power() if battery is None else Power(battery.power_plugged is False, round(battery.percent))
