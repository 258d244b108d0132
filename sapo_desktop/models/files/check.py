"""Whether a folder of files is a model, of either layout, before it is installed."""

from __future__ import annotations

from pathlib import Path

from sapo_desktop.core.models import ModelKind
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.models.files.folder import check_folder
from sapo_desktop.models.files.gguf_file import check_gguf

GGUF_ONLY = sentence(
    "It is a GGUF model: it can answer, but not be trained; for that the model's safetensors are needed."
)


def check_model(folder: Path, kind: ModelKind) -> list[Text]:
    """Check all files; returns what a person should know, a sentence each.

    Raises:
        ModelError: something is missing, damaged, unsafe, or of a kind that is not supported.
    """
    if kind == "gguf":
        check_gguf(gguf_files(folder))
        return [GGUF_ONLY]
    check_folder(folder)
    return []


def gguf_files(folder: Path) -> list[Path]:
    """The GGUF files of a folder, in order of name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf")
