"""Validation scores between rounds, and what is made of them: learning/guard.py and learning/adaptive.py decide, this
acts.

Verdict and weights go into the same checkpoint: the caller writes it after `after_round` and before anything else
happens. A kill before it is written repeats round and verdict, a kill after it repeats neither.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec

from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning import adaptive, guard
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Evaluator, Subject
from sapo_desktop.learning.plan import is_adaptive, mix_in_force, share_of
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.showing import Notify
from sapo_desktop.worker.store.keeper import Keeper

BASE = "base"
BASE_NUMBER = 0
"""Stands for the base where a checkpoint's number is asked for; rounds, and so checkpoints, begin at 1."""

Score = Callable[[Subject], Awaitable[EvalReport]]


@dataclass(frozen=True)
class Validated:
    """The counters after validation, and whether anything was scored."""

    counters: Counters
    scored: bool


class Validation:
    """Scores the adapter every few rounds and goes back to the best checkpoint where the guard says so."""

    def __init__(self, score: Score, evaluator: Evaluator, engine: Engine, keeper: Keeper, notify: Notify) -> None:
        self._score = score
        self._evaluator = evaluator
        self._engine = engine
        self._keeper = keeper
        self._notify = notify

    async def after_round(self, settings: Settings, counters: Counters) -> Validated:
        """Score what the round left, if that is due, and act on it."""
        every = settings.validate_every
        if not is_adaptive(settings):
            counters = msgspec.structs.replace(counters, adaptive=adaptive.interrupt(counters.adaptive))
        if not every:
            return Validated(counters, scored=False)
        first = counters.guard.best_checkpoint is None
        if first:
            # The first score of all is the untrained model's: without it nobody could say what was learned.
            base = await self._score(Subject(BASE, 0, None))
            judged = await self._judge(settings, counters, base, BASE_NUMBER)
            counters = self._adapted(settings, judged, base)
        if counters.round % every:
            return Validated(counters, scored=first)
        number = self._keeper.store.next_number(counters.round)
        report = await self._score(Subject(str(number), counters.round, None, live=True))
        judged = await self._judge(settings, counters, report, number)
        if judged.decision.action is guard.Action.ROLL_BACK:
            await self._roll_back(judged)
        return Validated(self._adapted(settings, judged, report), scored=True)

    async def _judge(self, settings: Settings, counters: Counters, report: EvalReport, number: int) -> _Judged:
        held_out = await self._evaluator.held_out("validation")
        external = guard.effective_external(
            counters.guard, share_of(settings, counters, self._engine.parameters).external
        )
        # Another answerer or a lower limit moves a score without any learning.
        answered = f"{held_out.fingerprint} {self._engine.plan.choice.generator} {settings.max_tokens}"
        decision = guard.observe(counters.guard, report, number, external, answered)
        if decision.reason:
            back = decision.action is guard.Action.ROLL_BACK
            self._notify("warning" if back else "info", decision.reason)
        return _Judged(msgspec.structs.replace(counters, guard=decision.state), decision)

    def _adapted(self, settings: Settings, judged: _Judged, report: EvalReport) -> Counters:
        """The counters with what this score says about the mix of the block that ends with it."""
        counters = judged.counters
        if not is_adaptive(settings):
            return counters
        before, judgement = mix_in_force(settings, counters), counters.guard
        if judged.decision.action is guard.Action.ROLL_BACK:
            state = adaptive.rolled_back(counters.adaptive, judgement.best_solved, judgement.questions)
        else:
            state = adaptive.conclude(counters.adaptive, report, judgement.questions)
        counters = msgspec.structs.replace(counters, adaptive=state)
        if (mix := mix_in_force(settings, counters)) != before:
            self._notify(
                "info", sentence("The mix is {mix} from now on (adaptive); it was {before}.", mix=mix, before=before)
            )
        return counters

    async def _roll_back(self, judged: _Judged) -> None:
        """Back to the best weights, and their count of steps; the round in hand keeps its number and is checkpointed
        with them. The next round sets the learning rate."""
        number = judged.decision.state.best_checkpoint
        best = await self._keeper.call(self._keeper.store.get, str(number) if number else BASE)
        await self._engine.restore(best.folder if best else None, weights_only=True)


@dataclass(frozen=True)
class _Judged:
    counters: Counters
    decision: guard.Decision
