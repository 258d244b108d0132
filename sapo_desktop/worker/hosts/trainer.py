"""torch in its host: it learns, and answers where nothing else does.

Only its state counts: checkpoints are the same whatever answers. Where nothing is learned `Kept` stands in its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from sapo_desktop.core.errors import CheckpointError, HostDied, NotWritten
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.files.exports import put_in_place
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.core.records import Generated, StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.protocols import (
    Configure,
    Done,
    Encode,
    Encoded,
    EngineReply,
    EngineRequest,
    Export,
    Generate,
    Load,
    Loaded,
    ProductsTimed,
    Restore,
    Save,
    Step,
    Stepped,
    TimeProducts,
    WriteAdapter,
)
from sapo_desktop.worker.hosts.ahead import Ahead
from sapo_desktop.worker.hosts.choice import TORCH_ALONE, EngineChoice
from sapo_desktop.worker.hosts.hosting import Host, ReplyType, expect
from sapo_desktop.worker.store.checkpoints import STATE
from sapo_desktop.worker.store.sealed import MANIFEST

OnProgress = Callable[[msgspec.Struct], None]

TRAINER_STATE = "trainer.json"
"""As engines/torch/state.py names it."""
UNTRAINED = "untrained"
"""A file that stands in a checkpoint for the training that was not done: the round only answered."""

# Of a host that does nothing at all meanwhile. What is caught here is a dead-lock, not slowness.
LOAD_SECONDS = 900.0
WORK_SECONDS = 3600.0


@dataclass
class EnginePlan:
    """What the engine's hosts are started with; a restart needs nothing else."""

    model: Path
    trainer: TrainerSettings
    threads: int
    device: str
    choice: EngineChoice = TORCH_ALONE
    parameters: int = 0
    """Of the model; 0: not known."""
    gguf: Path | None = None
    """The file that llama.cpp answers with."""
    batch: int = 0
    """Most answers under way at once; 0: as many as the engine takes."""
    most_batch: int = 0
    most_micro_batch: int = 0
    """Of both, whatever is free: what was asked, less where that once was too much; 0: no bound so far."""
    cache_bytes: int = 0
    """Most that keys and values may take where llama.cpp answers; 0: no bound but the memory there is."""
    dtype: str = ""
    """Number format that torch computes the base in; empty: not chosen yet."""
    rounded: bool = False
    """Whether torch holds the base's matrices in 8 bits."""
    estimate: int = 0
    """Bytes that all of it was estimated to take, before the last load; 0: it was not."""
    overlap: bool = False
    """Whether the next round may be answered beside this one's step: there is memory for both."""
    card_memory: int = 0
    """Bytes of the graphics card's memory that PyTorch's tensors may take; 0: as much as there is."""

    def bound(self, *, batch: int = 0, micro_batch: int = 0) -> None:
        """From now on no more of them at once: it was too much. 0: as before."""
        if batch:
            self.batch = self.most_batch = batch
        if micro_batch:
            self.trainer = msgspec.structs.replace(self.trainer, micro_batch=micro_batch)
            self.most_micro_batch = micro_batch


class Trainer:
    """A host of kind `engine` with its base and adapter. One caller at a time: engine.py sees to that."""

    def __init__(self, host: Host, scratch: Path | None = None) -> None:
        """`scratch`: where it may write for a while; None: the system's place for that."""
        self.host = host
        self.loaded: Loaded | None = None
        self.steps = 0
        """Optimiser steps behind the adapter that is loaded."""
        self.ahead = Ahead()
        self._scratch_folder = scratch

    async def load(self, plan: EnginePlan, checkpoint: Path | None) -> None:
        """Load the base and, where given, a checkpoint."""
        request = Load(
            model=str(plan.model),
            trainer=plan.trainer,
            threads=plan.threads,
            device=plan.choice.device or plan.device,
            dtype=plan.dtype or "auto",
            rounded=plan.rounded,
            batch=plan.batch,
            card_memory=plan.card_memory,
        )
        reply: EngineReply = await self.host.call(request, timeout=LOAD_SECONDS, loading=True)
        self.loaded = expect(reply, Loaded)
        self.ahead.forget()
        self.steps = 0
        if checkpoint is not None:
            await self.restore(checkpoint)

    async def time_products(self, request: TimeProducts) -> ProductTimes:
        """How fast its processor computes; needs no `load`."""
        reply: EngineReply = await self.host.call(request, timeout=LOAD_SECONDS, loading=True)
        return expect(reply, ProductsTimed).times

    # -- answers: a Generator (generator.py) -------------------------------------------------------------------

    async def answer(self, request: Generate, on_progress: OnProgress | None = None) -> Generated:
        return await self._call(request, Generated, on_progress)

    async def answer_aside(self, request: Generate, on_progress: OnProgress) -> Generated:
        """Answer between two steps of other work."""
        return expect(await self.host.call_aside(request, WORK_SECONDS, on_progress), Generated)

    async def encode(self, request: Encode) -> Encoded:
        return await self._call(request, Encoded)

    @contextlib.asynccontextmanager
    async def answering_with(self, checkpoint: Path | None) -> AsyncIterator[None]:
        """Put another checkpoint in for a while; None: the untrained adapter. The live state waits in a temporary
        folder, optimiser and all."""
        with self._scratch("live-") as live:
            await self.save(live)
            try:
                await self.restore(checkpoint, weights_only=True)
                yield
            finally:
                await self._put_back(live)

    # -- learns ------------------------------------------------------------------------------------------------

    async def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
        """Train, and answer meanwhile what was asked for ahead."""
        beside = self.ahead.begin()
        stepped = await self._call(Step(batch=list(batch), beside=beside), Stepped)
        if beside is not None and stepped.beside is not None:
            self.ahead.made(beside, stepped.beside)
        self.steps = stepped.report.steps
        return stepped.report

    async def save(self, folder: Path) -> None:
        """Write a checkpoint's files."""
        await self._call(Save(folder=str(folder)), Done)
        await asyncio.to_thread(self.ahead.save, folder)

    async def restore(self, folder: Path | None, *, weights_only: bool = False) -> None:
        """Go to a checkpoint; None: to the untrained adapter."""
        if folder is not None and (folder / UNTRAINED).exists():
            folder = None
        self.ahead.forget()  # answers of an adapter that is none of this one's past
        request = Restore(folder=None if folder is None else str(folder), weights_only=weights_only)
        self.steps = (await self._call(request, Done)).steps
        if folder is not None and not weights_only:
            await asyncio.to_thread(self.ahead.restore, folder)

    async def configure(self, learning_rate: float | None, threads: int | None) -> None:
        await self._call(Configure(learning_rate=learning_rate, threads=threads), Done)

    async def write_adapter(self, file: Path, checkpoint: Path | None, averaged: bool) -> None:
        """Write the adapter as it is now, its average, or a checkpoint's, as a GGUF file."""
        folder = None if checkpoint is None else str(checkpoint)
        await self._call(WriteAdapter(file=str(file), folder=folder, averaged=averaged), Done)

    async def write_folder(self, folder: Path, averaged: bool) -> None:
        """Write the adapter as it is now, or its average, as peft's files."""
        await self._call(Save(folder=str(folder), averaged=averaged), Done)

    async def export(self, format: str, to: Path, checkpoint: Path | None, *, live: bool) -> list[str]:
        """Write weights for use elsewhere; returns the names of the files."""
        with self._scratch("export-") as scratch:
            made = scratch / to.name
            async with contextlib.nullcontext() if live else self.answering_with(checkpoint):
                files = (await self._call(Export(format=format, folder=str(made)), Done)).files
            await asyncio.to_thread(put_in_place, made, to)
        return files

    @contextlib.contextmanager
    def _scratch(self, prefix: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix=prefix, dir=self._scratch_folder) as folder:
            yield Path(folder)

    async def _put_back(self, live: Path) -> None:
        """Where it fails the host ends: a restart from the newest checkpoint loses rounds, going on would train
        another state than the one that counts."""
        try:
            await self.restore(live)
        except CheckpointError as error:
            await self.host.stop()
            raise HostDied(
                "{reason} The engine was stopped, because its state no longer matches the training.", reason=error.text
            ) from error

    async def _call(
        self, request: EngineRequest, kind: type[ReplyType], on_progress: OnProgress | None = None
    ) -> ReplyType:
        return expect(await self.host.call(request, timeout=WORK_SECONDS, on_progress=on_progress), kind)


class Kept:
    """What was trained before the node only answered: it goes from checkpoint to checkpoint unchanged."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where it is meanwhile; emptied first."""
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    async def load(self, checkpoint: Path) -> None:
        if not any(self._folder.iterdir()):
            await asyncio.to_thread(_carry, checkpoint, self._folder)

    async def save(self, folder: Path) -> None:
        """Put it into a checkpoint, or a note that nothing was trained."""
        await asyncio.to_thread(_carry, self._folder, folder)


def _carry(source: Path, target: Path) -> None:
    """Copy the trainer's files of a checkpoint; where there are none, leave a note. Raises NotWritten."""
    with disk_errors_as(NotWritten, sentence("The earlier training could not be copied")):
        files = [file for file in source.iterdir() if file.name not in (STATE, MANIFEST)]
        # What the trainer wrote are files; a link beside them is not its own, and leads to what is no part of it.
        files = [file for file in files if file.is_file() and not file.is_symlink()]
        for file in files:
            shutil.copyfile(file, target / file.name)
        if not files:
            (target / UNTRAINED).write_text("Rounds were answered here without training.\n", encoding="utf-8")


class _Trained(msgspec.Struct, frozen=True):
    """Of the trainer's state what a loader has to know before."""

    dtype: Literal["", "float32", "bfloat16", "float16"] = ""


def trained_in(checkpoint: Path) -> str:
    """The number format in which a checkpoint's run computes on a processor; empty where it does not say."""
    try:
        return read_json(checkpoint / TRAINER_STATE, _Trained).dtype
    except (OSError, msgspec.DecodeError):
        return ""  # nothing was trained, or it cannot be read: who restores it says so
