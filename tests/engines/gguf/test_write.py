"""GGUF files against the transformers model they came from: same tokens, same logits, same answers."""

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import MistralConfig

from sapo_desktop.core.errors import ModelError
from sapo_desktop.engines.exporting.export import MergedWeights
from sapo_desktop.engines.gguf.vocabulary import _BY_REGEX
from sapo_desktop.engines.gguf.write import write_model
from tests.engines.export_models import (
    ARCHITECTURES,
    CORPUS,
    PHRASES,
    llama,
    starter_like_tokenizer,
    tiny_model,
    torch_logits,
    with_added_tokens,
)

needs_llama = pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
ROWS = 272  # three more than the tokenizer has: the padded rows must not show


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return starter_like_tokenizer()


def write(path: Path, model: Any, tokenizer: Any, weight_type: Any = "F32") -> Path:
    write_model(path, model.config, tokenizer, MergedWeights(model), weight_type)
    return path


def encode(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


@needs_llama
def test_every_text_of_the_corpus_gives_the_same_tokens(tmp_path: Path, tokenizer: Any) -> None:
    path = write(tmp_path / "m.gguf", tiny_model("llama", ROWS), tokenizer)
    pairs = [first + second for first in PHRASES for second in PHRASES]
    every_byte = ["".join(map(chr, range(start, start + 64))) for start in range(0, 0x400, 64)]
    with llama(path) as cpp:
        for text in [*CORPUS, *pairs, *every_byte]:
            assert cpp.tokenize(text) == encode(tokenizer, text), text


@needs_llama
def test_overlapping_phrases_are_the_known_difference(tmp_path: Path, tokenizer: Any) -> None:
    """Phrases that share a space: with the longer one first both agree, with the shorter one they do not."""
    path = write(tmp_path / "m.gguf", tiny_model("llama", ROWS), tokenizer)
    with llama(path) as cpp:
        assert cpp.tokenize("What is and ") == encode(tokenizer, "What is and ")
        shorter_first = " and   indented"
        assert cpp.tokenize(shorter_first) == encode(tokenizer, shorter_first)
        overlapping = " and  indented"
        hugging_face = [tokenizer.convert_tokens_to_ids(" and "), *encode(tokenizer, " indented")]
        assert encode(tokenizer, overlapping) == hugging_face
        assert cpp.tokenize(overlapping) == [*encode(tokenizer, " and"), *encode(tokenizer, "  indented")]


@needs_llama
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_logits_equal_those_of_transformers(tmp_path: Path, tokenizer: Any, architecture: str, tied: bool) -> None:
    model = tiny_model(architecture, ROWS, tied)
    path = write(tmp_path / "m.gguf", model, tokenizer)
    with llama(path) as cpp:
        for text in CORPUS[1:]:
            tokens = encode(tokenizer, text)
            expected = torch_logits(model, tokens)
            assert np.abs(cpp.logits(tokens) - expected).max() < 1e-4
            assert np.abs(expected).max() > 1  # else 1e-4 would say nothing


@needs_llama
@pytest.mark.parametrize(
    ("architecture", "options"),
    [
        ("llama", {"head_dim": 12}),
        ("llama", {"attention_bias": True}),
        ("llama", {"mlp_bias": True}),
        ("llama", {"num_key_value_heads": 6}),
        ("qwen2", {"num_key_value_heads": 1}),
        ("qwen3", {"head_dim": 8}),
        ("smollm3", {"num_hidden_layers": 9}),
    ],
    ids=[
        "head size of its own",
        "rotated biases",
        "other biases",
        "no groups",
        "one group",
        "heads as wide as the stream",
        "two unrotated layers",
    ],
)
def test_kinds_of_attention_are_kept(
    tmp_path: Path, tokenizer: Any, architecture: str, options: dict[str, Any]
) -> None:
    model = tiny_model(architecture, ROWS, **options)
    path = write(tmp_path / "m.gguf", model, tokenizer)
    tokens = encode(tokenizer, CORPUS[2])
    with llama(path) as cpp:
        assert np.abs(cpp.logits(tokens) - torch_logits(model, tokens)).max() < 1e-4


LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 5000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
LINEAR = {"rope_type": "linear", "rope_theta": 5000.0, "factor": 2.5}
YARN = {"rope_type": "yarn", "rope_theta": 5000.0, "factor": 4.0, "original_max_position_embeddings": 64}


@needs_llama
@pytest.mark.parametrize(
    ("architecture", "rope"),
    [
        ("llama", LLAMA3),
        *((architecture, LINEAR) for architecture in ARCHITECTURES),
        *((architecture, YARN) for architecture in ARCHITECTURES),
        ("qwen2", YARN | {"factor": 1.0}),
    ],
)
def test_scaled_embeddings_are_kept(tmp_path: Path, tokenizer: Any, architecture: str, rope: dict[str, Any]) -> None:
    model = tiny_model(architecture, ROWS, rope_parameters=rope, num_hidden_layers=4)
    path = write(tmp_path / "m.gguf", model, tokenizer)
    tokens = encode(tokenizer, " ".join(CORPUS))[:200]
    plain = tiny_model(architecture, ROWS, num_hidden_layers=4)
    with llama(path) as cpp:
        expected = torch_logits(model, tokens)
        assert np.abs(cpp.logits(tokens) - expected).max() < 2e-4
        if rope["factor"] > 1:
            assert np.abs(torch_logits(plain, tokens) - expected).max() > 0.01


@needs_llama
def test_half_the_bits_stay_close(tmp_path: Path, tokenizer: Any) -> None:
    model = tiny_model("llama", ROWS)
    path = write(tmp_path / "m.gguf", model, tokenizer, "F16")
    tokens = encode(tokenizer, CORPUS[2])
    with llama(path) as cpp:
        assert np.abs(cpp.logits(tokens) - torch_logits(model, tokens)).max() < 0.05


def trained_bpe(pre_tokenizer: Any) -> Any:
    """A small ordinary byte-level BPE with merges, cut into words by `pre_tokenizer`."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizer
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    bare.train_from_iterator([*CORPUS, *[f"What is {i * 37} and {i}?" for i in range(300)]] * 3, trainer)
    return with_added_tokens(bare)


def split(pattern: str) -> Any:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


WORD_RULES = {
    "gpt-2": pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
    "smollm": pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    ),
    **{name: split(pattern) for pattern, name in _BY_REGEX.items() if name != "gpt-2"},
}
# Llama 3 proper takes a word that is a token whole: tests/engines/test_real_models.py has its tokenizer.
WORD_RULES["smaug-bpe"] = WORD_RULES.pop("llama-bpe")


@needs_llama
@pytest.mark.parametrize("name", sorted(WORD_RULES))
def test_bpe_with_merges_is_cut_as_by_the_tokenizers_library(tmp_path: Path, name: str) -> None:
    tokenizer = trained_bpe(WORD_RULES[name])
    path = write(tmp_path / "m.gguf", tiny_model("qwen2", 440), tokenizer)
    assert field(path, "tokenizer.ggml.pre") == name
    texts = [text for text in CORPUS if "\U0010ffff" not in text]  # unassigned: tables of \p differ by version
    with llama(path) as cpp:
        for text in texts:
            assert cpp.tokenize(text) == encode(tokenizer, text), text


def field(path: Path, key: str) -> Any:
    found = gguf.GGUFReader(path).get_field(key)
    assert found is not None, key
    return found.contents()


def test_metadata_names_ends_types_and_template(tmp_path: Path, tokenizer: Any) -> None:
    path = write(tmp_path / "m.gguf", tiny_model("llama", ROWS), tokenizer, "F16")
    types = field(path, "tokenizer.ggml.token_type")
    tokens = field(path, "tokenizer.ggml.tokens")
    assert tokens[256:260] == ["<pad>", "<eos>", "<q>", "<a>"]
    assert types[256:260] == [gguf.TokenType.CONTROL] * 4
    assert types[tokens.index("<answer>")] == gguf.TokenType.USER_DEFINED
    assert types[-1] == gguf.TokenType.UNUSED
    assert field(path, "tokenizer.ggml.eos_token_id") == 257
    assert field(path, "tokenizer.ggml.padding_token_id") == 256
    assert field(path, "tokenizer.ggml.add_bos_token") is False
    assert field(path, "tokenizer.chat_template") == tokenizer.chat_template
    assert field(path, "llama.attention.head_count_kv") == 2
    tensors = {tensor.name: tensor.tensor_type for tensor in gguf.GGUFReader(path).tensors}
    assert "output.weight" not in tensors
    assert tensors["blk.0.attn_q.weight"] == gguf.GGMLQuantizationType.F16
    assert tensors["blk.0.attn_norm.weight"] == gguf.GGMLQuantizationType.F32


def test_other_models_are_refused_with_the_reason(tmp_path: Path, tokenizer: Any) -> None:
    for architecture, change, reason in (
        ("llama", {"hidden_act": "gelu"}, "gelu"),
        ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, "dynamic"),
        ("llama", {"rope_parameters": YARN | {"attention_factor": 2.0}}, "attention factor"),
        ("llama", {"rope_parameters": YARN | {"truncate": False}}, "its own attention factor"),
        ("llama", {"rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}}, "partly rotated"),
        ("llama", {"rope_parameters": YARN | {"beta_fast": 16.0}}, "its own attention factor"),
        ("qwen2", {"rope_parameters": LLAMA3}, "llama3"),
        ("qwen3", {"attention_bias": True}, "biases"),
        ("smollm3", {"mlp_bias": True}, "biases"),
        ("qwen3", {"layer_types": ["full_attention", "sliding_attention", "full_attention"]}, "sliding"),
        ("smollm3", {"no_rope_layers": [1, 0, 1, 1, 1]}, "unusual layers"),
    ):
        model = tiny_model(architecture, ROWS)
        config = type(model.config)(**model.config.to_dict() | change)
        with pytest.raises(ModelError, match=reason):
            write_model(tmp_path / "m.gguf", config, tokenizer, MergedWeights(model))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ModelError, match="mistral"):
        write_model(tmp_path / "m.gguf", MistralConfig(), tokenizer, MergedWeights(model))


def test_values_that_do_not_fit_are_refused(tmp_path: Path, tokenizer: Any) -> None:
    model = tiny_model("llama", ROWS)
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight[0, 0] = 1e6
    with pytest.raises(ModelError, match="has a value too large for F16"):
        write(tmp_path / "m.gguf", model, tokenizer, "F16")
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight[0, 0] = float("nan")
    with pytest.raises(ModelError, match="not numbers"):
        write(tmp_path / "m.gguf", model, tokenizer)


def test_unknown_word_rules_are_refused(tmp_path: Path) -> None:
    tokenizer = trained_bpe(split(r"\d+|\D+"))
    with pytest.raises(ModelError, match="pre_tokenizer"):
        write(tmp_path / "m.gguf", tiny_model("llama", 440), tokenizer)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda d: d["added_tokens"][5].update(lstrip=True), "lstrip"),
        (lambda d: d.update(normalizer={"type": "Lowercase"}), "normalizer"),
        (lambda d: d.update(decoder={"type": "Fuse"}), "byte-level"),
        (lambda d: d["model"].update(ignore_merges=True), "ignore_merges"),
        (lambda d: d["model"].update(byte_fallback=True), "byte_fallback"),
        (lambda d: d["pre_tokenizer"].update(add_prefix_space=True), "prefix"),
    ],
)
def test_tokenizers_that_llama_cpp_cannot_follow_are_refused(tmp_path: Path, edit: Any, reason: str) -> None:
    tokenizer = starter_like_tokenizer()
    layout = json.loads(tokenizer.backend_tokenizer.to_str())
    edit(layout)
    changed = type(tokenizer)(
        tokenizer_object=Tokenizer.from_str(json.dumps(layout)), eos_token="<eos>", pad_token="<pad>"
    )
    with pytest.raises(ModelError, match=reason):
        write(tmp_path / "m.gguf", tiny_model("llama", ROWS), changed)


def test_added_tokens_that_are_spelt_out_before_bytes_are_decoded_are_no_obstacle(tmp_path: Path) -> None:
    tokenizer = starter_like_tokenizer()
    layout = json.loads(tokenizer.backend_tokenizer.to_str())
    layout["added_tokens"][-1]["content"] = "×"
    spelling = {"type": "Replace", "pattern": {"Regex": "^×$"}, "content": "ÃĹ"}
    layout["decoder"] = {"type": "Sequence", "decoders": [spelling, layout["decoder"]]}
    kind = type(tokenizer)

    def written() -> None:
        made = Tokenizer.from_str(json.dumps(layout))
        write(
            tmp_path / "m.gguf",
            tiny_model("llama", ROWS),
            kind(tokenizer_object=made, eos_token="<eos>", pad_token="<pad>"),
        )

    written()
    spelling["content"] = "something else"
    with pytest.raises(ModelError, match="byte-level"):
        written()


def test_an_embedding_smaller_than_the_vocabulary_is_refused(tmp_path: Path, tokenizer: Any) -> None:
    with pytest.raises(ModelError, match="embedding ends at 259"):
        write(tmp_path / "m.gguf", tiny_model("llama", 260), tokenizer)
