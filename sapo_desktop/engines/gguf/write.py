"""Writes a model, or a LoRA adapter, as a GGUF file for llama.cpp.

`architectures.py` (tensors, shapes) and `vocabulary.py` (text) know how transformers' layout and llama.cpp's differ.
What cannot be written faithfully is refused with the reason. Tensors are processed one at a time, so a model of any
size needs only the memory of its largest matrix. Left out: quantised types, BF16.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.gguf.architectures import ROPE_FACTORS, Layout
from sapo_desktop.engines.gguf.vocabulary import write_vocabulary
from sapo_desktop.engines.protocols import GgufWeights

HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"
_FILE_TYPES = {"F32": gguf.LlamaFileType.ALL_F32, "F16": gguf.LlamaFileType.MOSTLY_F16}
_TORCH_TYPES = {"F32": torch.float32, "F16": torch.float16}


class Weights(Protocol):
    """A model's tensors by transformers' names, each made or read on request."""

    def __iter__(self) -> Iterator[str]: ...

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape, without making the tensor."""

    def __getitem__(self, name: str) -> Tensor: ...


def write_model(
    path: Path,
    config: Any,
    tokenizer: Any,
    weights: Weights,
    weight_type: GgufWeights = "F16",
    name: str = "",
    ends: Collection[int] = (),
) -> None:
    """Write one GGUF file that llama.cpp loads by itself; vectors stay F32. A failure leaves no file.

    `ends`: tokens that end an answer, besides the tokenizer's own.

    Raises:
        ModelError: the architecture, an option, the tokenizer or a value cannot be written faithfully.
    """
    layout = Layout(config)
    # Tied models share the embedding with the head; llama.cpp does that if output.weight is missing.
    names = [n for n in weights if n != HEAD or has_own_head(config, weights)]
    writer = gguf.GGUFWriter(path, layout.name)
    try:
        if name:
            writer.add_name(name)
        writer.add_file_type(_FILE_TYPES[weight_type])
        layout.describe(writer)
        write_vocabulary(writer, tokenizer, config.vocab_size, ends)
        _write_tensors(writer, layout, names, weights, weight_type)
    except BaseException:
        try:
            writer.close()
        finally:
            path.unlink(missing_ok=True)
        raise
    writer.close()


def has_own_head(config: Any, weights: Weights) -> bool:
    """Whether the output matrix differs from the embedding, whatever the configuration says.

    Raises:
        ModelError: the configuration says so, but there is none.
    """
    names = set(weights)
    if HEAD in names:
        return not torch.equal(weights[HEAD], weights[EMBEDDING])
    if not config.tie_word_embeddings:
        raise ModelError("The model has no {name}. Download the folder again.", name=HEAD)
    return False


def write_adapter(path: Path, config: Any, factors: Mapping[str, Tensor], scaling: float) -> None:
    """Write a LoRA adapter for a base model that `write_model` wrote.

    Args:
        path: the file to write.
        config: the base model's configuration.
        factors: `<module>.lora_A` of shape (rank, in) and `<module>.lora_B` of shape (out, rank), by the
            module's name in the base model (`model.layers.0.self_attn.q_proj`).
        scaling: the factor of B A in the sum; alpha / rank in plain LoRA.

    Raises:
        ModelError: a module has no counterpart in llama.cpp.
    """
    layout = Layout(config)
    rank = next(factor.shape[0] for name, factor in factors.items() if name.endswith(".lora_A"))
    writer = gguf.GGUFWriter(path, layout.name)
    try:
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        # llama.cpp divides by the rank itself.
        writer.add_float32("adapter.lora.alpha", scaling * rank)
        for name, factor in factors.items():
            module, _, kind = name.rpartition(".")
            target = layout.target(f"{module}.weight")
            rows = layout.rows(f"{module}.weight", factor) if kind == "lora_B" else factor
            writer.add_tensor(f"{target}.{kind.lower()}", _encode(name, rows, "F32"))
        _write_head(writer)
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _write_tensors(
    writer: gguf.GGUFWriter, layout: Layout, names: list[str], weights: Weights, weight_type: GgufWeights
) -> None:
    factors = layout.rope_factors()
    if factors is not None:
        _announce(writer, ROPE_FACTORS, tuple(factors.shape), "F32")
    kinds: dict[str, GgufWeights] = {n: weight_type if len(weights.shape(n)) > 1 else "F32" for n in names}
    for name in names:
        _announce(writer, layout.target(name), weights.shape(name), kinds[name])
    _write_head(writer)
    writer.write_ti_data_to_file()
    if factors is not None:
        writer.write_tensor_data(_encode(ROPE_FACTORS, factors, "F32"))
    for name in names:
        writer.write_tensor_data(_encode(name, layout.rows(name, weights[name]), kinds[name]))


def _announce(writer: gguf.GGUFWriter, target: str, shape: tuple[int, ...], kind: GgufWeights) -> None:
    size = int(np.prod(shape)) * _TORCH_TYPES[kind].itemsize
    quantisation = gguf.GGMLQuantizationType[kind]
    writer.add_tensor_info(target, shape, np.dtype(np.float32), size, raw_dtype=quantisation)


def _encode(name: str, tensor: Tensor, kind: GgufWeights) -> NDArray[Any]:
    """The tensor's numbers in the file's type."""
    low, high = (float(value) for value in torch.aminmax(tensor.detach()))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ModelError(sentence("The model has weights that are not numbers. Go back to an earlier checkpoint."))
    if kind == "F16" and max(-low, high) > torch.finfo(torch.float16).max:
        raise ModelError(
            "{name} has a value too large for F16. Set generator_weights to f32, or export as `merged`.",
            name=name,
        )
    return np.asarray(tensor.detach().to(device="cpu", dtype=_TORCH_TYPES[kind]).contiguous().numpy())


def _write_head(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
