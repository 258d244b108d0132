"""Held-out scores: on request, and between rounds, where learning/guard.py judges and this applies the verdict.

Verdict and weights go into the same checkpoint: the caller writes it after `after_round` and before anything else
happens. A kill before that repeats round and verdict, a kill after it repeats neither.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import hashlib
import itertools
from collections.abc import Iterator, Sequence

import msgspec

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.core.records import EvalReport, Question, Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning import guard
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Evaluator, HeldOutSet, Standing, Subject
from sapo_desktop.learning.plan import evaluation_tokens, share_of, shots_shown
from sapo_desktop.tasks.heldout import SetName
from sapo_desktop.worker.control.messages.events import EvalFinished
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.hosting import PATIENCE, grace_of_caller
from sapo_desktop.worker.showing import Showing
from sapo_desktop.worker.status import Status
from sapo_desktop.worker.store.checkpoints import Checkpoint
from sapo_desktop.worker.store.keeper import Keeper

BASE = "base"
BASE_NUMBER = 0
"""Stands for the base where a checkpoint's number is expected; rounds, and so checkpoints, begin at 1."""

PARTS = 8
"""Between two verdicts the validation set is asked in so many parts, each of which updates the score. A part takes
at least as long as its longest answer, so larger parts cost less per question."""


def _prints(questions: Sequence[Question]) -> list[str]:
    """The fingerprints for EvalReport: by task, in the order of their first questions."""
    by_task: dict[str, list[bytes]] = {}
    for question in questions:
        by_task.setdefault(question.task, []).append(question.hash)
    return [hashlib.sha256(b"".join(hashes)).hexdigest()[:8] for hashes in by_task.values()]


class Scores:
    """Scores checkpoints and the learning adapter, and restores the best one if the guard says so."""

    def __init__(self, status: Status, evaluator: Evaluator, engine: Engine, keeper: Keeper, show: Showing) -> None:
        self._status = status
        self.evaluator = evaluator
        self._engine = engine
        self._keeper = keeper
        self._show = show
        self._scoring: tuple[asyncio.Task[tuple[EvalReport, Standing]], contextvars.Context] | None = None
        """The answers after a round, and the context that they run in: the round does not count yet."""
        self._unscored = False
        """Whether such a round should count without them, because the engine's memory is needed."""

    @property
    def next_due(self) -> int | None:
        """The next round with a score; None: there is none."""
        status = self._status
        return next_due(status.settings.validate_every, status.counters.round) if self._engine.trains else None

    async def on_request(
        self,
        subject: Subject,
        which: SetName,
        samples: int,
        temperature: float,
        level: str,
        tasks: Sequence[str],
    ) -> EvalReport:
        """Score a checkpoint, the base or the current adapter. For the arguments see EvalReport."""
        self._show.enter("evaluate")
        held_out = await self._held_out() if which == "validation" else await self.evaluator.held_out(which)
        held_out = held_out.part(level, tasks)
        report = await self.evaluator.evaluate(
            subject,
            held_out,
            Sampling(temperature=temperature or self._status.settings.temperature, max_tokens=self._max_tokens),
            self._progress,
            samples,
        )
        report = msgspec.structs.replace(report, temperature=temperature, level=level, chosen=list(tasks))
        await self.record(report, held_out.questions)
        return report

    @contextlib.contextmanager
    def given_up(self) -> Iterator[None]:
        """Inside, a round counts without its score: scoring takes minutes, in which a paused node would compute. The
        same questions are asked after a later round."""
        self._unscored = True
        if self._scoring is not None:
            scoring, context = self._scoring
            # In the task's own context, which was copied at its start: the engine's state is to be kept.
            context.run(grace_of_caller.set, PATIENCE)
            scoring.cancel()
        try:
            yield
        finally:
            self._unscored = False

    async def after_round(self, counters: Counters) -> tuple[Counters, bool]:
        """Score the state after the round, if due, and apply the verdict once all questions were asked again.
        Returns the resulting counters, and whether there was a verdict."""
        settings = self._status.settings
        every = settings.validate_every
        if not every:
            return counters, False
        held_out, line = await self._held_out(), await self._line()
        if counters.standing.questions != line:
            # It had learned before the questions, or the way to ask them, changed: all are asked again.
            counters = msgspec.structs.replace(counters, standing=Standing(questions=line))
        parts = min(PARTS, every)
        if not _due(counters.round, every, parts):
            return counters, False
        number = self._keeper.store.next_number(counters.round)
        last = counters.standing.part % parts == parts - 1
        shots = shots_shown(settings, counters)
        subject = Subject(str(number) if last else "", counters.round, None, live=True, shots=shots)
        report, standing = await self._refresh(subject, held_out, counters.standing, parts)
        judged = last and len(report.solved) == len(standing.results)
        counters = msgspec.structs.replace(counters, standing=standing)
        if judged and counters.guard.best_checkpoint is None:
            base = self.evaluator.base_report(Subject(BASE, 0, None, shots=shots), held_out, standing)
            await self.record(base, held_out.questions)
            counters, _ = self._judge(settings, counters, base, BASE_NUMBER)
        known = [q for q, result in zip(held_out.questions, standing.results, strict=True) if result is not None]
        await self.record(report, known)
        if not judged:
            return counters, False
        counters, action = self._judge(settings, counters, report, number)
        if action is guard.Action.ROLL_BACK:
            await self._roll_back(counters)
        return counters, True

    async def record(self, report: EvalReport, questions: Sequence[Question]) -> None:
        """Record a score on these questions and publish it."""
        asked = f"{self._status.counters.short_model} {await self._line()}"
        report = msgspec.structs.replace(report, line=asked, prints=_prints(questions))
        await self._keeper.record_eval(self._status.counters.run, report)
        self._keeper.latest = self._keeper.latest.after_eval(report)
        self._show.publish(EvalFinished(report=report))

    async def _held_out(self) -> HeldOutSet:
        """The validation questions for this model's scores between rounds."""
        return await self.evaluator.of_reach(self._status.counters.asking.begin, self._status.levels)

    async def _line(self) -> str:
        """Identifies the questions and the way of answering: another engine, a lower limit or another number of
        examples moves a score without any learning."""
        held_out, settings = await self._held_out(), self._status.settings
        shots = shots_shown(settings, self._status.counters)
        return f"{held_out.fingerprint} {self._engine.plan.choice.generator} {settings.max_tokens} {shots}"

    @property
    def _max_tokens(self) -> int:
        return evaluation_tokens(self._status.settings, self._status.counters, self._engine.parameters)

    def _progress(self, done: int, total: int) -> None:
        self._show.progress("evaluate", done, total)

    async def _refresh(
        self, subject: Subject, held_out: HeldOutSet, standing: Standing, parts: int
    ) -> tuple[EvalReport, Standing]:
        """The next part of the questions, in a separate task: its answers may be cancelled, while a verdict on them
        is applied to its end."""
        self._show.enter("evaluate")
        sampling = Sampling(max_tokens=self._max_tokens)
        answering = self.evaluator.refresh(subject, held_out, standing, parts, sampling, self._progress)
        context = contextvars.copy_context()
        scoring = asyncio.create_task(answering, context=context)
        self._scoring = scoring, context
        if self._unscored:
            scoring.cancel()
        try:
            return await scoring
        finally:
            self._scoring = None

    def _judge(
        self, settings: Settings, counters: Counters, report: EvalReport, number: int
    ) -> tuple[Counters, guard.Action]:
        external = guard.effective_external(counters.guard, share_of(settings, counters).external)
        decision = guard.observe(counters.guard, report, number, external, counters.standing.questions)
        if decision.reason:
            back = decision.action is guard.Action.ROLL_BACK
            self._show.notice("warning" if back else "info", decision.reason)
        return msgspec.structs.replace(counters, guard=decision.state), decision.action

    async def _roll_back(self, counters: Counters) -> None:
        """Return to the best weights and their count of steps; the current round keeps its number and is
        checkpointed with them. The next round sets the learning rate. Before the next verdict, all questions are
        asked again."""
        best = await self._newest_sound(counters.guard.best_checkpoint or BASE_NUMBER, counters.model)
        await self._engine.restore(best.folder if best else None, weights_only=True)

    async def _newest_sound(self, number: int, model: str) -> Checkpoint | None:
        """The checkpoint of that number, or the newest before it that is readable and of that model; None: the base."""
        store = self._keeper.store
        before = [one for one in reversed(store.numbers()) if one < number]
        for one in [number, *before] if number else []:
            try:
                found = await self._keeper.call(store.read, one)
            except CheckpointError as error:
                self._show.notice("warning", sentence("{reason} The node goes back further.", reason=error.text))
                continue
            if found.counters.model == model:
                return found
        return None


def next_due(every: int, reached: int) -> int | None:
    """The next round after `reached` with a score; None: there is none. `every`: the setting `validate_every`."""
    if not every:
        return None
    parts = min(PARTS, every)
    return next(number for number in itertools.count(reached + 1) if _due(number, every, parts))


def _due(reached: int, every: int, parts: int) -> bool:
    """Whether a part is due after that round. Until all were asked once, they come twice as often: a new node learns
    fastest, and its curve would otherwise lag behind. The first comes after half of that interval."""
    usual = every // parts
    between = max(1, usual // 2) if reached <= every // 2 else usual
    return reached % between == between // 2
