"""The worker's side of the engine: typed calls, one at a time, with restarts.

A trainer learns, if anything is learned; it also answers, unless a generator does. Sequences that must not be
interrupted (load a checkpoint, evaluate, restore the live state) run under `exclusive()`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import CardUnusable, HostCancelled, HostDied, UsageError
from sapo_desktop.core.files.exports import refuse_used
from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.core.records import Generated, Prompt, Sampling, StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.engines.protocols import (
    Encode,
    Encoded,
    Generate,
    GenerationProgress,
    Loaded,
    TimeProducts,
    TokenText,
)
from sapo_desktop.learning.round import Ended, Progress, unwatched
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.system.processes import own_memory
from sapo_desktop.worker.hosts.generator import Generator, HostedGenerator
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.trainer import UNTRAINED, EnginePlan, Kept, OnProgress, Trainer, trained_in

Spoken = Callable[[str, int], None]
"""Called with the text of a single answer so far, and its number of tokens."""
Measure = Callable[[TimeProducts], Awaitable[ProductTimes]]
Fit = Callable[[EnginePlan, int, Measure], Awaitable[EnginePlan]]
"""Fits the plan to the free memory, given the hosts' bytes and a function that measures the processor's speed.
Raises TooBig (worker/hosts/loading.py)."""


class Engine:
    """What answers and learns on this node, in one or two processes."""

    def __init__(self, learner: Trainer | Kept, plan: EnginePlan, generator: HostedGenerator | None = None) -> None:
        """`learner`: Kept if nothing is learned. `generator`: None if the trainer answers."""
        self.plan = plan
        self.loaded: Loaded | None = None
        """From the trainer, otherwise from the generator."""
        self.card_refused: Text = ""
        """Why the processor computes although the card was chosen; empty: it does not."""
        self.fitting: Fit | None = None
        """Called before each load."""
        self._trainer = learner if isinstance(learner, Trainer) else None
        self._learner = learner
        self._generator = generator
        self._lock = asyncio.Lock()
        self._aside = asyncio.Lock()
        """Held while a question is answered during an operation under the other lock."""
        self._elsewhere = False
        """Whether the engine holds another state than the live one."""

    @property
    def trains(self) -> bool:
        """Whether anything is learned."""
        return self._trainer is not None

    @property
    def answers_ahead(self) -> bool:
        """Whether it can answer during and between steps, because torch answers."""
        return self._generator is None

    @property
    def can_change_model(self) -> bool:
        """Whether a smaller model can replace one that does not fit."""
        return self.trains and (self._generator is None or self._generator.can_change_model)

    @property
    def hosts(self) -> list[Host]:
        """Its processes."""
        return [part.host for part in (self._trainer, self._generator) if part is not None]

    @property
    def held(self) -> int:
        """Current memory of the processes in bytes."""
        return sum(own_memory(host.pid) for host in self.hosts if host.pid is not None)

    @property
    def running(self) -> bool:
        """Whether the state that counts is in memory. If not, only a restart from a checkpoint restores it. A
        generator has no such state and restarts by itself."""
        return self._trainer is None or self._trainer.host.pid is not None

    @property
    def on_card(self) -> bool:
        """Whether part of it was loaded into a graphics card's own memory."""
        return any(is_on_card(part.loaded) for part in (self._trainer, self._generator) if part is not None)

    @property
    def busy(self) -> bool:
        """Whether it is working on a request, which may take minutes."""
        return self._lock.locked()

    @property
    def steps(self) -> int:
        """Optimiser steps of the loaded adapter, as counted by its trainer."""
        return self._trainer.steps if self._trainer is not None else 0

    @property
    def versions(self) -> dict[str, str]:
        """Libraries that affect its numbers, and their versions."""
        versions = self.loaded.versions if self.loaded else {}
        generator = self._separate_generator()
        return versions | (generator.versions | {"generator weights": generator.dtype} if generator else {})

    @property
    def said(self) -> list[Text]:
        """What the user should know about the answering engine, in sentences."""
        refused = [self.card_refused] if self.card_refused else []
        generator = self._separate_generator()
        return [*refused, *(self.loaded.said if self.loaded else ()), *(generator.said if generator else ())]

    def _separate_generator(self) -> Loaded | None:
        """The engine that answers instead of a trainer."""
        return self._generator.loaded if self._generator is not None and self._trainer is not None else None

    async def stop(self) -> None:
        """End the processes."""
        await self._leave()
        await asyncio.gather(*(host.stop() for host in self.hosts))

    async def close(self) -> None:
        """End the processes permanently: a waiting request does not restart them."""
        await self._leave()
        await asyncio.gather(*(host.close() for host in self.hosts))

    async def _leave(self) -> None:
        if self._generator is not None:
            await self._generator.leave()

    @property
    def parameters(self) -> int:
        """Parameters of the base model; 0 before it is loaded."""
        return self.loaded.parameters if self.loaded else 0

    async def load(self, checkpoint: Path | None) -> Loaded:
        """Load the base and a checkpoint, if given."""
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
            gguf=self._generator.use_model(model) if self._generator is not None else self.plan.gguf,
        )

    async def restart(self, checkpoint: Path | None) -> Loaded:
        """Restart the trainer's host after it died, and restore a checkpoint."""
        async with self.exclusive(), self._without_asides():
            if self._trainer is not None:
                await self._trainer.host.restart()
            return await self._load(checkpoint)

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Lock the engine; inside, only this object's underscored calls may be used."""
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
        """Answer each prompt `answers` times; `ended` is occasionally called with a finished one."""
        request = _request(prompts, answers, sampling)
        if self._trainer is not None and (made := self._trainer.ahead.answers_to(request)) is not None:
            return made
        async with self.exclusive():
            return await self._answerer.answer(request, _passed_on(progress, ended))

    def answer_ahead(self, prompts: Sequence[Prompt], answers: int, sampling: Sampling) -> None:
        """Answer this during the next step with the adapter from before, if there are threads and memory for it. The
        next identical request gets the result."""
        if self._trainer is not None and self.answers_ahead and self.plan.overlap and self.plan.threads > 1:
            self._trainer.ahead.want(_request(prompts, answers, sampling))

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
        """Answer each prompt once with another state of the adapter; the live one is restored afterwards.

        `checkpoint` None is the base model, `live` the average of the learning adapter. `spoken` follows the answer to
        a single question. `urgent`: a person waits, so it is answered before the current work if possible.
        """
        plain = live or checkpoint is None or (checkpoint / UNTRAINED).exists()
        request = _request(prompts, 1, sampling, base=plain and not live, averaged=live)
        on_progress = _passed_on(progress, spoken=spoken)
        if urgent and plain and self.busy and self.answers_ahead and self._trainer is not None:
            async with self._aside:
                if not self._elsewhere and self.loaded is not None:
                    # If the interrupted work is cancelled or dies, this waits for its turn like everything else.
                    with contextlib.suppress(HostCancelled, HostDied):
                        return await self._trainer.answer_aside(request, on_progress)
        if plain or checkpoint is None:
            async with self.exclusive():
                return await self._answerer.answer(request, on_progress)
        self._learning()  # before the lock: an engine without checkpoints raises at once
        async with self.exclusive(), self._without_asides(), self._answerer.answering_with(checkpoint):
            return await self._answerer.answer(request, on_progress)

    async def encode(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> Encoded:
        """Ids of our own questions, ready to be answered, and of external answers, each with its end of sequence."""
        encoder: Generator = self._trainer or self._answerer
        async with self.exclusive():
            return await encoder.encode(Encode(texts=list(texts), end=True, questions=list(prompts)))

    async def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
        """Take a training step. UsageError if this node only answers."""
        trainer = self._learning()
        async with self.exclusive():
            try:
                return await trainer.step(batch)
            finally:
                self._adapter_changed()

    async def save(self, folder: Path) -> None:
        """Write a checkpoint's files: what is learned, or the earlier state if this node only answers."""
        if self._trainer is None:
            await self._learner.save(folder)
            return
        async with self.exclusive():
            await self._trainer.save(folder)

    async def restore(self, folder: Path | None, *, weights_only: bool = False) -> None:
        """Load a checkpoint; None: the untrained adapter. UsageError if this node only answers."""
        trainer = self._learning()
        async with self.exclusive():
            self._adapter_changed()
            await trainer.restore(folder, weights_only=weights_only)

    async def configure(self, *, learning_rate: float | None = None, threads: int | None = None) -> None:
        """Change what needs no reload."""
        if self._trainer is not None:
            async with self.exclusive():
                await self._trainer.configure(learning_rate, threads)
        if learning_rate is not None:
            self.plan.trainer = msgspec.structs.replace(self.plan.trainer, learning_rate=learning_rate)
        if threads is not None:
            self.plan.threads = threads
            if self._generator is not None:
                await self._generator.configure(threads)

    async def export(self, format: str, to: Path, checkpoint: Path | None, *, live: bool) -> list[str]:
        """Export weights for use elsewhere; returns the names of the files.

        Raises:
            UsageError: `to` is in use, or this node only answers.
            ModelError: this model cannot be written in this format.
            SapoError: the disk is full or read-only.
        """
        trainer = self._learning()
        to = to.expanduser().absolute()
        await asyncio.to_thread(refuse_used, to)
        async with self.exclusive(), contextlib.nullcontext() if live else self._without_asides():
            return await trainer.export(format, to, checkpoint, live=live)

    # -- inside ------------------------------------------------------------------------------------------------

    @property
    def _answerer(self) -> Generator:
        generator = self._generator or self._trainer
        assert generator is not None, "an engine without a trainer has a generator"
        return generator

    def _learning(self) -> Trainer:
        """The trainer. UsageError if there is none."""
        if self._trainer is None:
            raise UsageError(
                sentence(
                    "This node only answers, with the base model. Nothing is learned here, so there is nothing "
                    "to go back to, ask or export. Set trainer to auto and restart the node."
                )
            )
        return self._trainer

    def _adapter_changed(self) -> None:
        if self._generator is not None:
            self._generator.adapter_changed()

    async def _load(self, checkpoint: Path | None) -> Loaded:
        if checkpoint is not None and isinstance(self._learner, Kept):
            await self._learner.load(checkpoint)
        if self._generator is not None:
            await self._generator.prepare(self.plan)
        if self._trainer is None:
            await self._fit()
        else:
            await self._load_trainer(self._trainer, checkpoint)
        answering = await self._generator.begin(self.plan) if self._generator is not None else None
        self.loaded = self._trainer.loaded if self._trainer is not None else answering
        assert self.loaded is not None
        return self.loaded

    async def _load_trainer(self, trainer: Trainer, checkpoint: Path | None) -> None:
        if checkpoint is not None:
            self.plan = dataclasses.replace(self.plan, dtype=await asyncio.to_thread(trained_in, checkpoint))
        await self._fit()
        try:
            await trainer.load(self.plan, checkpoint)
        except CardUnusable as error:
            if self.plan.device != "auto":
                raise CardUnusable("{reason} Set device to auto to use the processor.", reason=error.text) from error
            self.card_refused = sentence("{reason} So the processor is used.", reason=error.text)
            choice = dataclasses.replace(self.plan.choice, device="cpu")
            self.plan = dataclasses.replace(self.plan, choice=choice, dtype="")  # the format applied to the card
            await self._load_trainer(trainer, checkpoint)

    async def _fit(self) -> None:
        """Check the free memory. Raises TooBig."""

        async def measure(request: TimeProducts) -> ProductTimes:
            return await self._learning().time_products(request)  # only the trainer's processor is measured

        if self.fitting is not None:
            self.plan = await self.fitting(self.plan, self.held, measure)

    @contextlib.asynccontextmanager
    async def _without_asides(self) -> AsyncIterator[None]:
        """Inside, the engine may hold another state than the live one."""
        self._elsewhere = True
        try:
            async with self._aside:
                yield
        finally:
            self._elsewhere = False


def _passed_on(progress: Progress, ended: Ended | None = None, spoken: Spoken | None = None) -> OnProgress:
    """Pass each of a host's progress messages to the callback that wants it."""
    said = _Said(spoken)

    def passed_on(message: msgspec.Struct) -> None:
        if isinstance(message, GenerationProgress):
            progress(message.finished, message.total)
            if ended is not None and message.ended is not None:
                ended(message.ended.place, message.ended.text)
        elif isinstance(message, TokenText):
            said.add(message)

    return passed_on


def _request(
    prompts: Sequence[Prompt], answers: int, sampling: Sampling, *, base: bool = False, averaged: bool = False
) -> Generate:
    return Generate(prompts=list(prompts), answers=answers, sampling=sampling, base=base, averaged=averaged)


class _Said:
    """Joins the pieces of a single answer for its listener."""

    def __init__(self, spoken: Spoken | None) -> None:
        self._spoken = spoken
        self._text = ""
        self._tokens = 0

    def add(self, piece: TokenText) -> None:
        if piece.tokens <= self._tokens:
            self._text = ""  # a restarted host begins again
        self._text += piece.text
        self._tokens = piece.tokens
        if self._spoken is not None:
            self._spoken(self._text, self._tokens)


def is_on_card(loaded: Loaded | None) -> bool:
    """PyTorch names it cuda:0, llama.cpp only gpu; Apple's chips have no memory of their own."""
    return loaded is not None and loaded.device.partition(":")[0] not in ("cpu", "mps")
