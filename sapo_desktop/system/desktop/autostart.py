"""Start at login, into the tray: an entry in the system's own list, which the user can see and delete.

XDG autostart on Linux, HKCU's Run on Windows, a LaunchAgent on macOS; the last two are written from documentation.
There is one entry per data folder. If a user deletes it or turns it off elsewhere, that counts: it is written only when
the setting changes, and a starting node reads the setting from it (an installer may have written it).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import plistlib
import subprocess
import sys
from pathlib import Path

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.resources import resource
from sapo_desktop.system import installation
from sapo_desktop.system.folders import DataFolder

_RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
APPROVED_KEY = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
"""Where Windows stores what a person turned off: bytes of which the first is then odd. No value: on."""
_TURNED_OFF = {("Hidden", "true"), ("X-GNOME-Autostart-enabled", "false")}
"""Lines that disable an existing XDG entry."""
_TO_ESCAPE = str.maketrans({letter: f"\\{letter}" for letter in '"`$\\'} | {"%": "%%"})


class AutostartError(SapoError):
    """The entry could not be written or deleted."""


def follow(on: bool, data: Path) -> None:
    """Start the window of this data folder at login, or stop doing so. Raises AutostartError."""
    try:
        if sys.platform == "win32":
            _follow_windows(on, data)
        elif not on:
            entry(data).unlink(missing_ok=True)
        else:
            path = entry(data)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, _launch_agent(data) if sys.platform == "darwin" else _desktop_file(data))
    except OSError as error:
        raise AutostartError(
            "Starting at login could not be changed ({error}). Check the permissions of that place.",
            error=str(error),
        ) from error


def is_on(data: Path) -> bool:
    """Whether the system starts the window of this data folder at login. Raises OSError if that is unknown."""
    if sys.platform == "win32":
        return _is_on_windows(data)
    try:
        text = entry(data).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return False
    return sys.platform == "darwin" or not _is_turned_off(text)


def entry(data: Path) -> Path:
    """The file that starts this folder's window, existing or not; on Windows only its name is used."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"org.sapo-desktop{_suffix(data)}.plist"
    configuration = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(configuration) / "autostart" / f"sapo-desktop{_suffix(data)}.desktop"


def command(data: Path) -> list[str]:
    """The command that starts the window in the tray, independent of the login's environment."""
    folder = ["--data", str(data)] if _suffix(data) else []
    return [*installation.launch(), "--tray", *folder]


def _suffix(data: Path) -> str:
    """Empty for the user's own folder, a name for any other."""
    if data == DataFolder.default():
        return ""
    return f"-{hashlib.sha256(os.fsencode(data)).hexdigest()[:8]}"


def _desktop_file(data: Path) -> bytes:
    words = " ".join(f'"{word.translate(_TO_ESCAPE)}"' for word in command(data))
    # The file format's escapes apply on top of the command's.
    lines = ("[Desktop Entry]", "Type=Application", "Name=SAPO Desktop", f"Exec={words.replace(chr(92), chr(92) * 2)}")
    picture = str(resource("icons/sapo.svg")).replace("\\", "\\\\")
    return "\n".join((*lines, f"Icon={picture}", "X-GNOME-Autostart-enabled=true", "")).encode()


def _is_turned_off(text: str) -> bool:
    """Whether an XDG entry is disabled, as desktops do it when a person turns it off."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line
        key, _, value = line.partition("=")
        if group == "[Desktop Entry]" and (key.strip(), value.strip().lower()) in _TURNED_OFF:
            return True
    return False


def _launch_agent(data: Path) -> bytes:
    return plistlib.dumps({"Label": entry(data).stem, "ProgramArguments": command(data), "RunAtLoad": True})


def _follow_windows(on: bool, data: Path) -> None:
    if sys.platform == "win32":
        import winreg

        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, _RUN_KEY) as key:
            if on:
                winreg.SetValueEx(key, entry(data).stem, 0, winreg.REG_SZ, subprocess.list2cmdline(command(data)))
            else:
                with contextlib.suppress(FileNotFoundError):
                    winreg.DeleteValue(key, entry(data).stem)
        with (
            contextlib.suppress(FileNotFoundError),
            winreg.OpenKey(winreg.HKEY_CURRENT_USER, APPROVED_KEY, 0, winreg.KEY_SET_VALUE) as key,
        ):
            winreg.DeleteValue(key, entry(data).stem)


def _is_on_windows(data: Path) -> bool:
    if sys.platform == "win32":
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, _RUN_KEY) as key:
                winreg.QueryValueEx(key, entry(data).stem)
        except FileNotFoundError:
            return False
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, APPROVED_KEY) as key:
                approved, _ = winreg.QueryValueEx(key, entry(data).stem)
        except FileNotFoundError:
            return True
        return not (isinstance(approved, bytes) and approved[:1] and approved[0] % 2)
    return False
