"""Whether the link to the internet is paid by volume: NetworkManager's word on Linux, the system's own on Windows.

macOS tells no process without a window of its own, and counts as not metered.
"""

from __future__ import annotations

import subprocess
import sys

from sapo_desktop.system.presence import bus

_MANAGER = "org.freedesktop.NetworkManager"
_YES = (1, 3)
"""NM_METERED_YES, and a guess that it is."""
_ASK_WINDOWS = (
    "[void][Windows.Networking.Connectivity.NetworkInformation,Windows,ContentType=WindowsRuntime];"
    "[Windows.Networking.Connectivity.NetworkInformation]::GetInternetConnectionProfile()"
    ".GetConnectionCost().NetworkCostType"
)


def is_metered() -> bool:
    """False where it cannot be told."""
    if sys.platform == "win32":
        return _windows() in ("Fixed", "Variable")
    elif sys.platform == "darwin":
        return False
    else:
        try:
            found = bus.get_property("SYSTEM", _MANAGER, f"/{_MANAGER.replace('.', '/')}", _MANAGER, "Metered")
        except bus.NoBus:
            return False
        return found in _YES


def _windows() -> str:
    command = ("powershell", "-NoProfile", "-NonInteractive", "-Command", _ASK_WINDOWS)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
