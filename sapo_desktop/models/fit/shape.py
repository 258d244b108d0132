"""A transformer's shape, and what follows by counting: parameters, adapter, KV cache. Pure arithmetic."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import ModelError

Architecture = Literal["LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "SmolLM3ForCausalLM"]
Count = Annotated[int, Meta(gt=0)]
LARGEST_SIZE = 10_000_000
"""Largest size of a layer, a vocabulary and so on; larger numbers are refused."""
MOST_LAYERS = 1_000


class ModelShape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of config.json that affect memory."""

    layers: Count
    hidden: Count
    heads: Count
    kv_heads: Count
    head: Count
    """Width of one head."""
    ffn: Count
    vocabulary: Count
    tied: bool
    """Whether the output matrix is the embedding."""

    @property
    def query(self) -> int:
        """Width of all query heads."""
        return self.heads * self.head

    @property
    def key(self) -> int:
        """Width of all key (or value) heads."""
        return self.kv_heads * self.head

    @property
    def projections(self) -> list[tuple[int, int]]:
        """(in, out) of the linear layers of one block: q, k, v, o, gate, up, down."""
        d, q, k, f = self.hidden, self.query, self.key, self.ffn
        return [(d, q), (d, k), (d, k), (q, d), (d, f), (d, f), (f, d)]

    @property
    def linear_weights(self) -> int:
        """Numbers in the matrices of all blocks."""
        return self.layers * sum(i * o for i, o in self.projections)

    def parameters(self, architecture: str) -> int:
        """All parameters; a tied head counts once."""
        norms = 2 * self.hidden
        biases = self.query + 2 * self.key if architecture == "Qwen2ForCausalLM" else 0
        head_norms = 2 * self.head if architecture == "Qwen3ForCausalLM" else 0
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        return embeddings + self.linear_weights + self.layers * (norms + biases + head_norms) + self.hidden

    def adapter_parameters(self, rank: int) -> int:
        """Parameters of a LoRA adapter on all linear layers."""
        return self.layers * rank * sum(i + o for i, o in self.projections)

    def kv_numbers(self) -> int:
        """Numbers in the cache per token."""
        return 2 * self.layers * self.key


def shape_of(config: dict[str, Any]) -> ModelShape:
    """The shape in a model's config.json. Raises ModelError if a number is missing or invalid."""
    try:
        heads, hidden = int(config["num_attention_heads"]), int(config["hidden_size"])
        sizes = {
            "layers": int(config["num_hidden_layers"]),
            "hidden": hidden,
            "heads": heads,
            "kv_heads": int(config.get("num_key_value_heads") or heads),
            "head": int(config.get("head_dim") or hidden // heads),
            "ffn": int(config["intermediate_size"]),
            "vocabulary": int(config["vocab_size"]),
        }
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise ModelError(
            "config.json does not describe the model's shape: {reason}. Choose another model.", reason=str(error)
        ) from error
    if not all(0 < size <= LARGEST_SIZE for size in sizes.values()) or sizes["layers"] > MOST_LAYERS:
        raise ModelError(
            "config.json has sizes that no model has: {sizes}. Download the folder again.",
            sizes=str(sizes)[:300],
        )
    return ModelShape(**sizes, tied=bool(config.get("tie_word_embeddings", False)))
