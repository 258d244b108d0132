"""A model folder in transformers' layout as one GGUF file, without the model ever being built.

Tensors are read from the safetensors files one at a time, so a model of many gigabytes needs the memory of its
largest matrix. Left out: adapters; `export.py` writes a live model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.gguf.write import WeightType, write_model
from sapo_desktop.engines.tokenizer import load_tokenizer

_INDEX = "model.safetensors.index.json"


class FolderWeights:
    """The tensors of a folder's safetensors files, read when they are asked for; open between `with` and its end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = ExitStack()
        self._where: dict[str, Any] = {}

    def __enter__(self) -> FolderWeights:
        for name in _files(self._folder):
            file = self._open.enter_context(safe_open(self._folder / name, framework="pt"))
            self._where |= dict.fromkeys(file.keys(), file)
        return self

    def __exit__(self, *_: object) -> None:
        self._where.clear()
        self._open.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._where[name].get_slice(name).get_shape())

    def __getitem__(self, name: str) -> Tensor:
        tensor: Tensor = self._where[name].get_tensor(name)
        return tensor


def write_folder(folder: Path, path: Path, weight_type: WeightType = "F16") -> None:
    """Write the model of `folder` as the GGUF file `path`; what fails leaves no file.

    Raises:
        ModelError: the folder is not whole, or llama.cpp would compute something else.
    """
    from transformers import AutoConfig

    tokenizer = load_tokenizer(folder)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        with FolderWeights(folder) as weights:
            write_model(path, config, tokenizer.backend, weights, weight_type, name=folder.name)
    except (ValueError, KeyError, SafetensorError) as error:
        raise ModelError(
            sentence(
                "The model in {folder} cannot be read: {reason}. Get the folder again, whole.",
                folder=str(folder),
                reason=str(error),
            )
        ) from error


def _files(folder: Path) -> list[str]:
    if not (folder / _INDEX).is_file():
        return ["model.safetensors"]
    shards = json.loads((folder / _INDEX).read_text(encoding="utf-8"))["weight_map"]
    return sorted(set(shards.values()))
