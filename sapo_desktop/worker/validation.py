"""Validation scores between rounds, and what is made of them: learning/guard.py decides, this acts.

Verdict and weights go into the same checkpoint: the caller writes it after `after_round` and before anything else
happens. A kill before it is written repeats round and verdict, a kill after it repeats neither.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable

import msgspec

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning import guard
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Evaluator, HeldOutSet, Standing, Subject
from sapo_desktop.learning.plan import share_of, shots_shown
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

Score = Callable[[Subject, HeldOutSet, Standing, int], Awaitable[tuple[EvalReport, Standing]]]
"""Evaluator.refresh, which all front ends see at work."""


class Validation:
    """Scores the adapter, a part of the questions at a time, and goes back to the best checkpoint where the guard says
    so."""

    def __init__(
        self,
        score: Score,
        scored: Callable[[EvalReport], Awaitable[None]],
        evaluator: Evaluator,
        engine: Engine,
        keeper: Keeper,
        notify: Notify,
    ) -> None:
        """`scored`: has a report kept and shown."""
        self._score = score
        self._scored = scored
        self._evaluator = evaluator
        self._engine = engine
        self._keeper = keeper
        self._notify = notify

    async def after_round(
        self, settings: Settings, counters: Counters, held_out: HeldOutSet, answered: str
    ) -> tuple[Counters, bool]:
        """Score what the round left, if that is due, and act on it once all questions were asked again. The counters
        after that, and whether a verdict was given. `answered`: names the questions and how they are answered."""
        every = settings.validate_every
        if not every:
            return counters, False
        if counters.standing.questions != answered:
            # It had learned before the questions, or the way to ask them, were others: all are asked again.
            counters = msgspec.structs.replace(counters, standing=Standing(questions=answered))
        parts = min(PARTS, every)
        if not _due(counters.round, every, parts):
            return counters, False
        number = self._keeper.store.next_number(counters.round)
        last = counters.standing.part % parts == parts - 1
        shots = shots_shown(settings, counters)
        subject = Subject(str(number) if last else "", counters.round, None, live=True, shots=shots)
        report, standing = await self._score(subject, held_out, counters.standing, parts)
        judged = last and len(report.solved) == len(standing.results)
        counters = msgspec.structs.replace(counters, standing=standing)
        if judged and counters.guard.best_checkpoint is None:
            base = self._evaluator.base_report(Subject(BASE, 0, None, shots=shots), held_out, standing)
            await self._scored(base)
            counters, _ = self._judge(settings, counters, base, BASE_NUMBER)
        await self._scored(report)
        if not judged:
            return counters, False
        counters, action = self._judge(settings, counters, report, number)
        if action is guard.Action.ROLL_BACK:
            await self._roll_back(counters)
        return counters, True

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


def next_due(every: int, reached: int) -> int | None:
    """The next round after `reached` that a score follows; None: none does. `every`: the setting `validate_every`."""
    if not every:
        return None
    parts = min(PARTS, every)
    return next(number for number in itertools.count(reached + 1) if _due(number, every, parts))


def _due(reached: int, every: int, parts: int) -> bool:
    """Whether a part is asked after that round. Until all were asked once they come twice as often: a new node learns
    fastest, and the line that its owner sees would lag behind by as many rounds as it took to learn. The first look
    comes after half of the rounds that lie between two."""
    usual = every // parts
    between = max(1, usual // 2) if reached <= every // 2 else usual
    return reached % between == between // 2
