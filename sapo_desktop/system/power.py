"""Whether this computer runs on its battery."""

from __future__ import annotations

import psutil


def on_battery() -> bool:
    """True where there is a battery and no plug; False where that cannot be told."""
    try:
        battery = psutil.sensors_battery()
    except (OSError, ValueError, RuntimeError):  # what drivers write is not always what psutil expects
        return False
    return battery is not None and battery.power_plugged is False
