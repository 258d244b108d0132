"""Converts a server's answer into the ids of our own tokenizer.

The server's ids are used if they match ours: within the vocabulary, and equal to the text that came with them.
Otherwise the text is encoded here without log-probabilities, and the trainer uses no importance weight for that answer.
Log-probabilities count only for a whole answer, and only if the temperature leaves no doubt about their distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.records import Completion, FinishReason, Sampling
from sapo_desktop.engines.remote.dialects import Raw
from sapo_desktop.engines.remote.http import Unusable
from sapo_desktop.engines.tokenizer import ModelTokenizer

ROUNDING = 1e-3
"""A server's log-probability may exceed 0 by this much."""


@dataclass(frozen=True)
class Understood:
    """An answer in our ids."""

    completion: Completion
    by_id: bool
    """Whether the ids came from the server."""


class Translator:
    """Reads one server's answers. `vocabulary`: the number of ids of the trained model."""

    def __init__(self, words: ModelTokenizer, vocabulary: int) -> None:
        self._words = words
        self._vocabulary = vocabulary
        self._special = frozenset(i for i, token in words.backend.added_tokens_decoder.items() if token.special)

    def read(self, raw: Raw, limit: int, sampling: Sampling, *, cut: bool) -> Understood:
        """Convert the answer `raw` to a request of at most `limit` tokens. Raises Unusable. `cut`: limit the tokens
        used for training; a text encoded here may take more than the server sampled."""
        self._check_length(raw, limit)
        by_id = raw.ids is not None and self._ours(raw.ids, raw.text)
        if raw.ids is not None and by_id:
            ids, logprobs = raw.ids, _logprobs(raw.logprobs, sampling)
        else:
            text = self._without_special(raw.text)
            if raw.stopped and OPEN in text and CLOSE not in text:
                text += CLOSE  # such servers omit the text that stopped them
            ids, logprobs = self._words.encode_external(text, end=False) or [], []
        if cut:
            ids = ids[:limit]
        closed = next((n for n in range(1, len(ids) + 1) if self._words.closes(ids[:n])), 0)
        ids = ids[: closed or None]
        stopped = raw.stopped or (bool(ids) and ids[-1] in self._words.stop_tokens)
        text = self._words.text(ids)
        if (closed or stopped) and not self._has_end(ids):
            if cut and not closed and len(ids) == limit:
                ids = ids[:-1]
            # An appended end was not sampled, so it has no log-probability.
            ids, logprobs = [*ids, self._words.end_token], logprobs[: len(ids)]
        finish: FinishReason = "closed" if closed else "stop" if stopped else "length"
        return Understood(Completion(tokens=ids, logprobs=logprobs, text=text, finish=finish), by_id)

    def _has_end(self, ids: Sequence[int]) -> bool:
        """Whether the ids contain the end of an answer. A server may stop at special tokens that this model does not
        name; then all that was sampled is kept."""
        return bool(ids) and (ids[-1] in self._words.stop_tokens or ids[-1] in self._special)

    def _check_length(self, raw: Raw, limit: int) -> None:
        """Checked before encoding or decoding, which could take minutes for what a broken server sends."""
        if raw.ids is not None and len(raw.ids) > limit:
            raise Unusable(
                "an answer of {count} tokens, where at most {limit} are allowed", count=len(raw.ids), limit=limit
            )
        # Each invalid byte appears as a character of three bytes.
        size = len(raw.text.replace("\N{REPLACEMENT CHARACTER}", "?").encode())
        if size > limit * self._longest:
            raise Unusable(
                "an answer of {count} bytes, where at most {limit} tokens are allowed", count=size, limit=limit
            )

    @cached_property
    def _longest(self) -> int:
        """Maximum bytes of one token."""
        return max(len(token.encode()) for token in self._words.backend.get_vocab())

    def _ours(self, ids: Sequence[int], text: str) -> bool:
        """Whether the ids belong to this vocabulary and decode to the text; ends and partial characters may be shown
        either way."""
        if any(not 0 <= i < self._vocabulary for i in ids):
            return False
        read = self._words.text(list(ids)).replace("\N{REPLACEMENT CHARACTER}", "")
        said = self._without_special(text).replace("\N{REPLACEMENT CHARACTER}", "")
        return read.strip() == said.strip()

    def _without_special(self, text: str) -> str:
        for token in self._words.special_texts():
            text = text.replace(token, "")
        return text


def _logprobs(reported: Sequence[float | None] | None, sampling: Sampling) -> list[float]:
    """Log-probabilities of all tokens or none; servers differ in how a temperature affects them."""
    if reported is None or sampling.temperature != 1 or sampling.greedy:
        return []
    known = [min(value, 0.0) for value in reported if value is not None and _possible(value)]
    return known if len(known) == len(reported) else []


def _possible(value: float) -> bool:
    return math.isfinite(value) and value <= ROUNDING
