"""Checks that an export computes what the live model does: it is loaded again and gets the same prompts.

llama.cpp loads a GGUF file if it is installed; otherwise the trainer's reader does. Log-probabilities of the next token
are compared at several places of each prompt. Rounding, to 16 bits or inside llama.cpp, changes them by hundredths; a
different model changes them by whole numbers.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sapo_desktop.core.errors import ModelError

TEXTS = ("What is 17 + 25?", "Spell the word 'stone' backwards.", "The capital of France is Paris, and of Italy")
PLACES = 4
"""The last positions of each text; the next token after each is compared."""
MOST_DIFFERENCE = 0.1
"""Maximum mean Kullback-Leibler divergence in nats. For SmolLM2-135M in Q4_1, llama.cpp differs by 0.004 from torch
in float32 and by 0.009 from bfloat16."""


def texts_as_tokens(tokenizer: Any) -> list[list[int]]:
    """The prompts. `tokenizer`: transformers'."""
    return [list(tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]) for text in TEXTS]


def predicted(model: Any, prompts: Sequence[list[int]]) -> Tensor:
    """Log-probabilities [N, V] from a model of transformers or peft."""
    device = next(model.parameters()).device
    with torch.no_grad():
        logits = [model(torch.tensor([ids], device=device)).logits[0, -PLACES:].float().cpu() for ids in prompts]
    return torch.cat(logits).log_softmax(-1)


def check_folder(folder: Path, dtype: str, expected: Tensor, prompts: list[list[int]], ends: frozenset[int]) -> None:
    """Load a folder in transformers' layout again. Raises ModelError if it is a different model."""
    from sapo_desktop.engines.torch.lm import load_language_model

    lm = load_language_model(folder, "cpu", dtype, bare=False)
    _compare(folder.name, expected, predicted(lm.model, prompts))
    _same_texts(folder.name, texts_as_tokens(lm.tokenizer), prompts, lm.words.stop_tokens, ends)


def check_gguf(
    file: Path, expected: Tensor, prompts: list[list[int]], ends: frozenset[int], adapter: Path | None = None
) -> None:
    """Load a GGUF file again, with an adapter if one is given. Raises ModelError if it is a different model."""
    name = (adapter or file).name
    if importlib.util.find_spec("llama_cpp") is None:
        from sapo_desktop.engines.gguf.reading import GgufModelFile
        from sapo_desktop.engines.torch.lm import load_language_model

        lm = load_language_model(file, "cpu", "float32")
        if adapter is not None:
            with torch.no_grad():
                for weight, added in GgufModelFile(file).added_by(adapter).items():
                    lm.model.get_parameter(weight).add_(added)
        _compare(name, expected, predicted(lm.model, prompts))
        _same_texts(name, texts_as_tokens(lm.tokenizer), prompts, lm.words.stop_tokens, ends)
        return
    from sapo_desktop.engines.llama_cpp.asked import Asked

    with Asked(file, adapter) as asked:
        _compare(name, expected, torch.from_numpy(asked.logits(prompts, PLACES)).log_softmax(-1))
        _same_texts(name, [asked.tokens(text) for text in TEXTS], prompts, asked.stop_tokens, ends)


def check_adapter(folder: Path, factors: Mapping[str, Tensor], scaling: float) -> None:
    """Read peft's files again: they must hold exactly these factors. Raises ModelError."""
    from sapo_desktop.engines.torch.lora import ADAPTER_FILE, read_tensors

    saved = read_tensors(folder / ADAPTER_FILE)
    settings = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    same = len(saved) == len(factors) and all(
        torch.equal(saved[f"base_model.model.{name}.weight"], factor.detach().cpu()) for name, factor in factors.items()
    )
    if not same or abs(settings["lora_alpha"] / settings["r"] - scaling) > 1e-6:
        raise _other(folder.name)


def _compare(name: str, expected: Tensor, found: Tensor) -> None:
    if found.shape != expected.shape or not bool(found.isfinite().all()):
        raise _other(name)
    difference = (expected.exp() * (expected - found)).sum(-1).mean()
    if not bool(difference <= MOST_DIFFERENCE):
        raise _other(name)


def _same_texts(
    name: str, cut: list[list[int]], prompts: list[list[int]], stops: frozenset[int], ends: frozenset[int]
) -> None:
    if cut != prompts:
        raise ModelError(
            "{name} was written, but splits text into other tokens than the model here, so it was "
            "deleted. Export in another format, and please report this.",
            name=name,
        )
    if lacking := ends - stops:
        raise ModelError(
            "{name} was written, but does not stop at token {token} as the model here does, so it was "
            "deleted. Export in another format, and please report this.",
            name=name,
            token=str(min(lacking)),
        )


def _other(name: str) -> ModelError:
    return ModelError(
        "{name} was written and loaded again, but gives other answers than the model here, so it was "
        "deleted. Export in another format, and please report this.",
        name=name,
    )
