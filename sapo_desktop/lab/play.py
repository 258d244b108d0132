"""Arms from their first round to their last.

Nodes take turns, each playing a whole round of the product's. So a round's groups are available to later nodes of the
same round, and to all in the next ones. Scores are those of the product's evaluator, on a few questions of the held-out
side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

import sapo_desktop
from sapo_desktop.core.errors import FolderInUse
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Question, Sampling
from sapo_desktop.core.resources import resource
from sapo_desktop.lab.arm import HALVES, Arm, Plan, arms_of, budget_of
from sapo_desktop.lab.folder import FORMAT, ArmFolder, Manifest, Score, commit
from sapo_desktop.lab.node import Ground, InProcess, Node, Played, Service, levels_played
from sapo_desktop.lab.swarm import Room
from sapo_desktop.learning.asking import Levels
from sapo_desktop.learning.heldout import Evaluator, HeldOutSet, Subject
from sapo_desktop.learning.round import unwatched
from sapo_desktop.system.folders import DataFolder, shared_models
from sapo_desktop.tasks.catalogue import Catalogue, load_catalogue
from sapo_desktop.tasks.examiner import Examiner as Marker
from sapo_desktop.tasks.heldout import held_out_set
from sapo_desktop.tasks.identity import ids_key
from sapo_desktop.tasks.limits import Limits
from sapo_desktop.tasks.service import Service as ExaminerService
from sapo_desktop.worker.control.lock import FolderLock
from sapo_desktop.worker.hosts.choice import find_model
from sapo_desktop.worker.hosts.examiner import Examiner, KeptIds
from sapo_desktop.worker.store.manifest import manifest_of

Tell = Callable[[msgspec.Struct], None]
SAMPLES = 4
"""Answers drawn to each held-out question: k of pass@k."""
BASE_TEMPERATURES = (0.3, 0.5, 0.7)
"""Temperatures for scoring the base, besides its training temperature. Mere sharpening must beat the best of them."""
KEEP_EVERY = 10
"""Rounds between two states on disk, which a kill can cost at most."""
_SECRET = digest(b"sapo/lab/held out")
_NONE = "a node's own examiner has it"
_NO_LIMITS = Limits(time=_NONE, memory=_NONE, writing=_NONE, processes=_NONE, hook=_NONE)
"""Limits for the lab: all texts come from our own models, and torch runs in the same process."""


class RoundPlayed(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="round"):
    """One finished round of an arm."""

    arm: str
    round: int
    rounds: int
    reward: float
    """Mean reward over the honest nodes."""
    cpu_seconds: float
    """CPU-seconds of this round, over all nodes."""


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="arm"):
    """An arm is finished, or another process plays it."""

    arm: str
    folder: str
    round: int
    said: str


class Lab:
    """The parts that arms share: tasks, examiner, their folder. `service`: makes an engine."""

    def __init__(self, out: Path, service: Callable[[], Service]) -> None:
        self.out = out
        self._service = service
        self._catalogue = load_catalogue(resource("tasks.toml"))
        self._marker = Marker(self._catalogue)
        self._key = ids_key(self._catalogue, version("reasoning_gym"), sapo_desktop.__version__)
        kept = KeptIds(out / "task-ids.json", self._key)
        examining = ExaminerService(self._marker, _NO_LIMITS)
        self._examiner = Examiner(InProcess(examining), kept)
        self._sets: dict[bytes, list[Question]] = {}
        self._base: dict[bytes, list[Score]] = {}

    async def play(self, plan: Plan, tell: Tell) -> None:
        """Play all arms of a plan that no other process plays; finished ones are only reported."""
        arms = arms_of(plan)
        self.out.mkdir(parents=True, exist_ok=True)  # the ids of tasks are kept in it
        for arm in arms:
            folder = ArmFolder(self.out / arm.name)
            if not folder.path.exists():
                await self._ground(arm)  # an invalid arm leaves no folder
                folder.path.mkdir(exist_ok=True)
            try:
                with FolderLock(DataFolder(folder.path)):
                    said = await self._play(await self._ground(arm), plan, folder, tell)
            except FolderInUse:
                said = "another process plays it"
            tell(Ended(arm=arm.name, folder=str(folder.path), round=folder.reached, said=said))

    async def _play(self, ground: Ground, plan: Plan, folder: ArmFolder, tell: Tell) -> str:
        arm = ground.arm
        folder.begin(self._manifest(ground))
        state, reached = folder.state, folder.reached
        kind, most = budget_of(arm.budget)
        used = sum(row.spent(kind) for row in folder.rounds())
        if reached >= plan.rounds or used >= most:
            return "done already"
        room = Room()
        nodes = [Node(n, ground, room, state / str(n) if state else None) for n in range(arm.nodes)]
        for node in nodes:
            await node.load()
        scorer = _Scorer(ground, self._held_out(ground))
        if not reached:
            folder.add(await self._base_scores(ground, scorer, nodes))
        for number in range(reached + 1, plan.rounds + 1):
            room.begin(number)
            rows = [await node.play() for node in nodes]
            rows = [msgspec.structs.replace(row, refused=nodes[row.node].refused()) for row in rows]
            folder.add(rows)
            used += sum(row.spent(kind) for row in rows)
            last = number == plan.rounds or used >= most
            if last or number % plan.score_every == 0:
                folder.add([await scorer.node(node) for node in nodes if node.honest])
            if last or number % KEEP_EVERY == 0:
                await _keep(folder, nodes, number)
            tell(_round_played(arm, plan, rows))
            if last:
                break
        return "done"

    async def _ground(self, arm: Arm) -> Ground:
        settings = arm.settings
        installed = Path(settings.models_folder or shared_models())
        models = [find_model(name, installed) for name in arm.models or (settings.model,)]
        levels = levels_played(arm, settings, self._catalogue)
        tasks = [f"{family}/{level}" for family, order in levels.items() for level in order]
        ids = await self._examiner.task_ids(tasks)
        own = {task: ids[task] for task in tasks}
        return Ground(arm, settings, self._catalogue, levels, models, self._examiner, own, self._service)

    def _manifest(self, ground: Ground) -> Manifest:
        settings = ground.settings
        run = manifest_of(
            settings,
            seed=ground.arm.seed,
            model_sha256=" ".join(model.hash for model in ground.models),
            catalogue=self._key,
            engine_versions={"torch": version("torch")},
            threads=settings.threads,
            micro_batch=settings.micro_batch,
            device=settings.device,
            dtype="auto",
        )
        return Manifest(format=FORMAT, arm=ground.arm, run=run, commit=commit())

    def _held_out(self, ground: Ground) -> list[Question]:
        """The scored questions: so many of every task, the same for all arms with the same tasks."""
        asked, count = ground.levels, ground.arm.held_out
        key = msgspec.json.encode([asked, count])
        if key not in self._sets:
            counts = {level: count for order in asked.values() for level in order}
            part = _part(self._catalogue, asked)
            self._sets[key] = held_out_set("validation", _SECRET, part, self._marker.question, counts)
        return self._sets[key]

    async def _base_scores(self, ground: Ground, scorer: _Scorer, nodes: Sequence[Node]) -> list[Score]:
        """Scores of the base, once for all arms with the same models and prompts."""
        settings, arm = ground.settings, ground.arm
        models = [model.hash for model in ground.models]
        asked = (settings.temperature, settings.max_tokens, settings.shots)
        key = msgspec.json.encode([models, ground.levels, arm.held_out, asked, arm.kind])
        if key not in self._base:
            differ = len(HALVES) if arm.kind == "half-shown" else len(models)
            self._base[key] = [score for node in nodes[:differ] for score in await scorer.base(node)]
        return self._base[key]


class _Scorer:
    """Scores nodes on a few held-out questions."""

    def __init__(self, ground: Ground, questions: list[Question]) -> None:
        self._ground, self._few = ground, HeldOutSet("validation", questions)

    async def base(self, node: Node) -> list[Score]:
        """Score the node's model before any round; equal for all nodes with this model."""
        trained_at = self._ground.settings.temperature
        temperatures = (trained_at, *(other for other in BASE_TEMPERATURES if other != trained_at))
        found = await self._score(node, Subject("base", 0, None, shots=node.shots), temperatures)
        return [msgspec.structs.replace(score, node=-1 - node.number) for score in found]

    async def node(self, node: Node) -> Score:
        """Score the node's current model."""
        subject = Subject("last", node.counters.round, None, live=True, shots=node.shots)
        return (await self._score(node, subject, [self._ground.settings.temperature]))[0]

    async def _score(self, node: Node, subject: Subject, temperatures: Sequence[float]) -> list[Score]:
        evaluator = Evaluator(node.engine, self._ground.examiner, b"")
        sampling = Sampling(max_tokens=node.evaluation_tokens)
        greedy = await evaluator.evaluate(subject, self._few, sampling, unwatched)
        scores = []
        for temperature in temperatures:
            sampling = Sampling(max_tokens=node.evaluation_tokens, temperature=temperature)
            drawn = await evaluator.evaluate(subject, self._few, sampling, unwatched, SAMPLES)
            scores.append(
                Score(
                    round=subject.round,
                    node=node.number,
                    temperature=temperature,
                    greedy=greedy.score,
                    sampled=drawn.score,
                    pass_at_k=drawn.pass_at_k,
                    samples=SAMPLES,
                    questions=greedy.questions,
                )
            )
        return scores


async def _keep(folder: ArmFolder, nodes: Sequence[Node], reached: int) -> None:
    made = folder.fresh_state()
    for node in nodes:
        place = made / str(node.number)
        place.mkdir()
        await node.save(place)
    folder.keep(made, reached)


def _round_played(arm: Arm, plan: Plan, rows: Sequence[Played]) -> RoundPlayed:
    honest = [row.reward for row in rows if row.honest]
    return RoundPlayed(
        arm=arm.name,
        round=rows[0].round,
        rounds=plan.rounds,
        reward=round(sum(honest) / len(honest), 6),
        cpu_seconds=round(sum(row.cpu_seconds for row in rows), 3),
    )


def _part(catalogue: Catalogue, levels: Levels) -> Catalogue:
    """The catalogue with only the played families and levels."""
    return Catalogue(
        families=tuple(
            msgspec.structs.replace(
                family, levels=tuple(level for level in family.levels if level.name in levels[family.name])
            )
            for family in catalogue.families
            if family.name in levels
        )
    )
