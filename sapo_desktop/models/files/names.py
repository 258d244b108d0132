"""Which file names of a repository are allowed, and what kind of file each is.

A file is directly in its model's folder, under a plain name: no path, no drive, nothing with a special meaning on some
system. Files that can contain programs (pickles, code) have no kind and are never downloaded or copied.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Literal

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.names import is_device

FileKind = Literal["weights", "gguf", "json", "tokenizer", "text"]

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}")
_TOKENIZER = {"merges.txt", "vocab.txt", "tokenizer.model"}
_TEXTS = re.compile(r"(license|licence|notice|readme|use_policy)([_-][a-z0-9_-]*)?(\.(md|txt))?", re.IGNORECASE)
PROGRAMS = {
    ".bin",
    ".pt",
    ".pth",
    ".pkl",
    ".pickle",
    ".ckpt",
    ".joblib",
    ".h5",
    ".msgpack",
    ".npy",
    ".npz",
    ".py",
    ".so",
}
"""Kinds of file that can contain programs, or that only such programs read."""


def is_plain(name: str) -> bool:
    """Whether the name is a plain file name on every system."""
    if not _PLAIN.fullmatch(name) or name.endswith("."):
        return False
    return not is_device(name)


def kind_of(name: str) -> FileKind | None:
    """The role of a file of that name in a model; None for files that are not used."""
    suffix = PurePosixPath(name).suffix.lower()
    match suffix:
        case ".safetensors":
            return "weights"
        case ".gguf":
            return "gguf"
        case ".json":
            return "json"
        case ".jinja":
            return "text"
    if name in _TOKENIZER:
        return "tokenizer"
    return "text" if suffix not in PROGRAMS and _TEXTS.fullmatch(name) else None


def check(name: str) -> FileKind:
    """The kind of a file.

    Raises:
        ModelError: the name points elsewhere, or the kind is not used.
    """
    if not is_plain(name):
        raise ModelError(
            "This model has a file with an unusual name ('{name}'), so it is refused. Choose another model.",
            name=name,
        )
    kind = kind_of(name)
    if kind is None:
        if PurePosixPath(name).suffix.lower() in PROGRAMS:
            raise ModelError(
                "{name} is refused: files of that kind can contain programs. Choose safetensors or GGUF files.",
                name=name,
            )
        raise ModelError(
            "{name} is refused: models have no files of that kind. Choose safetensors or GGUF files.", name=name
        )
    return kind
