"""What the window remembers by itself, and what it must know before the worker answers. No Qt.

`window.json` in the data folder holds where the window stood and whether the first-run questions were answered. Colours
and language are settings; they are looked up in the settings file, so that the first picture is not in other colours.
"""

from __future__ import annotations

import contextlib
import tomllib
from pathlib import Path

import msgspec

from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_json, read_text
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder

_LONGEST_LINE = 4000
WELCOME = 1
"""Number of the first-run questions; a higher one would ask again."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """One window's memory."""

    welcomed: int = 0
    """Which first-run questions were answered."""
    told_of_tray: bool = False
    """Whether it was said once where the window went when it was closed."""
    told_of_minimised: bool = False
    """The same where there is no tray."""
    looks: dict[str, str] = {}
    """Geometry and page."""


def recall(folder: DataFolder) -> Remembered:
    """What is remembered; nothing of a file that cannot be read."""
    try:
        return read_json(_file(folder), Remembered)
    except (OSError, msgspec.DecodeError):
        return Remembered()


def remember(folder: DataFolder, what: Remembered) -> None:
    """Keep it. OSError where the disk refuses."""
    write_atomically(_file(folder), msgspec.json.encode(what))


def settings_in(folder: DataFolder) -> Settings:
    """The settings as the worker will most likely have them. It is the worker who complains about a damaged file; here
    what cannot be used is left at its default."""
    settings = Settings()
    try:
        lines = read_text(folder.settings).splitlines()
    except (OSError, UnicodeDecodeError):
        return settings
    # Line by line: tomllib takes minutes for one key of many parts, and the window waits for this.
    for line in lines:
        key = line.partition("=")[0].strip()
        if key in Settings.__struct_fields__ and len(line) <= _LONGEST_LINE:
            with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError, msgspec.ValidationError):
                checked = msgspec.convert(tomllib.loads(line), Settings)
                settings = msgspec.structs.replace(settings, **{key: getattr(checked, key)})
    return settings


def _file(folder: DataFolder) -> Path:
    return folder.root / "window.json"
