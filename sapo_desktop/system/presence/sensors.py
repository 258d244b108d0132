"""Sensors: the temperature of processor and card, and whether the internet connection is metered.

The latter comes from NetworkManager on Linux and from the system on Windows. macOS reports it only to programs with a
window, so there a connection counts as not metered.
"""

from __future__ import annotations

import sys

import psutil

from sapo_desktop.system import windows_programs
from sapo_desktop.system.hardware import card_degrees
from sapo_desktop.system.presence import bus

_PROCESSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "acpitz", "soc_thermal")
"""Linux's sensors of the processor; disks have their own limits."""


def degrees() -> float | None:
    """The highest temperature in Celsius; None if unknown (psutil has no sensors on Windows and macOS)."""
    try:
        sensors = psutil.sensors_temperatures() if hasattr(psutil, "sensors_temperatures") else {}
    except (OSError, ValueError):  # drivers may write anything, as with batteries
        sensors = {}
    found = [entry.current for name in _PROCESSORS for entry in sensors.get(name, ()) if entry.current]
    return max([*found, *card_degrees()], default=None)


_MANAGER = "org.freedesktop.NetworkManager"
_METERED = {1: True, 2: False, 3: True, 4: False}
"""NMMetered: yes, no, and a guess of each; 0 is unknown."""
_ASK_WINDOWS = (
    "[void][Windows.Networking.Connectivity.NetworkInformation,Windows,ContentType=WindowsRuntime];"
    "[Windows.Networking.Connectivity.NetworkInformation]::GetInternetConnectionProfile()"
    ".GetConnectionCost().NetworkCostType"
)


def is_metered() -> bool | None:
    """None if unknown."""
    if sys.platform == "win32":
        return {"Fixed": True, "Variable": True, "Unrestricted": False}.get(_windows())
    elif sys.platform == "darwin":
        return None
    else:
        try:
            found = bus.get_property("SYSTEM", _MANAGER, f"/{_MANAGER.replace('.', '/')}", _MANAGER, "Metered")
        except bus.NoBus:
            return None
        return _METERED.get(found)


def _windows() -> str:
    words = ("-NoProfile", "-NonInteractive", "-Command", _ASK_WINDOWS)
    try:
        return windows_programs.ask("WindowsPowerShell/v1.0/powershell.exe", *words, timeout=20).stdout.strip()
    except OSError:
        return ""
