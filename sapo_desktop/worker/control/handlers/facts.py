"""Clients' requests about the worker itself: facts, current model, notices, log, and a file for a bug report."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

import sapo_desktop
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.files.gguf import is_gguf, parts_of
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.records import Check
from sapo_desktop.models.fit.room import available
from sapo_desktop.system import diagnosis, processes
from sapo_desktop.system.checks import computer_checks, last_written
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import probe
from sapo_desktop.system.logs import log_tail
from sapo_desktop.tasks.catalogue import Catalogue
from sapo_desktop.worker.control.handlers.checks import computing, swarm_checks
from sapo_desktop.worker.control.messages.facts import (
    Diagnose,
    Diagnosis,
    Examine,
    Facts,
    GetLog,
    GetModelInfo,
    GetNotices,
    LogIs,
    ModelInfo,
    Notice,
    Notices,
    notice_line,
)
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.hosts.updates import Looker
from sapo_desktop.worker.membership.side import SwarmSide
from sapo_desktop.worker.node import Node

_JOIN_SECONDS = 120.0
"""A node that was started for the checks first joins the swarm."""
_ON_THE_CARD = "Update the card's driver and restart the node, or set device to cpu to leave the card unused."
_LOOK_SECONDS = 0.2


class FactRequests:
    """Answers them. `notices`: the stored ones, oldest first."""

    def __init__(
        self,
        node: Node,
        side: SwarmSide,
        folder: DataFolder,
        notices: Callable[[], list[Notice]],
        catalogue: Catalogue,
    ) -> None:
        self._node = node
        self._side = side
        self._catalogue = catalogue
        self._folder = folder
        self._notices = notices
        self.handlers = handlers = Handlers()
        handlers.on(Examine).by(self.facts)
        handlers.on(GetNotices).by(self.notices)
        handlers.on(GetLog).by(self.log)
        handlers.on(Diagnose).by(self.diagnose)
        handlers.on(GetModelInfo).by(self.model)

    async def facts(self, request: Examine) -> Facts:
        checks, limits = await asyncio.gather(self._checks(), self._limits())
        return Facts(values=self._known() | limits, checks=checks)

    async def notices(self, request: GetNotices) -> Notices:
        return Notices(items=self._notices())

    async def log(self, request: GetLog) -> LogIs:
        path = self._folder.log("worker")
        return LogIs(lines=await asyncio.to_thread(log_tail, path, request.lines), path=str(path))

    async def diagnose(self, request: Diagnose) -> Diagnosis:
        facts = self._known()
        try:
            facts |= await self._limits()
        except SapoError as error:
            facts["examiner limits"] = f"not known: {error}"  # broken parts are what the file is about
        log = await asyncio.to_thread(log_tail, self._folder.log("worker"), diagnosis.LOG_LINES)
        standing = Looker(self._folder).standing(self._node.settings)
        settings, private = self._node.settings, diagnosis.private_words(self._folder.root)
        here = await asyncio.to_thread(
            computer_checks, self._folder, last_written(self._folder), models_folder(settings), settings, standing
        )
        checks = [*here, *await self._checks()]
        said = [notice_line(one) for one in self._notices()[-diagnosis.NOTICES :]]
        return Diagnosis(text=diagnosis.report(checks, facts, settings, log, private, said=said))

    async def _checks(self) -> list[Check]:
        """The checks of the node itself."""
        deadline = time.monotonic() + _JOIN_SECONDS
        while self._side.info().state == "joining" and time.monotonic() < deadline:
            await asyncio.sleep(_LOOK_SECONDS)
        gate = self._node.gate
        works = Check("node", "good", f"The node answers ({gate.state.value}): {gate.reason}")
        if refused := self._node.engine.card_refused:
            works = Check("node", "limited", f"{refused} {works.found}", _ON_THE_CARD)
        orders = self._node.orders
        held = None if gate.is_open else orders.decision.held
        may = computing([gate.why, *([held] if held and held != gate.why else [])], orders.here, time.time())
        return [works, may, *await swarm_checks(self._node.settings, self._side.info(), self._side.test)]

    async def model(self, request: GetModelInfo) -> ModelInfo:
        return await asyncio.to_thread(self._model)

    def _model(self) -> ModelInfo:
        engine, settings = self._node.engine, self._node.settings
        loaded, plan = engine.loaded, engine.plan
        here = available(probe(self._folder.root), settings)
        running = [host.pid for host in engine.hosts if host.pid is not None]
        notes = [*engine.said, *([plan.choice.note] if plan.choice.note else []), *here.notes]
        return ModelInfo(
            name=plan.model.stem if is_gguf(plan.model) else plan.model.name,
            kind="gguf" if is_gguf(plan.model) else "transformers",
            parameters=engine.parameters,
            bytes=model_size(plan.model),
            device=loaded.device if loaded else "",
            dtype=loaded.dtype if loaded else "",
            generator=plan.choice.generator,
            trainer="torch" if engine.trains else "none",
            threads=plan.threads,
            memory_used=sum(map(processes.resident_memory, running)) if running else None,
            memory_estimate=plan.estimate or None,
            memory_free=here.memory_free,
            micro_batch=plan.trainer.micro_batch if engine.trains else 0,
            max_tokens=self._node.max_tokens,
            notes=notes,
        )

    def _known(self) -> dict[str, str]:
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
            "own tasks": ", ".join(sorted(self._catalogue.own)) or "none",
            **{f"own tasks left out: {name}": str(reason) for name, reason in self._catalogue.left_out.items()},
        }
        if loaded is not None:
            values |= {
                "device": f"{loaded.device}, {loaded.dtype}",
                "parameters": f"{loaded.parameters:,} ({loaded.trainable:,} trained)",
                **{f"library {name}": version for name, version in node.engine.versions.items()},
            }
        return values | {f"library {name}": value for name, value in node.examiner.host.versions.items()}

    async def _limits(self) -> dict[str, str]:
        """The restrictions on the host processes."""
        examiner = self._node.examiner
        async with self._node.gate.awake():
            limits = await examiner.limits()
        found = {f"examiner {name}": str(value) for name, value in msgspec.structs.asdict(limits).items()}
        for host in (examiner.host, *self._node.engine.hosts):
            if host.confined is not None:
                kept = msgspec.structs.asdict(host.confined)
                found |= {f"{host.options.kind.name} kept from {what}": str(said) for what, said in kept.items()}
        return found


def model_size(path: Path) -> int:
    """Bytes of the weights in a model's folder, or of all parts of a GGUF file."""
    try:
        files = parts_of(path) if is_gguf(path) else path.glob("*.safetensors")
        return sum(file.stat().st_size for file in files)
    except OSError:
        return 0  # the model is in memory; its files may be gone
