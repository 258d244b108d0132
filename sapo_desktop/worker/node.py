"""The node: plays rounds until told otherwise, and keeps what they teach.

What a round is stands in learning/round.py, what the next one is in learning/plan.py, what was ordered and who may
compute in worker/orders.py, what is scored and gone back to in worker/validation.py, how a round is made to last in
worker/store/keeper.py, what is shown of it all in worker/showing.py. The node
puts them in order and deals with what goes wrong. Two rules:

- A round counts once its history row and its checkpoint (or the decision to write none) are on disk; whatever
  stops it before leaves no trace but lost seconds.
- A host that dies is started again and training goes on from the newest checkpoint (worker/recovery.py); only a
  host that keeps dying ends the work, with the reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import CheckpointError, HostCancelled, HostError, NotWritten, TaskError, UsageError
from sapo_desktop.core.records import EvalReport, Group, Prompt, Question, Sampling
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Failed, NotKept
from sapo_desktop.learning import guard
from sapo_desktop.learning.asking import Levels
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.first_look import first_look
from sapo_desktop.learning.heldout import Evaluator, HeldOutSet, Standing, Subject
from sapo_desktop.learning.plan import (
    after_round,
    answer_tokens,
    evaluation_tokens,
    next_learning_rate,
    plan_round,
    shots_shown,
    tasks_of_interest,
    trainer_settings,
)
from sapo_desktop.learning.reasoning import medians
from sapo_desktop.learning.round import EncodedGroup, RoundResult, Swarm, run_round, sample_batch
from sapo_desktop.tasks.heldout import SetName
from sapo_desktop.worker.control.messages.events import CheckpointsChanged, EvalFinished, Event, RoundFinished
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.examiner import Examiner
from sapo_desktop.worker.hosts.hosting import GRACE, PATIENCE, Host, grace_of_caller
from sapo_desktop.worker.hosts.loading import smaller_model
from sapo_desktop.worker.membership.external import Yardstick
from sapo_desktop.worker.orders import Gate, Orders
from sapo_desktop.worker.recovery import Recovery
from sapo_desktop.worker.showing import RoundWatcher, Showing
from sapo_desktop.worker.store.checkpoints import Checkpoint
from sapo_desktop.worker.store.keeper import Keeper
from sapo_desktop.worker.store.manifest import RunManifest
from sapo_desktop.worker.validation import BASE_NUMBER, Validation, next_due

log = logging.getLogger("sapo_desktop.worker")

_PARTING_SECONDS = 20.0
"""How long a node that ends, or puts its engine away, waits for a step, or for another write."""
_WRITING_SECONDS = 120.0
"""How long its last checkpoint may take: an engine that gives way to others is slow, and what it holds is worth it."""
_STEP_SECONDS = 0.05
"""Between two looks whether the trainer's step is over."""
_MOST_WAITING = 32
"""Groups with a person's answer."""
_A_ROUND = 4
"""How many of them one step takes: they are heard, and drown nothing."""


class HumanGroups:
    """Groups with a person's answer, in their order, from when it was given until a round has learned from it."""

    def __init__(self) -> None:
        self._waiting: list[EncodedGroup] = []

    def add(self, group: EncodedGroup) -> bool:
        """Have it learned from in one of the next rounds; False where too many wait already."""
        if len(self._waiting) >= _MOST_WAITING:
            return False
        self._waiting.append(group)
        return True

    def next(self) -> tuple[EncodedGroup, ...]:
        """What the next round takes; it waits until that round is done."""
        return tuple(self._waiting[:_A_ROUND])

    def learned(self, groups: Sequence[Group]) -> None:
        """A round with these groups is done."""
        self._waiting = [one for one in self._waiting if not any(one.group is group for group in groups)]


class Node:
    """One data folder's node. `publish` is told everything that a window or terminal may want to show."""

    def __init__(
        self,
        *,
        settings: Settings,
        counters: Counters,
        levels: Levels,
        gate: Gate,
        engine: Engine,
        examiner: Examiner,
        evaluator: Evaluator,
        keeper: Keeper,
        publish: Callable[[Event], None],
        wishes: Path | None = None,
    ) -> None:
        self.settings = settings
        self.counters = counters
        self.levels = levels
        self.gate = gate
        self.engine = engine
        self.examiner = examiner
        self.evaluator = evaluator
        self.keeper = keeper
        self.swarm: Swarm | None = None
        """Where answers are shared and drawn; None in silo."""
        self.show = Showing(publish, examiner, counters.round + 1)
        self.orders = Orders(
            gate,
            lambda: self.settings,
            counters.round,
            lambda: self._round is not None,
            lambda: engine.trains,
            wishes,
            later=keeper.write_later,
            notify=self.show.notice,
        )
        keeper.waits = self.wait_for
        keeper.stays = lambda reason: self.show.notice("warning", reason)
        self.human_groups = HumanGroups()
        self.round_seconds: list[float] = []
        self.last_reward: float | None = None
        """Of the last round that ended in this process."""
        self._validation = Validation(self._refresh, self._scored, evaluator, engine, keeper, self.show.notice)
        self._recovery = Recovery(self)
        self._round: asyncio.Task[RoundResult] | None = None
        self._round_began = 0.0
        """By the gate's clock."""
        self._scoring: tuple[asyncio.Task[tuple[EvalReport, Standing]], contextvars.Context] | None = None
        """Held-out questions after a round, which is in hand no more and does not count yet; their task, and the
        context that it runs in."""
        self._unscored = False
        """Whether that round is to count without them: the engine's memory is wanted."""
        self._discarding = 0
        """How many hold the next round back now, the one in hand discarded."""
        self._may_begin = asyncio.Event()
        self._may_begin.set()
        self._leaving_off = False
        self.is_put_away = False
        """Whether the engine is to be started before the next round: it was ended to give its memory back, or did not
        come back so far."""
        self.concluding = asyncio.Lock()
        """Held while counters, checkpoints and the engine's state must be changed together."""
        self._settled = True
        """Whether the engine holds just what the counters say: not from the trainer's step to the round's end."""
        self._one_roll_back = asyncio.Lock()
        self._rolling_back: asyncio.Task[Checkpoint] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._manifest: RunManifest | None = None
        self._longest_answer: int | None = None

    # -- what others ask of it -----------------------------------------------------------------------------

    def take_settings(self, settings: Settings) -> None:
        """These are in force from now on, but for answers that memory once was too short for."""
        if self._longest_answer is not None:
            longest = min(settings.max_tokens or self._longest_answer, self._longest_answer)
            settings = msgspec.structs.replace(settings, max_tokens=longest)
        self.settings = settings

    def join(self, swarm: Swarm | None) -> None:
        """From the next round on share and draw there; None: play alone."""
        self.swarm = swarm

    async def begin_run(self, manifest: RunManifest) -> None:
        """From now on rounds are played under these conditions."""
        run = await self.keeper.patiently(self.keeper.history.begin_run, manifest)
        self._manifest = manifest
        self.counters = msgspec.structs.replace(self.counters, run=run)

    @property
    def hosts(self) -> list[Host]:
        """The processes that compute its rounds."""
        return [*self.engine.hosts, self.examiner.host]

    @property
    def max_tokens(self) -> int:
        """The most tokens that an answer may ever have."""
        return answer_tokens(self.settings, self.engine.parameters)

    def yardstick(self) -> Yardstick:
        """How long own answers are and may be, and how this node asks its questions."""
        context = self.engine.loaded.context if self.engine.loaded else 0
        shots = shots_shown(self.settings, self.counters)
        return Yardstick(self.max_tokens, context, medians(self.counters.reasoned), shots)

    async def prompts(self, questions: Sequence[Question]) -> list[Prompt]:
        """What this node's model is asked for each question."""
        return await self.examiner.prompts(questions, shots_shown(self.settings, self.counters))

    @property
    def next_score(self) -> int | None:
        """The round that the next held-out score follows; None: none does."""
        return next_due(self.settings.validate_every, self.counters.round) if self.engine.trains else None

    @property
    def round_taken(self) -> float:
        """Seconds that the round in hand took so far, pauses left out."""
        return self.gate.clock() - self._round_began if self._round is not None else 0.0

    def progress(self) -> tuple[int, float | None]:
        """The last finished round and its reward; None where that round did not end in this process."""
        return self.counters.round, self.last_reward

    async def evaluate(
        self,
        name: str,
        which: SetName,
        samples: int = 0,
        temperature: float = 0.0,
        level: str = "",
        tasks: Sequence[str] = (),
    ) -> EvalReport:
        """Held-out score of a checkpoint; `last` is the current adapter. For the other arguments see EvalReport."""
        shots = shots_shown(self.settings, self.counters)
        if name == "last":
            reached = self.counters.round if self._settled else self.show.round
            subject = Subject(name, reached, None, live=True, shots=shots)
        else:
            checkpoint = await self.find_checkpoint(name)
            folder = checkpoint.folder if checkpoint else None
            subject = Subject(name, checkpoint.round if checkpoint else 0, folder, shots=shots)
        before = self.show.phase
        async with self.awake():
            try:
                return await self._score(subject, which, samples, temperature, level, tasks)
            finally:
                self.show.enter(before)

    async def roll_back(self, name: str) -> Checkpoint:
        """Put a checkpoint's adapter back in; rounds count on. The round in hand is discarded."""
        target = await self.find_checkpoint(name)
        if not self.engine.trains:
            raise UsageError(sentence("This node only answers, with the base model: there is nothing to go back to."))
        if target is None and self.counters.round == 0:
            raise UsageError(sentence("Nothing was trained yet: the node still is at its base."))
        # To its end even where the client leaves: half of it is an adapter that no checkpoint holds.
        self._rolling_back = asyncio.create_task(self._put_in(target))
        return await asyncio.shield(self._rolling_back)

    @contextlib.asynccontextmanager
    async def awake(self) -> AsyncIterator[None]:
        """Let the hosts compute for a request; an engine that died while nothing trains is started again. Who gives the
        request up does not cost the engine, and with it the rounds since its last checkpoint."""
        patient = grace_of_caller.set(PATIENCE)
        try:
            async with self.gate.awake():
                idle = self.gate.state in (NodeState.IDLE, NodeState.PAUSED, NodeState.FAILED)
                if idle and (self.is_put_away or not self.engine.running):
                    async with self._without_round():
                        await self._revive()
                yield
        finally:
            grace_of_caller.reset(patient)

    async def put_away(self) -> None:
        """End the hosts, so that their memory is free: what no checkpoint has is kept first, the round in hand is left
        out. One that is being scored counts without its score: the same questions are asked after a later round. They
        come back before the next round, or for a request."""
        async with self.gate.awake():
            self._unscored = True  # scoring takes minutes, in which a paused node would compute
            if self._scoring is not None:
                scoring, context = self._scoring
                context.run(grace_of_caller.set, PATIENCE)  # what the engine holds is to be kept
                scoring.cancel()
            try:
                if self._unkept:
                    await self._until_settled()
                async with self._without_round():
                    await self._keep_unkept_rounds()
                    self.is_put_away = True
                    others = [host.stop() for host in self.gate.others()]
                    await asyncio.gather(self.engine.stop(), self.examiner.host.stop(), *others)
            finally:
                self._unscored = False  # also where the wait for the round was given up

    async def keep_now(self) -> None:
        """The computer may not come back: write what no checkpoint has. The round in hand is left out for that; where
        nothing is unwritten it goes on. Who gives this up leaves that round alone too, unless it was left out already:
        then all is written."""
        if not self._unkept or not self.engine.running:
            return
        async with self.gate.awake():
            await self._until_settled()
            if self._settled:
                self._keeping = asyncio.create_task(self._keep_without_round())
                await asyncio.shield(self._keeping)

    async def _until_settled(self) -> None:
        """Wait for the step in hand, for a while: it must not be cut in two, and its round may write a checkpoint."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PARTING_SECONDS):
                while not self._settled:
                    await asyncio.sleep(_STEP_SECONDS)

    async def _keep_without_round(self) -> None:
        async with self.gate.awake(), self._without_round():
            await self._keep_unkept_rounds()

    async def shrink(self, too_much: Text) -> None:
        """The node holds more memory than it may, as `too_much` says: load the model anew, with less at once."""
        if not self._recovery.ask_less():
            text = sentence(
                "{reason} There is nothing left to do less of: raise it, or choose a smaller model.", reason=too_much
            )
            self.orders.fail(Failed(text=text, failures=1))
        else:
            text = sentence("{reason} The model is reloaded, with less at once.", reason=too_much)
        self.show.notice("warning", text)
        await self.put_away()

    async def find_checkpoint(self, name: str) -> Checkpoint | None:
        """The checkpoint of a name, None for the base, which may also be the best so far."""
        best = self.counters.guard.best_checkpoint
        if name == "best" and best == BASE_NUMBER:
            return None
        found = await self.keeper.call(self.keeper.store.get, str(best) if name == "best" and best else name)
        if found is not None and found.counters.model != self.counters.model:
            raise CheckpointError(
                "Checkpoint {number} is of another model: choose that model first.", number=found.number
            )
        return found

    # -- the work ------------------------------------------------------------------------------------------

    def leave_off(self) -> None:
        """Let `run` return once the round in hand counts."""
        self._leaving_off = True

    async def run(self) -> None:
        """Play rounds until the task is cancelled, or it is to leave off."""
        while not self._leaving_off:
            await self.gate.wait()
            while not self._may_begin.is_set():  # another may hold it back again before this one runs
                await self._may_begin.wait()
            try:
                await self._take_up()
                result = await self._play_round()
                if result is not None:
                    async with self.concluding:
                        await self._conclude(result)
                    self._recovery.succeeded()
            except (HostError, NotWritten) as error:
                await self._recovery.after(error)

    async def close(self) -> None:
        """End the hosts for good; the round in hand is discarded, those before it are kept."""
        self.gate.cancel_timer()
        async with self.gate.awake():  # one that is paused may be ended too
            await self._keep_unkept_rounds(self.concluding)  # a write before a sleep may be under way
        await asyncio.gather(self.engine.close(), self.examiner.host.close())
        await self.keeper.close()

    async def _take_up(self) -> None:
        """Load again what was put away."""
        if self.is_put_away:
            async with self.concluding:
                await self._revive()

    async def _put_in(self, target: Checkpoint | None) -> Checkpoint:
        async with self._one_roll_back, self.awake(), self._without_round():
            await self._revive()
            await self.engine.restore(target.folder if target else None, weights_only=True)
            self._settled = True
            # A fall that a person chose is no lost skill.
            self.counters = msgspec.structs.replace(
                self.counters,
                guard=guard.interrupt(self.counters.guard),
                standing=msgspec.structs.replace(self.counters.standing, part=0),
            )
            written = await self.keeper.write(self.counters, self.engine)
            self.show.publish(CheckpointsChanged())
            return written

    async def _revive(self) -> None:
        """Start an engine again that ended, at the newest checkpoint."""
        if self.is_put_away or not self.engine.running:
            await self._recovery.back_to_newest()

    @property
    def _kept(self) -> int:
        """The last round that a checkpoint has."""
        return self.keeper.newest.round if self.keeper.newest else 0

    @property
    def _unkept(self) -> bool:
        return self.counters.round > self._kept

    async def _keep_unkept_rounds(self, alone: contextlib.AbstractAsyncContextManager[None] | None = None) -> None:
        """Checkpoint the rounds that the daily allowance left without one, where the engine still holds just them.
        `alone`: what is to be held meanwhile, where the caller does not hold it."""
        if not self._unkept:
            return
        patient = grace_of_caller.set(PATIENCE)  # a write that is given up does not cost the engine
        try:
            async with contextlib.AsyncExitStack() as held:
                async with asyncio.timeout(_PARTING_SECONDS):
                    await held.enter_async_context(alone or contextlib.nullcontext())
                if self._unkept:  # another write may have kept them meanwhile
                    if not self._settled:
                        raise TimeoutError
                    async with asyncio.timeout(_WRITING_SECONDS):
                        await self.keeper.write(self.counters, self.engine)
        except (CheckpointError, HostError, TimeoutError) as error:
            reason = sentence("The engine was busy.") if isinstance(error, TimeoutError) else error.text
            self.show.notice(
                "warning",
                sentence(
                    "{reason} The next start continues after round {round}.", reason=reason, round=str(self._kept)
                ),
            )
        finally:
            grace_of_caller.reset(patient)

    async def _play_round(self) -> RoundResult | None:
        """One round; None where it was discarded. It is in hand from the first wait on: who discards it must see it."""
        self._round_began = self.gate.clock()
        self._round = asyncio.get_running_loop().create_task(self._prepared_round())
        try:
            return await self._round
        except (asyncio.CancelledError, HostCancelled):
            if not self._discarding:
                raise
            return None
        finally:
            self._round.cancel()
            self._round = None

    async def _prepared_round(self) -> RoundResult:
        if self._unkept:  # what the engine holds is to be kept, however late it looks whether to give this round up
            grace_of_caller.set(PATIENCE)
        if self.counters.shots is None:
            self.counters = await self._looked_at(self.counters)
        plan = plan_round(self.settings, self.counters, self.levels, self.engine.parameters, trains=self.engine.trains)
        plan = dataclasses.replace(plan, human=self.human_groups.next())
        self.show.round = plan.number
        await self._follow_threads()
        rate = next_learning_rate(self.settings, self.engine.parameters, self.counters, self.engine.steps)
        if rate != self.engine.plan.trainer.learning_rate:
            await self.engine.configure(learning_rate=rate)
        if self.swarm is not None:
            self.swarm.want(tasks_of_interest(self.settings, self.counters, self.levels), plan.share.external)
        watcher = RoundWatcher(self.show, self.gate, self.unsettle)
        # With peers, what is drawn from them decides how much is asked, and their questions follow the time.
        # The last round, too: who goes on later then repeats a run that never stopped.
        overlaps = self.settings.overlap and self.engine.answers_ahead and self.swarm is None
        ahead = self._answer_ahead if overlaps else None
        try:
            return await run_round(plan, self.examiner, self.engine, watcher, self.swarm, ahead)
        finally:
            watcher.leave()

    async def _looked_at(self, counters: Counters) -> Counters:
        """With what a first look at the model says of how to ask it and where to begin; a setting decides first."""
        self.show.enter("evaluate")
        held_out = await self.evaluator.held_out("validation")
        named = self.settings.shots
        tries = named == "auto" and self.engine.loaded is not None and self.engine.loaded.learns_from_examples
        ways = [0, 1, 2] if tries else [0 if named == "auto" else int(named)]
        tell = partial(self.show.progress, "evaluate")
        look = await first_look(self.engine, self.examiner, held_out.questions, ways, tell)
        log.info("This model is shown %d worked examples and begins at level %s.", look.shots, look.level)
        asking = msgspec.structs.replace(counters.asking, begin=look.level)
        return msgspec.structs.replace(counters, shots=look.shots, asking=asking)

    async def _answer_ahead(self, result: RoundResult) -> None:
        """Have the questions of the round after this one answered beside its step. Should they be others in the end, as
        after a rollback, they are answered in their turn; where they cannot be set, the next round says why."""
        counters = after_round(self.counters, result, self.levels, self.max_tokens)
        plan = plan_round(self.settings, counters, self.levels, self.engine.parameters)
        try:
            questions = await sample_batch(plan, self.examiner, None)
            prompts = await self.examiner.prompts(questions, plan.shots)
        except HostCancelled:
            raise
        except (TaskError, HostError) as error:
            log.warning("The next round's questions could not be set beside this one's step: %s", error)
            return
        self.engine.answer_ahead(prompts, plan.answers, plan.sampling)

    async def _follow_threads(self) -> None:
        """Compute with as many threads as was decided, under a new run: their number is part of what repeats one."""
        plan, threads = self.engine.plan, self.orders.decision.threads
        if threads != plan.threads:
            await self.engine.configure(threads=threads)
            one = sentence("Computing with at most 1 thread from now on.")
            more = sentence("Computing with at most {count} threads from now on.", count=threads)
            self.show.notice("info", one if threads == 1 else more)
        if self._manifest is not None and self._manifest.threads != threads:
            fitted = plan.trainer.micro_batch
            await self.begin_run(
                msgspec.structs.replace(
                    self._manifest, threads=threads, micro_batch=fitted, settings=msgspec.to_builtins(self.settings)
                )
            )

    def wait_for(self, reason: Text | None, *, told: bool = False) -> None:
        """Nothing is computed while the disk, or the memory, has no room for it. `told`: a person knows already."""
        self.orders.hold(None if reason is None else NotKept(text=reason))
        if reason is not None and not told:
            self.show.notice(
                "error",
                sentence("{reason} What was learned waits, and the node continues automatically.", reason=reason),
            )

    async def _conclude(self, result: RoundResult) -> None:
        """Everything after the trainer's step: counters, history, checkpoint, validation."""
        self.counters = after_round(self.counters, result, self.levels, self.max_tokens)
        self.last_reward = result.report.reward
        if result.report.step is not None:
            self.remember_micro_batch(result.report.step.micro_batch)
        unjudged = self.counters.guard
        began = self.gate.clock()
        judged = await self._validate()
        result = _with_held_out(result, self.gate.clock() - began)
        self.round_seconds.append(result.report.seconds)
        self.show.enter("checkpoint")
        checkpoint = await self._keep(result, unjudged, must=judged or self.orders.is_last_round)
        self._settled = True
        self.human_groups.learned(result.groups)
        number = checkpoint.number if checkpoint else None
        report = msgspec.structs.replace(result.report, checkpoint=number)
        # Without a wait from here to the end: who looks in between would see half a step.
        self.keeper.latest = self.keeper.latest.after_round(report)
        self.show.publish(RoundFinished(report=report, next_score=self.next_score))
        self.show.phase = "waiting"
        self.orders.done(self.counters.round)

    async def _validate(self) -> bool:
        """Score, where that is due. Whether a verdict was given: not where it is given up."""
        if not self.engine.trains:
            return False
        try:
            self.counters, judged = await self._validation.after_round(
                self.settings, self.counters, await self._held_out(), await self._answered()
            )
            return judged
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is None or own.cancelling():
                raise
            return False
        except CheckpointError as error:  # an adapter could not be handed to what answers
            self.show.notice("error", sentence("{reason} Training continues.", reason=error.text))
            return False

    async def _keep(self, result: RoundResult, unjudged: guard.GuardState, *, must: bool) -> Checkpoint | None:
        try:
            written = await self.keeper.keep_round(result, self.counters, self.engine, must=must)
        except CheckpointError as error:
            self.show.notice("error", sentence("{reason} Training continues.", reason=error.text))
            # A best checkpoint that was never written must not be gone back to.
            self.counters = msgspec.structs.replace(self.counters, guard=unjudged)
            return None
        if written is not None:
            self.show.publish(CheckpointsChanged())
        return written

    @contextlib.asynccontextmanager
    async def _without_round(self) -> AsyncIterator[None]:
        """End the round in hand without a trace, and hold the next one back."""
        self._may_begin.clear()
        self._discarding += 1
        try:
            if self._round is not None:
                self._round.cancel()  # gives up its own request to a host, never another client's
                await asyncio.wait([self._round])
            async with self.concluding:
                yield
        finally:
            self._discarding -= 1
            if not self._discarding:
                self._may_begin.set()

    # -- scores ------------------------------------------------------------------------------------------

    async def _score(
        self,
        subject: Subject,
        which: SetName,
        samples: int,
        temperature: float,
        level: str,
        tasks: Sequence[str],
    ) -> EvalReport:
        self.show.enter("evaluate")
        held_out = await self._held_out() if which == "validation" else await self.evaluator.held_out(which)
        report = await self.evaluator.evaluate(
            subject,
            held_out.part(level, tasks),
            Sampling(temperature=temperature or self.settings.temperature, max_tokens=self._evaluation_tokens),
            lambda done, total: self.show.progress("evaluate", done, total),
            samples,
        )
        report = msgspec.structs.replace(report, temperature=temperature, level=level, chosen=list(tasks))
        await self._scored(report)
        return report

    async def _refresh(
        self, subject: Subject, held_out: HeldOutSet, standing: Standing, parts: int
    ) -> tuple[EvalReport, Standing]:
        self.show.enter("evaluate")
        sampling = Sampling(max_tokens=self._evaluation_tokens)
        answering = self.evaluator.refresh(
            subject,
            held_out,
            standing,
            parts,
            sampling,
            lambda done, total: self.show.progress("evaluate", done, total),
        )
        # The answers alone may be given up: a verdict on them is acted on to its end.
        context = contextvars.copy_context()
        scoring = asyncio.create_task(answering, context=context)
        self._scoring = scoring, context
        if self._unscored:
            scoring.cancel()
        try:
            return await scoring
        finally:
            self._scoring = None

    @property
    def _evaluation_tokens(self) -> int:
        return evaluation_tokens(self.settings, self.counters, self.engine.parameters)

    async def _held_out(self) -> HeldOutSet:
        """The validation questions that this model is scored on beside its rounds."""
        return await self.evaluator.of_reach(self.counters.asking.begin, self.levels)

    async def _answered(self) -> str:
        """Names the questions and how they are answered: another answerer, a lower limit or another number of examples
        moves a score without any learning."""
        held_out = await self._held_out()
        shots = shots_shown(self.settings, self.counters)
        return f"{held_out.fingerprint} {self.engine.plan.choice.generator} {self.settings.max_tokens} {shots}"

    async def _scored(self, report: EvalReport) -> None:
        asked = f"{self.counters.short_model} {await self._answered()}"
        report = msgspec.structs.replace(report, line=asked)
        await self.keeper.record_eval(self.counters.run, report)
        self.keeper.latest = self.keeper.latest.after_eval(report)
        self.show.publish(EvalFinished(report=report))

    # -- what recovery changes -------------------------------------------------------------------------------

    def remember_micro_batch(self, fitted: int) -> None:
        """What did not fit once is not tried at every start."""
        if 0 < fitted < self.engine.plan.trainer.micro_batch:
            self.engine.plan.bound(micro_batch=fitted)
            self.counters = msgspec.structs.replace(self.counters, micro_batch=fitted)
            self.show.notice(
                "info", sentence("Answers are trained on {count} at a time, as memory allows.", count=fitted)
            )

    def shorten_answers(self, tokens: int) -> None:
        """Cut answers at so many tokens from now on; the kept setting stays."""
        self._longest_answer = tokens
        self.take_settings(self.settings)

    async def take_smaller_model(self, reason: Text) -> bool:
        """Go on with the largest model on disk that is smaller and fits, from its start; only without a checkpoint of
        this one. False where there is none, or none may take its place."""
        engine = self.engine
        if not engine.can_change_model:
            return False
        # Than the one that was to be loaded: what is loaded may be a larger one, from before.
        model = await asyncio.to_thread(smaller_model, engine.plan.parameters, self.settings, engine.plan.choice)
        if model is None:
            return False
        self.counters = msgspec.structs.replace(
            self.counters,
            model=model.hash,
            micro_batch=0,
            reasoned={},
            accounts={},
            shots=None,
            limit=0,
            readable=None,
        )
        engine.use_model(model, trainer_settings(self.settings, model.parameters, self.counters))
        if self._manifest is not None:
            await self.begin_run(msgspec.structs.replace(self._manifest, model_sha256=model.hash))
        self.show.notice(
            "warning",
            sentence(
                "{reason} Going on with {model}: choose it to keep it.",
                in_terminal="sapo-desktop settings set model {model}",
                reason=reason,
                model=model.path.name,
            ),
        )
        return True

    def unsettle(self) -> None:
        """From here on the engine may hold more than the counters say, and nothing that can be kept before the round's
        end."""
        self._settled = False
        grace_of_caller.set(GRACE)

    def go_back(self, counters: Counters) -> None:
        """Take over the counters of an earlier round; the lost ones are still to be played."""
        self.counters = counters
        self.orders.back_to(counters.round)
        self._settled = True


def _with_held_out(result: RoundResult, seconds: float) -> RoundResult:
    """The round with the time that held-out questions took of it."""
    report = result.report
    report = msgspec.structs.replace(report, evaluate_seconds=seconds, seconds=report.seconds + seconds)
    return dataclasses.replace(result, report=report)
