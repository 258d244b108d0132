"""One question put to two states of the model: what is known of each answer, and what is asked next. No Qt.

The sides are asked one after the other: there is one model to answer, and so the seconds that are shown are those of
the answer, not of the wait for the other one. A task's answer is marked by a second request, which lets it be drawn as
well as chosen greedily, and leaves its tokens and seconds known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Literal

from sapo_desktop.core.records import Exchange, Mark
from sapo_desktop.worker.control.messages.asking import MOST_TURNS, Ask, Asked, AskProgressed, Tried, TryTask
from sapo_desktop.worker.control.messages.base import Request
from sapo_desktop.worker.control.messages.replies import TaskInfo

State = Literal["waiting", "asked", "writing", "marking", "done", "failed", "stopped"]
"""`asked`: the worker has the question, and no word of the answer has come yet."""


@dataclass(frozen=True)
class Draft:
    """What is to be asked. `task` and `seed`: where it comes from, for a task's question."""

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
    """As the model wrote it; hostile."""
    tokens: int | None = None
    seconds: float | None = None
    mark: Mark | None = None
    error: str = ""
    turns: tuple[Exchange, ...] = ()
    """What was said to this state of the model before, in the same chat."""
    prompt: str = ""
    """All that the model was given."""
    read: int = 0
    """Tokens of the model's context that prompt and answer take."""
    context: int = 0
    """Tokens that the model reads at once; 0: not known."""

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "stopped")

    def progressed(self, event: AskProgressed) -> bool:
        """Note how far the answer is; whether it was this side's, and still wanted."""
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
    """Unix time at which it was asked."""
    sides: tuple[Side, Side]
    truth: str = ""
    """The right answer, where a task has one and a mark has told it."""

    @property
    def in_chat(self) -> bool:
        """Whether it is a turn of a chat. A task's question is not: its answer is compared with the task's others."""
        return not self.draft.task

    @property
    def over(self) -> bool:
        return all(side.over for side in self.sides)

    @property
    def turn(self) -> Side | None:
        """Whose turn it is."""
        return next((side for side in self.sides if not side.over), None)

    def next_request(self) -> Request[Asked | Tried] | None:
        """What to ask for the side whose turn it is; None when both are done."""
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
        """Take the worker's reply to this side's request."""
        if side.over:
            return
        if isinstance(reply, Tried):
            side.mark, self.truth, side.state = reply.mark, reply.truth, "done"
            return
        side.text, side.tokens, side.seconds = reply.text, reply.tokens, reply.seconds
        side.prompt, side.read, side.context = reply.prompt, reply.prompt_tokens + reply.tokens, reply.context
        side.state = "marking" if self.draft.task else "done"

    def stop(self) -> None:
        """Give up what is not done."""
        for side in self.sides:
            if not side.over:
                side.state = "stopped"


def begin(draft: Draft, now: float, chat: Sequence[Try] = ()) -> Try:
    """A question that was asked now, after the turns of a chat, where it is one of its own. Every client hears of every
    answer: the numbers by which they are followed are drawn from so many that two clients do not have the same."""
    base, last = SystemRandom().sample(range(1, 2**53), 2)
    before = () if draft.task else chat
    return Try(draft, now, (Side("base", base, turns=_said(before, 0)), Side("last", last, turns=_said(before, 1))))


def is_full(chat: Sequence[Try]) -> bool:
    """Whether a chat has as many turns as one may have."""
    return len(chat) >= MOST_TURNS


def _said(chat: Sequence[Try], place: int) -> tuple[Exchange, ...]:
    """What one side has answered so far; a question that it did not answer is left out."""
    sides = [(one.draft.question, one.sides[place]) for one in chat]
    return tuple(Exchange(question=question, answer=side.text) for question, side in sides if side.state == "done")


def first_choice(tasks: Iterable[TaskInfo]) -> TaskInfo | None:
    """What to offer first: of the tasks in training the one that is solved about half of the time, where the two sides
    are most likely to differ."""
    known = list(tasks)
    training = [task for task in known if task.training] or known
    return min(training, key=lambda task: abs((0.0 if task.solved is None else task.solved) - 0.5), default=None)
