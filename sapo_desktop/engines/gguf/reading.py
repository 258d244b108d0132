"""Reads a GGUF file as a transformers model: configuration, and weights that the gguf library dequantises.

`Layout` of architectures.py, which also writes the files, reverses llama.cpp's names and row order, so an adapter
trained here fits this very file. Weights are converted a few rows at a time, and no copy of the model is written to the
disk. A file whose tensors are not exactly those of its architecture is refused. Left out: architectures that the
trainer does not support, and rotary factors other than Llama 3's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from torch import Tensor

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import ARCHITECTURES, parts_of
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.engines.gguf.architectures import ROPE_FACTORS, Layout, llama3_factors
from sapo_desktop.engines.gguf.fields import Fields

_EMBEDDING, _HEAD = "token_embd.weight", "output.weight"
_NUMBERS_AT_ONCE = 4_000_000
"""Numbers dequantised at once: the gguf library makes float32 of them, with several intermediate copies."""
_LLAMA3 = {"original_max_position_embeddings": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
"""The settings of all Llamas since 3.1; a file holds only the factors derived from these."""
_UNUSED = (ROPE_FACTORS,)
"""Tensors whose content goes into the configuration."""


class GgufModelFile:
    """Configuration and tensors of one model; tensors by transformers' names, each dequantised on request."""

    def __init__(self, path: Path) -> None:
        """`path`: the file, or the first of several parts. Raises ModelError if it is damaged or cannot learn."""
        readers = open_parts(path)
        self.path = path
        self.fields = Fields(path, readers[0].fields)
        self.fields.check_kind()
        self._tensors = {tensor.name: tensor for reader in readers for tensor in reader.tensors}
        self.config = self._config()
        self.layout = Layout(self.config)
        self._targets = {name: self.layout.target(name) for name in self._expected()}
        self._check_tensors()

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._shape(self._targets[name])

    def __getitem__(self, name: str) -> Tensor:
        return self.read(name, torch.float32)

    def read(self, name: str, dtype: torch.dtype) -> Tensor:
        """The tensor in that number format."""
        tensor = self._tensors[self._targets[name]]
        out = torch.empty(self.shape(name), dtype=dtype)
        step = max(1, _NUMBERS_AT_ONCE // max(1, math.prod(out.shape[1:])))
        for start in range(0, len(out), step):
            rows = gguf.quants.dequantize(tensor.data[start : start + step], tensor.tensor_type)
            out[start : start + step] = torch.from_numpy(np.array(rows))
        return self.layout.original_rows(name, out)

    def added_by(self, adapter: Path) -> dict[str, Tensor]:
        """What an adapter for this very file adds to its weights, by transformers' names. Raises ModelError."""
        (reader,) = open_parts(adapter)
        alpha = Fields(adapter, reader.fields).get("adapter.lora.alpha")
        factors = {one.name: torch.from_numpy(np.array(one.data, dtype=np.float32)) for one in reader.tensors}
        added = {}
        for name, target in self._targets.items():
            a, b = (factors.pop(f"{target}.{kind}", None) for kind in ("lora_a", "lora_b"))
            if a is not None and b is not None:
                added[name] = self.layout.original_rows(name, b @ a * (alpha / len(a)))
        if factors:
            raise self._unusual(sentence("the tensor {name}", name=min(factors)))
        return added

    def _shape(self, target: str) -> tuple[int, ...]:
        return tuple(int(size) for size in reversed(self._tensors[target].shape))

    def _config(self) -> Any:
        from transformers import AutoConfig

        fields, tensors = self.fields, self._tensors
        if _EMBEDDING not in tensors:
            raise self._incomplete([_EMBEDDING])
        heads, hidden = fields.whole("attention.head_count"), fields.whole("embedding_length")
        head = fields.whole("attention.key_length", hidden // max(1, heads))
        return AutoConfig.for_model(
            fields.architecture,
            architectures=[ARCHITECTURES[fields.architecture]],
            vocab_size=self._shape(_EMBEDDING)[0],
            hidden_size=hidden,
            intermediate_size=fields.whole("feed_forward_length"),
            num_hidden_layers=fields.whole("block_count"),
            num_attention_heads=heads,
            num_key_value_heads=fields.whole("attention.head_count_kv", heads),
            head_dim=head,
            rms_norm_eps=fields.number("attention.layer_norm_rms_epsilon"),
            max_position_embeddings=fields.whole("context_length"),
            tie_word_embeddings=_HEAD not in tensors,
            attention_bias="blk.0.attn_output.bias" in tensors,
            mlp_bias="blk.0.ffn_up.bias" in tensors,
            hidden_act="silu",
            rope_parameters=self._rope(head),
            bos_token_id=fields.token("bos"),
            eos_token_id=fields.token("eos"),
            pad_token_id=fields.token("padding"),
        )

    def _rope(self, head: int) -> dict[str, Any]:
        """Rotary settings in transformers' form."""
        fields = self.fields
        rope: dict[str, Any] = {"rope_type": "default", "rope_theta": fields.number("rope.freq_base", 10000.0)}
        if fields.whole("rope.dimension_count", head) != head or fields.whole("attention.value_length", head) != head:
            raise self._unusual(sentence("partly rotated heads"))
        kind = fields.text(f"{fields.architecture}.rope.scaling.type", "none")
        if kind not in ("none", "linear", "yarn"):
            raise self._unusual(sentence("rotary embeddings of type {kind}", kind=kind))
        if kind != "none":
            rope |= {"rope_type": kind, "factor": fields.number("rope.scaling.factor")}
        if kind == "yarn":
            rope["original_max_position_embeddings"] = fields.whole("rope.scaling.original_context_length")
        if ROPE_FACTORS in self._tensors:
            rope |= self._llama3(head, rope["rope_theta"])
        return rope

    def _llama3(self, head: int, theta: float) -> dict[str, Any]:
        """Llama 3's rope scaling. Raises ModelError if the file's factors do not match it."""
        from transformers import LlamaConfig

        factors = torch.from_numpy(np.array(self._tensors[ROPE_FACTORS].data, dtype=np.float32))
        rope = {"rope_type": "llama3", "factor": float(factors.max()), **_LLAMA3}
        like = LlamaConfig(head_dim=head, rope_parameters={"rope_theta": theta, **rope})
        expected = llama3_factors(like)
        if factors.shape != expected.shape or not torch.allclose(factors, expected, rtol=1e-3):
            raise self._unusual(sentence("its own rotary factors"))
        return rope

    def _expected(self) -> list[str]:
        """Names of the weights of the transformers model."""
        from transformers import AutoModelForCausalLM

        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(self.config)
        tied = ("lm_head.weight",) if self.config.tie_word_embeddings else ()
        self._shapes = {name: tuple(value.shape) for name, value in model.state_dict().items() if name not in tied}
        return list(self._shapes)

    def _check_tensors(self) -> None:
        lacking = [target for target in self._targets.values() if target not in self._tensors]
        if lacking:
            raise self._incomplete(lacking)
        unknown = self._tensors.keys() - set(self._targets.values()) - set(_UNUSED)
        wrong = [self._targets[name] for name, shape in self._shapes.items() if self.shape(name) != shape]
        if unknown or wrong:
            raise self._unusual(sentence("the tensor {name}", name=min([*unknown, *wrong])))

    def _incomplete(self, lacking: list[str]) -> ModelError:
        return ModelError(
            "The weights in {folder} are incomplete ({names}). Download the file again.",
            folder=str(self.path),
            names=", ".join(lacking[:3]),
        )

    def _unusual(self, what: Text) -> ModelError:
        return ModelError(
            "{path} has parts that only llama.cpp supports ({what}), so it can answer but not learn. Set "
            "trainer to none, or choose another model.",
            path=str(self.path),
            what=what,
        )


def open_parts(path: Path) -> list[gguf.GGUFReader]:
    """Readers of all files of a model. Raises ModelError."""
    try:
        return [gguf.GGUFReader(part) for part in parts_of(path)]
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise ModelError(
            "{path} cannot be read: {reason}. Download the file again.", path=str(path), reason=str(error)
        ) from error
