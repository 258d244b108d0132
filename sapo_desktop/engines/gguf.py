"""Writes a model, or a LoRA adapter, as a GGUF file for llama.cpp.

Three things differ between transformers' layout and llama.cpp's: the names of tensors, the order of the
rows of Llama's query and key matrices (llama.cpp rotates neighbouring pairs, transformers the two halves of
a head), and the keys that describe the model. Llama and Qwen2 are written; another architecture, or a
variant of these that llama.cpp would compute in another way, is refused with the reason. Left out:
quantised types, scaled rotary embeddings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sapo_desktop.core.errors import ModelError
from sapo_desktop.engines.gguf_vocabulary import write_vocabulary

WeightType = Literal["F32", "F16", "BF16"]
_ARCHITECTURES = {"llama": gguf.MODEL_ARCH.LLAMA, "qwen2": gguf.MODEL_ARCH.QWEN2}
_TYPES = {
    "F32": (gguf.GGMLQuantizationType.F32, gguf.LlamaFileType.ALL_F32),
    "F16": (gguf.GGMLQuantizationType.F16, gguf.LlamaFileType.MOSTLY_F16),
    "BF16": (gguf.GGMLQuantizationType.BF16, gguf.LlamaFileType.MOSTLY_BF16),
}
_ROTATED = (".q_proj.", ".k_proj.")


def write_model(
    path: Path,
    config: Any,
    tokenizer: Any,
    weights: Mapping[str, Tensor],
    weight_type: WeightType = "F16",
    name: str = "",
) -> None:
    """Write one GGUF file that llama.cpp loads by itself.

    `weights` are read twice, one at a time, so they may be computed when asked for. Vectors stay F32.

    Raises:
        ModelError: the architecture, an option of it, the tokenizer or a value cannot be written faithfully.
    """
    architecture = _supported(config)
    # Tied models share the embedding with the head: llama.cpp takes it where output.weight is missing.
    names = [n for n in weights if not (config.tie_word_embeddings and n == "lm_head.weight")]
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[architecture])
    try:
        _describe(writer, config, _TYPES[weight_type][1], name)
        write_vocabulary(writer, tokenizer, rows=config.vocab_size)
        _write_tensors(writer, _Layout(config, architecture), names, weights, weight_type)
    finally:
        writer.close()


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
    architecture = _supported(config)
    layout = _Layout(config, architecture)
    rank = next(factor.shape[0] for name, factor in factors.items() if name.endswith(".lora_A"))
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[architecture])
    try:
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        # llama.cpp divides by the rank itself.
        writer.add_float32("adapter.lora.alpha", scaling * rank)
        for name, factor in factors.items():
            module, _, kind = name.rpartition(".")
            target = layout.target(f"{module}.weight")
            rows = layout.rows(f"{module}.weight", factor) if kind == "lora_B" else factor
            writer.add_tensor(f"{target}.{kind.lower()}", _array(rows))
        _write_out(writer)
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _supported(config: Any) -> gguf.MODEL_ARCH:
    kind = config.model_type
    if kind not in _ARCHITECTURES:
        known = " and ".join(_ARCHITECTURES)
        raise ModelError(f"GGUF can be written for models of type {known}, not {kind}; export as `merged`.")
    rope = config.rope_parameters
    for differs, what in (
        (rope.get("rope_type", "default") != "default", f"rotary embeddings of type {rope.get('rope_type')}"),
        (rope.get("partial_rotary_factor", 1.0) != 1.0, "partly rotated heads"),
        (config.hidden_act != "silu", f"the activation {config.hidden_act}"),
        (getattr(config, "use_sliding_window", False), "a sliding attention window"),
    ):
        if differs:
            raise ModelError(f"This model has {what}: not written as GGUF yet; export as `merged`.")
    return _ARCHITECTURES[kind]


def _describe(writer: gguf.GGUFWriter, config: Any, file_type: gguf.LlamaFileType, name: str) -> None:
    head = _head_size(config)
    if name:
        writer.add_name(name)
    writer.add_file_type(file_type)
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_dimension_count(head)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)


def _head_size(config: Any) -> int:
    explicit = getattr(config, "head_dim", None)
    return int(explicit or config.hidden_size // config.num_attention_heads)


class _Layout:
    """Where a tensor of transformers goes in llama.cpp, and in which order its rows stand there."""

    def __init__(self, config: Any, architecture: gguf.MODEL_ARCH) -> None:
        self._names = gguf.get_tensor_name_map(architecture, config.num_hidden_layers)
        self._rotated = architecture is gguf.MODEL_ARCH.LLAMA
        self._pair = _head_size(config) // 2

    def target(self, name: str) -> str:
        found = self._names.get_name(name, try_suffixes=(".weight", ".bias"))
        if found is None:
            raise ModelError(f"llama.cpp has no place for the tensor {name}; export as `merged`.")
        return str(found)

    def rows(self, name: str, tensor: Tensor) -> Tensor:
        """Rows of query and key from (half, pair) to (pair, half) within each head, for Llama only."""
        if not (self._rotated and any(part in name for part in _ROTATED)):
            return tensor
        heads = tensor.reshape(-1, 2, self._pair, *tensor.shape[1:])
        return heads.transpose(1, 2).reshape(tensor.shape)


def _write_tensors(
    writer: gguf.GGUFWriter,
    layout: _Layout,
    names: list[str],
    weights: Mapping[str, Tensor],
    weight_type: WeightType,
) -> None:
    def encoded() -> Iterator[tuple[str, NDArray[Any], tuple[int, ...], gguf.GGMLQuantizationType]]:
        for name in names:
            tensor = weights[name]
            kind = _TYPES[weight_type][0] if tensor.dim() > 1 else gguf.GGMLQuantizationType.F32
            yield name, _encode(name, layout.rows(name, tensor), kind), tuple(tensor.shape), kind

    for name, data, shape, kind in encoded():
        writer.add_tensor_info(layout.target(name), shape, np.dtype(np.float32), data.nbytes, raw_dtype=kind)
    _write_out(writer)
    writer.write_ti_data_to_file()
    for _, data, _, _ in encoded():
        writer.write_tensor_data(data)


def _encode(name: str, tensor: Tensor, kind: gguf.GGMLQuantizationType) -> NDArray[Any]:
    values = _array(tensor)
    if kind is gguf.GGMLQuantizationType.F16 and np.abs(values).max() > np.finfo(np.float16).max:
        raise ModelError(f"{name} has a value that F16 cannot hold; write the file as BF16 or F32.")
    return np.asarray(gguf.quantize(values, kind))


def _array(tensor: Tensor) -> NDArray[np.float32]:
    values = tensor.detach().to(device="cpu", dtype=torch.float32).contiguous().numpy()
    if not math.isfinite(float(values.sum(dtype=np.float64))):
        raise ModelError("The model has weights that are not numbers: go back to an earlier checkpoint.")
    return values


def _write_out(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
