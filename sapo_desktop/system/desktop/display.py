"""Whether a window can be shown here, found out before Qt is loaded, which would end the process. No Qt."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

LIBRARIES = (
    "libegl1 libgl1 libxkbcommon0 libfontconfig1 libglib2.0-0 libx11-6 libxcb-cursor0 libxcb-icccm4 libxcb-image0 "
    "libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libxkbcommon-x11-0 libx11-xcb1 "
    "libdbus-1-3 libgssapi-krb5-2 libwayland-cursor0 libwayland-egl1"
)
"""What Qt needs on Debian and Ubuntu."""
TERMINAL = "In the terminal the node works too: sapo-desktop run"


def why_no_window(environment: Mapping[str, str] = os.environ) -> str:
    """Why there can be no window; empty where there can be one."""
    if importlib.util.find_spec("PySide6") is None:
        return (
            "The window's library, PySide6, is not installed here. To have it: python3 installers/bootstrap.py setup."
        )
    if not sys.platform.startswith("linux"):
        return ""
    # Who names a plugin knows what it needs, as tests do.
    if not environment.get("QT_QPA_PLATFORM"):
        if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
            return "There is no display here to open a window on."
        if missing := _missing_library("libqxcb.so" if environment.get("DISPLAY") else ""):
            return _without(missing)
        if not (_x_answers(environment.get("DISPLAY", "")) or _wayland_answers(environment)):
            named = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
            return f"The display {named} does not answer, so no window can be opened on it."
    if missing := _missing_library(""):
        return _without(missing)
    return ""


def _without(missing: str) -> str:
    return (
        f"The window needs a system library that is missing here: {missing}. On Debian and Ubuntu: "
        f"sudo apt install {LIBRARIES}."
    )


def _x_answers(name: str) -> bool:
    """Whether an X server takes us for a client: Qt would end the process where none does."""
    if not name:
        return False
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # what Qt itself misses is said elsewhere
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(name.encode(), None))
    refused = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not refused


def _wayland_answers(environment: Mapping[str, str]) -> bool:
    """Whether anybody listens on Wayland's socket."""
    name = environment.get("WAYLAND_DISPLAY", "")
    if not name:
        return False
    path = Path(environment.get("XDG_RUNTIME_DIR", ""), name)
    with socket.socket(socket.AF_UNIX) as trying:
        try:
            trying.connect(str(path))
        except OSError:
            return False
    return True


def _missing_library(plugin: str) -> str:
    """What a part of Qt needs and the loader does not find; `plugin`: of those for platforms, else Qt itself."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or spec.origin is None:
        return ""
    qt = Path(spec.origin).parent / "Qt"
    wanted = qt / "plugins" / "platforms" / plugin if plugin else qt / "lib" / "libQt6Gui.so.6"
    if not wanted.exists():
        return ""
    try:
        ctypes.CDLL(str(wanted))
    except OSError as error:
        return str(error).partition(":")[0]
    return ""
