"""Engines whose generator is a process of its own or a server: with a trainer beside it, or without any.

`SplitEngine`: torch learns. The base is written as a GGUF file once and kept in the node's cache by its hash; after
each step the adapter goes over as a small file. Whatever answers (rounds, held-out scores, `ask`) is llama.cpp, so that
scores of one node can be compared. Only the trainer's state counts: checkpoints are what they are with torch alone.

`RemoteEngine`: torch learns here, and a server elsewhere answers. The adapter goes over as peft's two files, into a
folder that the server sees too (engines/remote/server.py copies them there).

`AnswerEngine`: nothing learns. Checkpoints hold the counters, and what was trained before, unchanged.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import AdapterRefused, HostError, ModelError, NotWritten, UsageError
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.records import Generated, Prompt, Sampling, StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.engines.protocols import (
    Done,
    Encode,
    EngineRequest,
    Generate,
    GgufWeights,
    Loaded,
    LoadGguf,
    Quantise,
    Save,
    WriteAdapter,
    WriteGguf,
)
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.models.files.gguf_file import check_gguf
from sapo_desktop.worker.hosts.engine import UNTRAINED, WORK_SECONDS, Engine, EnginePlan, is_on_card
from sapo_desktop.worker.hosts.generator import GeneratorHost
from sapo_desktop.worker.hosts.hosting import Host, ReplyType, expect
from sapo_desktop.worker.store.checkpoints import STATE
from sapo_desktop.worker.store.sealed import MANIFEST

_ASKED = [
    "What is 17 + 25?",
    "What is the capital of Italy?",
    "Spell the word 'stone' backwards.",
    "How many legs do three cats have?",
    "Which is larger, 9 or 12?",
    "Name a color of the rainbow.",
]


@dataclass(frozen=True)
class GgufBase:
    """The generator's base weights: where they are, and how they are made where they are not."""

    model: Path
    """The folder that they are made of."""
    file: Path
    weights: str
    """f32, f16, q8_0, q4_0 or q4_k_m."""
    written_here: bool = True
    """Into the cache; else it came as it is, and is nobody's to write anew."""

    @property
    def exact(self) -> bool:
        return self.weights == "f32"

    async def is_there(self) -> bool:
        """Whether it can be loaded; what a power cut left of one that was written here is none."""
        return self.file.exists() and (not self.written_here or await asyncio.to_thread(_is_whole, self.file))

    async def convert(self, trainer: Host, generator: Host, threads: int) -> None:
        """Have the model written, and made smaller where fewer bits are wanted. Kept files of other models are removed.

        Raises:
            ModelError: llama.cpp would compute another model.
        """
        if not self.written_here or await self.is_there():
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        for other in self.file.parent.iterdir():
            other.unlink()
        plain: GgufWeights = "F32" if self.exact else "F16"
        quantised = self.weights not in ("f32", "f16")
        written = self.file.with_suffix(".plain") if quantised else self.file
        write = WriteGguf(model=str(self.model), file=str(written), weights=plain)
        expect(await trainer.call(write, WORK_SECONDS), Done)
        if quantised:
            request = Quantise(source=str(written), target=str(self.file), weights=self.weights, threads=threads)
            expect(await generator.call(request, WORK_SECONDS), Done)
            written.unlink()


def _is_whole(file: Path) -> bool:
    try:
        check_gguf([file])
    except ModelError:
        return False
    return True


FindBase = Callable[[ModelFolder], GgufBase]


class SplitEngine(Engine):
    """torch learns in `host`, llama.cpp answers in `generator`."""

    answers_aside = answers_ahead = False

    def __init__(
        self,
        host: Host,
        plan: EnginePlan,
        generator: GeneratorHost,
        base: GgufBase | None,
        folder: Path,
        find_base: FindBase | None = None,
    ) -> None:
        """`base`: None where the generator has its own weights. `folder`: for the adapters that go over; emptied first.
        `find_base`: of another model."""
        super().__init__(host, plan)
        self.generator = generator
        self._base = base
        self._find_base = find_base
        self._folder = folder
        self._compared: Path | None = None
        """The base that was seen to answer as the trainer does."""
        self._stale = True
        """Whether the generator's adapter is not the trainer's newest."""
        self._averaged = False
        """Whether it is the average."""
        self._number = 0
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    @property
    def hosts(self) -> list[Host]:
        return [self.host, self.generator.host]

    @property
    def on_card(self) -> bool:
        return super().on_card or is_on_card(self.generator.loaded)

    @property
    def versions(self) -> dict[str, str]:
        made = self.generator.loaded
        return super().versions | (made.versions | {"generator weights": made.dtype} if made else {})

    @property
    def said(self) -> list[Text]:
        return [*super().said, *(self.generator.loaded.said if self.generator.loaded else ())]

    def use_model(self, model: ModelFolder, trainer: TrainerSettings) -> None:
        super().use_model(model, trainer)
        if self._find_base is not None:
            self._base = self._find_base(model)
            self.plan = dataclasses.replace(self.plan, gguf=self._base.file)

    async def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
        try:
            return await super().step(batch)
        finally:
            # Not before the lock was had: an answer that waited for it too would hand over what the step then changes.
            self._stale = True

    async def configure(self, *, learning_rate: float | None = None, threads: int | None = None) -> None:
        await super().configure(learning_rate=learning_rate, threads=threads)
        if threads is not None:
            await self.generator.configure(threads)

    async def _load(self, checkpoint: Path | None) -> Loaded:
        self._stale = True
        self.generator.use(None)
        if self._base is not None:
            await self.generator.change_file(self._base.file)
            await self.generator.revive()
            await self._base.convert(self.host, self.generator.host, self.plan.threads)
        loaded = await super()._load(checkpoint)
        self.generator.bound(self.plan.cache_bytes)
        await self.generator.start()
        if self._base is not None and self._compared != self._base.file:
            await self._compare(self._base)
            self._compared = self._base.file
        return loaded

    async def _compare(self, base: GgufBase) -> None:
        """Look whether llama.cpp predicts from its file what the trainer does. Few bits a weight change a close
        decision; another model changes all.

        Raises:
            ModelError: it does not; then a file that was written here is gone.
        """
        asked = [Prompt(question=question) for question in _ASKED]
        request = Generate(prompts=asked, answers=1, sampling=Sampling(max_tokens=1, greedy=True), base=True)
        expected = expect(await self.host.call(request, WORK_SECONDS), Generated).completions
        found = expect(await self.generator.ask(request), Generated).completions
        same = sum(mine[0].tokens == theirs[0].tokens for mine, theirs in zip(expected, found, strict=True))
        if same < len(_ASKED) / 2:
            if base.written_here:
                base.file.unlink(missing_ok=True)
            raise ModelError(
                "llama.cpp answers otherwise than PyTorch with {model}, so it is not used. Set generator to torch, and "
                "please report this.",
                model=base.model.name,
            )

    async def _restore(self, folder: Path | None, *, weights_only: bool = False) -> None:
        self._stale = True
        await super()._restore(folder, weights_only=weights_only)

    async def _answer(self, request: Generate, told: Callable[[msgspec.Struct], None]) -> Generated:
        if not request.base and (self._stale or self._averaged != request.averaged):
            await self._hand_over(None, averaged=request.averaged)
            self._stale, self._averaged = False, request.averaged
        return expect(await self.generator.ask(request, told), Generated)

    @contextlib.asynccontextmanager
    async def _answering_with(self, checkpoint: Path) -> AsyncIterator[None]:
        """The trainer's state is not touched for it."""
        await self._hand_over(checkpoint)
        self._stale = self._averaged = False  # for this one request
        try:
            yield
        finally:
            self._stale = True

    async def _hand_over(self, checkpoint: Path | None, *, averaged: bool = False) -> None:
        """Let the generator answer with the adapter as it is, its average, or as a checkpoint has it. NotWritten where
        it cannot be."""
        with disk_errors_as(NotWritten, sentence("The adapter could not be handed to the generator")):
            before = sorted(self._folder.iterdir())
            self._number += 1
            place = self._folder / f"adapter-{self._number:08d}"
            self.generator.use(await self._write_adapter(place, checkpoint, averaged))
            for old in before:
                if old.is_dir():
                    shutil.rmtree(old)
                else:
                    old.unlink()

    async def _write_adapter(self, place: Path, checkpoint: Path | None, averaged: bool) -> Path:
        """Write the adapter in the form that the generator takes; returns where it is."""
        file = place.with_suffix(".gguf")
        request = WriteAdapter(
            file=str(file), folder=None if checkpoint is None else str(checkpoint), averaged=averaged
        )
        await self._call(request, Done)
        return file


class AnswerEngine(Engine):
    """llama.cpp answers with the base model; nothing learns, and no torch is loaded."""

    trains = False
    answers_aside = answers_ahead = False
    can_change_model = False
    """A model in transformers' layout is written as a GGUF file before this engine is made."""

    def __init__(self, generator: GeneratorHost, plan: EnginePlan, folder: Path) -> None:
        """`folder`: keeps what was trained before the node only answered; emptied first."""
        super().__init__(generator.host, plan)
        self.generator = generator
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    @property
    def running(self) -> bool:
        return True  # it holds nothing that counts, and comes back by itself

    async def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
        raise HostError(sentence("A node that only answers was asked to learn."))

    async def save(self, folder: Path) -> None:
        """Put what was trained before into a checkpoint as it was, or a note that nothing was."""
        await asyncio.to_thread(_carry, self._folder, folder)

    async def restore(self, folder: Path | None, *, weights_only: bool = False) -> None:
        raise UsageError(sentence("This node only answers, with the base model: there is nothing to go back to."))

    async def configure(self, *, learning_rate: float | None = None, threads: int | None = None) -> None:
        if learning_rate is not None:
            self.plan.trainer = msgspec.structs.replace(self.plan.trainer, learning_rate=learning_rate)
        if threads is not None:
            await self.generator.configure(threads)
            self.plan.threads = threads

    async def export(self, format: str, to: Path, checkpoint: Path | None, *, live: bool) -> list[str]:
        raise UsageError(sentence("This node only answers: there is nothing to export but the model it was given."))

    async def restart(self, checkpoint: Path | None) -> Loaded:
        async with self.exclusive():
            return await self._load(checkpoint)

    async def _load(self, checkpoint: Path | None) -> Loaded:
        if checkpoint is not None and not any(self._folder.iterdir()):
            await asyncio.to_thread(_carry, checkpoint, self._folder)
        await self._fit()
        self.generator.bound(self.plan.cache_bytes)
        self.loaded = await self.generator.start()
        return self.loaded

    def _answering_with(self, checkpoint: Path) -> contextlib.AbstractAsyncContextManager[None]:
        raise UsageError(
            sentence("This node only answers, with the base model. To use a trained checkpoint set trainer to auto.")
        )

    async def _call(
        self, request: EngineRequest, kind: type[ReplyType], told: Callable[[msgspec.Struct], None] | None = None
    ) -> ReplyType:
        assert isinstance(request, Encode | Generate), "nothing else is asked of one that only answers"
        return expect(await self.generator.ask(request, told), kind)


def _carry(source: Path, target: Path) -> None:
    """Copy the trainer's files of a checkpoint; where there are none, leave a note. Raises NotWritten."""
    with disk_errors_as(NotWritten, sentence("What was trained before could not be copied")):
        files = [file for file in source.iterdir() if file.name not in (STATE, MANIFEST)]
        # What the trainer wrote are files; a link beside them is not its own, and leads to what is no part of it.
        files = [file for file in files if file.is_file() and not file.is_symlink()]
        for file in files:
            shutil.copyfile(file, target / file.name)
        if not files:
            (target / UNTRAINED).write_text("Rounds were answered here without training.\n", encoding="utf-8")


def generator_load(base: GgufBase, plan: EnginePlan) -> LoadGguf:
    """What the generator's host is asked to load."""
    return LoadGguf(
        model=str(base.file),
        threads=plan.threads,
        device=plan.device,
        cache_bytes=plan.cache_bytes,
        exact=base.exact,
    )


_ADAPTER = ("adapter_model.safetensors", "adapter_config.json")


class RemoteEngine(SplitEngine):
    """torch learns in `host`, a server answers behind `generator`."""

    can_change_model = False
    """A smaller model here would no longer be the server's."""

    def __init__(self, host: Host, plan: EnginePlan, generator: GeneratorHost, folder: Path) -> None:
        super().__init__(host, plan, generator, None, folder)

    async def stop(self) -> None:
        """As the base class; the server forgets the adapter first."""
        await self.generator.unload_adapter()
        await super().stop()

    async def close(self) -> None:
        """The same, for good."""
        await self.generator.unload_adapter()
        await super().close()

    async def _load(self, checkpoint: Path | None) -> Loaded:
        """As the base class; the first adapter goes over at once, so that a server that takes none is found out.

        Raises:
            AdapterRefused: that is so.
        """
        self.generator.use(None)
        server = await self.generator.start()  # before seconds are spent on the trainer
        if not server.learns:
            raise AdapterRefused(
                sentence(
                    "The server at remote_url takes no adapter while it runs, so nothing that is learned here "
                    "gets there. Empty remote_adapters, or use vLLM (docs/remote.md)."
                )
            )
        loaded = await super()._load(checkpoint)
        await self._hand_over(None)
        await self.generator.start()
        self._stale = self._averaged = False
        return loaded

    async def _write_adapter(self, place: Path, checkpoint: Path | None, averaged: bool) -> Path:
        place.mkdir()
        if checkpoint is None:
            await self._call(Save(folder=str(place), averaged=averaged), Done)
        else:
            # A checkpoint may go away while the server still answers with it.
            await asyncio.to_thread(_copy, checkpoint, place)
        return place


def _copy(source: Path, target: Path) -> None:
    for name in _ADAPTER:
        shutil.copyfile(source / name, target / name)
