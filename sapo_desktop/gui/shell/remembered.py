"""What the window itself remembers, and what it must know before the worker answers. No Qt.

`window.json` in the data folder holds the window's place and whether the first-run questions were answered. Colours and
language are settings; they are read from the settings file, so that the first frame has the right ones.
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
"""Number of the first-run questions; with a higher one they are asked again."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """One window's memory."""

    welcomed: int = 0
    """The number of the answered first-run questions."""
    told_of_tray: bool = False
    """Whether it was said once where a closed window went."""
    told_of_minimised: bool = False
    """The same without a tray."""
    looks: dict[str, str] = {}
    """Geometry and page."""


def recall(folder: DataFolder) -> Remembered:
    """The stored memory; empty for an unreadable file."""
    try:
        return read_json(_file(folder), Remembered)
    except (OSError, msgspec.DecodeError):
        return Remembered()


def remember(folder: DataFolder, what: Remembered) -> None:
    """Store it. Raises OSError if the disk refuses."""
    write_atomically(_file(folder), msgspec.json.encode(what))


def settings_in(folder: DataFolder) -> Settings:
    """The settings as the worker will most likely have them. The worker reports a damaged file; here, unusable
    values become defaults."""
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
