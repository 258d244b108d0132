"""Models read from GGUF files: the very weights, the same tokens as llama.cpp cuts, adapters that fit the file."""

import contextlib
import ctypes
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from sapo_desktop.core.errors import ModelError
from sapo_desktop.engines.exporting.export import MergedWeights, lora_factors
from sapo_desktop.engines.gguf.reading import GgufModelFile
from sapo_desktop.engines.gguf.words import read_tokenizer
from sapo_desktop.engines.gguf.write import write_adapter, write_model
from sapo_desktop.engines.torch.lm import load_language_model
from tests.builders import as_prompt
from tests.engines.export_models import (
    ARCHITECTURES,
    CORPUS,
    adapted,
    llama,
    starter_like_tokenizer,
    tiny_model,
    torch_logits,
)
from tests.engines.gguf.test_write import LINEAR, LLAMA3, WORD_RULES, YARN, trained_bpe
from tests.engines.real_models import random_model

needs_llama = pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
ROWS = 272
LONGER = LLAMA3 | {"original_max_position_embeddings": 8192, "rope_theta": 500000.0}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return starter_like_tokenizer()


def write(path: Path, model: Any, tokenizer: Any, weight_type: Any = "F32") -> Path:
    write_model(path, model.config, tokenizer, MergedWeights(model), weight_type)
    return path


def encode(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


@pytest.mark.parametrize(
    ("architecture", "options"),
    [
        *((architecture, {"tied": tied}) for architecture in ARCHITECTURES for tied in (True, False)),
        ("llama", {"head_dim": 12}),
        ("llama", {"attention_bias": True}),
        ("llama", {"mlp_bias": True}),
        ("llama", {"num_key_value_heads": 6}),
        ("qwen3", {"head_dim": 8}),
        ("llama", {"rope_parameters": LONGER}),
        *((architecture, {"rope_parameters": LINEAR}) for architecture in ARCHITECTURES),
        *((architecture, {"rope_parameters": YARN}) for architecture in ARCHITECTURES),
    ],
)
def test_the_model_that_was_written_is_read_again(
    tmp_path: Path, tokenizer: Any, architecture: str, options: dict[str, Any]
) -> None:
    model = tiny_model(architecture, ROWS, **options)
    path = write(tmp_path / "m.gguf", model, tokenizer)
    lm = load_language_model(path, "cpu", "float32")
    expected = model.state_dict()
    if model.config.tie_word_embeddings:
        assert lm.model.get_output_embeddings().weight is lm.model.model.embed_tokens.weight
    for name, value in lm.model.state_dict().items():
        assert torch.equal(value, expected[name]), name
    tokens = encode(tokenizer, " ".join(CORPUS))[:200]
    assert np.abs(torch_logits(lm.model, tokens) - torch_logits(model, tokens)).max() < 1e-5
    assert (lm.context, lm.vocabulary) == (256, ROWS)
    assert (lm.words.end_token, lm.words.stop_tokens) == (257, frozenset({257}))
    assert lm.words.prompt_tokens(as_prompt("What is 2?")) == encode(tokenizer, "<q>What is 2?<a>")


def requantised(path: Path, source: Path, kind: str) -> Path:
    """The file with its matrices in another type, by llama.cpp."""
    library = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
    settings = library.llama_model_quantize_default_params()
    settings.ftype = gguf.LlamaFileType[kind]
    settings.nthread = 1
    settings.pure = settings.allow_requantize = True
    assert library.llama_model_quantize(str(source).encode(), str(path).encode(), ctypes.byref(settings)) == 0
    return path


KINDS = ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "Q5_0", "Q5_1"]


@needs_llama
@pytest.mark.parametrize("kind", KINDS)
def test_fewer_bits_are_read_as_llama_cpp_reads_them(tmp_path: Path, tokenizer: Any, kind: str) -> None:
    sizes = {"vocab_size": ROWS, "hidden_size": 256, "intermediate_size": 256, "num_attention_heads": 4}
    model = random_model(LlamaConfig, LlamaForCausalLM, 7, **sizes, pad_token_id=256, eos_token_id=257)
    plain = write(tmp_path / "plain.gguf", model, tokenizer)
    small = requantised(tmp_path / "small.gguf", plain, f"MOSTLY_{kind}")
    whole = requantised(tmp_path / "whole.gguf", small, "ALL_F32")
    expected, found = GgufModelFile(whole), GgufModelFile(small)
    for name in expected:
        assert torch.allclose(found[name], expected[name], rtol=1e-5, atol=1e-7), name
    lm = load_language_model(small, "cpu", "float32")
    tokens = encode(tokenizer, CORPUS[2])
    with llama(whole) as cpp:
        assert np.abs(cpp.logits(tokens) - torch_logits(lm.model, tokens)).max() < 1e-3
    assert np.abs(torch_logits(model, tokens) - torch_logits(lm.model, tokens)).max() > 1e-4


@needs_llama
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_adapter_learned_on_the_file_fits_the_file(tmp_path: Path, tokenizer: Any, architecture: str) -> None:
    path = write(tmp_path / "m.gguf", tiny_model(architecture, ROWS), tokenizer)
    lm = load_language_model(path, "cpu", "float32")
    tokens = encode(tokenizer, CORPUS[2])
    before = torch_logits(lm.model, tokens)
    model = adapted(lm.model)
    factors, scaling = lora_factors(model)
    write_adapter(tmp_path / "a.gguf", lm.model.config, factors, scaling)
    after = torch_logits(model, tokens)
    assert np.abs(after - before).max() > 0.1
    with llama(path, tmp_path / "a.gguf") as cpp:
        assert np.abs(cpp.logits(tokens) - after).max() < 2e-4


@needs_llama
@pytest.mark.parametrize("name", sorted(WORD_RULES))
def test_texts_are_cut_as_llama_cpp_cuts_them(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "m.gguf", tiny_model("qwen2", 440), trained_bpe(WORD_RULES[name]))
    same_as_llama_cpp(
        path, [text for text in CORPUS if "\U0010ffff" not in text and (name != "qwen2" or text.isascii())]
    )


def same_as_llama_cpp(path: Path, texts: list[str]) -> None:
    words = read_tokenizer(GgufModelFile(path).fields)
    library = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
    with llama(path) as cpp:
        for text in texts:
            ids = list(words.backend(text)["input_ids"])
            assert cpp.tokenize(text) == ids, text
        ends = {i for i in range(440) if library.llama_vocab_is_eog(cpp.vocab, i)}
        assert ends == words.stop_tokens


def sentencepiece(path: Path, **entries: bool) -> Path:
    """A Llama with a vocabulary of bytes, letters and some longer pieces, as Llama 2 has it."""
    pieces = ["▁a", "th", "▁th", "▁the", "in", "er", "▁is", "▁What", "hat", "Wh", "▁W", "is", "en", "▁▁"]
    texts = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    texts += sorted({*"abcdefghijklmnopqrstuvwxyzWA0123456789.,?▁é"})
    kind = gguf.TokenType
    types = [kind.UNKNOWN, kind.CONTROL, kind.CONTROL, *[kind.BYTE] * 256]
    types += [kind.NORMAL] * (len(texts) - len(types))
    plain = path.with_name("plain.gguf")
    write(plain, tiny_model("llama", len(texts)), starter_like_tokenizer())
    reader, writer = gguf.GGUFReader(plain), gguf.GGUFWriter(path, "llama")
    for key, value in reader.fields.items():
        if key.startswith("llama."):
            writer.add_key_value(key, value.contents(), value.types[0])
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores([0.0] * 259 + [-float(i) for i in range(len(texts) - 259)])
    writer.add_token_types(types)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    for key, flag in entries.items():
        writer.add_bool(f"tokenizer.ggml.{key}", flag)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, np.array(tensor.data))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@needs_llama
@pytest.mark.parametrize("entries", [{}, {"add_space_prefix": False, "add_bos_token": False}])
def test_sentencepiece_is_cut_as_llama_cpp_cuts_it(tmp_path: Path, entries: dict[str, bool]) -> None:
    path = sentencepiece(tmp_path / "m.gguf", **entries)
    same_as_llama_cpp(path, ["What is the answer", "  the  inner the  ", "naïve 日本 27.5", "\n\nis\tit", "x" * 50])
    words = read_tokenizer(GgufModelFile(path).fields)
    for text in ("What is the answer 日本", "the inner"):
        assert words.text(words.backend(text)["input_ids"]).strip() == text


def changed(path: Path, source: Path, edit: Any) -> Path:
    """A copy of the file; `edit` gets its tensors by name."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(path, reader.fields["general.architecture"].contents())
    for key, field in reader.fields.items():
        if not key.startswith(("GGUF.", "general.architecture")):
            writer.add_key_value(
                key, field.contents(), field.types[0], field.types[1] if len(field.types) > 1 else None
            )
    tensors = {tensor.name: np.array(tensor.data) for tensor in reader.tensors}
    edit(tensors)
    for name, data in tensors.items():
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda t: t.pop("blk.1.ffn_up.weight"), "incomplete"),
        (lambda t: t.pop("token_embd.weight"), "incomplete"),
        (lambda t: t.update({"blk.0.attn_sinks.weight": np.zeros(6, np.float32)}), "attn_sinks"),
        (lambda t: t.update({"rope_freqs.weight": np.linspace(1, 5, 4, dtype=np.float32)}), "rotary factors"),
        (lambda t: t.update({"blk.0.attn_q.weight": t["blk.0.attn_q.weight"][:8]}), "attn_q"),
    ],
)
def test_tensors_of_another_model_are_refused(tmp_path: Path, tokenizer: Any, edit: Any, said: str) -> None:
    whole = write(tmp_path / "m.gguf", tiny_model("llama", ROWS), tokenizer)
    with pytest.raises(ModelError, match=said):
        GgufModelFile(changed(tmp_path / "other.gguf", whole, edit))


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, tokenizer: Any) -> None:
    whole = write(tmp_path / "m.gguf", tiny_model("llama", ROWS), tokenizer)
    for length in (0, 20, 3000, whole.stat().st_size - 40):
        cut = tmp_path / "cut.gguf"
        cut.write_bytes(whole.read_bytes()[:length])
        with contextlib.suppress(FileNotFoundError), pytest.raises(ModelError, match="Download the file again"):
            GgufModelFile(cut)
