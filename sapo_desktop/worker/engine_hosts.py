"""The engine that the chosen way asks for: its host processes started, nothing loaded yet.

Only the processes that the way needs are started: a node that only answers never loads torch, but for the one time
in which a model in transformers' layout is written as a GGUF file.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.protocols import Load, LoadRemote
from sapo_desktop.system import remote_key
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import probe
from sapo_desktop.worker.engine import LOAD_SECONDS, Engine, EnginePlan
from sapo_desktop.worker.generator import GeneratorHost
from sapo_desktop.worker.hosting import Host
from sapo_desktop.worker.remote_engine import RemoteEngine
from sapo_desktop.worker.split_engine import AnswerEngine, GgufBase, SplitEngine, generator_load
from sapo_desktop.worker.way import BaseModel, Way

_SHARE_OF_MEMORY = 4
"""Keys and values of the answers under way may take a fourth of the memory that is free at the start."""
_LEAST_CACHE = 256 * 2**20


@dataclass(frozen=True)
class Hosting:
    """How this node starts its hosts."""

    folder: DataFolder
    threads: int
    low_priority: bool

    async def start(self, kind: str) -> Host:
        """Start a host of that kind with its own log."""
        threads = self.threads if kind == "engine" else None
        return await Host.start(kind, log=self.folder.log(kind), threads=threads, low_priority=self.low_priority)


async def start_engine(hosting: Hosting, way: Way, model: BaseModel, settings: Settings, plan: EnginePlan) -> Engine:
    """The engine with its processes running; raises SapoError, and then none of them runs."""
    if way.generator == "torch":
        return Engine(await hosting.start("engine"), plan)
    cache = hosting.folder.cache
    if way.generator == "remote":
        return await _remote(hosting, way, settings, plan)
    base = _base(cache, model, settings)
    if not way.trains:
        return AnswerEngine(await _answering(hosting, model, base, plan), plan, cache / "kept-training")
    trainer, generator = await _both(hosting)
    return SplitEngine(trainer, plan, _generator(hosting, generator, base, plan), base, cache / "adapters")


async def _answering(hosting: Hosting, model: BaseModel, base: GgufBase, plan: EnginePlan) -> GeneratorHost:
    """A generator whose base is there; made by a trainer that lives as long as that takes."""
    if model.is_gguf or base.file.exists():
        return _generator(hosting, await hosting.start("generator"), base, plan)
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
    return _generator(hosting, generator, base, plan)


async def _remote(hosting: Hosting, way: Way, settings: Settings, plan: EnginePlan) -> Engine:
    """What speaks to a server elsewhere, with a trainer beside it where anything is learned."""
    load = LoadRemote(
        url=settings.remote_url,
        model=settings.remote_model,
        folder=str(plan.model),
        key=await asyncio.to_thread(remote_key.load, settings.remote_url),
        adapters=_full(settings.remote_adapters) if settings.remote_adapters else None,
    )
    cache = hosting.folder.cache
    if not way.trains:
        return AnswerEngine(GeneratorHost(await hosting.start("remote"), load), plan, cache / "kept-training")
    trainer, generator = await _both(hosting, "remote")
    return RemoteEngine(trainer, plan, GeneratorHost(generator, load), cache / "adapters")


def _full(path: str) -> str:
    """As the server has to be told it."""
    return str(Path(path).expanduser().absolute())


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
    weights = settings.generator_weights
    return GgufBase(file=cache / "gguf" / f"{model.hash[:16]}-{weights}.gguf", weights=weights)


def _generator(hosting: Hosting, host: Host, base: GgufBase, plan: EnginePlan) -> GeneratorHost:
    free = probe(hosting.folder.cache).memory_free
    load = generator_load(base, plan.threads, plan.device, max(_LEAST_CACHE, free // _SHARE_OF_MEMORY))
    return GeneratorHost(host, load)
