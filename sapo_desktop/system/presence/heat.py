"""How hot processor and graphics card are."""

from __future__ import annotations

import psutil

from sapo_desktop.system.hardware import card_degrees

_PROCESSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "acpitz", "soc_thermal")
"""Sensors of Linux that are the processor's; a disk has its own limits."""


def degrees() -> float | None:
    """Of the hottest of them, in Celsius; None where nothing says (psutil has no sensors of Windows and macOS)."""
    try:
        sensors = psutil.sensors_temperatures() if hasattr(psutil, "sensors_temperatures") else {}
    except (OSError, ValueError):  # as with batteries: what drivers write
        sensors = {}
    found = [entry.current for name in _PROCESSORS for entry in sensors.get(name, ()) if entry.current]
    return max([*found, *card_degrees()], default=None)
