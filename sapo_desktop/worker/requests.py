"""What the control channel's requests do: one short method each, over the node.

The window and the command line are clients of the same requests, so everything one can do, the other can. A
request that needs a host wakes it for as long as it takes, paused or not (worker/gate.py).
"""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import sapo_desktop
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.records import TaskMark
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.state import NodeState
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey, parse_tasks
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.worker import messages as m
from sapo_desktop.worker.appraisal import appraise
from sapo_desktop.worker.asking import Asking
from sapo_desktop.worker.human import HumanAnswers
from sapo_desktop.worker.identity_requests import IdentityRequests
from sapo_desktop.worker.learning import levels_of_interest, mix_shown, tasks_in_training
from sapo_desktop.worker.messages import (
    CancelModelWork,
    DownloadModel,
    GetModels,
    ImportModel,
    RemoveModel,
    SetHubToken,
)
from sapo_desktop.worker.model_requests import ModelRequests
from sapo_desktop.worker.node import Node
from sapo_desktop.worker.preview import Preview
from sapo_desktop.worker.rollout_requests import RolloutRequests
from sapo_desktop.worker.swarm_requests import SwarmRequests
from sapo_desktop.worker.swarm_settings import check
from sapo_desktop.worker.swarm_side import SwarmSide
from sapo_desktop.worker.validation import BASE_NUMBER
from sapo_desktop.worker.way import REFUSED_IN_SILO

_MODEL = {"model", "trainer", "method", "lora_rank", "device", "seed", "tasks"}
_REMOTE = {"remote_url", "remote_model", "remote_adapters", "remote_key_in_clear"}
_GENERATOR = {"generator", "generator_weights"} | _REMOTE
# Sampling and training must use one temperature, so that waits with the trainer's other settings.
_TRAINER = {"micro_batch", "temperature", "kl_weight", "updates"}
_GUEST = {"threads", "low_priority", "memory_reserve", "keep_checkpoints", "write_gigabytes_a_day"}
NEEDS_RESTART = frozenset(_MODEL | _GENERATOR | _TRAINER | _GUEST)
"""Settings that are read once, when the node starts."""
EXAMPLE_SEED = 7
_RECENT_ROUNDS = 50


class Requests:
    """Answers the requests of every client."""

    def __init__(
        self,
        node: Node,
        side: SwarmSide,
        models: ModelRequests,
        *,
        catalogue: Catalogue,
        settings_path: Path,
        overrides: Mapping[str, str],
        publish: Callable[[m.Event], None],
        quit: Callable[[], None],
    ) -> None:
        self._node = node
        self._side = side
        self._models = models
        self._catalogue = catalogue
        self._settings_path = settings_path
        self._overrides = dict(overrides)
        self._publish = publish
        self._quit = quit
        self._started = time.monotonic()
        rollouts = RolloutRequests(node.keeper, side.refused)
        asking = Asking(node, catalogue, publish)
        human = HumanAnswers(node, side, catalogue)
        preview = Preview(node, catalogue, side.identity.known)
        identity = IdentityRequests(side, lambda: node.settings)
        swarm = SwarmRequests(side, self._kept, lambda: node.settings, self._keep_for_good)
        self._handlers: dict[type[msgspec.Struct], Callable[[Any], Awaitable[m.Reply]]] = {
            m.GetStatus: self._status,
            m.StartRounds: self._start_rounds,
            m.Pause: self._pause,
            m.Resume: self._resume,
            m.Finish: self._finish,
            m.Quit: self._end,
            m.SetSilo: self._silo,
            m.GetSwarm: self._swarm,
            m.TestPeer: swarm.test_peer,
            m.GetIdentity: identity.show,
            m.FoundSwarm: swarm.found,
            m.AdmitPeer: swarm.admit,
            m.GetInvite: swarm.invite,
            m.JoinSwarm: swarm.join,
            m.ChangeIdentity: identity.change,
            m.GetSettings: self._settings,
            m.SetSettings: self._set,
            m.ResetSettings: self._reset,
            m.PreviewEnvelope: preview.show,
            m.ListCheckpoints: self._checkpoints,
            m.RollBack: self._roll_back,
            m.Evaluate: self._evaluate,
            m.Ask: asking.ask,
            m.ExportModel: self._export,
            m.ListTasks: self._tasks,
            m.TryTask: asking.try_task,
            m.SetQuestion: asking.set_question,
            m.AskForQuestion: human.pose,
            m.GiveAnswer: human.give,
            m.GetHistory: self._history,
            m.GetCurve: self._curve,
            m.GetTaskCurve: self._task_curve,
            m.GetAhas: self._ahas,
            m.GetRollouts: rollouts.page,
            m.GetRefused: rollouts.refused,
            m.ExportRollouts: rollouts.export,
            m.GetSources: self._sources,
            m.Examine: self._facts,
            DownloadModel: models.download,
            ImportModel: models.import_,
            CancelModelWork: models.cancel,
            RemoveModel: models.remove,
            GetModels: models.list,
            SetHubToken: models.set_token,
            m.GetFit: self._appraise,
            m.GetCatalogue: self._appraise,
        }

    async def handle(self, request: m.Request) -> m.Reply:
        """Do what is asked; raises SapoError with the reason where it cannot be done."""
        return await self._handlers[type(request)](request)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._node.settings

    async def _appraise(self, request: m.FitRequest) -> m.Reply:
        node = self._node
        return await asyncio.to_thread(
            appraise, request, node.settings, self._settings_path.parent, held=node.engine.held
        )

    # -- state ---------------------------------------------------------------------------------------------

    async def _status(self, request: m.GetStatus) -> m.Status:
        node = self._node
        last = await node.keeper.call(node.keeper.history.last_rounds, 1)
        evals = await node.keeper.call(node.keeper.history.evals, "validation")
        base = [report.score for report in evals if report.round == 0]
        recent = node.round_seconds[-20:]
        return m.Status(
            state=node.gate.state.value,
            reason=node.gate.reason,
            why=node.gate.why,
            phase=node.show.phase,
            round=node.counters.round,
            rounds_left=node.orders.rounds_left,
            silo=node.settings.silo,
            mix=mix_shown(node.settings, node.counters),
            swarm=self._swarm_info(),
            model=node.settings.model,
            seed=node.counters.seed,
            device=node.engine.loaded.device if node.engine.loaded else "",
            checkpoint=node.keeper.newest.number if node.keeper.newest else None,
            last=last[0] if last else None,
            best_validation=max((report.score for report in evals), default=None),
            base_validation=base[-1] if base else None,
            resume_in=node.gate.resumes_in,
            pid=os.getpid(),
            version=sapo_desktop.__version__,
            uptime=time.monotonic() - self._started,
            rounds_per_hour=3600 * len(recent) / sum(recent) if recent else None,
        )

    async def _start_rounds(self, request: m.StartRounds) -> m.Ok:
        self._node.orders.start(request.rounds)
        return m.Ok(text=self._node.gate.reason)

    async def _pause(self, request: m.Pause) -> m.Ok:
        self._node.orders.pause(request.seconds)
        return m.Ok(text=self._node.gate.reason)

    async def _resume(self, request: m.Resume) -> m.Ok:
        self._node.orders.resume()
        return m.Ok(text=self._node.gate.reason)

    async def _finish(self, request: m.Finish) -> m.Ok:
        self._node.orders.finish()
        return m.Ok(text=self._node.gate.reason)

    async def _end(self, request: m.Quit) -> m.Ok:
        if request.finish_round and self._node.gate.state in (NodeState.WORKING, NodeState.FINISHING):
            self._node.orders.finish()
            self._node.orders.when_finished = self._quit
            return m.Ok(text=f"Finishing round {self._node.counters.round + 1}, then ending.")
        self._quit()
        return m.Ok(text="Ending.")

    # -- the swarm -----------------------------------------------------------------------------------------

    async def _swarm(self, request: m.GetSwarm) -> m.SwarmIs:
        return m.SwarmIs(info=self._swarm_info())

    def _swarm_info(self) -> m.SwarmInfo:
        node = self._node
        return self._side.info(levels_of_interest(node.settings, node.counters, node.levels))

    async def _silo(self, request: m.SetSilo) -> m.Ok:
        """The one switch: true at once and at the next start."""
        await self._keep_for_good({"silo": "on" if request.on else "off"})
        return m.Ok(text="In silo: no network at all." if request.on else "Joining the swarm.")

    # -- settings ------------------------------------------------------------------------------------------

    def _kept(self) -> Settings:
        """The settings on disk, without those of this run's command line."""
        return settings_file.read(self._settings_path, time.time()).settings

    async def _settings(self, request: m.GetSettings) -> m.SettingsAre:
        settings = self._node.settings
        return m.SettingsAre(
            settings=settings,
            changed=settings_file.changed_keys(settings),
            overridden=sorted(self._overrides),
        )

    async def _keep_for_good(self, values: Mapping[str, str]) -> Settings:
        """Keep these settings, whatever this run's command line said; returns those now in force."""
        before = dict(self._overrides)
        for key in values:
            self._overrides.pop(key, None)
        try:
            await self._set(m.SetSettings(values=dict(values)))
        except SapoError:
            self._overrides = before  # refused: this run goes on as it was
            raise
        return self._node.settings

    async def _set(self, request: m.SetSettings) -> m.Ok:
        return await self._take(settings_file.apply(self._kept(), request.values), set(request.values))

    async def _reset(self, request: m.ResetSettings) -> m.Ok:
        keys = request.keys or settings_file.known_keys()
        return await self._take(settings_file.reset(self._kept(), keys), set(keys))

    async def _take(self, settings: Settings, keys: set[str]) -> m.Ok:
        """Keep the settings and make them effective, apart from those of this run's command line."""
        parse_tasks(self._catalogue, settings.tasks)  # refused now, not by a start that fails
        check(settings)
        now = settings_file.apply(settings, self._overrides)
        if now.silo and self._node.settings.generator == "remote":
            raise UsageError(REFUSED_IN_SILO)
        settings_file.write(self._settings_path, settings)
        late = sorted(key for key in keys & NEEDS_RESTART if getattr(now, key) != getattr(self._node.settings, key))
        kept = {key: getattr(self._node.settings, key) for key in NEEDS_RESTART}
        self._node.take_settings(msgspec.structs.replace(now, **kept))
        self._publish(m.SettingsChanged(settings=self._node.settings))
        self._node.orders.follow()
        await self._models.follow(self._node.settings)
        await self._side.follow(self._node.settings)
        overridden = sorted(keys & set(self._overrides))
        notes = [f"{', '.join(late)}: from the next start on."] if late else []
        if overridden:
            notes.append(f"{', '.join(overridden)}: this run keeps what its command line said.")
        return m.Ok(text=" ".join(["Saved.", *notes]))

    # -- checkpoints, scores, answers ----------------------------------------------------------------------

    async def _checkpoints(self, request: m.ListCheckpoints) -> m.Checkpoints:
        node = self._node
        scores = {
            report.checkpoint: report.score
            for report in await node.keeper.call(node.keeper.history.evals, "validation")
        }
        best = node.counters.guard.best_checkpoint
        base = m.CheckpointInfo(
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
            m.CheckpointInfo(
                number=checkpoint.number,
                round=checkpoint.round,
                created=checkpoint.created,
                bytes=checkpoint.bytes,
                validation=scores.get(str(checkpoint.number)),
                best=best == checkpoint.number,
                last=checkpoint is found[-1],
            )
            for checkpoint in found
        ]
        return m.Checkpoints(items=[base, *items])

    async def _roll_back(self, request: m.RollBack) -> m.Ok:
        written = await self._node.roll_back(request.to)
        return m.Ok(text=f"Back at {request.to}; kept as checkpoint {written.number}. Rounds count on.")

    async def _evaluate(self, request: m.Evaluate) -> m.Evaluated:
        return m.Evaluated(report=await self._node.evaluate(request.checkpoint, request.which, request.samples))

    async def _export(self, request: m.ExportModel) -> m.Exported:
        to = Path(request.to)
        if not to.is_absolute():
            raise UsageError("The folder to export to must be a full path.")
        node = self._node
        live = request.checkpoint == "last"
        checkpoint = None if live else await node.find_checkpoint(request.checkpoint)
        rounds = node.counters.round if live else checkpoint.round if checkpoint else 0
        async with node.awake():
            files = await node.engine.export(
                request.format, to, checkpoint.folder if checkpoint else None, live=live, rounds=rounds
            )
        return m.Exported(folder=str(to), files=files)

    # -- tasks ---------------------------------------------------------------------------------------------

    async def _tasks(self, request: m.ListTasks) -> m.Tasks:
        node = self._node
        totals = await node.keeper.call(node.keeper.history.task_totals, _RECENT_ROUNDS)
        recent = {mark.task: mark for mark in totals}
        training = tasks_in_training(node.settings, node.counters, node.levels)
        keys = self._catalogue.tasks()
        examples = await self._examples(keys) if request.examples else {}
        return m.Tasks(
            items=[self._task_info(key, examples.get(key, ""), recent.get(key), key in training) for key in keys]
        )

    async def _examples(self, keys: Sequence[TaskKey]) -> dict[TaskKey, str]:
        """A question of each, the same every time."""
        async with self._node.gate.awake():
            asked = [QuestionRef(task=key, seed=EXAMPLE_SEED) for key in keys]
            questions = await self._node.examiner.set_questions(asked)
        return {question.task: question.text for question in questions if question is not None}

    def _task_info(self, key: TaskKey, example: str, recent: TaskMark | None, training: bool) -> m.TaskInfo:
        family, level = self._catalogue.find(key)
        return m.TaskInfo(
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
        )

    # -- history and facts ---------------------------------------------------------------------------------

    async def _history(self, request: m.GetHistory) -> m.History:
        keeper = self._node.keeper
        return await keeper.call(keeper.history.rounds, request.after, min(request.limit, 10_000))

    async def _curve(self, request: m.GetCurve) -> m.Curve:
        keeper = self._node.keeper
        return await keeper.call(keeper.history.curve, request.after)

    async def _task_curve(self, request: m.GetTaskCurve) -> m.TaskCurve:
        keeper = self._node.keeper
        return m.TaskCurve(points=await keeper.call(keeper.history.task_curve, request.task))

    async def _ahas(self, request: m.GetAhas) -> m.Ahas:
        keeper = self._node.keeper
        return m.Ahas(items=await keeper.call(keeper.history.ahas))

    async def _sources(self, request: m.GetSources) -> m.Sources:
        keeper = self._node.keeper
        return m.Sources(items=await keeper.call(keeper.history.sources))

    async def _facts(self, request: m.Examine) -> m.Facts:
        node = self._node
        loaded = node.engine.loaded
        values = {
            "version": sapo_desktop.__version__,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "state": f"{node.gate.state.value}: {node.gate.reason}",
            "round": str(node.counters.round),
            "threads": str(node.engine.plan.threads),
            "examiner": "running" if node.examiner.host.pid else "not running",
            "engine": "running" if node.engine.running else "not running",
        }
        if loaded is not None:
            values |= {
                "device": f"{loaded.device}, {loaded.dtype}",
                "parameters": f"{loaded.parameters:,} ({loaded.trainable:,} trained)",
                **{f"library {name}": version for name, version in node.engine.versions.items()},
            }
        values |= {f"library {name}": value for name, value in node.examiner.host.versions.items()}
        async with node.gate.awake():
            limits = await node.examiner.limits()
        values |= {f"examiner {name}": str(value) for name, value in msgspec.structs.asdict(limits).items()}
        return m.Facts(values=values)
