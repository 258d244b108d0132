"""Tiny random models with a small character tokenizer, made once a session."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"

from pathlib import Path

import pytest
import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

SPECIAL = ["<pad>", "<eos>", "<q>", "<a>"]
PLAIN = ["<answer>", "</answer>", "greatest common divisor"]
CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789 .,:;?!+-*/=()<>"
TEMPLATE = (
    "{% for m in messages %}<q>{{ m['content'] }}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
)


def make_tokenizer() -> PreTrainedTokenizerFast:
    """One token a character, a fixed phrase and the answer tags as plain added tokens."""
    vocabulary = {text: number for number, text in enumerate([*SPECIAL, *CHARACTERS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", chat_template=TEMPLATE
    )
    fast.add_special_tokens({"additional_special_tokens": ["<q>", "<a>"]})
    fast.add_tokens([AddedToken(text, special=False, normalized=False) for text in PLAIN])
    return fast


def save_model(folder: Path, kind: str, scale: float = 6.0) -> Path:
    """Write a random model; weights are scaled up so that its answers differ from each other."""
    tokenizer = make_tokenizer()
    size = {
        "vocab_size": len(tokenizer) + 3,
        "hidden_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "max_position_embeddings": 128,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
        "pad_token_id": tokenizer.pad_token_id,
    }
    torch.manual_seed(7)
    if kind == "llama":
        model = LlamaForCausalLM(LlamaConfig(**size, num_key_value_heads=4, tie_word_embeddings=True))
    elif kind == "qwen2":
        model = Qwen2ForCausalLM(Qwen2Config(**size, num_key_value_heads=2, tie_word_embeddings=False))
    else:
        model = GPTNeoXForCausalLM(GPTNeoXConfig(**size))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.mul_(scale)
            elif name.endswith("bias"):
                parameter.normal_(0, 0.3)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tied output, all heads with their own keys."""
    return save_model(tmp_path_factory.mktemp("llama"), "llama")


@pytest.fixture(scope="session")
def qwen2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Own output matrix, biases, two query heads a key head."""
    return save_model(tmp_path_factory.mktemp("qwen2"), "qwen2")


@pytest.fixture(scope="session")
def neox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An architecture that is not written out."""
    return save_model(tmp_path_factory.mktemp("neox"), "neox")


@pytest.fixture(params=["llama", "qwen2"])
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found
