"""What servers answer, checked once at the edge: records of the replies, and the answers in them.

A reply is decoded strictly by type; what is not named here is not looked at. What does not add up is Unusable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.remote.http import Unusable


@dataclass(frozen=True)
class Piece:
    """One sampled token as a server tells it: by id, or by its bytes."""

    id: int | None
    content: bytes | None
    logprob: float | None


@dataclass(frozen=True)
class Raw:
    """One answer as a server gave it. `pieces` None: it tells nothing of tokens."""

    text: str
    pieces: list[Piece] | None
    stopped: bool
    """By the end of the sequence, not by the limit."""


class _Reply(msgspec.Struct, frozen=True):
    """Base: what is not named here is not looked at."""


class _Token(_Reply, frozen=True):
    """A token with its log-probability, as llama.cpp's server and every chat endpoint write it."""

    logprob: float
    token: str = ""
    id: int | None = None
    bytes: list[int] | None = None
    top_logprobs: list[msgspec.Raw] | None = None


class _Logprobs(_Reply, frozen=True):
    """OpenAI's older form (lists side by side) or its newer one (`content`)."""

    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    content: list[_Token] | None = None


class _Message(_Reply, frozen=True):
    content: str | None = None


class _Choice(_Reply, frozen=True):
    index: int = 0
    text: str | None = None
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None
    token_ids: list[int] | None = None


class _Choices(_Reply, frozen=True):
    choices: list[_Choice]


class LlamaCompletion(_Reply, frozen=True):
    content: str
    tokens: list[int] | None = None
    completion_probabilities: list[_Token] | None = None
    stop_type: str = ""


class _SglangFinish(_Reply, frozen=True):
    type: str = ""


class _SglangMeta(_Reply, frozen=True):
    finish_reason: _SglangFinish | None = None
    output_token_logprobs: list[tuple[float | None, int, Any]] | None = None


class SglangAnswer(_Reply, frozen=True):
    text: str
    meta_info: _SglangMeta
    output_ids: list[int] | None = None


def decode(raw: bytes, kind: Any) -> Any:
    """A reply as one of the records above; raises Unusable."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except UNREADABLE as error:
        raise Unusable(str(error)[:120]) from error


def openai_answers(raw: bytes, count: int) -> list[Raw]:
    """The answers in a reply of OpenAI's completions or chat; raises Unusable."""
    return [_openai_answer(choice) for choice in _choices(raw, count)]


def _choices(raw: bytes, count: int) -> list[_Choice]:
    choices: list[_Choice] = sorted(decode(raw, _Choices).choices, key=lambda choice: choice.index)
    if len(choices) != count:
        raise Unusable(sentence("{found} answers where {count} were asked for", found=len(choices), count=count))
    return choices


def _openai_answer(choice: _Choice) -> Raw:
    text = choice.text if choice.text is not None else choice.message.content if choice.message else None
    if text is None:
        raise Unusable(sentence("an answer without text"))
    return Raw(text, _pieces(choice), choice.finish_reason == "stop")


def _pieces(choice: _Choice) -> list[Piece] | None:
    told = choice.logprobs
    if told is not None and told.content is not None:
        return [Piece(t.id, _bytes(t), t.logprob) for t in told.content]
    if told is None or told.tokens is None:
        return None if choice.token_ids is None else [Piece(i, None, None) for i in choice.token_ids]
    values = told.token_logprobs if told.token_logprobs is not None else [None] * len(told.tokens)
    if len(values) != len(told.tokens) or (choice.token_ids and len(values) != len(choice.token_ids)):
        raise Unusable(sentence("tokens and log-probabilities of different number"))
    if choice.token_ids is not None:
        return [Piece(i, None, p) for i, p in zip(choice.token_ids, values, strict=True)]
    return [_named(text, p) for text, p in zip(told.tokens, values, strict=True)]


def _named(text: str, logprob: float | None) -> Piece:
    """A token by its text, or by the `token_id:N` that vLLM writes on request."""
    kind, _, number = text.partition(":")
    if kind == "token_id" and number.isascii() and number.isdigit() and len(number) < 10:
        return Piece(int(number), None, logprob)
    return Piece(None, None if "\N{REPLACEMENT CHARACTER}" in text else text.encode(), logprob)


def _bytes(token: _Token) -> bytes | None:
    if token.bytes is None:
        return None if "\N{REPLACEMENT CHARACTER}" in token.token else token.token.encode()
    if any(not 0 <= value < 256 for value in token.bytes):
        raise Unusable(sentence("bytes out of their range"))
    return bytes(token.bytes)
