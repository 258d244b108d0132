"""What a server tells of an answer, in the ids of our own tokenizer.

Ids are taken over where they are ours: within the vocabulary, and reading as the text that came with them. Pieces of
text are ours where exactly one token has those bytes. Else the text is encoded anew, and no log-probability
goes with it: the answer is learned from without an importance weight. Log-probabilities count only as a whole
answer's, and only where temperature and cuts leave no doubt which distribution they are of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from tokenizers.pre_tokenizers import ByteLevel

from sapo_desktop.core.records import Completion, Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.remote.http import Unusable
from sapo_desktop.engines.remote.replies import Piece, Raw
from sapo_desktop.engines.tokenizer import ModelTokenizer

How = Literal["ids", "pieces", "text"]
ROUNDING = 1e-3
"""By which a server's log-probability may be above 0."""


@dataclass(frozen=True)
class Understood:
    """An answer in our ids, and how these were found."""

    completion: Completion
    how: How


class Translator:
    """Reads one server's answers; `vocabulary` is the number of ids the trained model has."""

    def __init__(self, words: ModelTokenizer, vocabulary: int) -> None:
        self._words = words
        self._vocabulary = vocabulary
        self._special = frozenset(i for i, token in words.backend.added_tokens_decoder.items() if token.special)
        self._by_bytes: dict[bytes, int] | None = None

    def read(self, raw: Raw, limit: int, sampling: Sampling) -> Understood:
        """The answer `raw` to a request of at most `limit` tokens; raises Unusable."""
        self._check_length(raw, limit)
        ids, how = self._ids(raw, limit)
        if how == "text":
            ids = ids[:limit]  # the same text may take more tokens than were sampled
        logprobs = _logprobs(raw.pieces, sampling) if how != "text" else []
        if raw.stopped and not self._has_end(ids):
            if len(ids) == limit:
                ids = ids[:-1]
            # Servers that leave the end out tell no log-probability of it either.
            ids, logprobs = [*ids, self._words.end_token], []
        text = self._words.text(ids)
        stopped = raw.stopped or (bool(ids) and ids[-1] in self._words.stop_tokens)
        return Understood(
            Completion(tokens=ids, logprobs=logprobs, text=text, finish="stop" if stopped else "length"), how
        )

    def _has_end(self, ids: Sequence[int]) -> bool:
        """Whether the end of an answer stands among its ids. A server may end at special tokens that this model does
        not name; what was sampled is kept then."""
        return bool(ids) and (ids[-1] in self._words.stop_tokens or ids[-1] in self._special)

    def _check_length(self, raw: Raw, limit: int) -> None:
        """Before anything is encoded or decoded, which takes minutes for what a broken server may send."""
        if raw.pieces is not None and len(raw.pieces) > limit and raw.pieces[0].id is not None:
            raise Unusable(
                sentence(
                    "an answer of {count} tokens where {limit} tokens are the most", count=len(raw.pieces), limit=limit
                )
            )
        # Each broken byte is shown as a character of three.
        size = len(raw.text.replace("\N{REPLACEMENT CHARACTER}", "?").encode())
        if size > limit * self._longest:
            raise Unusable(
                sentence("an answer of {count} bytes where {limit} tokens are the most", count=size, limit=limit)
            )

    @cached_property
    def _longest(self) -> int:
        """Bytes that one token can stand for, at most."""
        return max(len(token.encode()) for token in self._words.backend.get_vocab())

    def _ids(self, raw: Raw, limit: int) -> tuple[list[int], How]:
        # llama-cpp-python's server cuts some answers anew, into more texts than were sampled.
        if raw.pieces is not None and len(raw.pieces) <= limit:
            named = [piece.id for piece in raw.pieces if piece.id is not None]
            if len(named) == len(raw.pieces) and self._ours(named, raw.text):
                return named, "ids"
            found = [self._of_bytes(piece.content) for piece in raw.pieces]
            known = [i for i in found if i is not None]
            if len(known) == len(found) and self._ours(known, raw.text):
                return known, "pieces"
        encoded = self._words.encode_foreign(self._without_special(raw.text), end=False)
        return encoded or [], "text"

    def _ours(self, ids: Sequence[int], text: str) -> bool:
        """Whether the ids are of this vocabulary and read as the text; ends, and halves of characters, may be
        shown in either way."""
        if any(not 0 <= i < self._vocabulary for i in ids):
            return False
        read = self._words.text(list(ids)).replace("\N{REPLACEMENT CHARACTER}", "")
        said = self._without_special(text).replace("\N{REPLACEMENT CHARACTER}", "")
        return read.strip() == said.strip()

    def _without_special(self, text: str) -> str:
        for token in self._words.special_texts():
            text = text.replace(token, "")
        return text

    def _of_bytes(self, content: bytes | None) -> int | None:
        if self._by_bytes is None:
            self._by_bytes = _tokens_by_bytes(self._words.backend)
        return None if content is None else self._by_bytes.get(content)


def _tokens_by_bytes(backend: Any) -> dict[bytes, int]:
    """The id of every token that no other token shares its bytes with."""
    table = {character: byte for byte, character in enumerate(_alphabet())}
    added = {index: str(token) for index, token in backend.added_tokens_decoder.items()}
    found: dict[bytes, int] = {}
    shared: set[bytes] = set()
    for token, index in backend.get_vocab().items():
        spelt = index not in added and all(character in table for character in token)
        content = bytes(table[character] for character in token) if spelt else token.encode()
        if content in found:
            shared.add(content)
        found[content] = index
    return {content: index for content, index in found.items() if content not in shared}


def _alphabet() -> list[str]:
    """The letter that byte-level vocabularies write for each byte, in order of the bytes."""
    kept = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    moved = iter(range(0x100, 0x200))
    letters = [chr(byte) if byte in kept else chr(next(moved)) for byte in range(256)]
    assert set(letters) == set(ByteLevel.alphabet())
    return letters


def _logprobs(pieces: Sequence[Piece] | None, sampling: Sampling) -> list[float]:
    """Log-probabilities of all tokens, or none: servers differ in what temperature and cuts do to them."""
    plain = sampling.temperature == 1 and sampling.top_p == 1 and not sampling.top_k and not sampling.min_p
    if pieces is None or not plain or sampling.greedy:
        return []
    values = [piece.logprob for piece in pieces]
    known = [min(value, 0.0) for value in values if value is not None and _possible(value)]
    return known if len(known) == len(values) else []


def _possible(value: float) -> bool:
    return math.isfinite(value) and value <= ROUNDING
