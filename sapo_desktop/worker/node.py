"""The node: starts and holds back rounds, and stores what they teach.

worker/rounds.py plays a round from its plan to its checkpoint, worker/scores.py scores and rolls back, worker/orders.py
handles orders and limits, worker/store/keeper.py stores rounds, worker/showing.py shows everything. The node's state is
one record (worker/status.py). worker/recovery.py runs it, and handles failures.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sapo_desktop.core.errors import CheckpointError, HostCancelled, HostError, UsageError
from sapo_desktop.core.records import EvalReport, Prompt, Question
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Failed, NotKept
from sapo_desktop.learning import asking, guard
from sapo_desktop.learning.asking import Levels
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Evaluator, Standing, Subject
from sapo_desktop.learning.plan import answer_tokens, shots_shown
from sapo_desktop.learning.reasoning import medians
from sapo_desktop.learning.round import RoundResult, Swarm
from sapo_desktop.tasks.heldout import SetName
from sapo_desktop.worker.control.messages.events import CheckpointsChanged, Event
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.examiner import Examiner
from sapo_desktop.worker.hosts.hosting import PATIENCE, Host, grace_of_caller
from sapo_desktop.worker.membership.external import Yardstick
from sapo_desktop.worker.orders import Gate, Orders
from sapo_desktop.worker.relief import Relief
from sapo_desktop.worker.rounds import Rounds
from sapo_desktop.worker.scores import BASE_NUMBER, Scores
from sapo_desktop.worker.showing import Showing
from sapo_desktop.worker.status import Holds, Status
from sapo_desktop.worker.store.checkpoints import Checkpoint
from sapo_desktop.worker.store.keeper import Keeper

Result = TypeVar("Result")

_PARTING_SECONDS = 20.0
"""How long a node that ends, or unloads its engine, waits for a step or for another write."""
_WRITING_SECONDS = 120.0
"""How long its last checkpoint may take: an engine at low priority is slow, and its state is worth it."""
_STEP_SECONDS = 0.05
"""Interval of the checks whether the trainer's step is over."""


class Node:
    """One data folder's node. `publish` gets every event that a window or terminal may show."""

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
        self.status = Status(settings, counters, levels)
        self.gate = gate
        self.engine = engine
        self.examiner = examiner
        self.keeper = keeper
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
        self.relief = Relief(self.status, engine, keeper, self.show)
        self.scores = Scores(self.status, evaluator, engine, keeper, self.show)
        self._rounds = Rounds(
            self.status,
            engine,
            examiner,
            keeper,
            self.scores,
            self.relief,
            self.show,
            gate,
            self.orders,
        )
        self._round: asyncio.Task[RoundResult] | None = None
        self._round_began = 0.0
        """Time of the round's start, by the gate's clock."""
        self._discarding = 0
        """Number of callers of `_without_round` that hold back the next round."""
        self._may_begin = asyncio.Event()
        """Set while there are none."""
        self._may_begin.set()
        self._concluding = asyncio.Lock()
        """Held while counters, checkpoints and the engine's state must change together."""
        self._unbroken: set[asyncio.Task[Any]] = set()
        """Work that runs to its end although its caller has left; asyncio itself does not keep tasks alive."""

    def join(self, swarm: Swarm | None) -> None:
        """From the next round on share and draw there; None: play alone."""
        self.status.swarm = swarm

    # -- read by others -------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self.status.settings

    @property
    def counters(self) -> Counters:
        return self.status.counters

    @property
    def levels(self) -> Levels:
        return self.status.levels

    @property
    def hosts(self) -> list[Host]:
        """The processes that compute its rounds."""
        return [*self.engine.hosts, self.examiner.host]

    @property
    def max_tokens(self) -> int:
        """The maximum tokens that an answer may ever have."""
        return answer_tokens(self.settings, self.engine.parameters)

    def yardstick(self) -> Yardstick:
        """The limits of own answers, and how this node asks its questions."""
        context = self.engine.loaded.context if self.engine.loaded else 0
        shots = shots_shown(self.settings, self.counters)
        return Yardstick(self.max_tokens, context, medians(self.counters.reasoned), shots)

    async def prompts(self, questions: Sequence[Question]) -> list[Prompt]:
        """The model's prompt for each question."""
        return await self.examiner.prompts(questions, shots_shown(self.settings, self.counters))

    @property
    def round_taken(self) -> float:
        """Seconds of the current round so far, without pauses."""
        return self.gate.clock() - self._round_began if self._round is not None else 0.0

    def progress(self) -> tuple[int, float | None]:
        """The last finished round and its reward; None if that round did not end in this process."""
        return self.counters.round, self.status.last_reward

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
            behind = self.status.holds is Holds.MORE
            reached = self.show.round if behind else self.counters.round
            subject = Subject(name, reached, None, live=True, shots=shots)
        else:
            checkpoint = await self.find_checkpoint(name)
            folder = checkpoint.folder if checkpoint else None
            subject = Subject(name, checkpoint.round if checkpoint else 0, folder, shots=shots)
        before = self.show.phase
        async with self.awake():
            try:
                return await self.scores.on_request(subject, which, samples, temperature, level, tasks)
            finally:
                self.show.enter(before)

    async def roll_back(self, name: str) -> Checkpoint:
        """Restore a checkpoint's adapter; round numbers continue. The current round is discarded."""
        target = await self.find_checkpoint(name)
        if not self.engine.trains:
            raise UsageError(
                sentence("This node only answers, with the base model, so there is no checkpoint to go back to.")
            )
        if target is None and self.counters.round == 0:
            raise UsageError(sentence("Nothing was trained yet: the node still has its base model."))
        # To its end even if the client leaves: a half-done one would leave an adapter that no checkpoint has.
        return await self._to_its_end(self._put_in(target))

    @contextlib.asynccontextmanager
    async def awake(self) -> AsyncIterator[None]:
        """Let the hosts compute for a request; an engine that died while nothing trains is restarted. Cancelling the
        request does not cost the engine and the rounds since its last checkpoint."""
        patient = grace_of_caller.set(PATIENCE)
        try:
            async with self.gate.awake():
                idle = self.gate.state in (NodeState.IDLE, NodeState.PAUSED, NodeState.FAILED)
                if idle and self._is_away:
                    async with self._without_round():
                        await self._revive()
                yield
        finally:
            grace_of_caller.reset(patient)

    async def put_away(self) -> None:
        """End the hosts to free their memory: unsaved rounds are stored first, and the current round is discarded. A
        round that is being scored counts without its score; the same questions are asked after a later round. The
        hosts return before the next round, or for a request."""
        async with self.gate.awake():
            with self.scores.given_up():
                if self._unkept:
                    await self._until_settled()
                async with self._without_round():
                    await self._keep_unkept_rounds()
                    self.status.engine_holds(Holds.NOTHING)
                    others = [host.stop() for host in self.gate.others()]
                    await asyncio.gather(self.engine.stop(), self.examiner.host.stop(), *others)

    async def keep_now(self) -> None:
        """The computer may not come back: write what no checkpoint has. The current round is discarded for that; if
        nothing is unsaved, it continues. A cancelled call leaves that round alone, unless it was already discarded:
        then everything is written."""
        if not self._unkept or not self.engine.running:
            return
        async with self.gate.awake():
            await self._until_settled()
            if self.status.holds is Holds.AS_COUNTED:
                await self._to_its_end(self._keep_without_round())

    async def _until_settled(self) -> None:
        """Wait for the current step, within limits: it must not be interrupted, and its round may write a
        checkpoint."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PARTING_SECONDS):
                while self.status.holds is Holds.MORE:
                    await asyncio.sleep(_STEP_SECONDS)

    async def _keep_without_round(self) -> None:
        async with self.gate.awake(), self._without_round():
            await self._keep_unkept_rounds()

    async def shrink(self, too_much: Text) -> None:
        """The node exceeds its memory limit, as `too_much` says: reload the model with less at once."""
        if not self.relief.ask_less():
            text = sentence(
                "{reason} No further reduction is possible. Raise the limit, or choose a smaller model.",
                reason=too_much,
            )
            self.orders.fail(Failed(text=text, failures=1))
        else:
            text = sentence("{reason} The model is reloaded with smaller batches.", reason=too_much)
        self.show.notice("warning", text)
        await self.put_away()

    async def find_checkpoint(self, name: str) -> Checkpoint | None:
        """The checkpoint of a name; None for the base, which may also be the best so far."""
        best = self.counters.guard.best_checkpoint
        if name == "best" and best == BASE_NUMBER:
            return None
        found = await self.keeper.call(self.keeper.store.get, str(best) if name == "best" and best else name)
        if found is not None and found.counters.model != self.counters.model:
            raise CheckpointError(
                "Checkpoint {number} belongs to another model. Choose that model first.", number=found.number
            )
        return found

    # -- the work ------------------------------------------------------------------------------------------

    async def play_round(self) -> bool:
        """Wait until a round may begin, and play it. False if it was discarded. Raises HostError or NotWritten."""
        await self.gate.wait()
        while not self._may_begin.is_set():  # another caller may hold it back again before this one runs
            await self._may_begin.wait()
        if self.status.holds is Holds.NOTHING:
            async with self._concluding:
                await self._revive()
        result = await self._played()
        if result is None:
            return False
        async with self._concluding:
            await self._rounds.conclude(result)
        return True

    async def bring_back(self) -> None:
        """Restart the engine at the newest checkpoint, whatever it holds. Raises HostError or NotWritten."""
        async with self._concluding:
            await self._back_to_newest()

    async def end_engine(self) -> None:
        """Free the engine's memory; what no checkpoint has is lost."""
        self.status.engine_holds(Holds.NOTHING)
        await self.engine.stop()

    async def close(self) -> None:
        """End the hosts permanently; the current round is discarded, earlier ones are kept."""
        self.gate.cancel_timer()
        async with self.gate.awake():  # a paused node may be closed too
            await self._keep_unkept_rounds(self._concluding)  # a write before a sleep may be running
        await asyncio.gather(self.engine.close(), self.examiner.host.close())
        await self.keeper.close()

    async def _put_in(self, target: Checkpoint | None) -> Checkpoint:
        async with self.awake(), self._without_round():
            await self._revive()
            await self.engine.restore(target.folder if target else None, weights_only=True)
            self.status.engine_holds(Holds.AS_COUNTED)
            # A drop that a person chose is not lost skill.
            self.status.counters = msgspec.structs.replace(
                self.counters,
                guard=guard.interrupt(self.counters.guard),
                standing=msgspec.structs.replace(self.counters.standing, part=0),
            )
            written = await self.keeper.write(self.counters, self.engine)
            self.show.publish(CheckpointsChanged())
            return written

    async def _revive(self) -> None:
        """Restart an engine that ended, at the newest checkpoint."""
        if self._is_away:
            await self._back_to_newest()

    @property
    def _is_away(self) -> bool:
        return self.status.holds is Holds.NOTHING or not self.engine.running

    async def _back_to_newest(self) -> None:
        """Restart the engine at the newest checkpoint that verifies; later rounds are played again. The caller holds
        `_concluding`."""
        self.status.engine_holds(Holds.NOTHING)
        newest = await self.keeper.back_to_newest()
        self.show.damaged(newest.damaged)
        self.status.counters = _counters_of(newest.checkpoint, self.counters)
        self.orders.back_to(self.counters.round)
        await self.engine.restart(newest.checkpoint.folder if newest.checkpoint else None)
        self.status.engine_holds(Holds.AS_COUNTED)

    @property
    def _kept(self) -> int:
        """The last round that a checkpoint has."""
        return self.keeper.newest.round if self.keeper.newest else 0

    @property
    def _unkept(self) -> bool:
        return self.counters.round > self._kept

    async def _keep_unkept_rounds(self, alone: contextlib.AbstractAsyncContextManager[None] | None = None) -> None:
        """Checkpoint the rounds without one (because of the daily allowance), if the engine still holds exactly
        them. `alone`: the lock to hold meanwhile, unless the caller holds it."""
        if not self._unkept or self.status.holds is Holds.NOTHING:  # a warning was shown when it ended
            return
        patient = grace_of_caller.set(PATIENCE)  # a cancelled write does not cost the engine
        try:
            async with contextlib.AsyncExitStack() as held:
                async with asyncio.timeout(_PARTING_SECONDS):
                    await held.enter_async_context(alone or contextlib.nullcontext())
                if self._unkept:  # another write may have stored them meanwhile
                    if self.status.holds is not Holds.AS_COUNTED:
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

    async def _played(self) -> RoundResult | None:
        """One round; None if it was discarded. It is the current one from the first wait on, so that discarding
        finds it."""
        self._round_began = self.gate.clock()
        self._round = asyncio.get_running_loop().create_task(self._prepared_round())
        try:
            return await self._round
        except (asyncio.CancelledError, HostCancelled):
            # Cancelled by `_without_round`, it is discarded; otherwise this task itself is cancelled.
            if not self._discarding:
                raise
            return None
        finally:
            self._round.cancel()
            self._round = None

    async def _prepared_round(self) -> RoundResult:
        if self._unkept:  # the engine's state is to be stored, however late it notices the cancel
            grace_of_caller.set(PATIENCE)
        return await self._rounds.play()

    def wait_for(self, reason: Text | None, *, known: bool = False) -> None:
        """Compute nothing while the disk, or the memory, has no room for it. `known`: a person knows already."""
        self.orders.hold(None if reason is None else NotKept(text=reason))
        if reason is not None and not known:
            self.show.notice(
                "error",
                sentence("{reason} What was learned is not lost, and the node continues automatically.", reason=reason),
            )

    @contextlib.asynccontextmanager
    async def _without_round(self) -> AsyncIterator[None]:
        """Discard the current round without a trace, and hold back the next one."""
        self._may_begin.clear()
        self._discarding += 1
        try:
            if self._round is not None:
                self._round.cancel()  # cancels its own request to a host, never another client's
                await asyncio.wait([self._round])
            async with self._concluding:
                yield
        finally:
            self._discarding -= 1
            if not self._discarding:
                self._may_begin.set()

    async def _to_its_end(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Must not be half done: it continues even if the caller is cancelled."""
        task = asyncio.create_task(work)
        self._unbroken.add(task)
        task.add_done_callback(self._unbroken.discard)
        return await asyncio.shield(task)


def _counters_of(checkpoint: Checkpoint | None, now: Counters) -> Counters:
    """The counters of the checkpoint, or of the start; run and micro-batch stay as they are."""
    if checkpoint is None:
        return msgspec.structs.replace(
            now,
            round=0,
            guard=guard.GuardState(),
            standing=Standing(),
            asking=asking.Asking(),
            solve_rates={},
            readable=None,
            teaching=None,
            limit=0,
        )
    return msgspec.structs.replace(checkpoint.counters, run=now.run, micro_batch=now.micro_batch)
