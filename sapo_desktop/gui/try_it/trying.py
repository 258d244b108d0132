"""One question to two states of the model: what is known of each answer, and the next request. No Qt.

The sides are asked one after the other, because there is one model; so the seconds shown are those of the answer,
without waiting for the other one. A task's answer is scored by a second request, so that it can be drawn as well as
greedy, and its tokens and seconds are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Literal

from sapo_desktop.core.link.requests import Request
from sapo_desktop.core.records import Exchange, Mark
from sapo_desktop.worker.control.messages.asking import MOST_TURNS, Ask, Asked, AskProgressed, Tried, TryTask
from sapo_desktop.worker.control.messages.replies import TaskInfo

State = Literal["waiting", "asked", "writing", "marking", "done", "failed", "stopped"]
"""`asked`: the worker has the question, and there is no text yet."""


@dataclass(frozen=True)
class Draft:
    """What to ask. `task` and `seed`: the origin of a task's question."""

    question: str
    greedy: bool = True
    task: str = ""
    seed: int | None = None


@dataclass
class Side:
    """One state of the model, and its answer so far."""

    checkpoint: Literal["base", "last"]
    stream: int
    state: State = "waiting"
    text: str = ""
    """The model's text; may be hostile."""
    tokens: int | None = None
    seconds: float | None = None
    mark: Mark | None = None
    error: str = ""
    turns: tuple[Exchange, ...] = ()
    """The earlier turns with this state of the model, in the same chat."""
    prompt: str = ""
    """Everything that the model got."""
    read: int = 0
    """Tokens of the model's context used by prompt and answer."""
    context: int = 0
    """Tokens that the model reads at once; 0: unknown."""

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "stopped")

    def progressed(self, event: AskProgressed) -> bool:
        """Record the progress; returns whether it was this side's, and still wanted."""
        if event.stream != self.stream or self.state not in ("asked", "writing"):
            return False
        self.state, self.text, self.tokens = "writing", event.text, event.tokens
        return True

    def fail(self, error: str) -> None:
        self.state, self.error = "failed", error


@dataclass
class Try:
    """A question and both answers."""

    draft: Draft
    time: float
    """Unix time of the question."""
    sides: tuple[Side, Side]
    truth: str = ""
    """The right answer, if a task has one and it was scored."""

    @property
    def in_chat(self) -> bool:
        """Whether it is a turn of a chat. A task's question is not, so that its answer compares with the task's
        others."""
        return not self.draft.task

    @property
    def over(self) -> bool:
        return all(side.over for side in self.sides)

    @property
    def turn(self) -> Side | None:
        """The side to ask next."""
        return next((side for side in self.sides if not side.over), None)

    def next_request(self) -> Request[Asked | Tried] | None:
        """The request for that side; None when both are done."""
        side = self.turn
        if side is None:
            return None
        if side.state == "marking":
            return TryTask(task=self.draft.task, seed=self.draft.seed, answer=side.text, checkpoint=side.checkpoint)
        side.state = "asked"
        return Ask(
            question=self.draft.question,
            turns=side.turns,
            checkpoint=side.checkpoint,
            greedy=self.draft.greedy,
            stream=side.stream,
        )

    def answered(self, side: Side, reply: Asked | Tried) -> None:
        """Handle the worker's reply to this side's request."""
        if side.over:
            return
        if isinstance(reply, Tried):
            side.mark, self.truth, side.state = reply.mark, reply.truth, "done"
            return
        side.text, side.tokens, side.seconds = reply.text, reply.tokens, reply.seconds
        side.prompt, side.read, side.context = reply.prompt, reply.prompt_tokens + reply.tokens, reply.context
        side.state = "marking" if self.draft.task else "done"

    def stop(self) -> None:
        """Cancel the unfinished sides."""
        for side in self.sides:
            if not side.over:
                side.state = "stopped"


def begin(draft: Draft, now: float, chat: Sequence[Try] = ()) -> Try:
    """A new question, after the turns of a chat if it is an own one. Every client gets events of every answer, so
    their numbers are drawn from so many that two clients do not share one."""
    base, last = SystemRandom().sample(range(1, 2**53), 2)
    before = () if draft.task else chat
    return Try(draft, now, (Side("base", base, turns=_said(before, 0)), Side("last", last, turns=_said(before, 1))))


def is_full(chat: Sequence[Try]) -> bool:
    """Whether a chat has reached the maximum of turns."""
    return len(chat) >= MOST_TURNS


def _said(chat: Sequence[Try], place: int) -> tuple[Exchange, ...]:
    """One side's answers so far, without questions that it did not answer."""
    sides = [(one.draft.question, one.sides[place]) for one in chat]
    return tuple(Exchange(question=question, answer=side.text) for question, side in sides if side.state == "done")


def first_choice(tasks: Iterable[TaskInfo]) -> TaskInfo | None:
    """What to offer first: among the tasks in training the one that is solved about half of the time, where both
    sides are most likely to differ."""
    known = list(tasks)
    training = [task for task in known if task.training] or known
    return min(training, key=lambda task: abs((0.0 if task.solved is None else task.solved) - 0.5), default=None)
