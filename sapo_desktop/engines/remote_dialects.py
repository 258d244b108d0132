"""What servers of one protocol do differently: how a prompt is sent as token ids, and where sampled ids come back.

vLLM, SGLang and llama.cpp's server tell the ids and log-probabilities of what they sampled; any other server that
speaks OpenAI's completions gives texts, and one without completions chats. Every sampling option is sent, because
servers fill in what a model's author recommends. Left out: HTTP (`remote_http.py`), what pieces of text are in our
own ids (`remote_tokens.py`), streaming.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from sapo_desktop.core.records import Sampling
from sapo_desktop.engines.remote_http import Unusable


@dataclass(frozen=True)
class Ask:
    """One prompt to be answered `count` times."""

    model: str
    question: str
    prompt: list[int]
    text: str
    """The prompt as text, for servers that take no ids."""
    count: int
    limit: int
    """Most tokens of an answer."""
    sampling: Sampling
    seed: int
    stop: list[int]
    adapter: str | None = None
    """Name of the adapter to answer with; None: the base."""


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


class Dialect(Protocol):
    """How one kind of server is asked."""

    name: str
    tells_ids: bool
    together: bool
    """Several answers to a prompt in one request."""
    at_once: int
    """Requests under way at a time."""

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Path and body."""

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        """The answers in a reply; raises Unusable."""


# -- replies ---------------------------------------------------------------------------------------------------


class _Reply(msgspec.Struct, frozen=True):
    """Base: what is not named here is not looked at."""


class _Token(_Reply, frozen=True):
    """A token with its log-probability, as llama.cpp's server and every chat endpoint write it."""

    logprob: float
    token: str = ""
    id: int | None = None
    bytes: list[int] | None = None


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


class _LlamaCompletion(_Reply, frozen=True):
    content: str
    tokens: list[int] | None = None
    completion_probabilities: list[_Token] | None = None
    stop_type: str = ""


class _SglangFinish(_Reply, frozen=True):
    type: str = ""


class _SglangMeta(_Reply, frozen=True):
    finish_reason: _SglangFinish | None = None
    output_token_logprobs: list[tuple[float | None, int, Any]] | None = None


class _SglangAnswer(_Reply, frozen=True):
    text: str
    meta_info: _SglangMeta
    output_ids: list[int] | None = None


def decode(raw: bytes, kind: Any) -> Any:
    """A reply as one of the records above; raises Unusable."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unusable(str(error)[:120]) from error


# -- servers that tell ids ------------------------------------------------------------------------------------


class Vllm:
    """vLLM's completions."""

    name = "vllm"
    tells_ids = True
    together = True
    at_once = 64

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        body = _openai(ask) | {
            "model": ask.adapter or ask.model,
            "prompt": ask.prompt,
            "top_k": ask.sampling.top_k or -1,
            "min_p": ask.sampling.min_p,
            "repetition_penalty": 1.0,
            "stop_token_ids": ask.stop,
            # The newer of the two is enough; versions that lack it write ids in place of the tokens' texts.
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
        }
        return "/v1/completions", body

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        return [_openai_answer(choice) for choice in _choices(raw, ask)]


class Sglang:
    """SGLang's own endpoint, the one that takes and tells ids."""

    name = "sglang"
    tells_ids = True
    together = True
    at_once = 64

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        s = ask.sampling
        body: dict[str, Any] = {
            "input_ids": ask.prompt,
            "sampling_params": {
                "n": ask.count,
                "max_new_tokens": ask.limit,
                "temperature": _temperature(s),
                "top_p": s.top_p,
                "top_k": s.top_k or -1,
                "min_p": s.min_p,
                "repetition_penalty": 1.0,
                "frequency_penalty": 0.0,
                "presence_penalty": 0.0,
                "stop_token_ids": ask.stop,
            },
            "return_logprob": True,
        }
        if ask.adapter:
            body["lora_path"] = ask.adapter
        return "/generate", body

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        found = decode(raw, _SglangAnswer | list[_SglangAnswer])
        answers = found if isinstance(found, list) else [found]
        if len(answers) != ask.count:
            raise Unusable(f"{len(answers)} answers where {ask.count} were asked for")
        return [self._answer(answer) for answer in answers]

    def _answer(self, answer: _SglangAnswer) -> Raw:
        meta = answer.meta_info
        stopped = meta.finish_reason is not None and meta.finish_reason.type == "stop"
        if meta.output_token_logprobs is not None:
            return Raw(answer.text, [Piece(i, None, p) for p, i, _ in meta.output_token_logprobs], stopped)
        ids = answer.output_ids
        return Raw(answer.text, None if ids is None else [Piece(i, None, None) for i in ids], stopped)


class LlamaServer:
    """llama.cpp's own endpoint; one answer a request. Adapters come with the server's start and stay."""

    name = "llama-server"
    tells_ids = True
    together = False
    at_once = 16

    def __init__(self, adapters: list[int]) -> None:
        self.adapters = adapters
        """Ids of those that the server was started with."""

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        s = ask.sampling
        body = {
            "prompt": ask.prompt,
            "n_predict": ask.limit,
            "seed": ask.seed,
            "temperature": _temperature(s),
            "top_p": s.top_p,
            "top_k": s.top_k,
            "min_p": s.min_p,
            "typical_p": 1.0,
            "repeat_penalty": 1.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "dry_multiplier": 0.0,
            "xtc_probability": 0.0,
            "n_probs": 1,
            "return_tokens": True,
            "cache_prompt": True,
            # A node's own adapter never gets there, so what the server was started with stays out.
            "lora": [{"id": number, "scale": 0.0} for number in self.adapters],
        }
        return "/completion", body

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        answer: _LlamaCompletion = decode(raw, _LlamaCompletion)
        stopped = answer.stop_type in {"eos", "word"}
        told = answer.completion_probabilities
        if told is not None and all(token.id is not None for token in told):
            return [Raw(answer.content, [Piece(token.id, None, token.logprob) for token in told], stopped)]
        pieces = None if answer.tokens is None else [Piece(i, None, None) for i in answer.tokens]
        return [Raw(answer.content, pieces, stopped)]


# -- servers that give texts ------------------------------------------------------------------------------------


class Completions:
    """OpenAI's completions as the standard has them: the prompt as text, tokens as texts. llama-cpp-python's server
    answers one at a time, and fills in a top-k of its own where none is sent."""

    tells_ids = False

    def __init__(self, name: str, *, one_by_one: bool, logprobs: bool) -> None:
        self.name = name
        self.together = not one_by_one
        self.at_once = 1 if one_by_one else 16
        self._more: dict[str, Any] = {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0} if one_by_one else {}
        self.asks_logprobs = logprobs

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        body = _openai(ask) | {"model": ask.model, "prompt": ask.text} | self._more
        if self._more or ask.sampling.top_k or ask.sampling.min_p:
            body |= {"top_k": ask.sampling.top_k, "min_p": ask.sampling.min_p}
        if not self.asks_logprobs:
            del body["logprobs"]
        if not self.together:
            del body["n"]
        return "/v1/completions", body

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        return [_openai_answer(choice) for choice in _choices(raw, ask)]


class Chat:
    """The chat endpoint, where a server has no other: it puts the question into its own template."""

    name = "chat"
    tells_ids = False
    together = True
    at_once = 16

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        body = _openai(ask) | {
            "model": ask.model,
            "messages": [{"role": "user", "content": ask.question}],
            "logprobs": True,
        }
        return "/v1/chat/completions", body

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        return [_openai_answer(choice) for choice in _choices(raw, ask)]


def _openai(ask: Ask) -> dict[str, Any]:
    s = ask.sampling
    return {
        "n": ask.count,
        "max_tokens": ask.limit,
        "temperature": _temperature(s),
        "top_p": s.top_p,
        "seed": ask.seed,
        "logprobs": 1,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
    }


def _temperature(sampling: Sampling) -> float:
    return 0.0 if sampling.greedy else sampling.temperature


def _choices(raw: bytes, ask: Ask) -> list[_Choice]:
    choices: list[_Choice] = sorted(decode(raw, _Choices).choices, key=lambda choice: choice.index)
    if len(choices) != ask.count:
        raise Unusable(f"{len(choices)} answers where {ask.count} were asked for")
    return choices


def _openai_answer(choice: _Choice) -> Raw:
    text = choice.text if choice.text is not None else choice.message.content if choice.message else None
    if text is None:
        raise Unusable("an answer without text")
    return Raw(text, _pieces(choice), choice.finish_reason == "stop")


def _pieces(choice: _Choice) -> list[Piece] | None:
    told = choice.logprobs
    if told is not None and told.content is not None:
        return [Piece(t.id, _bytes(t), t.logprob) for t in told.content]
    if told is None or told.tokens is None:
        return None if choice.token_ids is None else [Piece(i, None, None) for i in choice.token_ids]
    values = told.token_logprobs if told.token_logprobs is not None else [None] * len(told.tokens)
    if len(values) != len(told.tokens) or (choice.token_ids and len(values) != len(choice.token_ids)):
        raise Unusable("tokens and log-probabilities of different number")
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
        raise Unusable("bytes out of their range")
    return bytes(token.bytes)
