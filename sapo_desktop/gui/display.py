"""Whether a window can be shown here, found out before Qt is loaded, which would end the process. No Qt."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path

LIBRARIES = (
    "libegl1 libgl1 libxkbcommon0 libfontconfig1 libglib2.0-0 libx11-6 libxcb-cursor0 libxcb-icccm4 libxcb-image0 "
    "libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libxkbcommon-x11-0 libx11-xcb1"
)
"""What Qt needs on Debian and Ubuntu (docs/window.md)."""
TERMINAL = "In the terminal the node works too: sapo-desktop run"


def why_no_window(environment: Mapping[str, str] = os.environ) -> str:
    """Why there can be no window, and what to do; empty where there can be one."""
    if importlib.util.find_spec("PySide6") is None:
        return f"The window's library, PySide6, is not installed here. {TERMINAL}"
    if not sys.platform.startswith("linux"):
        return ""
    # Who names a plugin knows what it needs, as tests do.
    if not environment.get("QT_QPA_PLATFORM"):
        if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
            return f"There is no display here to open a window on. {TERMINAL}"
        if missing := _missing_library("libqxcb.so" if environment.get("DISPLAY") else ""):
            return _without(missing)
    if missing := _missing_library(""):
        return _without(missing)
    return ""


def _without(missing: str) -> str:
    return (
        f"The window needs a system library that is missing here: {missing}. On Debian and Ubuntu: "
        f"sudo apt install {LIBRARIES}. {TERMINAL}"
    )


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
