"""What the window remembers by itself, and what it must know before the worker answers. No Qt.

`window.json` in the data folder holds where the window stood and whether the first-run questions were answered. Colours
and language are settings; they are looked up in the settings file, so that the first picture is not in other colours.
"""

from __future__ import annotations

import contextlib
import tomllib
from pathlib import Path

import msgspec

from sapo_desktop.core.durable import write_atomically
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder

WELCOME = 1
"""Number of the first-run questions; a higher one would ask again."""


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
    except (OSError, UnicodeDecodeError, msgspec.DecodeError):
        return Remembered()


def remember(folder: DataFolder, what: Remembered) -> None:
    """Keep it. OSError where the disk refuses."""
    write_atomically(_file(folder), msgspec.json.encode(what))


def settings_in(folder: DataFolder) -> Settings:
    """The settings as the worker will most likely have them. It is the worker who complains about a damaged file; here
    what cannot be used is left at its default."""
    try:
        found = tomllib.loads(folder.settings.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return Settings()
    settings = Settings()
    for key in found.keys() & set(Settings.__struct_fields__):
        with contextlib.suppress(msgspec.ValidationError):
            checked = msgspec.convert({key: found[key]}, Settings)
            settings = msgspec.structs.replace(settings, **{key: getattr(checked, key)})
    return settings


def _file(folder: DataFolder) -> Path:
    return folder.root / "window.json"
