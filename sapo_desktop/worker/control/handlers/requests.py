"""The handlers of the control channel's requests: one short method each, on top of the node.

The window and the command line send the same requests, so both can do the same. A request that needs a host wakes it
for its duration, paused or not (worker/orders.py).
"""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

import sapo_desktop
from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.records import Exchange, Generated, Sampling, TaskMark
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.plan import mix_in_force, tasks_in_training
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.network import ways_out
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.worker.control.handlers.appraisal import Steady, appraise
from sapo_desktop.worker.control.handlers.asking import Asking
from sapo_desktop.worker.control.handlers.facts import FactRequests
from sapo_desktop.worker.control.handlers.human import HumanAnswers
from sapo_desktop.worker.control.handlers.models import ModelRequests
from sapo_desktop.worker.control.handlers.own_tasks import OwnTaskRequests
from sapo_desktop.worker.control.handlers.preview import Preview
from sapo_desktop.worker.control.handlers.rollouts import RolloutRequests
from sapo_desktop.worker.control.handlers.settings import SettingsRequests
from sapo_desktop.worker.control.handlers.swarm import IdentityRequests, SwarmRequests
from sapo_desktop.worker.control.messages import replies, requests
from sapo_desktop.worker.control.messages.base import Exported, Message, Ok, Request
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import GetUsage, Notice, Usage
from sapo_desktop.worker.control.messages.models import FitReply, FitRequest
from sapo_desktop.worker.control.messages.swarm import SwarmInfo
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.hosts.engine import Spoken
from sapo_desktop.worker.hosts.updates import Updates
from sapo_desktop.worker.membership.side import SwarmSide
from sapo_desktop.worker.node import Node
from sapo_desktop.worker.scores import BASE_NUMBER
from sapo_desktop.worker.serving.local import LocalService
from sapo_desktop.worker.serving.server import ModelFacts

T = TypeVar("T")

EXAMPLE_SEED = 7
_RECENT_ROUNDS = 50
_TO_THE_END = (
    requests.SetSettings,
    requests.ResetSettings,
    requests.SetSilo,
    requests.CreateSwarm,
    requests.JoinSwarm,
    requests.ChangeIdentity,
    requests.AddTasks,
    requests.RemoveTasks,
    requests.RollBack,
)
"""Requests that run to their end even if their client leaves, because half of one would be an unwanted state."""
MOMENT = 1.0
"""How long remaining requests may take when another node replaces this one."""


class Requests:
    """Answers the requests of every client."""

    def __init__(
        self,
        node: Node,
        side: SwarmSide,
        models: ModelRequests,
        *,
        catalogue: Catalogue,
        folder: DataFolder,
        overrides: dict[str, str],
        publish: Callable[[Event], None],
        notices: Callable[[], list[Notice]],
        follow: Callable[[Settings, bool], None],
        tasks_changed: Callable[[], None],
        quit: Callable[[], None],
        updates: Updates,
        local: LocalService,
        usage: Callable[[], Usage] = Usage,
    ) -> None:
        self._usage = usage
        self._updates = updates
        self._node = node
        self._side = side
        self._catalogue = catalogue
        self._folder = folder
        self._memory = Steady()
        self._quit = quit
        self._started = time.monotonic()
        self._changing: set[asyncio.Future[Message]] = set()
        self._asking: set[asyncio.Task[Any]] = set()
        """The running requests to this node."""
        self._given_up: set[asyncio.Task[Any]] = set()
        settings = SettingsRequests(
            node,
            side,
            models,
            catalogue=catalogue,
            folder=folder,
            overrides=overrides,
            publish=publish,
            follow=follow,
            updates=updates,
        )
        facts = FactRequests(node, side, folder, notices, catalogue)
        rollouts = RolloutRequests(node.keeper)
        self._answers = asking = Asking(node, catalogue, publish)
        own_tasks = OwnTaskRequests(folder.tasks, catalogue, node, tasks_changed)
        human = HumanAnswers(node, side, catalogue)
        preview = Preview(node, catalogue, side.identity.known, lambda: side.instance)
        identity = IdentityRequests(side, lambda: node.settings)
        swarm = SwarmRequests(side, settings)
        self._handlers = _by_request(
            self, settings, facts, rollouts, asking, own_tasks, human, preview, identity, swarm, models, updates, local
        )
        self._of_worker = frozenset(_by_request(models, updates, local))
        """What survives the node."""

    async def handle(self, asked: Request[object]) -> Message:
        """Handle a request; raises SapoError with the reason if that is impossible."""
        work = self._handlers[type(asked)](asked)
        if type(asked) in self._of_worker:
            return await work
        if not isinstance(asked, _TO_THE_END):
            return await self._while_it_lasts(work)
        task = asyncio.ensure_future(work)
        self._changing.add(task)
        task.add_done_callback(self._changed)
        return await asyncio.shield(task)

    async def settle(self) -> None:
        """Return once all started changes are complete and no other requests to this node, which will be closed,
        remain; slow ones are cancelled."""
        while self._changing:
            await asyncio.wait(self._changing)
        if self._asking:
            _, self._given_up = await asyncio.wait(self._asking, timeout=MOMENT)
        for task in self._given_up:
            task.cancel()
        if self._given_up:
            await asyncio.wait(self._given_up)

    async def answer_program(
        self, question: str, turns: Sequence[Exchange], system: str | None, sampling: Sampling, spoken: Spoken
    ) -> Generated:
        """Answer another program (serving/); raises SapoError."""
        return await self._while_it_lasts(self._answers.answer_program(question, turns, system, sampling, spoken))

    def model_facts(self) -> ModelFacts:
        """Which model answers, and what it has learned so far."""
        node = self._node
        return ModelFacts(Path(node.settings.model).name, node.counters.round, node.max_tokens)

    async def _while_it_lasts(self, work: Awaitable[T]) -> T:
        # In the caller's own task; otherwise events could overtake the answer, which must be in step with them.
        own = asyncio.current_task()
        assert own is not None
        self._asking.add(own)
        try:
            return await work
        except asyncio.CancelledError:
            if own not in self._given_up or own.uncancel():  # the caller has left
                raise
            text = sentence("The node restarts, so this request was cancelled. Ask again once it has started.")
            raise SapoError(text) from None
        finally:
            self._asking.discard(own)

    def _changed(self, task: asyncio.Future[Message]) -> None:
        self._changing.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, because the caller may have left

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._node.settings

    async def appraise(self, request: FitRequest) -> FitReply:
        node = self._node
        return await asyncio.to_thread(
            appraise, request, node.settings, self._folder.root, node.engine.held, self._memory
        )

    # -- state ---------------------------------------------------------------------------------------------

    async def get_status(self, request: requests.GetStatus) -> replies.Status:
        return self.status()

    def status(self) -> replies.Status:
        """The current state, in step with the events: nothing is awaited."""
        node = self._node
        keeper, latest = node.keeper, node.keeper.latest
        recent = node.status.round_seconds[-20:]
        held = node.orders.decision.held
        return replies.Status(
            state=node.gate.state.value,
            reason=node.gate.reason,
            why=node.gate.why,
            phase=node.show.phase,
            round=node.orders.finished,
            rounds_left=node.orders.rounds_left,
            silo=node.settings.silo,
            mix=mix_in_force(node.settings, node.counters),
            swarm=self._swarm_info(),
            model=node.settings.model,
            model_hash=node.counters.short_model,
            seed=node.counters.seed,
            device=node.engine.loaded.device if node.engine.loaded else "",
            checkpoint=keeper.newest.number if keeper.newest else None,
            last=latest.last,
            validation=latest.validation,
            base_validation=latest.base_validation,
            resume_in=node.gate.resumes_in,
            pid=os.getpid(),
            version=sapo_desktop.__version__,
            uptime=time.monotonic() - self._started,
            rounds_per_hour=3600 * len(recent) / sum(recent) if recent else None,
            round_taken=node.round_taken,
            next_score=node.scores.next_due,
            rounds_total=latest.rounds,
            answers_own=latest.answers_own,
            learned=latest.learned,
            answers_shared=keeper.lasting.answers_shared,
            usage=self._usage(),
            price_per_kwh=node.settings.price_per_kwh,
            updates=msgspec.structs.replace(self._updates.standing(), changelog="", files=[]),
            held=held if held != node.gate.why and not node.gate.is_open else None,
        )

    async def usage(self, request: GetUsage) -> Usage:
        out = await asyncio.to_thread(ways_out, os.getpid())
        return msgspec.structs.replace(self._usage(), ways_out=out)

    async def start_rounds(self, request: requests.StartRounds) -> Ok:
        self._node.orders.start(request.rounds)
        return Ok(text=self._node.gate.reason)

    async def pause(self, request: requests.Pause) -> Ok:
        self._node.orders.pause(request.seconds)
        return Ok(text=self._node.gate.reason)

    async def resume(self, request: requests.Resume) -> Ok:
        self._node.orders.resume(request.anyway)
        return Ok(text=self._node.gate.reason)

    async def finish(self, request: requests.Finish) -> Ok:
        self._node.orders.finish()
        return Ok(text=self._node.gate.reason)

    async def end(self, request: requests.Quit) -> Ok:
        if request.finish_round and self._node.gate.state in (NodeState.WORKING, NodeState.FINISHING):
            self._node.orders.end(self._quit)
            return Ok(
                text=sentence("Finishing round {round}, then stopping.", round=str(self._node.counters.round + 1))
            )
        self._quit()
        return Ok(text=sentence("Stopping."))

    # -- the swarm -----------------------------------------------------------------------------------------

    async def get_swarm(self, request: requests.GetSwarm) -> replies.SwarmIs:
        return replies.SwarmIs(info=self._swarm_info())

    def _swarm_info(self) -> SwarmInfo:
        node = self._node
        info = self._side.info()
        lasting = node.keeper.lasting
        return msgspec.structs.replace(info, used_total=lasting.used, helped=lasting.helped)

    # -- checkpoints, scores, answers ----------------------------------------------------------------------

    async def checkpoints(self, request: requests.ListCheckpoints) -> replies.Checkpoints:
        node = self._node
        scores = await node.keeper.call(node.keeper.history.checkpoint_scores)
        best = node.counters.guard.best_checkpoint
        base = replies.CheckpointInfo(
            number=BASE_NUMBER,
            round=0,
            created=0.0,
            bytes=0,
            validation=scores.get("base"),
            best=best == BASE_NUMBER,
            last=False,
        )
        found = await node.keeper.call(node.keeper.store.summaries)
        items = [
            replies.CheckpointInfo(
                number=checkpoint.number,
                round=checkpoint.round,
                created=checkpoint.created,
                bytes=checkpoint.bytes,
                validation=scores.get(str(checkpoint.number)),
                best=best == checkpoint.number,
                last=checkpoint is found[-1],
                other_model=checkpoint.model != node.counters.model,
                model=checkpoint.model[: len(node.counters.short_model)],
            )
            for checkpoint in found
        ]
        return replies.Checkpoints(items=[base, *items])

    async def roll_back(self, request: requests.RollBack) -> Ok:
        written = await self._node.roll_back(request.to)
        return Ok(
            text=sentence(
                "Went back to {name}, saved as checkpoint {number}. Round numbers continue.",
                name=request.to,
                number=str(written.number),
            )
        )

    async def evaluate(self, request: requests.Evaluate) -> replies.Evaluated:
        how = request.samples, request.temperature, request.level, request.tasks
        report = await self._node.evaluate(request.checkpoint, request.which, *how)
        return replies.Evaluated(report=report)

    async def export(self, request: requests.ExportModel) -> Exported:
        to = Path(request.to)
        if not to.is_absolute():
            raise UsageError(sentence("The folder to export to must be a full path."))
        node = self._node
        live = request.checkpoint == "last"
        checkpoint = None if live else await node.find_checkpoint(request.checkpoint)
        async with node.awake():
            files = await node.engine.export(request.format, to, checkpoint.folder if checkpoint else None, live=live)
        return Exported(folder=str(to), files=files)

    # -- tasks ---------------------------------------------------------------------------------------------

    async def list_tasks(self, request: requests.ListTasks) -> replies.Tasks:
        node = self._node
        totals = await node.keeper.call(node.keeper.history.task_totals, _RECENT_ROUNDS)
        recent = {mark.task: mark for mark in totals}
        training = tasks_in_training(node.settings, node.counters, node.levels)
        keys = self._catalogue.tasks()
        examples = await self._examples(keys) if request.examples else {}
        return replies.Tasks(
            items=[self._task_info(key, examples.get(key, ""), recent.get(key), key in training) for key in keys],
            left_out=[*self._catalogue.left_out.values()],
        )

    async def _examples(self, keys: Sequence[TaskKey]) -> dict[TaskKey, str]:
        """One question of each task, always the same."""
        async with self._node.gate.awake():
            asked = [QuestionRef(task=key, seed=EXAMPLE_SEED) for key in keys]
            questions = await self._node.examiner.set_questions(asked)
        return {question.task: question.text for question in questions if question is not None}

    def _task_info(self, key: TaskKey, example: str, recent: TaskMark | None, training: bool) -> replies.TaskInfo:
        family, level = self._catalogue.find(key)
        return replies.TaskInfo(
            family=family.name,
            title=family.title,
            level=level.name,
            task_id=self._node.examiner.known_ids.get(key, b"").hex(),
            config=dict(level.config),
            grammar=family.grammar,
            example=example,
            solved=recent.solved if recent else None,
            answers=recent.answers if recent else 0,
            reward=recent.reward if recent else None,
            training=training,
            own=family.own,
            shown=" → ".join(family.shown) if family.shown else "",
        )

    # -- history -------------------------------------------------------------------------------------------

    async def history(self, request: requests.GetHistory) -> replies.History:
        keeper = self._node.keeper
        return await keeper.call(keeper.history.rounds, request.after, min(request.limit, 10_000))

    async def curve(self, request: requests.GetCurve) -> replies.Curve:
        keeper = self._node.keeper
        return await keeper.call(keeper.history.curve, request.after, request.limit)

    async def ahas(self, request: requests.GetAhas) -> replies.Ahas:
        keeper = self._node.keeper
        return replies.Ahas(items=await keeper.call(keeper.history.ahas))

    async def comparisons(self, request: requests.GetComparisons) -> replies.Comparisons:
        keeper = self._node.keeper
        return replies.Comparisons(items=await keeper.call(keeper.history.comparisons))

    async def week(self, request: requests.GetWeek) -> replies.Week:
        keeper = self._node.keeper
        return await keeper.call(keeper.history.week)

    async def sources(self, request: requests.GetSources) -> replies.Sources:
        keeper = self._node.keeper
        return replies.Sources(items=await keeper.call(keeper.history.sources))


def _by_request(*parts: object) -> dict[type, Callable[[Any], Awaitable[Message]]]:
    """The public methods of these objects that take a `request`, by its type: a new method is a new request."""
    found: dict[type, Callable[[Any], Awaitable[Message]]] = {}
    for part in parts:
        for name, method in inspect.getmembers(type(part), inspect.iscoroutinefunction):
            kind = get_type_hints(method).get("request")
            if kind is not None and not name.startswith("_"):
                found |= dict.fromkeys(get_args(kind) or (kind,), getattr(part, name))
    return found
