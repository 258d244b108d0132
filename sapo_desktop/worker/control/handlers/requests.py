"""The handlers of the control channel's requests: one short method each, on top of the node.

The window and the command line send the same requests, so both can do the same. A request that needs a host wakes it
for its duration, paused or not (worker/orders.py).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

import sapo_desktop
from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.records import Exchange, Generated, Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.plan import mix_in_force
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.network import ways_out
from sapo_desktop.tasks.catalogue import Catalogue
from sapo_desktop.worker.control.handlers.appraisal import Steady, appraise
from sapo_desktop.worker.control.handlers.asking import Asking
from sapo_desktop.worker.control.handlers.facts import FactRequests
from sapo_desktop.worker.control.handlers.history import HistoryRequests
from sapo_desktop.worker.control.handlers.human import HumanAnswers
from sapo_desktop.worker.control.handlers.models import ModelRequests
from sapo_desktop.worker.control.handlers.preview import Preview
from sapo_desktop.worker.control.handlers.settings import SettingsRequests
from sapo_desktop.worker.control.handlers.swarm import IdentityRequests, SwarmRequests
from sapo_desktop.worker.control.handlers.tasks import TaskRequests
from sapo_desktop.worker.control.messages import replies, requests
from sapo_desktop.worker.control.messages.base import Exported, Ok
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import GetUsage, Notice, Usage
from sapo_desktop.worker.control.messages.models import FitRequest, GetCatalogue, GetEstimates, GetFit
from sapo_desktop.worker.control.messages.swarm import SwarmInfo
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.hosts.engine import Spoken
from sapo_desktop.worker.hosts.updates import Updates
from sapo_desktop.worker.membership.side import SwarmSide
from sapo_desktop.worker.node import Node
from sapo_desktop.worker.serving.local import LocalService
from sapo_desktop.worker.serving.server import ModelFacts

T = TypeVar("T")

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
        self._changing: set[asyncio.Future[Any]] = set()
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
        history = HistoryRequests(node.keeper, lambda: node.counters)
        self._answers = asking = Asking(node, catalogue, publish)
        tasks = TaskRequests(folder.tasks, catalogue, node, tasks_changed)
        human = HumanAnswers(node, side, catalogue)
        preview = Preview(node, catalogue, side.identity.known, lambda: side.instance)
        identity = IdentityRequests(side, lambda: node.settings)
        swarm = SwarmRequests(side, settings)
        parts = (settings, facts, history, asking, tasks, human, preview, identity, swarm)
        self._of_worker = Handlers(models.handlers, updates.handlers, local.handlers)
        """What survives the node."""
        self.handlers = handlers = Handlers(self._of_worker, *(part.handlers for part in parts))
        handlers.on(GetFit).by(self._appraise)
        handlers.on(GetCatalogue).by(self._appraise)
        handlers.on(GetEstimates).by(self._appraise)
        handlers.on(GetUsage).by(self._get_usage)
        handlers.on(requests.GetStatus).by(self._get_status)
        handlers.on(requests.StartRounds).by(self._start_rounds)
        handlers.on(requests.Pause).by(self._pause)
        handlers.on(requests.Resume).by(self._resume)
        handlers.on(requests.Finish).by(self._finish)
        handlers.on(requests.Quit).by(self._end)
        handlers.on(requests.GetSwarm).by(self._get_swarm)
        handlers.on(requests.RollBack).by(self._roll_back)
        handlers.on(requests.Evaluate).by(self._evaluate)
        handlers.on(requests.ExportModel).by(self._export)

    async def handle(self, request: Request[ReplyType]) -> ReplyType:
        """Handle a request; raises SapoError with the reason if that is impossible."""
        work = self.handlers.answer(request)
        if type(request) in self._of_worker.kinds:
            return await work
        if not isinstance(request, _TO_THE_END):
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

    def _changed(self, task: asyncio.Future[Any]) -> None:
        self._changing.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, because the caller may have left

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._node.settings

    async def _appraise(self, request: Request[ReplyType]) -> ReplyType:
        assert isinstance(request, FitRequest)
        node, folder = self._node, self._folder.root
        reply = await asyncio.to_thread(appraise, request, node.settings, folder, node.engine.held, self._memory)
        return cast(ReplyType, reply)

    # -- state ---------------------------------------------------------------------------------------------

    async def _get_status(self, request: requests.GetStatus) -> replies.Status:
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

    async def _get_usage(self, request: GetUsage) -> Usage:
        out = await asyncio.to_thread(ways_out, os.getpid())
        return msgspec.structs.replace(self._usage(), ways_out=out)

    async def _start_rounds(self, request: requests.StartRounds) -> Ok:
        self._node.orders.start(request.rounds)
        return Ok(text=self._node.gate.reason)

    async def _pause(self, request: requests.Pause) -> Ok:
        self._node.orders.pause(request.seconds)
        return Ok(text=self._node.gate.reason)

    async def _resume(self, request: requests.Resume) -> Ok:
        self._node.orders.resume(request.anyway)
        return Ok(text=self._node.gate.reason)

    async def _finish(self, request: requests.Finish) -> Ok:
        self._node.orders.finish()
        return Ok(text=self._node.gate.reason)

    async def _end(self, request: requests.Quit) -> Ok:
        if request.finish_round and self._node.gate.state in (NodeState.WORKING, NodeState.FINISHING):
            self._node.orders.end(self._quit)
            return Ok(
                text=sentence("Finishing round {round}, then stopping.", round=str(self._node.counters.round + 1))
            )
        self._quit()
        return Ok(text=sentence("Stopping."))

    # -- the swarm -----------------------------------------------------------------------------------------

    async def _get_swarm(self, request: requests.GetSwarm) -> replies.SwarmIs:
        return replies.SwarmIs(info=self._swarm_info())

    def _swarm_info(self) -> SwarmInfo:
        node = self._node
        info = self._side.info()
        lasting = node.keeper.lasting
        return msgspec.structs.replace(info, used_total=lasting.used, helped=lasting.helped)

    # -- checkpoints, scores, answers ----------------------------------------------------------------------

    async def _roll_back(self, request: requests.RollBack) -> Ok:
        written = await self._node.roll_back(request.to)
        return Ok(
            text=sentence(
                "Went back to {name}, saved as checkpoint {number}. Round numbers continue.",
                name=request.to,
                number=str(written.number),
            )
        )

    async def _evaluate(self, request: requests.Evaluate) -> replies.Evaluated:
        how = request.samples, request.temperature, request.level, request.tasks
        report = await self._node.evaluate(request.checkpoint, request.which, *how)
        return replies.Evaluated(report=report)

    async def _export(self, request: requests.ExportModel) -> Exported:
        to = Path(request.to)
        if not to.is_absolute():
            raise UsageError(sentence("The folder to export to must be a full path."))
        node = self._node
        live = request.checkpoint == "last"
        checkpoint = None if live else await node.find_checkpoint(request.checkpoint)
        async with node.awake():
            files = await node.engine.export(request.format, to, checkpoint.folder if checkpoint else None, live=live)
        return Exported(folder=str(to), files=files)
