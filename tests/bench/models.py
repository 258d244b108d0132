"""The models that speed is measured on: random weights in the starter's shape."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.engines.tiny import make_tokenizer

WORDS = 512


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
