"""One node of the lab: the product's examiner, engine, member and round, without processes around them."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol

import msgspec

from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Generated, Group, Mark, Phase, Prompt, Question, Record, Sampling
from sapo_desktop.core.settings import Settings
from sapo_desktop.lab.arm import HALVES, QUARTERS, Arm, Budget
from sapo_desktop.lab.swarm import NETWORK, Kept, LabMember, Room, Seat
from sapo_desktop.learning.asking import Levels
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.plan import (
    after_round,
    answer_tokens,
    choose_questions,
    evaluation_tokens,
    group_levels,
    next_learning_rate,
    plan_round,
    shots_shown,
    tasks_in_training,
    tasks_of_interest,
    trainer_settings,
)
from sapo_desktop.learning.reasoning import medians
from sapo_desktop.learning.round import Ended, Progress, RoundPlan, RoundResult, round_seed, run_round, unwatched
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey, level_of, parse_tasks
from sapo_desktop.worker.hosts.choice import BaseModel
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.examiner import Examiner
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.trainer import EnginePlan, Trainer
from sapo_desktop.worker.membership.external import Intake, Yardstick
from sapo_desktop.worker.membership.index_book import IndexBook
from sapo_desktop.worker.membership.joining import group_check
from sapo_desktop.worker.membership.publishing import Membership

_COUNTERS, _POOL = "counters.json", "pool.msgpack"


class Service(Protocol):
    """The service that a host runs (worker/hosts/protocol.py)."""

    cancelled: threading.Event

    def handle(self, request: Any, progress: Callable[[msgspec.Struct], None]) -> Any: ...


class InProcess(Host):
    """A host without a process: requests go to the service directly."""

    def __init__(self, service: Any) -> None:
        self.versions = {}
        self._service = service

    @property
    def pid(self) -> int | None:
        return os.getpid()

    async def call(
        self,
        request: msgspec.Struct,
        timeout: float | None,
        on_progress: Callable[[Any], None] | None = None,
        *,
        loading: bool = False,
    ) -> Any:
        return self._service.handle(request, on_progress or (lambda _: None))


class LyingEngine(Engine):
    """A liar's answers: each question gets the answers to the next one."""

    async def generate(
        self,
        prompts: Sequence[Prompt],
        answers: int,
        sampling: Sampling,
        progress: Progress = unwatched,
        ended: Ended | None = None,
    ) -> Generated:
        made = await super().generate(prompts, answers, sampling, progress, ended)
        return msgspec.structs.replace(made, completions=[*made.completions[1:], *made.completions[:1]])


@dataclass(frozen=True)
class Ground:
    """The parts that all nodes of an arm share. `levels`: the levels asked per family; `ids`: those tasks' ids;
    `models`: those that the nodes use alternately."""

    arm: Arm
    settings: Settings
    catalogue: Catalogue
    levels: Levels
    models: Sequence[BaseModel]
    examiner: Examiner
    ids: Mapping[TaskKey, bytes]
    service: Callable[[], Service]


class Played(Record, frozen=True, kw_only=True):
    """A line of rounds.csv: one round of one node. Seconds stand last: they alone differ between two runs."""

    round: int
    node: int
    honest: bool
    reward: float
    """Mean reward over all own answers."""
    groups: int
    """Own and external groups in the step, and how many of them had an advantage."""
    informative: int
    external: int
    dropped: int
    """External groups that had nothing to teach."""
    refused: int
    """Groups of others that were refused; known once every node has played."""
    answers: int
    samples: int
    """Number of answers trained on."""
    tokens: int
    """Number of generated tokens."""
    solved: str = ""
    """The tasks of which own answers were right, separated by spaces."""
    readable: str = ""
    """The tasks of which own answers had an answer span."""
    cpu_seconds: float

    def spent(self, kind: Budget) -> float:
        """Its use of a budget."""
        return {"rounds": 0.0, "tokens": self.tokens, "samples": self.samples, "cpu": self.cpu_seconds}[kind]


class Watcher:
    """A watcher that does nothing, since nobody watches the lab's rounds."""

    def clock(self) -> float:
        return time.process_time()

    async def phase(self, phase: Phase) -> None: ...

    def progress(self, phase: Phase, done: int, total: int) -> None: ...

    def ended(self, question: Question, text: str) -> None: ...

    def answered(self, groups: Sequence[Group]) -> None: ...


class Node:
    """One node. `state`: a folder of `save` to continue from."""

    def __init__(self, number: int, ground: Ground, room: Room, state: Path | None) -> None:
        arm, settings = ground.arm, ground.settings
        if arm.kind == "half-shown" and HALVES[number % 2] == "unshown":
            settings = msgspec.structs.replace(settings, shots="0")
        self.number, self.honest, self._refused = number, not arm.is_liar(number), 0
        self._ground, self._room, self._settings = ground, room, settings
        self._model = ground.models[number % len(ground.models)]
        seed = round_seed(arm.seed, number, "node")
        self.counters = Counters(round=0, instance=f"{seed:032x}", seed=seed, model=self._model.hash)
        self._levels = quarter(ground.levels, number) if arm.kind == "specialists" else ground.levels
        trainer = trainer_settings(settings, self._model.parameters, self.counters)
        plan = EnginePlan(self._model.path, trainer, settings.threads or 1, settings.device)
        self.engine = (Engine if self.honest else LyingEngine)(Trainer(InProcess(ground.service())), plan)
        self._rng = Random()
        signer = Signer(digest(b"sapo/lab/key", str(seed).encode("ascii")))
        keys = {identity: task for task, identity in ground.ids.items()}
        check = group_check(ground.catalogue, keys)
        self.seat = Seat(room, signer, check, self._rng, forges=not self.honest)
        intake = Intake(
            ground.examiner,
            self.engine,
            ground.catalogue,
            keys,
            NETWORK,
            self.seat.exchange.refusals,
            self._yardstick,
            clock=lambda: room.now.monotonic,
        )
        membership = Membership(signer, NETWORK, bytes.fromhex(self.counters.instance), ground.ids)
        self._state = state
        self._member = LabMember(
            membership,
            self.seat,
            ground.examiner,
            intake,
            IndexBook(None),
            ground.catalogue,
            lambda: room.now,
            self._rng,
        )
        self._member.sharing = arm.shares

    async def play(self) -> Played:
        """Play one round."""
        began, ground = time.process_time(), self._ground
        plan = self._plan()
        self._rng.seed(round_seed(self.counters.seed, plan.number, "swarm"))
        rate = next_learning_rate(self._settings, self._model.parameters, self.counters, self.engine.steps)
        if rate != self.engine.plan.trainer.learning_rate:
            await self.engine.configure(learning_rate=rate)
        self._member.want(self._interest(), plan.share.external)
        result = await run_round(plan, ground.examiner, self.engine, Watcher(), self._member)
        self.counters = after_round(self.counters, result, self._levels, self.max_tokens)
        return self._played(result, time.process_time() - began)

    @property
    def max_tokens(self) -> int:
        """Maximum tokens of an answer."""
        return answer_tokens(self._settings, self._model.parameters)

    @property
    def evaluation_tokens(self) -> int:
        """Maximum tokens of an answer to a held-out question."""
        return evaluation_tokens(self._settings, self.counters, self._model.parameters)

    @property
    def shots(self) -> int:
        """Worked examples before each question."""
        return shots_shown(self._settings, self.counters)

    def refused(self) -> int:
        """Groups of others that were refused since the last call."""
        before, self._refused = self._refused, self.seat.refused
        return self._refused - before

    async def save(self, folder: Path) -> None:
        """Write everything that the next round depends on into an empty folder. Raises CheckpointError, OSError."""
        await self.engine.save(folder)
        (folder / _COUNTERS).write_bytes(msgspec.json.encode(self.counters))
        (folder / _POOL).write_bytes(msgspec.msgpack.encode(self.seat.kept()))

    async def load(self) -> None:
        """Load the model, and continue from what `save` wrote. Raises CheckpointError, OSError, msgspec.DecodeError."""
        await self.engine.load(self._state)
        if self._state is not None:
            self.counters = msgspec.json.decode((self._state / _COUNTERS).read_bytes(), type=Counters)
            self.seat.restore(msgspec.msgpack.decode((self._state / _POOL).read_bytes(), type=list[Kept]))

    def _plan(self) -> RoundPlan:
        ground, number = self._ground, self.counters.round + 1
        settings, levels = self._settings, self._levels
        if ground.arm.levels and not settings.curriculum:
            # A level for each family, uniform over the rounds.
            chosen = Random(round_seed(self.counters.seed, number, "levels"))
            levels = {family: [chosen.choice(order)] for family, order in sorted(levels.items())}
        plan = plan_round(settings, self.counters, levels, self._model.parameters, trains=self.honest)
        share = ground.arm.share(settings.questions, self.counters.teaching)
        answered = ground.arm.answered(share)
        again, tasks = choose_questions(settings, self.counters, levels, number, answered)
        return dataclasses.replace(plan, share=share, again=again, tasks=tasks)

    def _interest(self) -> Sequence[TaskKey]:
        """The tasks whose groups it draws, including those outside its specialty."""
        if self._settings.curriculum:
            return tasks_of_interest(self._settings, self.counters, self._ground.levels)
        return [*self._ground.ids]

    def _yardstick(self) -> Yardstick:
        loaded = self.engine.loaded
        context = loaded.context if loaded else 0
        return Yardstick(self.max_tokens, context, medians(self.counters.reasoned), self.shots)

    def _played(self, result: RoundResult, seconds: float) -> Played:
        report = result.report
        groups = report.local_groups + report.external_groups
        return Played(
            round=report.round,
            node=self.number,
            honest=self.honest,
            reward=report.reward,
            groups=groups,
            informative=groups - report.zero_advantage_groups,
            external=report.external_groups,
            dropped=report.external_dropped,
            refused=0,
            answers=sum(mark.answers for mark in report.tasks),
            samples=report.step.sequences if report.step else 0,
            tokens=report.answer_tokens,
            solved=_tasks_with(result, lambda mark: mark.solved),
            readable=_tasks_with(result, lambda mark: mark.readable),
            cpu_seconds=round(seconds, 4),
        )


def _tasks_with(result: RoundResult, holds: Callable[[Mark], bool]) -> str:
    """The tasks of own questions with such an answer."""
    own = [group for group in result.groups if not group.author]
    return " ".join(sorted({group.question.task for group in own if any(map(holds, group.marks))}))


def levels_played(arm: Arm, settings: Settings, catalogue: Catalogue) -> dict[str, list[str]]:
    """The levels that an arm asks, per family: those it names, or the product's choice."""
    tasks: Sequence[TaskKey] = parse_tasks(catalogue, settings.tasks)
    if arm.levels:
        named = ",".join(arm.levels) if settings.tasks == "all" else settings.tasks
        tasks = [task for task in parse_tasks(catalogue, named) if level_of(task) in arm.levels]
    elif not settings.curriculum:
        no_counters = Counters(round=0, instance="", seed=0)
        chosen = tasks_in_training(settings, no_counters, group_levels(tasks))
        tasks = [task for task in tasks if task in chosen]
    return group_levels(tasks)


def quarter(levels: Levels, node: int) -> dict[str, Sequence[str]]:
    """A specialist's part of the families."""
    families = sorted(levels)[node % QUARTERS :: QUARTERS] or sorted(levels)
    return {family: levels[family] for family in families}
