"""Names that Windows reserves for devices. A file with such a name, with any extension, cannot be copied there."""

from __future__ import annotations

_DEVICES = frozenset(
    {
        *("con", "prn", "aux", "nul", "conin$", "conout$"),
        *(f"{name}{number}" for name in ("com", "lpt") for number in "0123456789¹²³"),
    }
)


def is_device(name: str) -> bool:
    """Whether Windows treats a file of this name as a device."""
    return name.partition(".")[0].rstrip(" ").lower() in _DEVICES
