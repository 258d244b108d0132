"""Whether a window can open here, checked before Qt is loaded, which would abort the process. No Qt."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from sapo_desktop.system import installation
from sapo_desktop.system.bounded import within

LIBRARIES = (
    "libegl1 libgl1 libxkbcommon0 libfontconfig1 libglib2.0-0 libx11-6 libxcb-cursor0 libxcb-icccm4 libxcb-image0 "
    "libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libxkbcommon-x11-0 libx11-xcb1 "
    "libdbus-1-3 libgssapi-krb5-2 libwayland-cursor0 libwayland-egl1"
)
"""Packages that Qt needs on Debian and Ubuntu."""
_PLATFORM = "QT_QPA_PLATFORM"
_TRIAL_SECONDS, _DISPLAY_SECONDS = 10, 5.0
TERMINAL = "The node also works in the terminal: sapo-desktop run"


def why_no_window(environment: Mapping[str, str] = os.environ) -> str:
    """Why no window can open; empty if one can."""
    if importlib.util.find_spec("PySide6") is None:
        return "The window needs PySide6, which is not installed here: python3 installers/bootstrap.py setup."
    asked = environment.get(_PLATFORM, "")
    platforms = [word.partition(":")[0].strip() for word in asked.split(";") if word.strip()]
    if not sys.platform.startswith("linux"):
        whys = [_why_not(one, environment) for one in platforms]
    elif platforms or expects_window(environment):
        # As in Qt: first Wayland, then X; the first that works is used.
        there = [one for one, name in (("wayland", "WAYLAND_DISPLAY"), ("xcb", "DISPLAY")) if environment.get(name)]
        whys = [_why_not(one, environment) for one in platforms or there]
    else:
        return "There is no display here to open a window on."
    if not whys or "" in whys:
        return ""
    return f"{whys[-1]} {_PLATFORM} is set to {asked!r}. Unset it, so that Qt chooses by itself." if asked else whys[-1]


def expects_window(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the start comes from a desktop, so that a person waits for a window."""
    names = (_PLATFORM, "DISPLAY", "WAYLAND_DISPLAY")
    return not sys.platform.startswith("linux") or any(environment.get(name) for name in names)


def _why_not(platform: str, environment: Mapping[str, str]) -> str:
    """Why Qt opens no window with this plugin; empty if it does."""
    if platform in ("offscreen", "minimal"):
        missing = _missing_library("")
        return _without(missing) if missing else ""
    if platform not in ("xcb", "wayland") or not sys.platform.startswith("linux"):
        return _tried(environment)
    if missing := _missing_library(f"libq{platform}.so"):
        return _without(missing)
    named = environment.get("DISPLAY" if platform == "xcb" else "WAYLAND_DISPLAY", "")
    if _x_answers(named) if platform == "xcb" else _wayland_answers(environment):
        return ""
    what = f"The display {named}" if named else f"A display for {platform}"
    return f"{what} does not answer, so no window can be opened on it."


def _tried(environment: Mapping[str, str]) -> str:
    """Why Qt does not start in a separate process, which it may abort; empty if it does."""
    code = "from PySide6.QtGui import QGuiApplication; QGuiApplication([])"
    try:
        run = subprocess.run(
            [installation.interpreter(), "-P", "-c", code],
            env={**environment, "PYTHONUTF8": "1"},
            capture_output=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"Qt does not start here: it did nothing for {_TRIAL_SECONDS} seconds."
    said = run.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"Qt does not start here: {said[0] if said else 'it gives no reason'}." if run.returncode else ""


def _without(missing: str) -> str:
    return (
        f"The window needs a system library that is missing here: {missing}. On Debian and Ubuntu: "
        f"sudo apt install {LIBRARIES}."
    )


def _x_answers(name: str) -> bool:
    """Whether an X server accepts us as a client; Qt would abort the process if none does."""
    if not name:
        return False
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # what Qt itself lacks is reported elsewhere
    xcb.xcb_connect.restype = ctypes.c_void_p

    def connects() -> bool:
        connection = ctypes.c_void_p(xcb.xcb_connect(name.encode(), None))
        refused = xcb.xcb_connection_has_error(connection)
        xcb.xcb_disconnect(connection)
        return not refused

    try:
        return within(_DISPLAY_SECONDS, connects)
    except TimeoutError:
        return False


def _wayland_answers(environment: Mapping[str, str]) -> bool:
    """Whether something listens on Wayland's socket."""
    name = environment.get("WAYLAND_DISPLAY", "")
    if not name:
        return False
    path = Path(environment.get("XDG_RUNTIME_DIR", ""), name)
    with socket.socket(socket.AF_UNIX) as trying:
        trying.settimeout(_DISPLAY_SECONDS)
        try:
            trying.connect(str(path))
        except OSError:
            return False
    return True


def _missing_library(plugin: str) -> str:
    """A library that the loader does not find; `plugin`: for a platform plugin, otherwise for Qt itself."""
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
