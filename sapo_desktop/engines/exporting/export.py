"""Writes the current model for use in other programs: adapter, merged folder, or GGUF file.

The live model is only read: the adapter's product is added into fresh tensors, one weight at a time. The result is
loaded again and compared (check.py) before it is kept. If the model came as a GGUF file, `gguf` writes an adapter for
that file, which the user already has. Everything is written into a folder next to the target and renamed at the end, so
a full disk or a killed process leaves no partial export under the target's name.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from peft.tuners.lora import LoraLayer
from safetensors import SafetensorError
from torch import Tensor

from sapo_desktop.core.errors import HostCancelled, ModelError, SapoError, UsageError
from sapo_desktop.core.files.exports import part_of, refuse_used, take_its_name, why_not_written
from sapo_desktop.core.files.model_links import copy_file
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.exporting.card import card
from sapo_desktop.engines.exporting.check import (
    check_adapter,
    check_folder,
    check_gguf,
    predicted,
    texts_as_tokens,
)
from sapo_desktop.engines.exporting.shards import save_weights
from sapo_desktop.engines.gguf.write import HEAD, has_own_head, write_adapter, write_model

FORMATS = ("peft", "merged", "gguf")
_GENERATION = "generation_config.json"
_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def export(
    format: str,
    model: Any,
    tokenizer: Any,
    model_folder: Path,
    to: Path,
    steps: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    ends: frozenset[int] = frozenset(),
) -> list[str]:
    """Write the live model into the folder `to` and return the names of its files.

    Args:
        format: `peft` (the adapter alone), `merged` (a folder for transformers) or `gguf` (for llama.cpp: one F16
            file, or an adapter).
        model: the plain model, or a peft model with one active LoRA adapter; not changed.
        tokenizer: the model's, with its chat template.
        model_folder: where the base was loaded from, or the GGUF file; its configuration and licence are copied.
        to: a folder that does not exist yet, or is empty.
        steps: optimiser steps behind the weights, for the model card; None if unknown.
        should_stop: asked before each weight of a whole model, which may have gigabytes of them.
        ends: tokens that end an answer.

    Raises:
        HostCancelled: a stop was requested; nothing remains.
        UsageError: an unknown format, or `to` is in use.
        ModelError: this model cannot be written in this format, or the result answers differently.
        SapoError: the disk is full or read-only.
    """
    if format not in FORMATS:
        raise UsageError(
            "Unknown export format '{name}'. Choose one of {known}.", name=format, known=", ".join(FORMATS)
        )
    to = to.expanduser().absolute()
    refuse_used(to)
    part = part_of(to)
    try:
        # From an export that was killed.
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        written = _Written(model, tokenizer, model_folder, part, ends, should_stop)
        {"peft": written.adapter, "merged": written.merged, "gguf": written.gguf}[format]()
        adapted = isinstance(model, PeftModel)
        network = model.get_base_model() if adapted else model
        text = card(format, model_folder, type(network).__name__, steps, adapted)
        (part / "README.md").write_text(text, encoding="utf-8")
        _open_to_readers(part)
        _copy_along(format, model_folder, part)  # last: these keep their permissions
        written.check()
        take_its_name(part, to)
    except (OSError, SafetensorError) as error:
        raise SapoError(why_not_written(error, to)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return sorted(file.name for file in to.iterdir())


def _open_to_readers(part: Path) -> None:
    """Make the written files as readable as the card. safetensors makes its files readable for the owner only, so a
    shared folder or another user's llama.cpp could not read them."""
    mode = (part / "README.md").stat().st_mode
    for file in part.iterdir():
        file.chmod(mode)


class MergedWeights(Mapping[str, Tensor]):
    """The weights with the adapter added, under the plain model's names, each computed when read.

    Values are `W + scaling * B A`, formed in fp32 on the CPU. Reading one raises HostCancelled if a stop was requested.
    """

    def __init__(self, model: Any, should_stop: Callable[[], bool] = lambda: False) -> None:
        self._should_stop = should_stop
        base = model.get_base_model() if isinstance(model, PeftModel) else model
        self._plain: dict[str, Tensor] = {}
        self._layers: dict[str, LoraLayer] = {}
        for module_name, module in base.named_modules():
            if isinstance(module, LoraLayer):
                self._layers[f"{module_name}.weight"] = module
        for name, tensor in base.state_dict().items():
            if ".lora_" not in name:
                self._plain[name.replace(".base_layer.", ".")] = tensor

    def __getitem__(self, name: str) -> Tensor:
        if self._should_stop():
            raise HostCancelled(sentence("The work was cancelled on purpose."))
        value = self._plain[name].detach().to(device="cpu", dtype=torch.float32)
        layer = self._layers.get(name)
        if layer is None or layer.merged or layer.disable_adapters:
            return value
        with torch.no_grad():
            for adapter in layer.active_adapters:
                if adapter in layer.lora_A:
                    value = value + _product(layer, adapter)
        return value

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._plain[name].shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)


def lora_factors(model: PeftModel) -> tuple[dict[str, Tensor], float]:
    """Return the active adapter in the form of `gguf.write_adapter`: factors by module, and their one scaling."""
    factors: dict[str, Tensor] = {}
    (adapter,) = model.active_adapters
    scaling = 0.0
    for name, layer in model.get_base_model().named_modules():
        if isinstance(layer, LoraLayer):
            factors[f"{name}.lora_A"] = layer.lora_A[adapter].weight
            factors[f"{name}.lora_B"] = layer.lora_B[adapter].weight
            scaling = float(layer.scaling[adapter])
    return factors, scaling


def _product(layer: LoraLayer, adapter: str) -> Tensor:
    """`scaling * B A` of shape (out, in), fp32 on the CPU."""
    a = layer.lora_A[adapter].weight.to(device="cpu", dtype=torch.float32)
    b = layer.lora_B[adapter].weight.to(device="cpu", dtype=torch.float32)
    product: Tensor = (b @ a) * layer.scaling[adapter]
    return product


@dataclass
class _Written:
    """One export in progress; the writing method sets `check`."""

    model: Any
    tokenizer: Any
    base: Path
    part: Path
    ends: frozenset[int]
    should_stop: Callable[[], bool]
    check: Callable[[], None] = lambda: None

    def adapter(self) -> None:
        if not isinstance(self.model, PeftModel):
            raise ModelError(
                sentence("There is no adapter, because all weights are trained here. Export as `merged` or `gguf`.")
            )
        # Otherwise the network is asked whether embeddings changed.
        self.model.save_pretrained(self.part, save_embedding_layers=False)
        settings = self.part / "adapter_config.json"
        values = json.loads(settings.read_text(encoding="utf-8"))
        values["base_model_name_or_path"] = str(self.base.absolute())
        settings.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        self._write_tokenizer()
        self.check = partial(check_adapter, self.part, *lora_factors(self.model))

    def merged(self) -> None:
        config = _config(self.base, self.model)
        dtype = config.get("dtype") or config.get("torch_dtype") or "bfloat16"
        if dtype not in _DTYPES:
            raise ModelError(
                "The base model's weights are {number_format}, but only {known} can be written. Export as `peft`.",
                number_format=str(dtype),
                known=", ".join(_DTYPES),
            )
        weights = MergedWeights(self.model, self.should_stop)
        own_head = has_own_head(self.model.config, weights)
        shapes = {n: weights.shape(n) for n in weights if n != HEAD or own_head}
        prompts = texts_as_tokens(self.tokenizer)
        expected = predicted(self.model, prompts)
        save_weights(shapes, weights, _DTYPES[dtype], self.part)
        config["dtype"] = config.pop("torch_dtype", dtype)
        config["tie_word_embeddings"] = not own_head
        (self.part / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        if self.base.is_file() and self.ends:  # a folder has its own tokenizer settings, which are copied
            generation = json.dumps({"eos_token_id": sorted(self.ends)}, indent=2)
            (self.part / _GENERATION).write_text(generation + "\n", encoding="utf-8")
        self._write_tokenizer()
        self.check = partial(check_folder, self.part, dtype, expected, prompts, self.ends)

    def gguf(self) -> None:
        prompts = texts_as_tokens(self.tokenizer)
        expected = predicted(self.model, prompts)
        if self.base.is_file() and isinstance(self.model, PeftModel):
            file = self.part / f"{self.base.stem}-adapter.gguf"
            write_adapter(file, self.model.config, *lora_factors(self.model))
            self.check = partial(check_gguf, self.base, expected, prompts, self.ends, file)
            return
        name = self.base.stem if self.base.is_file() else self.base.name
        file = self.part / f"{name}-F16.gguf"
        weights = MergedWeights(self.model, self.should_stop)
        write_model(file, self.model.config, self.tokenizer, weights, "F16", name=name, ends=self.ends)
        self.check = partial(check_gguf, file, expected, prompts, self.ends)

    def _write_tokenizer(self) -> None:
        try:
            self.tokenizer.save_pretrained(self.part)
        except Exception as error:
            # The tokenizers library raises a bare Exception if it cannot write its file.
            if type(error) is not Exception:
                raise
            raise OSError(str(error)) from error


def _config(base: Path, model: Any) -> dict[str, Any]:
    """config.json of the base, original or derived from its GGUF file."""
    if base.is_file():
        read: dict[str, Any] = json.loads(model.config.to_json_string())
        return read | {"dtype": str(next(model.parameters()).dtype).removeprefix("torch.")}
    came: dict[str, Any] = json.loads((base / "config.json").read_text(encoding="utf-8"))
    return came


def _copy_along(format: str, model_folder: Path, part: Path) -> None:
    """Copy the files that stay unchanged."""
    if model_folder.is_file():
        return
    settings = [_GENERATION] if format == "merged" else []
    for name in (*settings, "LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE"):
        if (model_folder / name).is_file():
            copy_file(model_folder / name, part / name)
