"""How to type our commands here: `sapo-desktop`, or the way this process was started if that command does not exist.

Nothing is installed from a clone: there it is `.venv/bin/python -m sapo_desktop`. An installed application's launcher
names itself in SAPO_DESKTOP_PROGRAM. For people only, never in JSON lines.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import sys

from sapo_desktop.core.sentences import quoted

PROGRAM = "sapo-desktop"
_COMMAND = re.compile(rf"(?<![\w./@'\"-]){PROGRAM}(?=\s[a-zA-Z-])")
"""Followed by a word; names of files, packages and addresses do not match."""


def as_started(text: str) -> str:
    """`text` with every `sapo-desktop WORD` as it is typed here."""
    return _COMMAND.sub(lambda _: program(), text)


@functools.cache
def program() -> str:
    """How to type the program itself."""
    if shutil.which(PROGRAM):
        return PROGRAM
    if launcher := os.environ.get("SAPO_DESKTOP_PROGRAM"):
        return _shortest(launcher)
    started = getattr(sys.modules.get("__main__"), "__spec__", None)
    if started is None or started.name != "sapo_desktop.__main__":
        return PROGRAM
    return f"{_shortest(sys.executable)} -m sapo_desktop"


def _shortest(path: str) -> str:
    """The path, relative to the working directory if that is shorter, as one word of a shell's command line."""
    with contextlib.suppress(OSError, ValueError):  # it is on another drive, or the working directory was deleted
        path = min(path, os.path.relpath(path), key=len)
    return quoted(path)
