"""What the trainer passes to a generator in another process: its base as a GGUF file, once, and its adapter after each
step.

Files are written next to their final name and renamed at the end, so no reader finds a partial one. The base is read
from the safetensors files one tensor at a time and never built, so a model of many gigabytes needs only the memory of
its largest matrix. (`export.py` writes a live model.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from sapo_desktop.core.errors import ModelError, NotWritten, UsageError
from sapo_desktop.core.files.durable import disk_errors_as, replace_durably
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.exporting.export import lora_factors
from sapo_desktop.engines.gguf.write import write_adapter, write_model
from sapo_desktop.engines.protocols import GgufWeights
from sapo_desktop.engines.tokenizer import load_tokenizer
from sapo_desktop.engines.torch.llama.bare import BareLlama, factors_of
from sapo_desktop.engines.torch.lm import LanguageModel
from sapo_desktop.engines.torch.lora import ADAPTER_FILE, Policy, read_tensors

_INDEX = "model.safetensors.index.json"


class FolderWeights:
    """The tensors of a folder's safetensors files, read on request; open inside `with`."""

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


def write_folder(folder: Path, path: Path, weight_type: GgufWeights = "F16") -> None:
    """Write the model of `folder` as the GGUF file `path`. A failure leaves no file.

    Raises:
        ModelError: the folder is incomplete, or llama.cpp would compute something else.
    """
    from transformers import AutoConfig

    tokenizer = load_tokenizer(folder)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        with FolderWeights(folder) as weights:
            ends = tokenizer.stop_tokens
            write_model(path, config, tokenizer.backend, weights, weight_type, name=folder.name, ends=ends)
    except (ValueError, KeyError, SafetensorError) as error:
        raise ModelError(
            "The model in {folder} cannot be read: {reason}. Download the folder again.",
            folder=str(folder),
            reason=str(error),
        ) from error


def _files(folder: Path) -> list[str]:
    if not (folder / _INDEX).is_file():
        return ["model.safetensors"]
    shards = json.loads((folder / _INDEX).read_text(encoding="utf-8"))["weight_map"]
    return sorted(set(shards.values()))


_PREFIX, _SUFFIX = "base_model.model.", ".weight"
"""What peft adds around a factor's name in its files."""


def write_base(model: Path, path: Path, weights: GgufWeights) -> None:
    """Write the model of a folder as a GGUF file. Raises ModelError if llama.cpp would compute a different one."""
    part = path.with_name(f"{path.name}.part")
    with disk_errors_as(ModelError, sentence("{name} could not be written", name=path.name)):
        write_folder(model, part, weights)
        replace_durably(part, path)


def write_trained(lm: LanguageModel, policy: Policy, path: Path, checkpoint: Path | None) -> None:
    """Write the current adapter, or that of a checkpoint's folder.

    Raises:
        UsageError: there is no adapter, because all weights are trained.
        CheckpointError: the checkpoint cannot be read.
        NotWritten: the file cannot be written.
    """
    if policy.method != "lora":
        raise UsageError(sentence("llama.cpp answers with a LoRA adapter. Set method to lora, or generator to torch."))
    factors, scaling = factors_of(lm.model) if isinstance(lm.model, BareLlama) else lora_factors(policy.model)
    if checkpoint is not None:
        factors = _factors_of(checkpoint)
    part = path.with_name(f"{path.name}.part")
    with disk_errors_as(NotWritten, sentence("The adapter could not be passed to the generator")):
        write_adapter(part, _config(lm), factors, scaling)
        part.replace(path)


def _config(lm: LanguageModel) -> Any:
    if not isinstance(lm.model, BareLlama):
        return lm.model.config
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(lm.folder, local_files_only=True)


def _factors_of(checkpoint: Path) -> dict[str, Tensor]:
    saved = read_tensors(checkpoint / ADAPTER_FILE)
    return {name.removeprefix(_PREFIX).removesuffix(_SUFFIX): tensor for name, tensor in saved.items()}
