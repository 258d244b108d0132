"""How long keyboard and mouse have not been used.

Linux: on Wayland GNOME's Mutter over D-Bus, otherwise the protocol ext-idle-notify, which KDE's KWin, sway and others
support; on X11 the screen saver extension, under any desktop. Windows and macOS have a call each, written from
documentation. "Unknown" is a possible answer, with its reason.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.system.presence import bus, wayland, x11

_MUTTER = ("org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core")


class CannotTell(SapoError):
    """Nothing here reports whether the computer is used."""


class Idle:
    """Asks at each call; keeps a connection open if a session needs that."""

    def __init__(self) -> None:
        self._notify: wayland.IdleNotify | None = None

    def seconds(self) -> float:
        """Seconds since the last input. Raises CannotTell."""
        try:
            if sys.platform == "win32":
                return _windows()
            if sys.platform == "darwin":
                return _mac()
            return self._linux()
        except OSError as error:
            raise _unknown(str(error)) from error

    def close(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None

    def _linux(self) -> float:
        path = wayland.socket_path()
        if path is not None:
            try:
                (milliseconds,) = bus.call("SESSION", *_MUTTER, f"{_MUTTER[0]}.GetIdletime")
                return float(milliseconds) / 1000
            except bus.NoBus:  # a desktop other than GNOME
                return self._by_protocol(path)
        if display := os.environ.get("DISPLAY"):
            return x11.idle(display)
        raise _unknown(sentence("the node was started outside a desktop session"))

    def _by_protocol(self, path: Path) -> float:
        if self._notify is None:
            self._notify = wayland.IdleNotify(path)
        try:
            return self._notify.idle()
        except OSError:
            self.close()
            raise


def _unknown(reason: Text) -> CannotTell:
    return CannotTell(
        "This computer cannot detect whether somebody uses it: {reason}. You can use a schedule instead.", reason=reason
    )


if sys.platform == "win32":

    class _LastInput(ctypes.Structure):
        _fields_ = (("size", ctypes.c_uint), ("time", ctypes.c_uint))

    def _windows() -> float:
        last = _LastInput(ctypes.sizeof(_LastInput), 0)
        if not ctypes.windll.user32.GetLastInputInfo(ctypes.byref(last)):
            raise OSError("GetLastInputInfo failed")
        # Both count milliseconds and overflow after 49 days.
        return ((ctypes.windll.kernel32.GetTickCount() - last.time) & 0xFFFFFFFF) / 1000


if sys.platform == "darwin":

    def _mac() -> float:
        services = ctypes.CDLL("/System/Library/Frameworks/ApplicationServices.framework/ApplicationServices")
        since = services.CGEventSourceSecondsSinceLastEventType
        since.restype, since.argtypes = ctypes.c_double, (ctypes.c_int32, ctypes.c_uint32)
        return float(since(0, 0xFFFFFFFF))  # the session's state, any input
