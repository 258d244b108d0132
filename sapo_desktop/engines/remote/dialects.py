"""What servers of one protocol do differently: how a prompt is sent as token ids, and where sampled ids come back.

vLLM, SGLang and llama.cpp's server tell the ids and log-probabilities of what they sampled; any other server that
speaks OpenAI's completions gives texts, and one without completions chats. Every sampling option is sent, because
servers fill in what a model's author recommends. Left out: HTTP (`http.py`), what pieces of text are in our
own ids (`tokens.py`), streaming.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sapo_desktop.core.records import Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.remote.http import Unusable
from sapo_desktop.engines.remote.replies import LlamaCompletion, Piece, Raw, SglangAnswer, decode, openai_answers


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

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        """The answers in a reply; raises Unusable."""


# -- servers that tell ids ------------------------------------------------------------------------------------


class Vllm:
    """vLLM's completions."""

    name = "vllm"
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
        return openai_answers(raw, ask.count)


class Sglang:
    """SGLang's own endpoint, the one that takes and tells ids."""

    name = "sglang"
    together = True
    at_once = 64

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        s = ask.sampling
        body = {
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
        return "/generate", body

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        found = decode(raw, SglangAnswer | list[SglangAnswer])
        answers = found if isinstance(found, list) else [found]
        if len(answers) != ask.count:
            raise Unusable(
                sentence("{found} answers where {count} were asked for", found=len(answers), count=ask.count)
            )
        return [self._answer(answer) for answer in answers]

    def _answer(self, answer: SglangAnswer) -> Raw:
        meta = answer.meta_info
        stopped = meta.finish_reason is not None and meta.finish_reason.type == "stop"
        if meta.output_token_logprobs is not None:
            return Raw(answer.text, [Piece(i, None, p) for p, i, _ in meta.output_token_logprobs], stopped)
        ids = answer.output_ids
        return Raw(answer.text, None if ids is None else [Piece(i, None, None) for i in ids], stopped)


class LlamaServer:
    """llama.cpp's own endpoint; one answer a request. Adapters come with the server's start and stay."""

    name = "llama-server"
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
            "top_n_sigma": -1.0,
            "mirostat": 0,
            "dynatemp_range": 0.0,
            "adaptive_target": -1.0,
            "n_probs": 1,
            "return_tokens": True,
            "cache_prompt": True,
            # A node's own adapter never gets there, so what the server was started with stays out.
            "lora": [{"id": number, "scale": 0.0} for number in self.adapters],
        }
        return "/completion", body

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        answer: LlamaCompletion = decode(raw, LlamaCompletion)
        stopped = answer.stop_type in {"eos", "word"}
        return [Raw(answer.content, self._pieces(answer), stopped)]

    def _pieces(self, answer: LlamaCompletion) -> list[Piece] | None:
        ids, told = answer.tokens, answer.completion_probabilities
        # A token that leaves a character unfinished stands among the ids, not among the probabilities.
        if told is not None and (ids is None or len(told) == len(ids)) and all(one.id is not None for one in told):
            # Of a token that a draft model proposed it tells 0, and no other beside it: that is no measured number.
            return [Piece(one.id, None, None if one.top_logprobs == [] else one.logprob) for one in told]
        return None if ids is None else [Piece(i, None, None) for i in ids]


# -- servers that give texts ------------------------------------------------------------------------------------


class Completions:
    """OpenAI's completions as the standard has them: the prompt as text, tokens as texts. llama-cpp-python's server
    answers one at a time, and fills in a top-k of its own where none is sent."""

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
        return openai_answers(raw, ask.count)


class Chat:
    """The chat endpoint, where a server has no other: it puts the question into its own template."""

    name = "chat"
    together = True
    at_once = 16

    def request(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        body = _openai(ask) | {
            "model": ask.model,
            "messages": ask.messages,
            "logprobs": True,
        }
        return "/v1/chat/completions", body

    def read(self, raw: bytes, ask: Ask) -> list[Raw]:
        return openai_answers(raw, ask.count)


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
