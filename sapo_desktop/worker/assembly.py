"""Builds a node from a data folder: first what is on disk, then the model, then the hosts.

In this order, so that a damaged checkpoint, another model or a wrong setting is reported before seconds are spent on
loading. The hosts start in parallel. Left out: playing rounds (worker/node.py) and the process around it
(worker/main.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import msgspec

import sapo_desktop
from sapo_desktop.core.errors import AdapterRefused, TooBig
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.asking import Levels
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Evaluator
from sapo_desktop.learning.plan import group_levels
from sapo_desktop.models.fit.formats import probe_with
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.tasks.catalogue import Catalogue, parse_tasks, still_there
from sapo_desktop.tasks.identity import ids_key
from sapo_desktop.tasks.own.folder import hand_over
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.hosts.choice import BaseModel, choose_engine, find_model
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.engine_hosts import (
    Hosting,
    answering_only,
    load,
    plan_of,
    start_both,
    start_engine,
    to_read,
)
from sapo_desktop.worker.hosts.examiner import Examiner, KeptIds
from sapo_desktop.worker.hosts.hosting import OnBusy
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.hosts.loading import Fitting
from sapo_desktop.worker.lengths import too_long
from sapo_desktop.worker.membership.side import Surroundings, SwarmSide
from sapo_desktop.worker.node import Node
from sapo_desktop.worker.orders import Gate
from sapo_desktop.worker.store.checkpoints import Checkpoint, CheckpointStore, Newest
from sapo_desktop.worker.store.history import DAY, History
from sapo_desktop.worker.store.keeper import Keeper, WriteBudget
from sapo_desktop.worker.store.manifest import RunManifest, differs, manifest_of

Publish = Callable[[Event], None]


@dataclass(frozen=True)
class Assembled:
    """A node and its side of the swarm, which has not joined yet."""

    node: Node
    side: SwarmSide

    async def close(self) -> None:
        """Leave the swarm, end the hosts, keep what is finished."""
        await self.side.close()
        await self.node.close()


OnStep = Callable[[Text], None]


async def assemble(
    folder: DataFolder,
    settings: Settings,
    catalogue: Catalogue,
    publish: Publish,
    said: Text,
    before: Assembled | None = None,
    on_busy: OnBusy | None = None,
    on_step: OnStep = lambda text: None,
) -> Assembled:
    """Build a node that is ready for its first round, or for the one after its newest checkpoint.

    `said`: remarks from reading the settings, or nothing. `before`: the closed node that it replaces. Its identity, and
    a person's answers that no round has learned from, are kept. `on_busy`: called if hosts load slowly because the
    computer is busy; `on_step`: called with the current step.

    Raises:
        SapoError: the folder, the model or a setting cannot be used; started hosts have ended.
    """
    levels = group_levels(parse_tasks(catalogue, still_there(catalogue, settings.tasks)))
    on_step(sentence("reading what was learned before, step 1 of 4"))
    keeper = _keeper(folder)
    newest = await keeper.back_to_newest()
    model = await asyncio.to_thread(find_model, settings.model, models_folder(settings))
    look = partial(probe_with, folder.cache)
    choice = await asyncio.to_thread(choose_engine, settings, model, look)
    beginning = await _beginning(keeper, settings, newest.checkpoint, model)
    plan = plan_of(settings, model, choice, beginning.counters)
    handed_over = hand_over(catalogue, folder.cache / "catalogue.json")
    readable = await asyncio.to_thread(to_read, model.path, models_folder(settings))
    hosting = Hosting(folder, plan.threads, settings.low_priority, on_busy, settings.device, handed_over, readable)
    on_step(sentence("loading the engine and the examiner, step 2 of 4"))
    async with contextlib.AsyncExitStack() as undo:
        engine, examining = await start_both(hosting, model, settings, plan)
        undo.push_async_callback(examining.stop)
        undo.push_async_callback(engine.stop)
        kept_ids = KeptIds(folder.cache / "task-ids.json", _catalogue_key(catalogue.shipped()), catalogue.own)
        examiner = Examiner(examining, kept_ids)
        node_with = partial(
            _node,
            folder=folder,
            settings=settings,
            levels=levels,
            counters=beginning.counters,
            examiner=examiner,
            keeper=keeper,
            publish=publish,
        )
        node = node_with(engine)
        _tell(node, said, newest)
        for reason in catalogue.left_out.values():
            node.show.notice("warning", reason)
        on_step(sentence("reading the model {model}, step 3 of 4", model=settings.model or model.path.name))
        try:
            await load(node.engine, beginning.checkpoint, node.relief.take_smaller_model)
        except (AdapterRefused, TooBig) as error:
            instead = answering_only(engine.plan, settings, error)
            if instead is None:
                raise
            await engine.stop()
            engine = await start_engine(hosting, model, settings, instead)
            undo.push_async_callback(engine.stop)
            node = node_with(engine)
            await load(node.engine, beginning.checkpoint, node.relief.take_smaller_model)
        for text in engine.said:
            node.show.notice("info", text)
        for text in await too_long(engine, examiner, catalogue, levels):
            node.show.notice("warning", text)
        on_step(sentence("preparing the first round, step 4 of 4"))
        await _begin_run(node, _manifest(node, _catalogue_key(catalogue)), resumed=newest.checkpoint is not None)
        if beginning.another_model:
            await _keep_beginning(node, settings.model, beginning)
        undo.pop_all()  # success
    instance = bytes.fromhex(node.counters.instance)
    around = Surroundings(
        folder, catalogue, examiner, engine, kept_ids, instance, node.yardstick, handed_over, keeper.patiently
    )
    return _with_side(node, around, publish, keeper, before)


def _with_side(
    node: Node, around: Surroundings, publish: Publish, keeper: Keeper, before: Assembled | None
) -> Assembled:
    """The node with its side of the swarm, and what it inherits from the previous one."""
    identity = before.side.identity if before else None
    if before:
        node.status.human_groups = before.node.status.human_groups
    side = SwarmSide(around, node.show.notice, node.join, publish, node.progress, keeper.lasting, identity)
    node.gate.others = side.hosts_of_member
    return Assembled(node, side)


def _node(
    engine: Engine,
    *,
    folder: DataFolder,
    settings: Settings,
    levels: Levels,
    counters: Counters,
    examiner: Examiner,
    keeper: Keeper,
    publish: Publish,
) -> Node:
    """The node with that engine, which checks the memory before each load and reports its choice."""
    node = Node(
        settings=settings,
        counters=counters,
        levels=levels,
        gate=Gate([*engine.hosts, examiner.host], publish),
        engine=engine,
        examiner=examiner,
        evaluator=Evaluator(engine, examiner, _validation_secret(folder, settings)),
        keeper=keeper,
        publish=publish,
        wishes=folder.wishes,
    )
    choice = engine.plan.choice
    if choice.note:
        node.show.notice("warning", choice.note)
    if choice.trains or choice.generator == "llama.cpp":  # otherwise a remote server does everything
        engine.fitting = Fitting(
            lambda: node.settings,
            node.status.shorten_answers,
            lambda text: node.show.notice("warning", text),
            folder.cache,
        ).fit
    return node


WRITTEN_A_DAY = 10_000_000_000
"""Maximum bytes of checkpoints per day: 4 TB a year, a tenth of a small SSD's guaranteed endurance."""
KEPT_CHECKPOINTS = 5
"""Besides base and best: enough to step back over an evening, little enough for a full disk."""


def _keeper(folder: DataFolder) -> Keeper:
    history, now = History.for_node(folder.history), time.time()
    written = history.checkpoints_written(now - 2 * DAY)
    budget = WriteBudget(WRITTEN_A_DAY, written, now)
    return Keeper(CheckpointStore(folder.checkpoints), history, budget, KEPT_CHECKPOINTS)


@dataclass(frozen=True)
class _Beginning:
    """Where training continues or begins."""

    counters: Counters
    checkpoint: Checkpoint | None
    """The engine's initial state; None: the base."""
    another_model: bool = False
    """Whether the newest checkpoint is of another model."""


async def _beginning(keeper: Keeper, settings: Settings, newest: Checkpoint | None, model: BaseModel) -> _Beginning:
    """After the newest checkpoint. If that is of another model, where this model last stopped, or at its base. Round
    numbers continue in any case: each is used once."""
    if newest is None:
        seed = settings.seed or secrets.randbits(31) or 1
        return _Beginning(Counters(round=0, instance=secrets.token_hex(16), seed=seed, model=model.hash), None)
    counters = msgspec.structs.replace(newest.counters, seed=settings.seed or newest.counters.seed)
    if counters.model == model.hash:
        return _Beginning(counters, newest)
    left = await keeper.call(keeper.store.newest_of, model.hash)
    learned = left.counters if left else Counters(round=0, instance="", seed=0, model=model.hash)
    counters = msgspec.structs.replace(
        learned, round=newest.round, instance=counters.instance, seed=counters.seed, run=counters.run
    )
    return _Beginning(counters, left, another_model=True)


async def _keep_beginning(node: Node, model: str, beginning: _Beginning) -> None:
    """Make the start of this model the newest checkpoint, to which later steps back go. Raises CheckpointError."""
    await node.keeper.write(node.counters, node.engine)
    node.show.notice(
        "info",
        sentence(
            "{model} continues where it stopped. What the previous model learned is kept in case you choose it again.",
            model=model,
        )
        if beginning.checkpoint is not None
        else sentence(
            "{model} starts untrained. What the previous model learned is kept in case you choose it again.",
            model=model,
        ),
    )


def _tell(node: Node, said: Text, newest: Newest) -> None:
    for text in (said, node.keeper.history.said):
        if text:
            node.show.notice("warning", text)
    node.show.damaged(newest.damaged)


def _manifest(node: Node, catalogue: str) -> RunManifest:
    loaded, plan = node.engine.loaded, node.engine.plan
    assert loaded is not None
    return manifest_of(
        node.settings,
        seed=node.counters.seed,
        model_sha256=node.counters.model,
        catalogue=catalogue,
        engine_versions=node.engine.versions,
        threads=plan.threads,
        micro_batch=plan.trainer.micro_batch,
        device=loaded.device,
        dtype=loaded.dtype,
    )


async def _begin_run(node: Node, manifest: RunManifest, *, resumed: bool) -> None:
    """Record the conditions of this run, and report differences from those of the checkpoint."""
    history = node.keeper.history
    before = await node.keeper.call(history.last_manifest)
    if resumed and before and (changed := differs(before, manifest)):
        node.show.notice(
            "info", sentence("Continuing under different conditions than before: {changes}.", changes=[*changed])
        )
    await node.status.begin_run(manifest, node.keeper)
    node.keeper.latest = await node.keeper.call(history.latest)  # another model's scores do not count for this one


def _validation_secret(folder: DataFolder, settings: Settings) -> bytes:
    """32 bytes that no peer knows. In silo, a chosen seed determines the whole run, so these follow from it, too."""
    if settings.silo and settings.seed:
        return digest(b"sapo/validation/silo", str(settings.seed).encode("ascii"))
    return folder.secret("validation")


def _catalogue_key(catalogue: Catalogue) -> str:
    return ids_key(msgspec.structs.replace(catalogue, left_out={}), version("reasoning_gym"), sapo_desktop.__version__)
