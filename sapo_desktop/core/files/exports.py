"""The folder that somebody wants an export in: only a new or an empty one, and all of it or nothing.

An engine writes where it may (system/confinement.py), which is seldom there; the worker then puts it in its place.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.sentences import Text, sentence

# What safetensors and tokenizers say, and numpy of a write that came out short, instead of an error number.
_FULL = ("No space left", "os error 28", "os error 112", " requested and ")


def refuse_used(to: Path) -> None:
    """Raises UsageError where the folder holds something, or is a file."""
    if to.is_dir() and any(to.iterdir()):
        raise UsageError("{folder} is not empty. Choose a new or an empty folder.", folder=str(to))
    if to.exists() and not to.is_dir():
        raise UsageError("{folder} is a file. Choose a new or an empty folder.", folder=str(to))


def put_in_place(made: Path, to: Path) -> None:
    """Move the folder `made` to `to`, on another disk, too. Raises SapoError, and then nothing is at `to`."""
    part = part_of(to)
    try:
        shutil.rmtree(part, ignore_errors=True)  # a leftover of an export that was killed
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, part)
        take_its_name(part, to)
    except (OSError, shutil.Error) as error:
        raise SapoError(why_not_written(error, to)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def part_of(to: Path) -> Path:
    """Where the folder is made until it is whole."""
    return to.with_name(f".{to.name}.part")


def take_its_name(part: Path, to: Path) -> None:
    """The last step: now it is there."""
    if to.exists():
        to.rmdir()  # empty: Windows does not rename over a folder
    part.rename(to)


def why_not_written(error: Exception, to: Path) -> Text:
    """What to tell whoever wants it there."""
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    if full or any(words in str(error) for words in _FULL):
        return sentence(
            "The disk is full, so nothing was written to {folder}. Free some space, or choose a folder "
            "on another disk.",
            folder=str(to),
        )
    return sentence(
        "Nothing was written to {folder}: {reason}. Choose a folder that you may write to.",
        folder=str(to),
        reason=str(error),
    )
