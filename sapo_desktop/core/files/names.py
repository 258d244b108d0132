"""Names that Windows keeps for devices: a file of such a name cannot be copied there, with any ending."""

from __future__ import annotations

_DEVICES = frozenset(
    {
        *("con", "prn", "aux", "nul", "conin$", "conout$"),
        *(f"{name}{number}" for name in ("com", "lpt") for number in "0123456789¹²³"),
    }
)


def is_device(name: str) -> bool:
    """Whether Windows takes a file of this name for a device."""
    return name.partition(".")[0].rstrip(" ").lower() in _DEVICES
