"""Text to tokens and back by a GGUF file's own vocabulary, with the same prompts as the torch engine.

Special tokens of a prompt's template (prompts.py) are tokens. In a question they are plain text, as is everything that
a peer sent. A file whose vocabulary does not match its model is not repaired.
"""

from __future__ import annotations

from typing import Any

import llama_cpp.llama_cpp as c

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.extraction import CLOSE
from sapo_desktop.core.records import Prompt
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.chat_template import ChatTemplate
from sapo_desktop.engines.closing import ClosingTag
from sapo_desktop.engines.llama_cpp.model import GgufModel
from sapo_desktop.engines.prompts import TAG, Prompter

_NO_TOKEN = -1


class Vocabulary:
    """The tokens of a model."""

    def __init__(self, model: GgufModel) -> None:
        self._vocab = model.vocab
        ids = range(model.vocabulary)
        self._pieces: dict[int, bytes] = {}
        self._special = {
            text for i in ids if c.llama_vocab_is_control(self._vocab, i) and (text := self._name(i)) is not None
        }
        self.stop_tokens = frozenset(i for i in ids if c.llama_vocab_is_eog(self._vocab, i))
        self.end_token = int(c.llama_vocab_eos(self._vocab))
        if self.end_token == _NO_TOKEN:
            raise ModelError(
                "The vocabulary of {name} has no end-of-sequence token. Choose another model.",
                name=model.path.name,
            )
        self.closes = ClosingTag([i for i in ids if CLOSE[-1:].encode() in self._piece(i)], self.text)
        template = model.chat_template
        self.prompter = Prompter(
            ChatTemplate(template, self._special_names()) if template else None,
            sorted(self._special),
            has_tag=len(self._tokens(TAG)) == 1,
        )

    def prompt_tokens(self, prompt: Prompt) -> list[int]:
        """Return the tokens of the prompt for a question (prompts.py), ready to be answered."""
        ids: list[int] = []
        for text, is_template in self.prompter.pieces(prompt):
            ids += self._tokens(text, beginning=not self.prompter.is_chat, special=is_template)
        return ids

    def encode_external(self, text: str, end: bool) -> list[int] | None:
        """Return a peer's text as ids, with special tokens as plain text; None if it spells one."""
        if self._spells_special(text):
            return None
        ids = self._tokens(text)
        return [*ids, self.end_token] if end else ids

    def text(self, tokens: list[int]) -> str:
        """Return the tokens as text, without special tokens."""
        return b"".join(map(self._piece, tokens)).decode(errors="replace")

    def _spells_special(self, text: str) -> bool:
        return any(special in text for special in self._special)

    def _tokens(self, text: str, *, beginning: bool = False, special: bool = False) -> list[int]:
        """Tokenize text. `beginning`: prepend the vocabulary's first token. `special`: read special tokens."""
        raw = text.encode()
        room = (c.llama_token * (len(raw) + 4))()
        count = c.llama_tokenize(self._vocab, raw, len(raw), room, len(room), beginning, special)
        if count < 0:
            raise ModelError(
                sentence(
                    "llama.cpp could not split a text into tokens: the model's vocabulary is damaged. Download "
                    "the model again."
                )
            )
        return list(room[:count])

    def _piece(self, token: int) -> bytes:
        """Bytes of one token; empty for special ones."""
        if token not in self._pieces:
            self._pieces[token] = _written(self._vocab, token)
        return self._pieces[token]

    def _name(self, token: int) -> str | None:
        name = c.llama_vocab_get_text(self._vocab, token)
        return name.decode(errors="replace") if name else None

    def _special_names(self) -> dict[str, str]:
        """Special tokens by their names in templates."""
        ids = {"eos_token": c.llama_vocab_eos(self._vocab), "pad_token": c.llama_vocab_pad(self._vocab)}
        beginning = c.llama_vocab_bos(self._vocab)
        # If a model has no beginning token, files name its end token; llama.cpp would use an ordinary word.
        if beginning != ids["eos_token"] or c.llama_vocab_get_add_bos(self._vocab):
            ids["bos_token"] = beginning
        return {key: self._name(token) or "" for key, token in ids.items() if token != _NO_TOKEN}


def _written(vocab: Any, token: int) -> bytes:
    room = b"\0" * 256
    size = c.llama_token_to_piece(vocab, token, room, len(room), 0, False)
    if size < 0:
        room = b"\0" * -size
        size = c.llama_token_to_piece(vocab, token, room, len(room), 0, False)
    return room[:size]
