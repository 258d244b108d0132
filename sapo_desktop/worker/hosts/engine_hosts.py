"""The engine for the chosen way: its plan, its host processes, its loaded model.

Only the necessary processes are started: a node that only answers never imports torch, except to write a model in
transformers' layout as a GGUF file, once.
"""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sapo_desktop.core.errors import AdapterRefused, EndlessTemplate, ModelError, TooBig, UsageError
from sapo_desktop.core.files.gguf import is_gguf, parts_of
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.protocols import AdapterFolder, LoadRemote
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.plan import trainer_settings
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.models.fit.memory import tensors_of
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import Gpu, card_environment, gpus, threads_for, wake_cards
from sapo_desktop.system.installation import can_learn
from sapo_desktop.system.secrets.kept_secrets import remote_key
from sapo_desktop.worker.hosts.choice import BaseModel, EngineChoice, only_answers
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.generator import Server
from sapo_desktop.worker.hosts.hosting import Host, OnBusy
from sapo_desktop.worker.hosts.llama_cpp import GgufBase, LlamaCpp, base_of
from sapo_desktop.worker.hosts.protocol import KINDS, HostOptions
from sapo_desktop.worker.hosts.trainer import EnginePlan, Kept, Trainer
from sapo_desktop.worker.store.checkpoints import Checkpoint

SmallerModel = Callable[[Text], Awaitable[bool]]
"""Replaces a model that does not fit by a smaller one, for that reason; False if there is none."""


@dataclass(frozen=True)
class Hosting:
    """How this node starts its hosts."""

    folder: DataFolder
    threads: int
    low_priority: bool
    on_busy: OnBusy | None = None
    device: str = "auto"
    """The setting `device`: whether a graphics card may be used."""
    handed_over: Mapping[str, str] = field(default_factory=dict)
    """Variables that pass own tasks to the examiner (tasks/own/)."""
    models: Sequence[Path] = ()
    """What engines may read: the model, and its possible replacements."""

    async def start(self, kind: str) -> Host:
        """Start a host of that kind with its own log."""
        threads = self.threads if kind == "engine" else None
        writes: list[Path] = []
        environment = dict(self.handed_over) if kind == "examiner" else {}
        cards: list[Gpu] = []
        if kind in ("engine", "generator"):
            cards = await asyncio.to_thread(gpus) if self.device in ("auto", "cuda") else []
            # Of several cards the one with the most free memory, for the host's whole life: CUDA does not check again.
            card = card_environment(cards)
            if cards:
                await asyncio.to_thread(wake_cards)
            writes = [self.folder.checkpoints, self.folder.cache]
            # The only folder in which libraries may write.
            environment = {"TMPDIR": str(self.folder.scratch), "CUDA_CACHE_PATH": str(self.folder.scratch), **card}
        options = HostOptions(
            kind=KINDS[kind],
            log=self.folder.log(kind),
            threads=threads,
            low_priority=self.low_priority,
            writes=writes,
            reads=self.models if writes else (),
            card=bool(cards),
            env=environment,
        )
        return await Host.start(options, self.on_busy)


def to_read(model: Path, installed: Path) -> list[Path]:
    """For `Hosting.models`: the paths of the model and its possible replacements, including the targets of links."""
    folders = [model, *(installed.iterdir() if installed.is_dir() else ())]
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir() if file.is_symlink()]
    parts = parts_of(model) if is_gguf(model) else []
    return [model, installed, *(file.resolve() for file in (*files, *parts))]


def plan_of(settings: Settings, model: BaseModel, choice: EngineChoice, counters: Counters) -> EnginePlan:
    return EnginePlan(
        model=model.path,
        trainer=trainer_settings(settings, model.parameters, counters),
        threads=threads_for(settings.threads),
        device=settings.device,
        choice=choice,
        parameters=model.parameters,
        card_memory=tensors_of(int(settings.card_memory_most * 1e9)),
    )


def answering_only(plan: EnginePlan, settings: Settings, error: AdapterRefused | TooBig) -> EnginePlan | None:
    """The plan of an engine that only answers, after a server refused the adapter or the trainer did not fit, with
    the reason; None if the settings do not allow that."""
    if settings.trainer != "auto" or plan.choice.generator != "remote" or not plan.choice.trains:
        return None
    note = only_answers(error.text)
    if isinstance(error, AdapterRefused):
        note = sentence("{reason} Until then this node only answers.", reason=error.text)
    return dataclasses.replace(plan, choice=EngineChoice(generator="remote", trains=False, note=note))


async def start_engine(hosting: Hosting, model: BaseModel, settings: Settings, plan: EnginePlan) -> Engine:
    """The engine with its processes running. Raises SapoError, and then none of them runs."""
    await asyncio.to_thread(_empty, hosting.folder.scratch)
    match plan.choice.generator:
        case "torch":
            return Engine(_trainer(hosting, await hosting.start("engine")), plan)
        case "llama.cpp":
            return await _with_llama_cpp(hosting, model, settings, plan)
        case "remote":
            return await _with_server(hosting, settings, plan)


async def _with_llama_cpp(hosting: Hosting, model: BaseModel, settings: Settings, plan: EnginePlan) -> Engine:
    cache = hosting.folder.cache
    base = base_of(cache, model.path, model.hash, settings)
    plan = dataclasses.replace(plan, gguf=base.file)
    adapters, kept = cache / "adapters", cache / "kept-training"
    if not plan.choice.trains and await base.is_there():
        generator = await hosting.start("generator")
        return Engine(Kept(kept), plan, LlamaCpp(generator, base, plan, adapters))
    if not can_learn():
        raise UsageError(
            "{model} must be converted for llama.cpp, which needs the engine pack. Get it, or set model "
            "to starter or to a GGUF file.",
            in_terminal="sapo-desktop engine install",
            model=model.path.name,
        )
    learning, generator = await _both(hosting, "generator")
    try:
        await base.convert(learning, generator, plan.threads)
    except ModelError as error:
        await generator.stop()
        if isinstance(error, EndlessTemplate) or not plan.choice.trains or settings.generator != "auto":
            await learning.stop()
            raise
        note = sentence("{reason} So PyTorch answers.", reason=error.text)
        choice = EngineChoice("torch", True, note=note)
        return Engine(_trainer(hosting, learning), dataclasses.replace(plan, choice=choice))
    except BaseException:
        await asyncio.gather(learning.stop(), generator.stop())
        raise
    if not plan.choice.trains:
        await learning.stop()  # it was only needed for the file
        return Engine(Kept(kept), plan, LlamaCpp(generator, base, plan, adapters))

    def base_of_another(another: ModelFolder) -> GgufBase:
        return base_of(cache, another.path, another.hash, settings)

    trainer = _trainer(hosting, learning)
    return Engine(trainer, plan, LlamaCpp(generator, base, plan, adapters, trainer, base_of_another))


async def start_both(hosting: Hosting, model: BaseModel, settings: Settings, plan: EnginePlan) -> tuple[Engine, Host]:
    """Engine and examiner, started in parallel. Raises SapoError, and then none of their processes runs."""
    examining = asyncio.create_task(hosting.start("examiner"))
    try:
        engine = await start_engine(hosting, model, settings, plan)
    except BaseException:
        await stop_started([examining])
        raise
    try:
        return engine, await examining
    except BaseException:
        await engine.stop()
        raise


async def load(engine: Engine, checkpoint: Checkpoint | None, take_smaller_model: SmallerModel) -> None:
    """Load the model, or a smaller one if it does not fit and no checkpoint depends on it. Raises TooBig."""
    if checkpoint is not None:
        await engine.load(checkpoint.folder)
        return
    begin = engine.load
    while True:
        try:
            await begin(None)
            return
        except TooBig as error:
            if not await take_smaller_model(error.text):
                raise
            begin = engine.restart  # the memory of the larger one is freed with its process


def _trainer(hosting: Hosting, host: Host) -> Trainer:
    return Trainer(host, hosting.folder.scratch)


def _empty(folder: Path) -> None:
    """Delete what a killed node left."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)


async def _with_server(hosting: Hosting, settings: Settings, plan: EnginePlan) -> Engine:
    """The engine with a remote server, and a trainer if anything is learned."""
    url, _, model = settings.remote_url.partition("#")
    load = LoadRemote(
        url=url,
        model=model,
        folder=str(plan.model),
        key=await asyncio.to_thread(remote_key.load, url),
        adapters=_shared(settings.remote_adapters, hosting.folder) if settings.remote_adapters else None,
        proxy=settings.proxy,
    )
    cache = hosting.folder.cache
    adapters, kept = cache / "adapters", cache / "kept-training"
    if not plan.choice.trains:
        return Engine(Kept(kept), plan, Server(await hosting.start("remote"), load, adapters))
    learning, server = await _both(hosting, "remote")
    trainer = _trainer(hosting, learning)
    return Engine(trainer, plan, Server(server, load, adapters, trainer))


def _shared(path: str, node: DataFolder) -> AdapterFolder:
    """The folder's path for the server; adapters are named after part of the data folder's random name."""
    return AdapterFolder(path=str(Path(path).expanduser().absolute()), owner=node.node_id()[:8])


async def _both(hosting: Hosting, generating: str) -> tuple[Host, Host]:
    """Trainer and generator together."""
    starting = [asyncio.create_task(hosting.start(kind)) for kind in ("engine", generating)]
    try:
        trainer, generator = await asyncio.gather(*starting)
    except BaseException:
        await stop_started(starting)
        raise
    return trainer, generator


async def stop_started(starting: list[asyncio.Task[Host]]) -> None:
    """Cancel unfinished starts, which ends their processes, and end the started hosts. Quitting must not wait for
    loading."""
    for start in starting:
        start.cancel()
    for done in await asyncio.gather(*starting, return_exceptions=True):
        if isinstance(done, Host):
            await done.stop()
