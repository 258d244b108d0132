"""Writes the model as it is now for use elsewhere: adapter, merged folder, or GGUF file.

The live model is only read: the adapter's product is added into fresh tensors, one weight at a time.
Everything is written into a folder beside the target and renamed at the end, so that a full disk or a
killed process leaves no half export under the name that was asked for.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
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
from sapo_desktop.engines.exporting.shards import save_weights
from sapo_desktop.engines.gguf.write import write_model

FORMATS = ("peft", "merged", "gguf")
_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def export(
    format: str,
    model: Any,
    tokenizer: Any,
    model_folder: Path,
    to: Path,
    steps: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[str]:
    """Write the live model into the folder `to` and return the names of the files in it.

    Args:
        format: `peft` (the adapter alone), `merged` (a folder for transformers) or `gguf` (one F16 file).
        model: the plain model, or a peft model with one LoRA adapter active; left as it is.
        tokenizer: the model's, with its chat template.
        model_folder: where the base was loaded from; its configuration and licence go along.
        to: a folder that does not exist yet, or is empty.
        steps: optimiser steps behind the weights, for the model card; None where it is not known.
        should_stop: asked before each weight of a whole model, of which there may be gigabytes.

    Raises:
        HostCancelled: it should stop; nothing of it stays.
        UsageError: an unknown format, or `to` is in use.
        ModelError: this model cannot be written in this format.
        SapoError: the disk is full or cannot be written.
    """
    if format not in FORMATS:
        raise UsageError(
            "Unknown export format '{name}'; choose one of {known}.", name=format, known=", ".join(FORMATS)
        )
    to = to.expanduser().absolute()
    refuse_used(to)
    part = part_of(to)
    try:
        # A leftover of an export that was killed.
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        if format == "peft":
            _write_adapter(model, tokenizer, model_folder, part)
        else:
            write = _write_merged if format == "merged" else _write_gguf
            write(model, MergedWeights(model, should_stop), tokenizer, model_folder, part)
        text = card(format, model_folder, steps, adapted=isinstance(model, PeftModel))
        (part / "README.md").write_text(text, encoding="utf-8")
        _open_to_readers(part)
        _copy_along(format, model_folder, part)  # last: these keep the permissions that they have
        take_its_name(part, to)
    except (OSError, SafetensorError) as error:
        raise SapoError(why_not_written(error, to)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return sorted(file.name for file in to.iterdir())


def _open_to_readers(part: Path) -> None:
    """What was written here as readable as the card: safetensors writes its own for their owner alone, which a shared
    folder or another user's llama.cpp could not read."""
    mode = (part / "README.md").stat().st_mode
    for file in part.iterdir():
        file.chmod(mode)


class MergedWeights(Mapping[str, Tensor]):
    """The weights with the adapter added in, under the plain model's names, each computed when it is read.

    Values are `W + scaling * B A`, formed in fp32 on the CPU. To read one raises HostCancelled where it should stop.
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
            raise HostCancelled(sentence("The work was given up on purpose."))
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
    """Return the active adapter as `gguf.write_adapter` takes it: factors by module, and their one scaling."""
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


def _write_adapter(model: Any, tokenizer: Any, model_folder: Path, part: Path) -> None:
    if not isinstance(model, PeftModel):
        raise ModelError(sentence("There is no adapter: all weights are trained here. Export as `merged` or `gguf`."))
    # Whether embeddings changed is asked of the network otherwise.
    model.save_pretrained(part, save_embedding_layers=False)
    settings = part / "adapter_config.json"
    values = json.loads(settings.read_text(encoding="utf-8"))
    values["base_model_name_or_path"] = str(model_folder.absolute())
    settings.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    _write_tokenizer(tokenizer, part)


def _write_merged(model: Any, weights: MergedWeights, tokenizer: Any, model_folder: Path, part: Path) -> None:
    config = json.loads((model_folder / "config.json").read_text(encoding="utf-8"))
    dtype = config.get("dtype") or config.get("torch_dtype") or "bfloat16"
    if dtype not in _DTYPES:
        raise ModelError(
            "The base model's weights are {number_format}; only {known} can be written. Export as `peft`.",
            number_format=str(dtype),
            known=", ".join(_DTYPES),
        )
    tied = bool(config.get("tie_word_embeddings", model.config.tie_word_embeddings))
    shapes = {n: weights.shape(n) for n in weights if not (tied and n == "lm_head.weight")}
    save_weights(shapes, weights, _DTYPES[dtype], part)
    config["dtype"] = config.pop("torch_dtype", dtype)
    (part / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    _write_tokenizer(tokenizer, part)


def _write_tokenizer(tokenizer: Any, part: Path) -> None:
    try:
        tokenizer.save_pretrained(part)
    except Exception as error:
        # The tokenizers library raises a bare Exception where it cannot write its file.
        if type(error) is not Exception:
            raise
        raise OSError(str(error)) from error


def _write_gguf(model: Any, weights: MergedWeights, tokenizer: Any, model_folder: Path, part: Path) -> None:
    name = model_folder.name
    write_model(part / f"{name}-F16.gguf", model.config, tokenizer, weights, "F16", name=name)


def _copy_along(format: str, model_folder: Path, part: Path) -> None:
    """The files that go along as they are."""
    settings = ["generation_config.json"] if format == "merged" else []
    for name in (*settings, "LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE"):
        if (model_folder / name).is_file():
            copy_file(model_folder / name, part / name)
