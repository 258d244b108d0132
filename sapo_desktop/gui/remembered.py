"""What the window remembers by itself, and what it must know before the worker answers. No Qt.

`window.json` in the data folder holds where the window stood and whether the first-run questions were answered. Colours
and language are settings; they are looked up in the settings file, so that the first picture is not in other colours.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from sapo_desktop.core.durable import write_atomically
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder

WELCOME = 1
"""Number of the first-run questions; a higher one would ask again."""
LOOKS = ("theme", "language", "text_size", "close_to_tray")


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """One window's memory."""

    welcomed: int = 0
    """Which first-run questions were answered."""
    told_of_tray: bool = False
    """Whether it was said once where the window went when it was closed."""
    looks: dict[str, str] = {}
    """Geometry and page."""


def recall(folder: DataFolder) -> Remembered:
    """What is remembered; nothing of a file that cannot be read."""
    try:
        return msgspec.json.decode(_file(folder).read_bytes(), type=Remembered)
    except (OSError, msgspec.DecodeError):
        return Remembered()


def remember(folder: DataFolder, what: Remembered) -> None:
    """Keep it. OSError where the disk refuses."""
    write_atomically(_file(folder), msgspec.json.encode(what))


def looks_in(folder: DataFolder) -> Settings:
    """The settings of the window's looks, all others at their defaults. The worker is the one who complains about a
    damaged file; here what cannot be used is left out."""
    try:
        found = tomllib.loads(folder.settings.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return Settings()
    try:
        return msgspec.convert({key: found[key] for key in LOOKS if key in found}, Settings)
    except msgspec.ValidationError:
        return Settings()


def _file(folder: DataFolder) -> Path:
    return folder.root / "window.json"
