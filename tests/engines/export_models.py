"""Tiny random models, a starter-like tokenizer and llama.cpp at its lowest level, for the tests of export."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from peft import LoraConfig, PeftModel, get_peft_model
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
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

from tests.engines.real_models import random_model

PHRASES = ["What is ", "the greatest common divisor of ", " and ", "?", "Spell the word ", "\n", "  indented"]
TEMPLATE = "<q>{{ messages[0]['content'] }}<a>"
MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
KINDS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "llama": (LlamaConfig, LlamaForCausalLM, {}),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, {}),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, {"head_dim": 16}),  # heads wider than the stream, as in the 0.6B
    "smollm3": (SmolLM3Config, SmolLM3ForCausalLM, {"num_hidden_layers": 5}),  # the fourth has no rotary embedding
}
ARCHITECTURES = tuple(KINDS)
CORPUS = [
    "",
    "a",
    "What is the greatest common divisor of 12 and 18?",
    "What is What is the greatest common divisor of  and  and ??\n\n",
    "Spell the word backwards<answer>drow</answer><eos>",
    "  leading, double  inner and   indented  \t\r\n trailing  ",
    "3.14e-10 -- 0x00FF 1_000_000 don't I'LL we've",
    "naïve café Ångström — “quotes” … 日本語テスト Ελληνικά עברית العربية",
    "👩‍👩‍👧‍👦 🇩🇪 e\u0301 \u200b\u200d \ufeff \u202e \x00\x01\x7f \x85 \u2028 \U0010ffff",
    "<answ <answer>> <<q>q> </answer <pad><pad>",
    "What is",
    " and and and  and ",
]


def starter_like_tokenizer() -> PreTrainedTokenizerFast:
    """Bytes, special tokens and whole phrases; no merges."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bare.decoder = decoders.ByteLevel()
    return with_added_tokens(bare)


def with_added_tokens(bare: Tokenizer) -> PreTrainedTokenizerFast:
    bare.add_special_tokens(["<pad>", "<eos>", "<q>", "<a>"])
    words = ["<answer>", "</answer>", *PHRASES]
    bare.add_tokens([AddedToken(text, normalized=False) for text in words])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<eos>", pad_token="<pad>")
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def tiny_model(architecture: str, rows: int, tied: bool = True, **options: Any) -> Any:
    """A random model with a padded embedding."""
    config, network, own = KINDS[architecture]
    sizes = {
        "vocab_size": rows,
        "intermediate_size": 80,
        "num_attention_heads": 6,
        "max_position_embeddings": 256,
        "tie_word_embeddings": tied,
        "rope_parameters": {"rope_type": "default", "rope_theta": 5000.0},
        "pad_token_id": 256,
        "eos_token_id": 257,
    }
    return random_model(config, network, 7, **(sizes | own | options))


def adapted(model: Any) -> PeftModel:
    """A LoRA adapter on all linear layers whose product is not zero."""
    torch.manual_seed(11)
    settings = LoraConfig(r=4, lora_alpha=12, target_modules=MODULES, task_type="CAUSAL_LM")
    peft_model = get_peft_model(model, settings)
    for name, parameter in peft_model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return peft_model.eval()


def save_base(model: Any, tokenizer: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n# Tiny\n", encoding="utf-8")
    return folder


def snapshot(model: Any) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


class LlamaCpp:
    """One model in llama.cpp with one sequence in an f32 cache: as exact as it gets there."""

    def __init__(self, library: Any, path: Path, adapter: Path | None = None) -> None:
        self._c = library
        settings = library.llama_model_default_params()
        settings.n_gpu_layers = 0
        self._model = library.llama_model_load_from_file(str(path).encode(), settings)
        assert self._model, f"llama.cpp does not load {path.name}"
        self.vocab = library.llama_model_get_vocab(self._model)
        context = library.llama_context_default_params()
        context.n_ctx = context.n_batch = context.n_ubatch = 1024
        context.n_threads = context.n_threads_batch = 1
        context.type_k = context.type_v = library.GGML_TYPE_F32
        context.flash_attn_type = library.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self._context = library.llama_init_from_model(self._model, context)
        self._adapter = None
        if adapter is not None:
            self._adapter = library.llama_adapter_lora_init(self._model, str(adapter).encode())
            assert self._adapter, f"llama.cpp does not load {adapter.name}"
            self._set_adapters([self._adapter])

    def _set_adapters(self, adapters: list[Any]) -> None:
        count = len(adapters)
        pointers = (self._c.llama_adapter_lora_p_ctypes * count)(*adapters)
        scales = (ctypes.c_float * count)(*[1.0] * count)
        assert self._c.llama_set_adapters_lora(self._context, pointers, count, scales) == 0

    def close(self) -> None:
        if self._adapter is not None:
            self._set_adapters([])  # llama.cpp wants it unset before it is freed
            self._c.llama_adapter_lora_free(self._adapter)
        self._c.llama_free(self._context)
        self._c.llama_model_free(self._model)

    def tokenize(self, text: str) -> list[int]:
        raw = text.encode()
        room = (self._c.llama_token * (len(raw) + 8))()
        count = self._c.llama_tokenize(self.vocab, raw, len(raw), room, len(room), True, True)
        assert count >= 0
        return list(room[:count])

    def logits(self, tokens: list[int]) -> NDArray[np.float32]:
        """Logits after each token, shape (len(tokens), vocabulary)."""
        self._c.llama_memory_clear(self._c.llama_get_memory(self._context), True)
        batch = self._c.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
            batch.seq_id[i][0] = 0
        assert self._c.llama_decode(self._context, batch) == 0
        rows = self._c.llama_vocab_n_tokens(self.vocab)
        values = np.ctypeslib.as_array(self._c.llama_get_logits(self._context), (len(tokens), rows)).copy()
        self._c.llama_batch_free(batch)
        return np.asarray(values, dtype=np.float32)

    def greedy(self, tokens: list[int], count: int) -> list[int]:
        answer: list[int] = []
        for _ in range(count):
            answer.append(int(self.logits(tokens + answer)[-1].argmax()))
        return answer


@contextmanager
def llama(path: Path, adapter: Path | None = None) -> Iterator[LlamaCpp]:
    """Open a GGUF file; skips the test where llama-cpp-python is not built."""
    library = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
    # The quietest level there is: an ignored log callback.
    library.llama_log_set(_SILENT(library), ctypes.c_void_p(0))
    opened = LlamaCpp(library, path, adapter)
    try:
        yield opened
    finally:
        opened.close()


_kept: list[Any] = []


def _SILENT(library: Any) -> Any:  # noqa: N802
    if not _kept:
        _kept.append(library.llama_log_callback(lambda level, text, data: None))
    return _kept[0]


def torch_logits(model: Any, tokens: list[int]) -> NDArray[np.float32]:
    with torch.no_grad():
        return np.asarray(model(torch.tensor([tokens])).logits[0].float().numpy())


def torch_greedy(model: Any, tokens: list[int], count: int) -> list[int]:
    answer: list[int] = []
    for _ in range(count):
        answer.append(int(torch_logits(model, tokens + answer)[-1].argmax()))
    return answer
