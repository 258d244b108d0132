"""The target folder of an export: it must be new or empty, and gets the whole export or nothing.

An engine can only write in its own folders (system/confinement.py). The worker then moves the result to its place.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.sentences import Text, sentence

# What safetensors, tokenizers and numpy (after a short write) report instead of an error number.
_FULL = ("No space left", "os error 28", "os error 112", " requested and ")


def refuse_used(to: Path) -> None:
    """Raise UsageError if the folder is not empty, or is a file."""
    if to.is_dir() and any(to.iterdir()):
        raise UsageError("{folder} is not empty. Choose a new or an empty folder.", folder=str(to))
    if to.exists() and not to.is_dir():
        raise UsageError("{folder} is a file. Choose a new or an empty folder.", folder=str(to))


def put_in_place(made: Path, to: Path) -> None:
    """Move the folder `made` to `to`, also across disks. Raises SapoError, and then nothing is at `to`."""
    part = part_of(to)
    try:
        shutil.rmtree(part, ignore_errors=True)  # left by an export that was killed
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, part)
        take_its_name(part, to)
    except (OSError, shutil.Error) as error:
        raise SapoError(why_not_written(error, to)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def part_of(to: Path) -> Path:
    """The folder in which an export is built until it is complete."""
    return to.with_name(f".{to.name}.part")


def take_its_name(part: Path, to: Path) -> None:
    """The last step: give the folder its final name."""
    if to.exists():
        to.rmdir()  # empty: Windows does not rename onto a folder
    part.rename(to)


def why_not_written(error: Exception, to: Path) -> Text:
    """Why the export could not be written, for the person who asked for it."""
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
