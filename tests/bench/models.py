"""The models that speed is measured on: random weights in the shapes of real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

from tests.engines.export_models import starter_like_tokenizer
from tests.engines.tiny import make_tokenizer

WORDS = 512

SHAPES: dict[str, dict[str, Any]] = {
    "starter": {"hidden_size": 192, "num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 6}
    | {"intermediate_size": 512, "vocab_size": 556},
    "50M": {"hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8, "num_key_value_heads": 8}
    | {"intermediate_size": 1536, "vocab_size": 16_000},
    "0.5B": {"hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2}
    | {"intermediate_size": 4864, "vocab_size": 151_936},
}
"""The starter's own shape, one between, and that of Qwen2.5-0.5B."""


def starter_like(folder: Path, seed: int) -> Path:
    """Write a Llama of 2.3M parameters: 192 wide, 5 layers, 6 heads, output tied to the embedding."""
    torch.manual_seed(seed)
    tokenizer = make_tokenizer()
    config = LlamaConfig(
        vocab_size=WORDS,
        hidden_size=192,
        num_hidden_layers=5,
        num_attention_heads=6,
        num_key_value_heads=6,
        intermediate_size=512,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def random_model(folder: Path, shape: str, seed: int) -> Path:
    """Write a model of one of the shapes, with a byte-level tokenizer, so that llama.cpp takes it too."""
    torch.manual_seed(seed)
    tokenizer = starter_like_tokenizer()
    common: dict[str, Any] = {
        "max_position_embeddings": 512,
        "tie_word_embeddings": True,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": None,
    }
    options = SHAPES[shape] | common
    model = Qwen2ForCausalLM(Qwen2Config(**options)) if shape == "0.5B" else LlamaForCausalLM(LlamaConfig(**options))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
