"""torch in its host: it learns, and answers unless another engine does.

Only its state counts: checkpoints are the same whatever engine answers. If nothing is learned, `Kept` takes its place.
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
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.records import Generated, StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.protocols import (
    Configure,
    Encode,
    Encoded,
    Export,
    Generate,
    Load,
    Loaded,
    Restore,
    Save,
    Step,
    TimeProducts,
    WriteAdapter,
)
from sapo_desktop.worker.hosts.ahead import Ahead
from sapo_desktop.worker.hosts.choice import TORCH_ALONE, EngineChoice
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.store.checkpoints import STATE
from sapo_desktop.worker.store.sealed import MANIFEST

OnProgress = Callable[[msgspec.Struct], None]

TRAINER_STATE = "trainer.json"
"""The file's name in engines/torch/state.py."""
UNTRAINED = "untrained"
"""A file in a checkpoint that marks a round without training."""

# For a host without any activity: this detects a deadlock, not slowness.
LOAD_SECONDS = 900.0
WORK_SECONDS = 3600.0


@dataclass
class EnginePlan:
    """Everything needed to start and restart the engine's hosts."""

    model: Path
    trainer: TrainerSettings
    threads: int
    device: str
    choice: EngineChoice = TORCH_ALONE
    parameters: int = 0
    """Parameters of the model; 0: unknown."""
    gguf: Path | None = None
    """The file for llama.cpp."""
    batch: int = 0
    """Maximum answers at once; 0: the engine's own limit."""
    most_batch: int = 0
    most_micro_batch: int = 0
    """Upper limits whatever is free: what was requested, less if that once was too much; 0: none so far."""
    cache_bytes: int = 0
    """Maximum bytes of keys and values if llama.cpp answers; 0: limited only by memory."""
    dtype: str = ""
    """Number format of the base in torch; empty: not chosen yet."""
    rounded: bool = False
    """Whether torch stores the base's matrices in 8 bits."""
    estimate: int = 0
    """Total estimated bytes at the last load; 0: there was none."""
    overlap: bool = False
    """Whether memory allows answering the next round during this one's step."""
    card_memory: int = 0
    """Maximum bytes of the graphics card's memory for PyTorch's tensors; 0: unlimited."""

    def bound(self, *, batch: int = 0, micro_batch: int = 0) -> None:
        """From now on at most so many at once, because it was too much. 0: as before."""
        if batch:
            self.batch = self.most_batch = batch
        if micro_batch:
            self.trainer = msgspec.structs.replace(self.trainer, micro_batch=micro_batch)
            self.most_micro_batch = micro_batch


class Trainer:
    """A host of kind `engine` with its base and adapter. One caller at a time, which engine.py ensures."""

    def __init__(self, host: Host, scratch: Path | None = None) -> None:
        """`scratch`: folder for temporary files; None: the system's."""
        self.host = host
        self.loaded: Loaded | None = None
        self.steps = 0
        """Optimiser steps behind the loaded adapter."""
        self.ahead = Ahead()
        self._scratch_folder = scratch

    async def load(self, plan: EnginePlan, checkpoint: Path | None) -> None:
        """Load the base and a checkpoint, if given."""
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
        self.loaded = await self.host.call(request, timeout=LOAD_SECONDS, loading=True)
        self.ahead.forget()
        self.steps = 0
        if checkpoint is not None:
            await self.restore(checkpoint)

    async def time_products(self, request: TimeProducts) -> ProductTimes:
        """The speed of its processor; needs no `load`."""
        return (await self.host.call(request, timeout=LOAD_SECONDS, loading=True)).times

    # -- answers: a Generator (generator.py) -------------------------------------------------------------------

    async def answer(self, request: Generate, on_progress: OnProgress | None = None) -> Generated:
        return await self._call(request, on_progress)

    async def answer_aside(self, request: Generate, on_progress: OnProgress) -> Generated:
        """Answer between two steps of other work."""
        return await self.host.call_aside(request, WORK_SECONDS, on_progress)

    async def encode(self, request: Encode) -> Encoded:
        return await self._call(request)

    @contextlib.asynccontextmanager
    async def answering_with(self, checkpoint: Path | None) -> AsyncIterator[None]:
        """Temporarily load another checkpoint; None: the untrained adapter. The live state, including the optimiser,
        waits in a temporary folder."""
        with self._scratch("live-") as live:
            await self.save(live)
            try:
                await self.restore(checkpoint, weights_only=True)
                yield
            finally:
                await self._put_back(live)

    # -- learning ----------------------------------------------------------------------------------------------

    async def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
        """Train, and meanwhile answer what was requested in advance."""
        beside = self.ahead.begin()
        stepped = await self._call(Step(batch=list(batch), beside=beside))
        if beside is not None and stepped.beside is not None:
            self.ahead.made(beside, stepped.beside)
        self.steps = stepped.report.steps
        return stepped.report

    async def save(self, folder: Path) -> None:
        """Write a checkpoint's files."""
        await self._call(Save(folder=str(folder)))
        await asyncio.to_thread(self.ahead.save, folder)

    async def restore(self, folder: Path | None, *, weights_only: bool = False) -> None:
        """Load a checkpoint; None: the untrained adapter."""
        if folder is not None and (folder / UNTRAINED).exists():
            folder = None
        self.ahead.forget()  # answers of an adapter that is not part of this one's past
        request = Restore(folder=None if folder is None else str(folder), weights_only=weights_only)
        self.steps = (await self._call(request)).steps
        if folder is not None and not weights_only:
            await asyncio.to_thread(self.ahead.restore, folder)

    async def configure(self, learning_rate: float | None, threads: int | None) -> None:
        await self._call(Configure(learning_rate=learning_rate, threads=threads))

    async def write_adapter(self, file: Path, checkpoint: Path | None, averaged: bool) -> None:
        """Write the current adapter, its average, or a checkpoint's, as a GGUF file."""
        folder = None if checkpoint is None else str(checkpoint)
        await self._call(WriteAdapter(file=str(file), folder=folder, averaged=averaged))

    async def write_folder(self, folder: Path, averaged: bool) -> None:
        """Write the current adapter, or its average, as peft's files."""
        await self._call(Save(folder=str(folder), averaged=averaged))

    async def export(self, format: str, to: Path, checkpoint: Path | None, *, live: bool) -> list[str]:
        """Export weights for use elsewhere; returns the names of the files."""
        with self._scratch("export-") as scratch:
            made = scratch / to.name
            async with contextlib.nullcontext() if live else self.answering_with(checkpoint):
                files = (await self._call(Export(format=format, folder=str(made)))).files
            await asyncio.to_thread(put_in_place, made, to)
        return files

    @contextlib.contextmanager
    def _scratch(self, prefix: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix=prefix, dir=self._scratch_folder) as folder:
            yield Path(folder)

    async def _put_back(self, live: Path) -> None:
        """If this fails, the host ends: a restart from the newest checkpoint loses rounds, but continuing would
        train the wrong state."""
        try:
            await self.restore(live)
        except CheckpointError as error:
            await self.host.stop()
            raise HostDied(
                "{reason} The engine was stopped, because its state no longer matches the training.", reason=error.text
            ) from error

    async def _call(self, request: Request[ReplyType], on_progress: OnProgress | None = None) -> ReplyType:
        return await self.host.call(request, timeout=WORK_SECONDS, on_progress=on_progress)


class Kept:
    """The training state from before the node only answered: it is copied unchanged from checkpoint to checkpoint."""

    def __init__(self, folder: Path) -> None:
        """`folder`: its place in between; emptied first."""
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    async def load(self, checkpoint: Path) -> None:
        if not any(self._folder.iterdir()):
            await asyncio.to_thread(_carry, checkpoint, self._folder)

    async def save(self, folder: Path) -> None:
        """Copy it into a checkpoint, or write a note that nothing was trained."""
        await asyncio.to_thread(_carry, self._folder, folder)


def _carry(source: Path, target: Path) -> None:
    """Copy the trainer's files of a checkpoint; if there are none, write a note. Raises NotWritten."""
    with disk_errors_as(NotWritten, sentence("The earlier training could not be copied")):
        files = [file for file in source.iterdir() if file.name not in (STATE, MANIFEST)]
        # The trainer wrote regular files; a link next to them is not its own and may point elsewhere.
        files = [file for file in files if file.is_file() and not file.is_symlink()]
        for file in files:
            shutil.copyfile(file, target / file.name)
        if not files:
            (target / UNTRAINED).write_text("Rounds were answered here without training.\n", encoding="utf-8")


class _Trained(msgspec.Struct, frozen=True):
    """The part of the trainer's state that a loader needs before."""

    dtype: Literal["", "float32", "bfloat16", "float16"] = ""


def trained_in(checkpoint: Path) -> str:
    """The number format of a checkpoint's run on a processor; empty if it does not say."""
    try:
        return read_json(checkpoint / TRAINER_STATE, _Trained).dtype
    except (OSError, msgspec.DecodeError):
        return ""  # nothing was trained, or it is unreadable, which restoring reports
