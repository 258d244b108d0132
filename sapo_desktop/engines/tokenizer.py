"""A model's tokenizer: questions become prompts, tokens become text, external text becomes tokens.

It needs no weights, so remote engines use it too. tokenizer.json is used as it is. Classes that transformers picks by
name (GPT2Tokenizer for SmolLM2) build their own tokenizer, which splits numbers differently than in training. Left out:
slow tokenizers.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.extraction import CLOSE
from sapo_desktop.core.records import Prompt
from sapo_desktop.engines.bare_tokenizer import load_bare_tokenizer
from sapo_desktop.engines.chat_template import ChatTemplate
from sapo_desktop.engines.closing import ClosingTag
from sapo_desktop.engines.prompts import TAG, Prompter


@dataclass(frozen=True)
class ModelTokenizer:
    """The tokenizer of one folder with its chat template."""

    backend: Any
    """transformers' PreTrainedTokenizerFast, or a BareTokenizer in its place."""
    stop_tokens: frozenset[int]
    """Every id that ends an answer."""
    template: ChatTemplate | None

    @property
    def end_token(self) -> int:
        return int(self.backend.eos_token_id)

    def prompt_tokens(self, prompt: Prompt) -> list[int]:
        """Return the tokens of the prompt for a question (prompts.py), ready to be answered."""
        ids: list[int] = []
        for text, is_template in self.prompter.pieces(prompt):
            bare = not self.prompter.is_chat
            ids += self.backend(text, add_special_tokens=bare, split_special_tokens=not is_template)["input_ids"]
        return ids

    @cached_property
    def prompter(self) -> Prompter:
        tag = self.backend(TAG, add_special_tokens=False)["input_ids"]
        return Prompter(self.template, self.special_texts(), has_tag=len(tag) == 1)

    @cached_property
    def closes(self) -> ClosingTag:
        """Detects where an answer is closed."""
        return ClosingTag([i for token, i in self.backend.get_vocab().items() if CLOSE[-1] in token], self.text)

    def prompt_text(self, prompt: list[int]) -> str:
        """Return a prompt as text that this tokenizer encodes to the same ids, without the beginning token that is
        always prepended."""
        begins = list(self.backend("")["input_ids"])
        kept = prompt[len(begins) :] if begins and prompt[: len(begins)] == begins else prompt
        return str(self.backend.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def text(self, tokens: list[int]) -> str:
        """Return the tokens as text, without special tokens."""
        return str(self.backend.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def encode_external(self, text: str, end: bool) -> list[int] | None:
        """Return a peer's text as ids, with special tokens as plain text; None if it spells one.

        Added tokens that are not special (`<answer>`, fixed phrases) are ordinary vocabulary. Own answers contain the
        same ids, so external text may use them too.
        """
        if any(special in text for special in self.special_texts()):
            return None
        ids = self.backend(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return [*ids, self.end_token] if end else list(ids)

    def special_texts(self) -> list[str]:
        """The texts of special tokens, which no external text may contain."""
        return [str(t) for t in self.backend.added_tokens_decoder.values() if t.special]


@dataclass(frozen=True)
class ModelNumbers:
    """The sizes of a model in config.json."""

    vocabulary: int
    context: int


def model_numbers(folder: Path) -> ModelNumbers:
    """Height of the embedding and length of the context. Raises ModelError."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return ModelNumbers(int(config["vocab_size"]), int(config["max_position_embeddings"]))
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ModelError(
            "The config.json in {folder} cannot be read: {reason}. Download the folder again.",
            folder=str(folder),
            reason=str(error),
        ) from error


def load_tokenizer(folder: Path, bare: bool = False) -> ModelTokenizer:
    """Read the tokenizer of a folder in transformers' layout. `bare`: without transformers if the result is the same.

    Raises:
        ModelError: it is missing or damaged, or names no end of sequence.
    """
    try:
        backend = (load_bare_tokenizer(folder) if bare else None) or _through_transformers(folder)
        named = _named_ends(folder)
    # The tokenizers library raises a bare Exception if its file is incomplete.
    except Exception as error:
        raise ModelError(
            "The tokenizer in {folder} cannot be read: {reason}. Download the folder again.",
            folder=str(folder),
            reason=str(error),
        ) from error
    if backend.eos_token_id is None:
        raise ModelError(
            "The tokenizer in {folder} has no end-of-sequence token. Choose another model.", folder=str(folder)
        )
    return make_tokenizer(backend, frozenset(named))


def make_tokenizer(backend: Any, ends: frozenset[int]) -> ModelTokenizer:
    """The tokenizer with its chat template. `ends`: ids that end an answer, besides its end-of-sequence token.

    Raises:
        ModelError: the template cannot be used.
    """
    ends |= {int(backend.eos_token_id)}
    template = None if backend.chat_template is None else backend.get_chat_template()
    special = {name: str(token) for name, token in backend.special_tokens_map.items()}
    return ModelTokenizer(backend, ends, None if template is None else ChatTemplate(template, special))


def _through_transformers(folder: Path) -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported, which reads it once
    import transformers

    transformers.utils.logging.set_verbosity_error()
    return transformers.PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)


def _named_ends(folder: Path) -> list[int]:
    """The end-of-sequence ids in the model's own settings; transformers stops at these as well."""
    for name in ("generation_config.json", "config.json"):
        if (folder / name).is_file():
            ends = json.loads((folder / name).read_text(encoding="utf-8")).get("eos_token_id")
            if ends is not None:
                return [int(end) for end in (ends if isinstance(ends, list) else [ends])]
    return []
