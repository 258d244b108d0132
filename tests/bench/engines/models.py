"""The models that speed and memory are measured on: random weights, in the starter's shape or any other."""

import random
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    SmolLM3Config,
    SmolLM3ForCausalLM,
)

from tests.engines.export_models import starter_like_tokenizer, with_added_tokens
from tests.engines.tiny import make_tokenizer

WORDS = 512
ARCHITECTURES = {
    "LlamaForCausalLM": (LlamaConfig, LlamaForCausalLM),
    "Qwen2ForCausalLM": (Qwen2Config, Qwen2ForCausalLM),
    "Qwen3ForCausalLM": (Qwen3Config, Qwen3ForCausalLM),
    "SmolLM3ForCausalLM": (SmolLM3Config, SmolLM3ForCausalLM),
}

SHAPES: dict[str, dict[str, Any]] = {
    "starter": {"hidden_size": 192, "num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 6}
    | {"intermediate_size": 512, "vocab_size": 556},
    "50M": {"hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8, "num_key_value_heads": 8}
    | {"intermediate_size": 1536, "vocab_size": 16_000},
    "135M": {"hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3}
    | {"intermediate_size": 1536, "vocab_size": 49_152},
    "0.5B": {"hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2}
    | {"intermediate_size": 4864, "vocab_size": 151_936},
}
"""The starter's own shape, one between, that of SmolLM2-135M and of Qwen2.5-0.5B."""


def starter_like(folder: Path, seed: int) -> Path:
    """Write a Llama of 2.3M parameters, nearly the starter's shape."""
    shape = SHAPES["starter"] | {"vocab_size": WORDS, "num_hidden_layers": 5}
    return small_model(folder, seed, make_tokenizer(), shape)


def smollm2_like(folder: Path, layers: int, seed: int) -> Path:
    """Write so many layers in the shape of SmolLM2-135M."""
    shape = SHAPES["135M"] | {"num_hidden_layers": layers, "max_position_embeddings": 2048}
    return small_model(folder, seed, make_tokenizer(), shape)


def model_for_both_engines(folder: Path, shape: str, seed: int) -> Path:
    """Write a model of one of the shapes, with a byte-level tokenizer, so that llama.cpp takes it too."""
    kind = "Qwen2ForCausalLM" if shape == "0.5B" else "LlamaForCausalLM"
    return small_model(folder, seed, starter_like_tokenizer(), SHAPES[shape], kind)


def small_model(
    folder: Path,
    seed: int,
    tokenizer: PreTrainedTokenizerFast,
    shape: dict[str, Any],
    architecture: str = "LlamaForCausalLM",
) -> Path:
    """Write a model as transformers draws its weights, output tied to the embedding."""
    torch.manual_seed(seed)
    config_class, model_class = ARCHITECTURES[architecture]
    config = config_class(
        **{"max_position_embeddings": 512} | shape,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model_class(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def random_model(
    folder: Path, architecture: str, seed: int, *, dtype: torch.dtype = torch.bfloat16, **shape: object
) -> Path:
    """Write a model of random weights in any shape; `architecture` is transformers' class, `shape` its configuration.

    Weights repeat one block of normal numbers: what they are changes nothing about the memory they take.
    """
    tokenizer = full_size_tokenizer(int(str(shape["vocab_size"])), seed)
    config_class, model_class = ARCHITECTURES[architecture]
    config = config_class(
        **shape, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, bos_token_id=None
    )
    with torch.device("meta"):
        model = model_class(config)
    block = (torch.randn(1 << 20, generator=torch.Generator().manual_seed(seed)) * 0.02).to(dtype)
    weights = {}
    for name, parameter in model.named_parameters():
        count = parameter.numel()
        weights[name] = block.repeat(-(-count // len(block)))[:count].view(parameter.shape).clone()
    if config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config.architectures = [architecture]
    config.dtype = dtype
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def full_size_tokenizer(words: int, seed: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE with so many tokens, merges drawn at random: a vocabulary takes memory of its own."""
    chance = random.Random(seed)
    texts = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {text: number for number, text in enumerate(texts)}
    merges = []
    while len(vocabulary) < words - 16:
        # Later tokens are longer ones, as in a vocabulary that was learned.
        first, second = texts[int(len(texts) * chance.random() ** 2)], texts[chance.randrange(min(len(texts), 256))]
        if first + second not in vocabulary:
            vocabulary[first + second] = len(vocabulary)
            texts.append(first + second)
            merges.append((first, second))
    bare = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    return with_added_tokens(bare)
