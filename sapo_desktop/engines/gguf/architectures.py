"""llama.cpp's names and layout for the architectures that can be written as GGUF.

These are Llama (including SmolLM2), Qwen2 and Qwen3, and SmolLM3. For Llama and SmolLM3, llama.cpp rotates adjacent
pairs, while transformers rotates the two halves of a head, so the rows of query and key are reordered. An option that
llama.cpp would compute differently is refused with the reason.
"""

from __future__ import annotations

import math
from typing import Any

import gguf
import torch
from torch import Tensor

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import Text, sentence

_ARCHITECTURES = {
    "llama": gguf.MODEL_ARCH.LLAMA,
    "qwen2": gguf.MODEL_ARCH.QWEN2,
    "qwen3": gguf.MODEL_ARCH.QWEN3,
    "smollm3": gguf.MODEL_ARCH.SMOLLM3,
}
_PAIRS = {gguf.MODEL_ARCH.LLAMA, gguf.MODEL_ARCH.SMOLLM3}
"""Architectures for which llama.cpp rotates adjacent pairs."""
_ROTATED = (".q_proj.", ".k_proj.")
_NO_ROTATION_EVERY = 4
"""llama.cpp applies no rotary embedding in every fourth layer of a SmolLM3, whatever the file says."""
ROPE_FACTORS = "rope_freqs.weight"


class Layout:
    """The place of a transformers tensor in llama.cpp's file, and the order of its rows there.

    Raises:
        ModelError: llama.cpp has no counterpart for the architecture or one of its options.
    """

    def __init__(self, config: Any) -> None:
        self.config = config
        self.architecture = _supported(config)
        self._names = gguf.get_tensor_name_map(self.architecture, config.num_hidden_layers)
        self._pair = head_size(config) // 2

    @property
    def name(self) -> str:
        """llama.cpp's name of the architecture, as in `general.architecture`."""
        return str(gguf.MODEL_ARCH_NAMES[self.architecture])

    def target(self, name: str) -> str:
        """llama.cpp's name of a tensor."""
        found = self._names.get_name(name, try_suffixes=(".weight", ".bias"))
        if found is None:
            raise ModelError("llama.cpp has no place for the tensor {name}. Export as `merged`.", name=name)
        return str(found)

    def rows(self, name: str, tensor: Tensor) -> Tensor:
        """Reorder rows of query and key from (half, pair) to (pair, half) within each head, if pairs are rotated."""
        if self.architecture not in _PAIRS or not any(part in name for part in _ROTATED):
            return tensor
        heads = tensor.reshape(-1, 2, self._pair, *tensor.shape[1:])
        return heads.transpose(1, 2).reshape(tensor.shape)

    def original_rows(self, name: str, tensor: Tensor) -> Tensor:
        """The inverse of `rows`: llama.cpp's tensor in transformers' order."""
        if self.architecture not in _PAIRS or not any(part in name for part in _ROTATED):
            return tensor
        heads = tensor.reshape(-1, self._pair, 2, *tensor.shape[1:])
        return heads.transpose(1, 2).reshape(tensor.shape)

    def rope_factors(self) -> Tensor | None:
        """Llama 3's divisors of the rotary frequencies, [head / 2] fp32; None for other models."""
        return llama3_factors(self.config) if _rope_type(self.config) == "llama3" else None

    def describe(self, writer: gguf.GGUFWriter) -> None:
        """Add the numbers from which llama.cpp builds the network."""
        config, head = self.config, head_size(self.config)
        writer.add_vocab_size(config.vocab_size)
        writer.add_context_length(config.max_position_embeddings)
        writer.add_embedding_length(config.hidden_size)
        writer.add_block_count(config.num_hidden_layers)
        writer.add_feed_forward_length(config.intermediate_size)
        writer.add_head_count(config.num_attention_heads)
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_key_length(head)
        writer.add_value_length(head)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_rope_dimension_count(head)
        writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
        _describe_scaling(writer, config)


def head_size(config: Any) -> int:
    """Size of an attention head; Qwen3 states it, for others it is computed."""
    explicit = getattr(config, "head_dim", None)
    return int(explicit or config.hidden_size // config.num_attention_heads)


def llama3_factors(config: Any) -> Tensor:
    """Wavelengths within the old context keep their frequency, long ones are slowed by `factor`, with a smooth
    transition."""
    rope, head = config.rope_parameters, head_size(config)
    frequencies = rope["rope_theta"] ** -(torch.arange(0, head, 2, dtype=torch.float64) / head)
    turns = rope["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    factors: Tensor = 1 / (kept + (1 - kept) / rope["factor"])
    return factors.float()


def _rope_type(config: Any) -> str:
    return str(config.rope_parameters.get("rope_type", "default"))


def _describe_scaling(writer: gguf.GGUFWriter, config: Any) -> None:
    rope, kind = config.rope_parameters, _rope_type(config)
    if kind == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if kind == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def _supported(config: Any) -> gguf.MODEL_ARCH:
    architecture = _ARCHITECTURES.get(config.model_type)
    if architecture is None:
        known = ", ".join(_ARCHITECTURES)
        raise ModelError(
            "GGUF can be written for models of type {known}, not {kind}; export as `merged`.",
            known=known,
            kind=str(config.model_type),
        )
    for differs, what in (
        *_rope_differences(config),
        (config.hidden_act != "silu", sentence("the activation {name}", name=str(config.hidden_act))),
        (
            set(getattr(config, "layer_types", None) or ["full_attention"]) != {"full_attention"},
            sentence("sliding attention"),
        ),
        *_other_differences(config),
    ):
        if differs:
            raise ModelError(
                "This model has {what}, which llama.cpp lacks or computes differently. Export as `merged`.",
                what=what,
            )
    return architecture


def _rope_differences(config: Any) -> list[tuple[bool, Text]]:
    rope, kind = config.rope_parameters, _rope_type(config)
    known = {"default", "linear", "yarn", "llama3"} if config.model_type == "llama" else {"default", "linear", "yarn"}
    return [
        (kind not in known, sentence("rotary embeddings of type {kind}", kind=str(kind))),
        (rope.get("partial_rotary_factor", 1.0) != 1.0, sentence("partly rotated heads")),
        (kind == "yarn" and _unusual_yarn(rope), sentence("YaRN with its own attention factor or range")),
    ]


def _unusual_yarn(rope: dict[str, Any]) -> bool:
    usual = 0.1 * math.log(max(rope["factor"], 1.0)) + 1.0
    factor = rope.get("attention_factor")
    named = factor is not None and not math.isclose(factor, usual, rel_tol=1e-6)
    scaled = bool(rope.get("mscale") or rope.get("mscale_all_dim"))
    # llama.cpp does not read such a range from a file.
    ranged = (rope.get("beta_fast") or 32, rope.get("beta_slow") or 1) != (32, 1) or not rope.get("truncate", True)
    return named or scaled or ranged


def _other_differences(config: Any) -> list[tuple[bool, Text]]:
    biases = getattr(config, "attention_bias", False) or getattr(config, "mlp_bias", False)
    found: list[tuple[bool, Text]] = [
        (biases and config.model_type in {"qwen3", "smollm3"}, sentence("biases that models of this kind rarely have"))
    ]
    if config.model_type == "smollm3":
        layers = range(1, config.num_hidden_layers + 1)
        usual = [int(layer % _NO_ROTATION_EVERY != 0) for layer in layers]
        rotated = list(config.no_rope_layers)[: config.num_hidden_layers] != usual
        found.append((rotated, sentence("rotary embeddings left out at unusual layers")))
    return found
