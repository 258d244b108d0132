"""Checks before installation: whether a folder is a model, of either layout, and whether the disk has room for it.

This also renders a chat template; one that never ends would end this process, so only the librarian calls it.
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
    """Check all files. Returns why the model can only answer; empty if it can learn.

    Raises:
        ModelError: something is missing, damaged, unsafe, or of an unsupported kind.
    """
    if kind == "gguf":
        return check_file(gguf_files(folder))
    check_folder(folder)
    return ""


def check_small_files(folder: Path, coming: Sequence[str]) -> None:
    """Check a folder before its weights, the files `coming`, have arrived. Raises ModelError."""
    check_before_weights(folder, coming)
    if template := chat_template(folder):
        _check_template(template)


def check_file(files: Sequence[Path]) -> Text:
    """Check the files of one GGUF model. Returns why it can only answer; empty if it can learn. Raises ModelError."""
    found = check_gguf(files)
    if found.template:
        _check_template(found.template)
    return found.only_answers


def _check_template(text: str) -> None:
    from sapo_desktop.engines.chat_template import check_template  # relays import this module, but have no minijinja

    check_template(text)


@contextlib.contextmanager
def naming(staged: Path, own: Path | str) -> Iterator[None]:
    """Inside, errors name a file by the person's path, not by the one that is checked."""
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
    """The GGUF files of a folder, ordered by name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf")


RESERVE = 2_000_000_000
"""Bytes to leave free for the system and checkpoints."""
FreeSpace = Callable[[Path], int]


def free_space(folder: Path) -> int:
    """Bytes that this user can still write on the disk of `folder`."""
    return shutil.disk_usage(folder).free


def check_room(folder: Path, needed: int, what: Text, free: FreeSpace = free_space, reserve: int = RESERVE) -> None:
    """Check that `needed` more bytes leave the reserve free.

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
