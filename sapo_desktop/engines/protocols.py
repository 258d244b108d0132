"""The messages of an engine's host process.

A generator turns prompts into completions; a trainer turns scored completions into a training step. If both use torch,
they are one object in one process with one copy of the base weights. No torch here, because the worker imports this.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.link.service import Progress as Progress
from sapo_desktop.core.records import Generated as Generated
from sapo_desktop.core.records import Prompt, Sampling, StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import Text

GgufWeights = Literal["F32", "F16"]


# -- replies -----------------------------------------------------------------------------------------------


class Loaded(Message, frozen=True):
    model: str
    parameters: int
    trainable: int
    device: str
    dtype: str
    vocabulary: int
    context: int
    versions: dict[str, str]
    said: list[Text] = msgspec.field(default_factory=list)
    """Remarks for the user, in sentences."""
    learns: bool = True
    """Whether it can answer with what was learned; otherwise it only answers with the base."""
    learns_from_examples: bool = True
    """Whether worked examples can help: not with a model made to answer these questions in tags."""


class ProductsTimed(Message, frozen=True):
    times: ProductTimes


class Encoded(Message, frozen=True):
    tokens: list[list[int] | None]
    """None for a text that contains one of the tokenizer's added-token strings."""
    prompts: list[list[int]] = msgspec.field(default_factory=list)


class Stepped(Message, frozen=True):
    report: StepReport
    beside: Generated | None = None
    """The answers given at the same time."""


class Done(Message, frozen=True):
    files: list[str] = msgspec.field(default_factory=list)
    steps: int = 0
    """After `Restore`: optimiser steps behind the loaded adapter."""


# -- requests to the engine host -----------------------------------------------------------------------------


class Load(Request[Loaded], frozen=True, kw_only=True):
    """Load base weights and make a fresh adapter. Must come first; may be repeated for another model."""

    model: str
    """Folder of the model in transformers' layout."""
    trainer: TrainerSettings
    threads: int
    device: str = "auto"
    dtype: str = "auto"
    rounded: bool = False
    """Whether the matrices of the base's blocks are stored in 8 bits."""
    batch: int = 0
    """Maximum answers at once, as memory allows; 0: the engine's own limit."""
    card_memory: int = 0
    """Maximum bytes of the graphics card's memory for tensors; 0: all of it."""


class TimeProducts(Request[ProductsTimed], frozen=True, kw_only=True):
    """Measure this processor's speed at a model's width. Needs no `Load`; takes about a second."""

    hidden: int
    widest: int
    """Columns of the model's largest matrix: its feed-forward size."""


class Generate(Request[Generated], frozen=True, kw_only=True):
    """Answer each question `answers` times with the current adapter, or with the base if `base` is set. `averaged`:
    with the average of the recent adapters, which represents what was learned."""

    prompts: list[Prompt]
    """The engine applies the model's chat template."""
    answers: int
    sampling: Sampling
    base: bool = False
    averaged: bool = False


class Encode(Request[Encoded], frozen=True, kw_only=True):
    """Turn external text into ids, with special tokens as plain text; optionally append the end of the sequence.
    (Questions are our own text and get the chat template.)"""

    texts: list[str]
    end: bool
    questions: list[Prompt] = msgspec.field(default_factory=list)


class Step(Request[Stepped], frozen=True, kw_only=True):
    batch: list[TrainingSequence]
    beside: Generate | None = None
    """Answered at the same time with the adapter from before the step, if the engine can."""


class Save(Request[Done], frozen=True, kw_only=True):
    """Write everything that `Restore` needs. The adapter's own file has the average, or the live weights."""

    folder: str
    averaged: bool = True


class Restore(Request[Done], frozen=True, kw_only=True):
    """Load a checkpoint's files; None: return to the untrained adapter."""

    folder: str | None
    weights_only: bool = False
    """Continue from the checkpoint's averaged adapter, with a fresh optimiser (for the guard)."""


class Configure(Request[Done], frozen=True, kw_only=True):
    """Change settings that need no reload: learning rate, micro-batch, threads."""

    learning_rate: float | None = None
    micro_batch: int | None = None
    threads: int | None = None


class Export(Request[Done], frozen=True, kw_only=True):
    """Export the averaged weights: `peft` (adapter), `merged` (transformers folder) or `gguf`."""

    format: str
    folder: str


class WriteGguf(Request[Done], frozen=True, kw_only=True):
    """Write a model folder as a GGUF file, for a generator in another process. Needs no `Load`: the weights pass
    through memory one tensor at a time."""

    model: str
    file: str
    weights: GgufWeights


class WriteAdapter(Request[Done], frozen=True, kw_only=True):
    """Write the current adapter, its average, or that of a checkpoint's folder, as a GGUF file that fits
    `WriteGguf`'s."""

    file: str
    folder: str | None = None
    averaged: bool = False


# -- requests to a generator without a trainer, besides Generate, Encode and Configure -------------------------


class LoadGguf(Request[Loaded], frozen=True, kw_only=True):
    """Load a GGUF file. Must come first; may be repeated for another model."""

    model: str
    """Path of the file."""
    threads: int
    """Maximum; fewer are used while others need the processor."""
    device: str = "auto"
    cache_bytes: int = 0
    """Maximum bytes for keys and values of all sequences; 0: limited only by memory."""
    exact: bool = False
    """Float32 cache and plain attention: with F32 weights, the numbers equal transformers'."""


class UseAdapter(Request[Done], frozen=True, kw_only=True):
    """Answer with an adapter from now on: a GGUF file, or for a remote server a folder in peft's layout. None: the
    base."""

    file: str | None


class Quantise(Request[Done], frozen=True, kw_only=True):
    """Make a GGUF file with fewer bits per weight (`q8_0`, `q4_0`, `q4_k_m`) from an F16 or F32 file."""

    source: str
    target: str
    weights: str
    threads: int


class EndedAnswer(msgspec.Struct, frozen=True):
    """An answer's place (by prompt, then answer) and its text."""

    place: int
    text: str


class GenerationProgress(Message, frozen=True):
    """Sent a few times a second while generating."""

    finished: int
    total: int
    tokens: int
    ended: EndedAnswer | None = None
    """One of the answers that ended since the previous message, as something to show."""


class TokenText(Message, frozen=True):
    """A piece of text of a single streamed answer (`ask`)."""

    text: str
    tokens: int = 0
    """Tokens drawn so far."""


# -- requests to a remote generator, besides Generate, Encode and Configure ------------------------------------


class AdapterFolder(msgspec.Struct, frozen=True):
    """A folder that node and server see under the same path."""

    path: str
    owner: str
    """Part of the names of this node's adapters, constant across starts, so that it recognises its own."""


class LoadRemote(Request[Loaded], frozen=True, kw_only=True):
    """Connect to a server that has the model. Must come first; may be repeated for another server."""

    url: str
    model: str
    """The model's name on the server; empty: the server's only model."""
    folder: str
    """The same model in transformers' layout on this computer, for its tokenizer."""
    key: str | None = None
    adapters: AdapterFolder | None = None
    """Without it, the server never gets what was learned."""
    seconds: float = 600.0
    """Time limit of one reply."""
    proxy: str = ""
    """The proxy, in the form of the setting `proxy` (core/network/proxies.py)."""


EngineWork = Generate | Encode | Step | Save | Restore | Configure | Export | WriteAdapter
"""Requests that need a `Load` first."""
EngineRequest = TimeProducts | Load | WriteGguf | EngineWork
EngineProgress = GenerationProgress | TokenText
GeneratorRequest = LoadGguf | Generate | Encode | UseAdapter | Configure | Quantise
RemoteRequest = LoadRemote | Generate | Encode | UseAdapter | Configure
