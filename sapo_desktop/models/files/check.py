"""Whether a folder of files is a model, of either layout, before it is installed; whether the disk has room for it.

A chat template is tried here too, and one that never ends would end this process: only the librarian does this.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import ModelError, NoRoom
from sapo_desktop.core.models import ModelKind
from sapo_desktop.core.sentences import Size, Text
from sapo_desktop.models.files.folder import chat_template, check_before_weights, check_folder
from sapo_desktop.models.files.gguf_file import check_gguf


def check_model(folder: Path, kind: ModelKind) -> Text:
    """Check all files; returns why the model only answers, empty where it can learn.

    Raises:
        ModelError: something is missing, damaged, unsafe, or of a kind that is not supported.
    """
    if kind == "gguf":
        return check_file(gguf_files(folder))
    check_folder(folder)
    return ""


def check_small_files(folder: Path, coming: Sequence[str]) -> None:
    """What can be said of a folder before its weights, the files `coming`, are there. Raises ModelError."""
    check_before_weights(folder, coming)
    if template := chat_template(folder):
        _check_template(template)


def check_file(files: Sequence[Path]) -> Text:
    """Check the files of one GGUF model; returns why it only answers, empty where it can learn. Raises ModelError."""
    found = check_gguf(files)
    if found.template:
        _check_template(found.template)
    return found.only_answers


def _check_template(text: str) -> None:
    from sapo_desktop.engines.chat_template import check_template  # a relay has this module, but not minijinja

    check_template(text)


@contextlib.contextmanager
def naming(staged: Path, own: Path | str) -> Iterator[None]:
    """Inside, a refusal names a file where the person has it, not where it is looked at."""
    try:
        yield
    except ModelError as error:
        text = error.text
        if isinstance(text, str):
            raise
        values = {
            name: value.replace(str(staged), str(own)) if isinstance(value, str) else value
            for name, value in text.values.items()
        }
        raise ModelError(msgspec.structs.replace(text, values=values)) from error


def gguf_files(folder: Path) -> list[Path]:
    """The GGUF files of a folder, in order of name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf")


RESERVE = 2_000_000_000
"""Bytes that stay free, for the system and for checkpoints."""
FreeSpace = Callable[[Path], int]


def free_space(folder: Path) -> int:
    """Bytes that this user can still write where `folder` is."""
    return shutil.disk_usage(folder).free


def check_room(folder: Path, needed: int, what: Text, free: FreeSpace = free_space, reserve: int = RESERVE) -> None:
    """Refuse to write `needed` more bytes where less than the reserve would be left.

    Raises:
        NoRoom: with the numbers.
    """
    there = free(folder)
    missing = needed + reserve - there
    if missing > 0:
        raise NoRoom(
            "{what} needs {needed} more, but the disk of {folder} has only {free} free, of which "
            "{reserve} must stay free. Free {lacking}, or choose a folder on another disk.",
            in_terminal="sapo-desktop settings set models_folder DIR",
            what=what,
            needed=Size(bytes=needed),
            folder=str(folder),
            free=Size(bytes=there),
            reserve=Size(bytes=reserve),
            lacking=Size(bytes=missing),
        )
