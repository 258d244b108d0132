"""Validation scores between rounds, and what is made of them: learning/guard.py decides, this acts.

Verdict and weights go into the same checkpoint: the caller writes it after `after_round` and before anything else
happens. A kill before it is written repeats round and verdict, a kill after it repeats neither.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning import guard
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Evaluator, Standing, Subject
from sapo_desktop.learning.plan import share_of
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.showing import Notify
from sapo_desktop.worker.store.checkpoints import Checkpoint
from sapo_desktop.worker.store.keeper import Keeper

BASE = "base"
BASE_NUMBER = 0
"""Stands for the base where a checkpoint's number is asked for; rounds, and so checkpoints, begin at 1."""

PARTS = 8
"""Between two verdicts the validation set is asked in so many parts, each a newer look at what the node can do. A look
takes at least as long as its longest answer, so that larger parts cost less a question."""

Score = Callable[[Subject, Standing, int], Awaitable[tuple[EvalReport, Standing]]]
"""Evaluator.refresh, which the history and all front ends hear of."""


class Validation:
    """Scores the adapter, a part of the questions at a time, and goes back to the best checkpoint where the guard says
    so."""

    def __init__(self, score: Score, evaluator: Evaluator, engine: Engine, keeper: Keeper, notify: Notify) -> None:
        self._score = score
        self._evaluator = evaluator
        self._engine = engine
        self._keeper = keeper
        self._notify = notify

    async def after_round(self, settings: Settings, counters: Counters) -> tuple[Counters, bool]:
        """Score what the round left, if that is due, and act on it once all questions were asked anew. The counters
        after that, and whether a verdict was given."""
        every = settings.validate_every
        if not every:
            return counters, False
        answered = await self._answered(settings)
        begins = counters.standing.questions != answered
        if begins:
            counters = await self._begin(settings, counters, answered)
        parts = min(PARTS, every)
        if not _due(counters.round, every, parts):
            return counters, begins
        number = self._keeper.store.next_number(counters.round)
        last = counters.standing.part % parts == parts - 1
        subject = Subject(str(number) if last else "", counters.round, None, live=True)
        report, standing = await self._score(subject, counters.standing, parts)
        counters = msgspec.structs.replace(counters, standing=standing)
        if not last:
            return counters, begins
        counters, action = self._judge(settings, counters, report, number)
        if action is guard.Action.ROLL_BACK:
            await self._roll_back(counters)
        return counters, True

    async def _begin(self, settings: Settings, counters: Counters, answered: str) -> Counters:
        """The first score of all is the untrained model's: without it nobody could say what was learned."""
        base, standing = await self._score(Subject(BASE, 0, None), Standing(questions=answered), 1)
        parts = min(PARTS, settings.validate_every)
        standing = msgspec.structs.replace(standing, base=base.solved, unasked=parts)
        if counters.guard.best_checkpoint is not None:
            # It had learned before the questions, or the way to answer them, were others: all are asked of it, too.
            unknown = msgspec.structs.replace(standing, results=[], unasked=0)
            _, standing = await self._score(Subject("", counters.round, None, live=True), unknown, 1)
            return msgspec.structs.replace(counters, standing=standing)
        counters = msgspec.structs.replace(counters, standing=standing)
        return self._judge(settings, counters, base, BASE_NUMBER)[0]

    async def _answered(self, settings: Settings) -> str:
        """Names the questions and how they are answered: another answerer or a lower limit moves a score without any
        learning."""
        held_out = await self._evaluator.held_out("validation")
        return f"{held_out.fingerprint} {self._engine.plan.choice.generator} {settings.max_tokens}"

    def _judge(
        self, settings: Settings, counters: Counters, report: EvalReport, number: int
    ) -> tuple[Counters, guard.Action]:
        external = guard.effective_external(counters.guard, share_of(settings).external)
        decision = guard.observe(counters.guard, report, number, external, counters.standing.questions)
        if decision.reason:
            back = decision.action is guard.Action.ROLL_BACK
            self._notify("warning" if back else "info", decision.reason)
        return msgspec.structs.replace(counters, guard=decision.state), decision.action

    async def _roll_back(self, counters: Counters) -> None:
        """Back to the best weights, and their count of steps; the round in hand keeps its number and is checkpointed
        with them. The next round sets the learning rate. Before the next verdict all questions are asked anew."""
        best = await self._newest_sound(counters.guard.best_checkpoint or BASE_NUMBER, counters.model)
        await self._engine.restore(best.folder if best else None, weights_only=True)

    async def _newest_sound(self, number: int, model: str) -> Checkpoint | None:
        """The checkpoint of that number, or the newest before it that can be read and is of that model; None: the
        base."""
        store = self._keeper.store
        before = [one for one in reversed(store.numbers()) if one < number]
        for one in [number, *before] if number else []:
            try:
                found = await self._keeper.call(store.read, one)
            except CheckpointError as error:
                self._notify("warning", sentence("{reason} The node goes back further.", reason=error.text))
                continue
            if found.counters.model == model:
                return found
        return None


def _due(reached: int, every: int, parts: int) -> bool:
    """Whether a part is asked after that round. Until all were asked once they come twice as often: a new node learns
    fastest, and the line that its owner sees would lag behind by as many rounds as it took to learn. The first look
    comes after half of the rounds that lie between two."""
    usual = every // parts
    between = max(1, usual // 2) if reached <= every // 2 else usual
    return reached % between == between // 2
