"""A round from its plan to its checkpoint, from top to bottom.

learning/round.py defines a round, learning/plan.py the next one. A round counts once its history row and its checkpoint
(or the decision to write none) are on disk; if it is stopped before, it leaves no trace but lost seconds.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from functools import partial

import msgspec

from sapo_desktop.core.errors import CheckpointError, HostCancelled, HostError, TaskError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.learning import guard
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.first_look import first_look
from sapo_desktop.learning.plan import after_round, answer_tokens, next_learning_rate, plan_round, tasks_of_interest
from sapo_desktop.learning.round import RoundResult, run_round, sample_batch
from sapo_desktop.worker.control.messages.events import CheckpointsChanged, RoundFinished
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.examiner import Examiner
from sapo_desktop.worker.hosts.hosting import GRACE, grace_of_caller
from sapo_desktop.worker.orders import Gate, Orders
from sapo_desktop.worker.relief import Relief
from sapo_desktop.worker.scores import Scores
from sapo_desktop.worker.showing import RoundWatcher, Showing
from sapo_desktop.worker.status import Holds, Status
from sapo_desktop.worker.store.checkpoints import Checkpoint
from sapo_desktop.worker.store.keeper import Keeper

log = logging.getLogger("sapo_desktop.worker")


class Rounds:
    """Plays rounds one after the other; worker/node.py decides when, and whether one is discarded."""

    def __init__(
        self,
        status: Status,
        engine: Engine,
        examiner: Examiner,
        keeper: Keeper,
        scores: Scores,
        relief: Relief,
        show: Showing,
        gate: Gate,
        orders: Orders,
    ) -> None:
        self._status = status
        self._engine = engine
        self._examiner = examiner
        self._keeper = keeper
        self._scores = scores
        self._relief = relief
        self._show = show
        self._gate = gate
        self._orders = orders

    async def play(self) -> RoundResult:
        """Ask, score, share, train. Nothing of it counts before `conclude`."""
        status, engine = self._status, self._engine
        if status.counters.shots is None:
            status.counters = await self._looked_at(status.counters)
        plan = plan_round(status.settings, status.counters, status.levels, engine.parameters, trains=engine.trains)
        plan = dataclasses.replace(plan, human=status.human_groups.next())
        self._show.round = plan.number
        await self._follow_threads()
        rate = next_learning_rate(status.settings, engine.parameters, status.counters, engine.steps)
        if rate != engine.plan.trainer.learning_rate:
            await engine.configure(learning_rate=rate)
        swarm = status.swarm
        if swarm is not None:
            wanted = tasks_of_interest(status.settings, status.counters, status.levels)
            swarm.want(wanted, plan.share.external)
        watcher = RoundWatcher(self._show, self._gate, self._step_begins)
        # With peers, what is drawn from them decides how many questions are asked, and those follow the time. Also for
        # the last round: a later continuation then equals an uninterrupted run.
        overlaps = status.settings.overlap and engine.answers_ahead and swarm is None
        ahead = self._answer_ahead if overlaps else None
        try:
            return await run_round(plan, self._examiner, engine, watcher, swarm, ahead)
        finally:
            watcher.leave()

    async def conclude(self, result: RoundResult) -> None:
        """Everything after the training step: counters, history, checkpoint, validation."""
        status = self._status
        status.counters = after_round(status.counters, result, status.levels, self._max_tokens)
        status.last_reward = result.report.reward
        if result.report.step is not None:
            self._relief.remember_micro_batch(result.report.step.micro_batch)
        unjudged = status.counters.guard
        began = self._gate.clock()
        judged = await self._validate()
        result = _with_held_out(result, self._gate.clock() - began)
        status.round_seconds.append(result.report.seconds)
        self._show.enter("checkpoint")
        checkpoint = await self._keep(result, unjudged, must=judged or self._orders.is_last_round)
        status.engine_holds(Holds.AS_COUNTED)
        status.human_groups.learned(result.groups)
        number = checkpoint.number if checkpoint else None
        report = msgspec.structs.replace(result.report, checkpoint=number)
        # No wait from here to the end: others would see half a step.
        self._keeper.latest = self._keeper.latest.after_round(report)
        self._show.publish(RoundFinished(report=report, next_score=self._scores.next_due))
        self._show.phase = "waiting"
        self._orders.done(status.counters.round)

    # -- before and during the step -----------------------------------------------------------------------------

    async def _looked_at(self, counters: Counters) -> Counters:
        """With the result of a first look at the model: how to ask it and where to begin. A setting takes
        precedence."""
        self._show.enter("evaluate")
        held_out = await self._scores.evaluator.held_out("validation")
        named, loaded = self._status.settings.shots, self._engine.loaded
        tries = named == "auto" and loaded is not None and loaded.learns_from_examples
        ways = [0, 1, 2] if tries else [0 if named == "auto" else int(named)]
        tell = partial(self._show.progress, "evaluate")
        look = await first_look(self._engine, self._examiner, held_out.questions, ways, tell)
        log.info("This model is shown %d worked examples and begins at level %s.", look.shots, look.level)
        asking = msgspec.structs.replace(counters.asking, begin=look.level)
        return msgspec.structs.replace(counters, shots=look.shots, asking=asking)

    async def _follow_threads(self) -> None:
        """Use as many threads as decided, under a new run: their number affects repeatability."""
        plan, threads, manifest = self._engine.plan, self._orders.decision.threads, self._status.manifest
        if threads != plan.threads:
            await self._engine.configure(threads=threads)
            one = sentence("From now on the node computes with at most 1 thread.")
            more = sentence("From now on the node computes with at most {count} threads.", count=threads)
            self._show.notice("info", one if threads == 1 else more)
        if manifest is not None and manifest.threads != threads:
            changed = msgspec.structs.replace(
                manifest,
                threads=threads,
                micro_batch=plan.trainer.micro_batch,
                settings=msgspec.to_builtins(self._status.settings),
            )
            await self._status.begin_run(changed, self._keeper)

    def _step_begins(self) -> None:
        """From here on, after a cancel, a step may have been taken."""
        self._status.engine_holds(Holds.MORE)
        grace_of_caller.set(GRACE)

    async def _answer_ahead(self, result: RoundResult) -> None:
        """Have the next round's questions answered during this step. If they turn out different, as after a
        rollback, they are answered as usual; if they cannot be made, the next round reports why."""
        status = self._status
        counters = after_round(status.counters, result, status.levels, self._max_tokens)
        plan = plan_round(status.settings, counters, status.levels, self._engine.parameters)
        try:
            questions = await sample_batch(plan, self._examiner, None)
            prompts = await self._examiner.prompts(questions, plan.shots)
        except HostCancelled:
            raise
        except (TaskError, HostError) as error:
            log.warning("The next round's questions could not be made during this one's step: %s", error)
            return
        self._engine.answer_ahead(prompts, plan.answers, plan.sampling)

    @property
    def _max_tokens(self) -> int:
        return answer_tokens(self._status.settings, self._engine.parameters)

    # -- after the step ----------------------------------------------------------------------------------------

    async def _validate(self) -> bool:
        """Score if that is due. Returns whether there was a verdict; there is none after a cancel."""
        if not self._engine.trains:
            return False
        try:
            self._status.counters, judged = await self._scores.after_round(self._status.counters)
            return judged
        except asyncio.CancelledError:
            own = asyncio.current_task()
            # `cancelling` counts cancels of this task: without one only the scoring task was cancelled (node.put_away),
            # and the round is to be kept.
            if own is None or own.cancelling():
                raise
            return False
        except CheckpointError as error:  # an adapter could not be passed to the answering engine
            self._show.notice("error", sentence("{reason} Training continues.", reason=error.text))
            return False

    async def _keep(self, result: RoundResult, unjudged: guard.GuardState, *, must: bool) -> Checkpoint | None:
        try:
            written = await self._keeper.keep_round(result, self._status.counters, self._engine, must=must)
        except CheckpointError as error:
            self._show.notice("error", sentence("{reason} Training continues.", reason=error.text))
            # A best checkpoint that was never written must not be restored.
            self._status.counters = msgspec.structs.replace(self._status.counters, guard=unjudged)
            return None
        if written is not None:
            self._show.publish(CheckpointsChanged())
        return written


def _with_held_out(result: RoundResult, seconds: float) -> RoundResult:
    """The round with the time of its held-out questions."""
    report = result.report
    report = msgspec.structs.replace(report, evaluate_seconds=seconds, seconds=report.seconds + seconds)
    return dataclasses.replace(result, report=report)
