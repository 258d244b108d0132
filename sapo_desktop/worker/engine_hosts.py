"""The engine that the chosen way asks for: its host processes started, nothing loaded yet.

Only the processes that the way needs are started: a node that only answers never loads torch, but for the one time
in which a model in transformers' layout is written as a GGUF file.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.protocols import AdapterFolder, Load, LoadRemote
from sapo_desktop.models.describe import describe
from sapo_desktop.models.fit import weights_of
from sapo_desktop.system import remote_key
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import card_environment, gpus
from sapo_desktop.worker.engine import LOAD_SECONDS, Engine, EnginePlan
from sapo_desktop.worker.generator import GeneratorHost
from sapo_desktop.worker.hosting import Host
from sapo_desktop.worker.remote_engine import RemoteEngine
from sapo_desktop.worker.split_engine import AnswerEngine, GgufBase, SplitEngine, generator_load
from sapo_desktop.worker.way import BaseModel


@dataclass(frozen=True)
class Hosting:
    """How this node starts its hosts."""

    folder: DataFolder
    threads: int
    low_priority: bool

    async def start(self, kind: str) -> Host:
        """Start a host of that kind with its own log."""
        threads = self.threads if kind == "engine" else None
        # Of several cards the freest, for the host's whole life: CUDA does not look again.
        card = card_environment(await asyncio.to_thread(gpus)) if kind in ("engine", "generator") else {}
        return await Host.start(
            kind, log=self.folder.log(kind), threads=threads, low_priority=self.low_priority, env=card
        )


async def start_engine(hosting: Hosting, model: BaseModel, settings: Settings, plan: EnginePlan) -> Engine:
    """The engine with its processes running; raises SapoError, and then none of them runs."""
    way = plan.way
    if way.generator == "torch":
        return Engine(await hosting.start("engine"), plan)
    cache = hosting.folder.cache
    if way.generator == "remote":
        return await _remote(hosting, settings, plan)
    base = _base(cache, model, settings)
    if not way.trains:
        return AnswerEngine(await _answering(hosting, model, base, plan), plan, cache / "kept-training")
    trainer, generator = await _both(hosting)
    return SplitEngine(trainer, plan, GeneratorHost(generator, generator_load(base, plan)), base, cache / "adapters")


async def _answering(hosting: Hosting, model: BaseModel, base: GgufBase, plan: EnginePlan) -> GeneratorHost:
    """A generator whose base is there; made by a trainer that lives as long as that takes."""
    if model.is_gguf or base.file.exists():
        return GeneratorHost(await hosting.start("generator"), generator_load(base, plan))
    trainer, generator = await _both(hosting)
    try:
        load = Load(model=str(plan.model), trainer=plan.trainer, threads=plan.threads, device="cpu")
        await trainer.call(load, LOAD_SECONDS)
        await base.convert(trainer, generator, plan.threads)
    except BaseException:
        await generator.stop()
        raise
    finally:
        await trainer.stop()
    return GeneratorHost(generator, generator_load(base, plan))


async def _remote(hosting: Hosting, settings: Settings, plan: EnginePlan) -> Engine:
    """What speaks to a server elsewhere, with a trainer beside it where anything is learned."""
    load = LoadRemote(
        url=settings.remote_url,
        model=settings.remote_model,
        folder=str(plan.model),
        key=await asyncio.to_thread(remote_key.load, settings.remote_url),
        key_in_clear=settings.remote_key_in_clear,
        adapters=_shared(settings.remote_adapters, hosting.folder) if settings.remote_adapters else None,
    )
    cache = hosting.folder.cache
    if not plan.way.trains:
        return AnswerEngine(GeneratorHost(await hosting.start("remote"), load), plan, cache / "kept-training")
    trainer, generator = await _both(hosting, "remote")
    return RemoteEngine(trainer, plan, GeneratorHost(generator, load), cache / "adapters")


def _shared(path: str, node: DataFolder) -> AdapterFolder:
    """The folder as the server has to be told it; adapters carry a part of the data folder's random name."""
    return AdapterFolder(path=str(Path(path).expanduser().absolute()), owner=node.node_id()[:8])


async def _both(hosting: Hosting, generating: str = "generator") -> tuple[Host, Host]:
    """Trainer and generator, side by side."""
    starting = [asyncio.create_task(hosting.start(kind)) for kind in ("engine", generating)]
    try:
        trainer, generator = await asyncio.gather(*starting)
    except BaseException:
        await stop_started(starting)
        raise
    return trainer, generator


async def stop_started(starting: list[asyncio.Task[Host]]) -> None:
    """End the hosts of those starts that succeeded."""
    for done in await asyncio.gather(*starting, return_exceptions=True):
        if isinstance(done, Host):
            await done.stop()


def _base(cache: Path, model: BaseModel, settings: Settings) -> GgufBase:
    if model.is_gguf:
        return GgufBase(file=model.path, weights="f16")
    weights = weights_of(describe(model.path), settings).lower()
    return GgufBase(file=cache / "gguf" / f"{model.hash[:16]}-{weights}.gguf", weights=weights)
