"""What all generators share: the job, its answers, and how callers follow and stop it.

No torch: the llama.cpp host uses this as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sapo_desktop.core.errors import HostCancelled, ModelError
from sapo_desktop.core.records import Completion, FinishReason, Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.closing import NEVER, ClosingTag
from sapo_desktop.engines.protocols import EndedAnswer, GenerationProgress, Progress, TokenText

PROGRESS_SECONDS = 0.25
LEAST_ROOM = 8
"""Tokens: no tagged answer is shorter, so a question that leaves less room is not asked."""


LOOKED_AT = "What is 17 + 25?"
"""A text to check a model's predictions after: an end token alone may have a meaningless embedding, like padding."""


def no_numbers(model: str, what: str) -> ModelError:
    """The error for a model whose predictions are not numbers (NaN or infinite)."""
    return ModelError(
        "The model in {folder} computes with values that are not numbers ({name}). Download it "
        "again, or choose another model.",
        folder=model,
        name=what,
    )


def room(context: int, prompt: int, most: int) -> int:
    """Tokens available for the answer to a prompt of this length, at most `most`; 0 if the prompt fills the model's
    context."""
    left = context - prompt
    return min(most, left) if left >= min(LEAST_ROOM, most) else 0


@dataclass(frozen=True)
class GenerationJob:
    """What to answer and how; token ids only."""

    prompts: Sequence[list[int]]
    answers: int
    sampling: Sampling
    stop_tokens: frozenset[int]
    context: int
    closes: ClosingTag = NEVER
    batch: int = 0
    """Maximum sequences at once; 0: all."""
    prompt_tokens: int = 0
    """Maximum tokens of different prompts in the cache; 0: unlimited."""

    @property
    def total(self) -> int:
        return len(self.prompts) * self.answers

    def prompt(self, row: int) -> list[int]:
        """The prompt of sequence `row`."""
        return self.prompts[row // self.answers]

    def limit(self, row: int) -> int:
        """Maximum tokens of the answer; 0 if the prompt fills the model's context."""
        return max(0, room(self.context, len(self.prompt(row)), self.sampling.max_tokens))


@dataclass(frozen=True)
class Answers:
    """Sequences ordered by prompt, then answer. Callers make the texts."""

    tokens: list[list[int]]
    logprobs: list[list[float]]
    finish: list[FinishReason]
    batch: int
    """Sequences decoded at once, after any halving."""

    def completions(self, answers: int, text: Callable[[list[int]], str], end: int) -> list[list[Completion]]:
        """Return the answers grouped by prompt. `end` is the token appended to answers that were closed."""
        made = [
            Completion(tokens=[*t, end] if f == "closed" else t, logprobs=p, text=text(t), finish=f)
            for t, p, f in zip(self.tokens, self.logprobs, self.finish, strict=True)
        ]
        return [made[i : i + answers] for i in range(0, len(made), answers)]


@dataclass
class GenerationMonitor:
    """Lets a caller follow and stop a generation."""

    should_stop: Callable[[], bool] = lambda: False
    progress: Callable[[GenerationProgress], None] = lambda _: None
    token: Callable[[int, int], None] = lambda _row, _token: None
    """Called with (sequence, token) for every token if there is only one sequence."""
    text: Callable[[list[int]], str] | None = None
    """If given, the progress includes the text of answers that ended."""
    total: int = 0
    finished: int = 0
    tokens: int = 0
    _reported_at: float = field(default_factory=time.monotonic)
    _ended: tuple[int, list[int]] | None = None

    def check(self) -> None:
        """Raise HostCancelled if a stop was requested; report progress four times a second."""
        if self.should_stop():
            raise HostCancelled(sentence("Answering was cancelled."))
        now = time.monotonic()
        if now - self._reported_at >= PROGRESS_SECONDS:
            self._reported_at = now
            ended = None
            if self._ended is not None and self.text is not None:
                place, tokens = self._ended
                ended = EndedAnswer(place, self.text(tokens))
                self._ended = None
            self.progress(GenerationProgress(finished=self.finished, total=self.total, tokens=self.tokens, ended=ended))

    def end(self, place: int, tokens: list[int]) -> None:
        """Record an answer that ended by itself."""
        if self._ended is None:
            self._ended = (place, tokens)


class Speaker:
    """Turns the tokens of a single answer into pieces of text as soon as their characters are complete."""

    def __init__(self, text: Callable[[list[int]], str], progress: Progress) -> None:
        self._text, self._progress = text, progress
        self._tokens: list[int] = []
        self._said = ""

    def __call__(self, row: int, token: int) -> None:
        del row  # there is only one
        self._tokens.append(token)
        text = self._text(self._tokens)
        if text.endswith("\N{REPLACEMENT CHARACTER}") or not text.startswith(self._said):
            return  # half of a character, or the tokenizer revises the previous one
        if len(text) > len(self._said):
            self._progress(TokenText(text=text[len(self._said) :], tokens=len(self._tokens)))
            self._said = text
