"""The worker's side of the engine host: typed calls, one at a time, restarted when it dies.

The host holds base weights and adapter, generator and trainer. Whatever must not be split by another caller
(swap a checkpoint in, evaluate, swap back) runs under `exclusive()`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from sapo_desktop.core.errors import CardUnusable, CheckpointError, HostCancelled, HostDied
from sapo_desktop.core.files.exports import put_in_place, refuse_used
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.core.records import Generated, Prompt, Sampling, StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.engines.protocols import (
    Configure,
    Done,
    Encode,
    Encoded,
    EngineReply,
    EngineRequest,
    Export,
    Generate,
    GenerationProgress,
    Load,
    Loaded,
    ProductsTimed,
    Restore,
    Save,
    Step,
    Stepped,
    TimeProducts,
    TokenText,
)
from sapo_desktop.learning.round import Ended, Progress, unwatched
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.system.processes import own_memory
from sapo_desktop.worker.hosts.ahead import Ahead
from sapo_desktop.worker.hosts.choice import TORCH_ALONE, EngineChoice
from sapo_desktop.worker.hosts.hosting import Host, ReplyType, expect

Spoken = Callable[[str, int], None]
"""Called with the text of a single answer so far, and its tokens."""
Measure = Callable[[TimeProducts], Awaitable[ProductTimes]]

TRAINER_STATE = "trainer.json"
"""As engines/torch/state.py names it."""
UNTRAINED = "untrained"
"""A file that stands in a checkpoint for the training that was not done: the round only answered."""

# Of a host that does nothing at all meanwhile. What is caught here is a dead-lock, not slowness.
LOAD_SECONDS = 900.0
WORK_SECONDS = 3600.0


@dataclass
class EnginePlan:
    """What the engine host is started with; a restart needs nothing else."""

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
    scratch: Path | None = None
    """Where the engine may write for a while; None: the system's place for that."""
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


class Engine:
    """Generator and trainer of this node, in one process. Where they are two, or one: split.py."""

    trains = True
    """Whether anything is learned."""
    answers_aside = True
    """Whether a person's question can be answered between two steps of other work."""
    can_change_model = True
    """Whether a smaller model can take the place of one that does not fit."""
    answers_ahead = True
    """Whether it can answer beside a step."""

    def __init__(self, host: Host, plan: EnginePlan) -> None:
        self.host = host
        self.plan = plan
        self._lock = asyncio.Lock()
        self._aside = asyncio.Lock()
        """Held while a question is answered beside what the other lock is held for."""
        self._elsewhere = False
        """Whether the engine holds another state than the live one."""
        self._ahead = Ahead()
        self.loaded: Loaded | None = None
        self.card_refused: Text = ""
        """Why the processor computes where the card was chosen; empty: it does not."""
        self.steps = 0
        """Optimiser steps behind the adapter that is in the engine: its trainer counts them."""
        self.fitting: Callable[[EnginePlan, int, Measure], Awaitable[EnginePlan]] | None = None
        """Cuts the plan to the memory that is free, before each load; told what bytes its hosts have, and how to
        measure what its processor computes fast. Raises TooBig (worker/hosts/loading.py)."""

    @property
    def hosts(self) -> list[Host]:
        """The processes behind it."""
        return [self.host]

    @property
    def held(self) -> int:
        """Bytes of memory that the processes have now."""
        return sum(own_memory(host.pid) for host in self.hosts if host.pid is not None)

    @property
    def running(self) -> bool:
        """Whether the state that counts is in memory; where not, only a restart at a checkpoint brings it back."""
        return self.host.pid is not None

    @property
    def on_card(self) -> bool:
        """Whether some of it was loaded into a graphics card's own memory."""
        return is_on_card(self.loaded)

    @property
    def busy(self) -> bool:
        """Whether it has work in hand, which may be a round's, of minutes."""
        return self._lock.locked()

    @property
    def versions(self) -> dict[str, str]:
        """Libraries that its numbers depend on, and their versions."""
        return self.loaded.versions if self.loaded else {}

    @property
    def said(self) -> list[Text]:
        """What the user should know of what answers, in sentences."""
        refused = [self.card_refused] if self.card_refused else []
        return [*refused, *self.loaded.said] if self.loaded else []

    async def stop(self) -> None:
        """End the processes."""
        await asyncio.gather(*(host.stop() for host in self.hosts))

    async def close(self) -> None:
        """End the processes for good: a request that still waits for one does not start it again."""
        await asyncio.gather(*(host.close() for host in self.hosts))

    @property
    def parameters(self) -> int:
        """Of the base model; 0 before it is loaded."""
        return self.loaded.parameters if self.loaded else 0

    async def load(self, checkpoint: Path | None) -> Loaded:
        """Load the base and, where given, a checkpoint."""
        async with self.exclusive(), self._without_asides():
            return await self._load(checkpoint)

    def use_model(self, model: ModelFolder, trainer: TrainerSettings) -> None:
        """Load another model from now on."""
        self.plan = dataclasses.replace(
            self.plan,
            model=model.path,
            trainer=trainer,
            parameters=model.parameters,
            batch=0,
            most_batch=0,
            most_micro_batch=0,
            cache_bytes=0,
            dtype="",
        )

    async def restart(self, checkpoint: Path | None) -> Loaded:
        """Start the host again after it died and bring it back to a checkpoint."""
        async with self.exclusive(), self._without_asides():
            await self.host.restart()
            return await self._load(checkpoint)

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Hold the engine; inside, only this object's underscored calls may be used."""
        async with self._lock:
            yield

    async def generate(
        self,
        prompts: Sequence[Prompt],
        answers: int,
        sampling: Sampling,
        progress: Progress = unwatched,
        ended: Ended | None = None,
    ) -> Generated:
        """Answer each prompt `answers` times; `ended` is told now and then of one that is finished."""
        if (made := self._ahead.answers_to(_request(prompts, answers, sampling))) is not None:
            return made
        async with self.exclusive():
            return await self._generate(prompts, answers, sampling, progress, ended=ended)

    def answer_ahead(self, prompts: Sequence[Prompt], answers: int, sampling: Sampling) -> None:
        """Answer this beside the next step, with the adapter as it is before, where there is a thread and memory for
        it; who asks just this next has it."""
        if self.answers_ahead and self.plan.overlap and self.plan.threads > 1:
            self._ahead.want(_request(prompts, answers, sampling))

    async def generate_with(
        self,
        checkpoint: Path | None,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        progress: Progress = unwatched,
        *,
        live: bool = False,
        spoken: Spoken | None = None,
        urgent: bool = False,
    ) -> Generated:
        """Answer each prompt once with another state of the adapter; the live one is put back after.

        `checkpoint` None is the base model, `live` the average of the adapter that is learning. `spoken` follows the
        answer to a single question. `urgent`: a person waits, so that it goes before the work in hand where it can.
        """
        plain = live or checkpoint is None or (checkpoint / UNTRAINED).exists()
        if urgent and plain and self.busy and self.answers_aside:
            async with self._aside:
                if not self._elsewhere and self.loaded is not None:
                    # Where what it comes between is given up or dies, it waits for its turn like everything else.
                    with contextlib.suppress(HostCancelled, HostDied):
                        return await self._generate(
                            prompts, 1, sampling, progress, base=not live, averaged=live, spoken=spoken, aside=True
                        )
        # Made before the lock is waited for: an engine that knows no checkpoint says so at once.
        adapter = contextlib.nullcontext() if plain or checkpoint is None else self._answering_with(checkpoint)
        async with self.exclusive(), adapter:
            return await self._generate(
                prompts, 1, sampling, progress, base=plain and not live, averaged=live, spoken=spoken
            )

    async def encode(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> Encoded:
        """Ids of our own questions, ready to be answered, and of external answers, each with its end-of-sequence."""
        async with self.exclusive():
            request = Encode(texts=list(texts), end=True, questions=list(prompts))
            return await self._call(request, Encoded)

    async def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
        async with self.exclusive():
            beside = self._ahead.begin()
            stepped = await self._call(Step(batch=list(batch), beside=beside), Stepped)
            if beside is not None and stepped.beside is not None:
                self._ahead.made(beside, stepped.beside)
            self.steps = stepped.report.steps
            return stepped.report

    async def save(self, folder: Path) -> None:
        async with self.exclusive():
            await self._call(Save(folder=str(folder)), Done)
            await asyncio.to_thread(self._ahead.save, folder)

    async def restore(self, folder: Path | None, *, weights_only: bool = False) -> None:
        async with self.exclusive():
            await self._restore(folder, weights_only=weights_only)

    async def configure(self, *, learning_rate: float | None = None, threads: int | None = None) -> None:
        async with self.exclusive():
            await self._call(Configure(learning_rate=learning_rate, threads=threads), Done)
        if learning_rate is not None:
            self.plan.trainer = msgspec.structs.replace(self.plan.trainer, learning_rate=learning_rate)
        if threads is not None:
            self.plan.threads = threads

    async def export(self, format: str, to: Path, checkpoint: Path | None, *, live: bool) -> list[str]:
        """Write weights for use elsewhere; returns the names of the files.

        Raises:
            UsageError: `to` is in use.
            ModelError: this model cannot be written in this format.
            SapoError: the disk is full or cannot be written.
        """
        to = to.expanduser().absolute()
        await asyncio.to_thread(refuse_used, to)
        with self._scratch("export-") as scratch:
            made = scratch / to.name
            request = Export(format=format, folder=str(made))
            async with self.exclusive(), contextlib.nullcontext() if live else self._swapped(checkpoint):
                files = (await self._call(request, Done)).files
            await asyncio.to_thread(put_in_place, made, to)
        return files

    # -- inside `exclusive()` ------------------------------------------------------------------------------

    async def _fit(self) -> None:
        """Look at the memory that is free now. Raises TooBig."""
        if self.fitting is not None:
            self.plan = await self.fitting(self.plan, self.held, self._time_products)

    async def _time_products(self, request: TimeProducts) -> ProductTimes:
        reply: EngineReply = await self.host.call(request, timeout=LOAD_SECONDS, loading=True)
        return expect(reply, ProductsTimed).times

    async def _load(self, checkpoint: Path | None) -> Loaded:
        if checkpoint is not None:
            self.plan = dataclasses.replace(self.plan, dtype=await asyncio.to_thread(trained_in, checkpoint))
        await self._fit()
        request = Load(
            model=str(self.plan.model),
            trainer=self.plan.trainer,
            threads=self.plan.threads,
            device=self.plan.choice.device or self.plan.device,
            dtype=self.plan.dtype or "auto",
            rounded=self.plan.rounded,
            batch=self.plan.batch,
            card_memory=self.plan.card_memory,
        )
        try:
            reply: EngineReply = await self.host.call(request, timeout=LOAD_SECONDS, loading=True)
        except CardUnusable as error:
            if self.plan.device != "auto":
                raise CardUnusable(
                    "{reason} Set device to auto, and the processor computes.", reason=error.text
                ) from error
            self.card_refused = sentence("{reason} So the processor computes.", reason=error.text)
            choice = dataclasses.replace(self.plan.choice, device="cpu")
            self.plan = dataclasses.replace(self.plan, choice=choice, dtype="")  # the format was the card's
            return await self._load(checkpoint)
        self.loaded = expect(reply, Loaded)
        self._ahead.forget()
        self.steps = 0
        if checkpoint is not None:
            await self._restore(checkpoint)
        return self.loaded

    @contextlib.asynccontextmanager
    async def _without_asides(self) -> AsyncIterator[None]:
        """Inside, the engine may hold another state than the live one."""
        self._elsewhere = True
        try:
            async with self._aside:
                yield
        finally:
            self._elsewhere = False

    async def _generate(
        self,
        prompts: Sequence[Prompt],
        answers: int,
        sampling: Sampling,
        progress: Progress,
        *,
        base: bool = False,
        averaged: bool = False,
        ended: Ended | None = None,
        spoken: Spoken | None = None,
        aside: bool = False,
    ) -> Generated:
        said = _Said(spoken)

        def told(message: msgspec.Struct) -> None:
            if isinstance(message, GenerationProgress):
                progress(message.finished, message.total)
                if ended is not None and message.ended is not None:
                    ended(message.ended.place, message.ended.text)
            elif isinstance(message, TokenText):
                said.add(message)

        request = _request(prompts, answers, sampling, base=base, averaged=averaged)
        if aside:
            return expect(await self.host.call_aside(request, WORK_SECONDS, told), Generated)
        return await self._answer(request, told)

    async def _answer(self, request: Generate, told: Callable[[msgspec.Struct], None]) -> Generated:
        return await self._call(request, Generated, told)

    def _answering_with(self, checkpoint: Path) -> contextlib.AbstractAsyncContextManager[None]:
        """Inside, what answers has this checkpoint's adapter. UsageError where it can have none."""
        return self._swapped(checkpoint)

    async def _restore(self, folder: Path | None, *, weights_only: bool = False) -> None:
        if folder is not None and (folder / UNTRAINED).exists():
            folder = None
        self._ahead.forget()  # answers of an adapter that is none of this one's past
        request = Restore(folder=None if folder is None else str(folder), weights_only=weights_only)
        self.steps = (await self._call(request, Done)).steps
        if folder is not None and not weights_only:
            await asyncio.to_thread(self._ahead.restore, folder)

    @contextlib.asynccontextmanager
    async def _swapped(self, checkpoint: Path | None) -> AsyncIterator[None]:
        """Put another checkpoint in for a while. The live state waits in a temporary folder, optimiser and
        all."""
        with self._scratch("live-") as live:
            async with self._without_asides():
                await self._call(Save(folder=str(live)), Done)
                await asyncio.to_thread(self._ahead.save, live)
                try:
                    await self._restore(checkpoint, weights_only=True)
                    yield
                finally:
                    await self._put_back(live)

    @contextlib.contextmanager
    def _scratch(self, prefix: str) -> Iterator[Path]:
        """A folder for a while in which the engine may write."""
        with tempfile.TemporaryDirectory(prefix=prefix, dir=self.plan.scratch) as folder:
            yield Path(folder)

    async def _put_back(self, live: Path) -> None:
        """Where it fails the host ends: a restart from the newest checkpoint loses rounds, going on would train
        another state than the one that counts."""
        try:
            await self._restore(live)
        except CheckpointError as error:
            await self.host.stop()
            raise HostDied(
                "{reason} The engine was ended, as it no longer holds the state that trains.", reason=error.text
            ) from error

    async def _call(
        self, request: EngineRequest, kind: type[ReplyType], told: Callable[[msgspec.Struct], None] | None = None
    ) -> ReplyType:
        """The reply of that kind; `told` of what comes before it."""
        return expect(await self.host.call(request, timeout=WORK_SECONDS, on_progress=told), kind)


def _request(
    prompts: Sequence[Prompt], answers: int, sampling: Sampling, *, base: bool = False, averaged: bool = False
) -> Generate:
    return Generate(prompts=list(prompts), answers=answers, sampling=sampling, base=base, averaged=averaged)


class _Trained(msgspec.Struct, frozen=True):
    """Of the trainer's state what a loader has to know before."""

    dtype: Literal["", "float32", "bfloat16", "float16"] = ""


def trained_in(checkpoint: Path) -> str:
    """The number format in which a checkpoint's run computes on a processor; empty where it does not say."""
    try:
        return read_json(checkpoint / TRAINER_STATE, _Trained).dtype
    except (OSError, msgspec.DecodeError):
        return ""  # nothing was trained, or it cannot be read: who restores it says so


class _Said:
    """Puts the pieces of a single answer together, for whoever listens."""

    def __init__(self, spoken: Spoken | None) -> None:
        self._spoken = spoken
        self._text = ""
        self._tokens = 0

    def add(self, piece: TokenText) -> None:
        if piece.tokens <= self._tokens:
            self._text = ""  # a host that died begins anew
        self._text += piece.text
        self._tokens = piece.tokens
        if self._spoken is not None:
            self._spoken(self._text, self._tokens)


def is_on_card(loaded: Loaded | None) -> bool:
    """PyTorch says cuda:0, llama.cpp only gpu; Apple's chips have no memory of their own."""
    return loaded is not None and loaded.device.partition(":")[0] not in ("cpu", "mps")
