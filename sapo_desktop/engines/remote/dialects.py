"""How to ask a server for answers and read its replies: vLLM, and any other server with OpenAI's completions or chat.

vLLM can load an adapter, and returns ids and log-probabilities of what it sampled. Other servers are not used for
learning, so their texts suffice. Every sampling option is sent, because servers fill in the defaults of a model's
author. Replies are decoded strictly by type, once, on arrival; fields not named here are ignored. Left out: HTTP
(`http.py`), the conversion of texts into our ids (`tokens.py`), streaming.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sapo_desktop.core.extraction import CLOSE
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.records import Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.remote.http import Unusable


@dataclass(frozen=True)
class Ask:
    """One prompt, to be answered `count` times."""

    model: str
    messages: list[dict[str, str]]
    """The prompt as a conversation, for servers that only chat."""
    prompt: list[int]
    text: str
    """The prompt as text, for servers that accept no ids."""
    count: int
    limit: int
    """Maximum tokens of an answer."""
    sampling: Sampling
    seed: int
    stop: list[int]
    adapter: str | None = None
    """Name of the adapter to use; None: the base."""


@dataclass(frozen=True)
class Dialect:
    """How to ask one kind of server."""

    name: str
    together: bool = True
    """Whether one request can return several answers to a prompt."""
    at_once: int = 16
    """Concurrent requests."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Sampling options beyond the standard."""

    @property
    def learns(self) -> bool:
        """Whether answers come with ids and log-probabilities, and from the adapter that was loaded."""
        return self.name == "vllm"

    @property
    def chats(self) -> bool:
        """Whether the server applies its own template to the question."""
        return self.name == "chat"

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Path and body of the request."""
        body = _openai(ask) | {"model": ask.model, **self.options}
        if not self.together:
            del body["n"]
        if self.chats:
            return "/v1/chat/completions", body | {"messages": ask.messages}
        if self.learns:
            body |= {"model": ask.adapter or ask.model, "stop_token_ids": ask.stop}
        # SGLang and llama-server accept prompts as ids, too.
        takes_texts = self.name == "openai"
        return "/v1/completions", body | {"prompt": ask.text if takes_texts else ask.prompt}


_VLLM = Dialect(
    "vllm",
    at_once=64,
    options={
        "top_k": -1,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "logprobs": 1,
        "return_token_ids": True,
        "include_stop_str_in_output": True,
    },
)


def ways(owner: str) -> list[Dialect]:
    """The dialects to try with a server whose models are `owned_by` that, best first; chat only if nothing else
    works."""
    name = {"sglang": "sglang", "llamacpp": "llama-server"}.get(owner, "openai")
    # Not in the standard, but most servers have these.
    usual = {"top_k": -1 if name == "sglang" else 0, "min_p": 0.0, "repeat_penalty": 1.0}
    plain = [Dialect(name, together, options=options) for options in (usual, {}) for together in (True, False)]
    return [*([_VLLM] if owner == "vllm" else []), *plain, Dialect("chat"), Dialect("chat", together=False)]


def _openai(ask: Ask) -> dict[str, Any]:
    return {
        "n": ask.count,
        "max_tokens": ask.limit,
        "temperature": 0.0 if ask.sampling.greedy else ask.sampling.temperature,
        "top_p": 1.0,
        "seed": ask.seed,
        "stop": [CLOSE],
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
    }


# -- replies ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Raw:
    """One answer as returned by a server."""

    text: str
    ids: list[int] | None
    """None: it returned none."""
    logprobs: list[float | None] | None
    """As many as ids; None: it returned none."""
    stopped: bool
    """Whether the sequence ended, instead of reaching the limit."""


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
    """Decode a reply as one of our records. Raises Unusable."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except UNREADABLE as error:
        raise Unusable(str(error)[:120]) from error


def answers_in(raw: bytes) -> list[Raw]:
    """The answers in a reply of completions or chat, ordered by their numbers. Raises Unusable."""
    return [_answer(choice) for choice in sorted(decode(raw, _Choices).choices, key=lambda choice: choice.index)]


def _answer(choice: _Choice) -> Raw:
    text = choice.text if choice.text is not None else choice.message.content if choice.message else None
    if text is None:
        raise Unusable(sentence("an answer without text"))
    ids, logprobs = choice.token_ids, choice.logprobs.token_logprobs if choice.logprobs else None
    if ids is not None and logprobs is not None and len(ids) != len(logprobs):
        raise Unusable(sentence("different numbers of tokens and log-probabilities"))
    return Raw(text, ids, logprobs, choice.finish_reason == "stop")
