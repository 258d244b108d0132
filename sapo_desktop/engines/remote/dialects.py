"""How a server is asked for answers and what it replies: vLLM, and whatever else speaks OpenAI's completions or chat.

vLLM, into which an adapter can be loaded, tells ids and log-probabilities of what it sampled. Of every other server
nothing is learned, so its texts are enough. Every sampling option is sent, because servers fill in what a model's
author recommends. Replies are decoded strictly by type, once at the edge; what is not named here is not looked at.
Left out: HTTP (`http.py`), what a text is in our own ids (`tokens.py`), streaming.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.records import Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.remote.http import Unusable


@dataclass(frozen=True)
class Ask:
    """One prompt to be answered `count` times."""

    model: str
    messages: list[dict[str, str]]
    """The same as a conversation, for servers that only chat."""
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


class Dialect(Protocol):
    """How one kind of server is asked."""

    name: str
    together: bool
    """Several answers to a prompt in one request."""
    at_once: int
    """Requests under way at a time."""

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Path and body."""


class Vllm:
    """vLLM's completions."""

    name = "vllm"
    together = True
    at_once = 64

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        body = _openai(ask) | {
            "model": ask.adapter or ask.model,
            "prompt": ask.prompt,
            "top_k": -1,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "stop_token_ids": ask.stop,
            "logprobs": 1,
            "return_token_ids": True,
        }
        return "/v1/completions", body


class Completions:
    """OpenAI's completions.

    Args:
        name: of the server; SGLang and llama-server take prompts as ids.
        cuts: whether options are sent that the standard lacks and most servers have.
    """

    at_once = 16

    def __init__(self, name: str, *, together: bool, cuts: bool) -> None:
        self.name = name
        self.together = together
        self._cuts = cuts

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        prompt = ask.prompt if self.name in ("sglang", "llama-server") else ask.text
        body = _openai(ask) | {"model": ask.model, "prompt": prompt}
        if self._cuts:
            body |= {"top_k": -1 if self.name == "sglang" else 0, "min_p": 0.0, "repeat_penalty": 1.0}
        if not self.together:
            del body["n"]
        return "/v1/completions", body


class Chat:
    """The chat endpoint, where a server has no other: it puts the question into its own template."""

    name = "chat"
    at_once = 16

    def __init__(self, *, together: bool) -> None:
        self.together = together

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        body = _openai(ask) | {"model": ask.model, "messages": ask.messages}
        if not self.together:
            del body["n"]
        return "/v1/chat/completions", body


def ways(owner: str) -> list[Dialect]:
    """What to try with a server whose models are `owned_by` that, the best first."""
    name = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llama-server"}.get(owner, "openai")
    best = [Vllm()] if name == "vllm" else []
    plain = [Completions(name, together=together, cuts=cuts) for cuts in (True, False) for together in (True, False)]
    return [*best, *plain, Chat(together=True), Chat(together=False)]


def _openai(ask: Ask) -> dict[str, Any]:
    return {
        "n": ask.count,
        "max_tokens": ask.limit,
        "temperature": 0.0 if ask.sampling.greedy else ask.sampling.temperature,
        "top_p": 1.0,
        "seed": ask.seed,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
    }


# -- what is replied --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Raw:
    """One answer as a server gave it."""

    text: str
    ids: list[int] | None
    """None: it tells none."""
    logprobs: list[float | None] | None
    """As many as ids; None: it tells none."""
    stopped: bool
    """By the end of the sequence, not by the limit."""


class _Logprobs(msgspec.Struct, frozen=True):
    token_logprobs: list[float | None] | None = None


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    index: int = 0
    text: str | None = None
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None
    token_ids: list[int] | None = None


class _Choices(msgspec.Struct, frozen=True):
    choices: list[_Choice]


def decode(raw: bytes, kind: Any) -> Any:
    """A reply as one of our records; raises Unusable."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except UNREADABLE as error:
        raise Unusable(str(error)[:120]) from error


def answers_in(raw: bytes) -> list[Raw]:
    """The answers in a reply of completions or chat, in order of their numbers; raises Unusable."""
    return [_answer(choice) for choice in sorted(decode(raw, _Choices).choices, key=lambda choice: choice.index)]


def _answer(choice: _Choice) -> Raw:
    text = choice.text if choice.text is not None else choice.message.content if choice.message else None
    if text is None:
        raise Unusable(sentence("an answer without text"))
    ids, logprobs = choice.token_ids, choice.logprobs.token_logprobs if choice.logprobs else None
    if ids is not None and logprobs is not None and len(ids) != len(logprobs):
        raise Unusable(sentence("tokens and log-probabilities of different number"))
    return Raw(text, ids, logprobs, choice.finish_reason == "stop")
