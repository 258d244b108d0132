"""The messages that an engine's host process speaks.

A generator turns prompts into completions; a trainer turns marked completions into a step on the adapter.
Where both are torch they are one object in one process with one copy of the base weights. No torch here: the
worker imports this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.core.records import Generated as Generated
from sapo_desktop.core.records import Prompt, Sampling, StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import Text

Progress = Callable[[msgspec.Struct], None]
GgufWeights = Literal["F32", "F16"]


# -- what the engine host is asked -------------------------------------------------------------------------


class EngineMessage(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Base of requests, replies and progress of the engine host."""


class Load(EngineMessage, frozen=True):
    """Load base weights and make a fresh adapter. Must come first; may come again (another model)."""

    model: str
    """Folder of the model in transformers' layout."""
    trainer: TrainerSettings
    threads: int
    device: str = "auto"
    dtype: str = "auto"
    rounded: bool = False
    """Whether the matrices of the base's blocks are held in 8 bits."""
    batch: int = 0
    """Most answers under way at once, as memory allows; 0: the engine's own limit."""
    card_memory: int = 0
    """Bytes of the graphics card's memory that tensors may take; 0: as much as there is."""


class TimeProducts(EngineMessage, frozen=True):
    """Measure how fast this processor computes at a model's width. Needs no `Load`; takes about a second."""

    hidden: int
    widest: int
    """Columns of the model's largest matrix: its feed-forward size."""


class ProductsTimed(EngineMessage, frozen=True):
    times: ProductTimes


class Loaded(EngineMessage, frozen=True):
    model: str
    parameters: int
    trainable: int
    device: str
    dtype: str
    vocabulary: int
    context: int
    versions: dict[str, str]
    said: list[Text] = []
    """What the user should know of it, in sentences."""
    learns: bool = True
    """Whether it can answer with what is learned; a generator that cannot is for answers alone."""
    learns_from_examples: bool = True
    """Whether showing it worked examples can help: not a model that was made to answer these questions in tags."""


class Generate(EngineMessage, frozen=True):
    """Answer each question `answers` times with the current adapter, or with the base where `base` is set. `averaged`:
    with the average of its recent selves, which is what a learner has to show."""

    prompts: list[Prompt]
    """The engine applies the model's chat template."""
    answers: int
    sampling: Sampling
    base: bool = False
    averaged: bool = False


class Encode(EngineMessage, frozen=True):
    """Turn external text into ids with special tokens as plain text; end-of-sequence is appended where
    asked. Questions are our own text and get the chat template."""

    texts: list[str]
    end: bool
    questions: list[Prompt] = []


class Encoded(EngineMessage, frozen=True):
    tokens: list[list[int] | None]
    """None for a text that contains one of the tokenizer's added-token strings."""
    prompts: list[list[int]] = []


class Step(EngineMessage, frozen=True):
    batch: list[TrainingSequence]
    beside: Generate | None = None
    """Answered meanwhile, with the adapter as it is before the step, where the engine can."""


class Stepped(EngineMessage, frozen=True):
    report: StepReport
    beside: Generated | None = None
    """What was answered meanwhile."""


class Save(EngineMessage, frozen=True):
    """Write all that `Restore` needs; the adapter's own file has the average, or what learns now."""

    folder: str
    averaged: bool = True


class Restore(EngineMessage, frozen=True):
    """Take over a checkpoint's files; None: back to the untrained adapter."""

    folder: str | None
    weights_only: bool = False
    """Go on from the checkpoint's averaged adapter, with a fresh optimiser (the guard)."""


class Configure(EngineMessage, frozen=True):
    """Change settings that need no reload: learning rate, micro-batch, threads."""

    learning_rate: float | None = None
    micro_batch: int | None = None
    threads: int | None = None


class Export(EngineMessage, frozen=True):
    """Write the averaged weights for use elsewhere: `peft` (adapter), `merged` (transformers folder) or
    `gguf`."""

    format: str
    folder: str


class WriteGguf(EngineMessage, frozen=True):
    """Write a model folder as a GGUF file, for a generator in another process. Needs no `Load`: the weights go through
    memory one tensor at a time."""

    model: str
    file: str
    weights: GgufWeights


class WriteAdapter(EngineMessage, frozen=True):
    """Write the adapter as it is now, its average, or that of a checkpoint's folder, as a GGUF file beside
    `WriteGguf`'s."""

    file: str
    folder: str | None = None
    averaged: bool = False


# -- what the host of a generator without a trainer is asked, beside Generate, Encode and Configure ----------


class LoadGguf(EngineMessage, frozen=True):
    """Load a GGUF file. Must come first; may come again (another model)."""

    model: str
    """Path of the file."""
    threads: int
    """At most; fewer are used while others need the processor."""
    device: str = "auto"
    cache_bytes: int = 0
    """Most that keys and values of all sequences may take; 0: no bound but the memory there is."""
    exact: bool = False
    """Keys and values in float32 and plain attention: with F32 weights the numbers of transformers."""


class UseAdapter(EngineMessage, frozen=True):
    """Answer with an adapter from now on: in a GGUF file, or for a server elsewhere in a folder of peft's. None: with
    the base."""

    file: str | None


class Quantise(EngineMessage, frozen=True):
    """Make a GGUF file with fewer bits a weight (`q8_0`, `q4_0`, `q4_k_m`) of an F16 or F32 one."""

    source: str
    target: str
    weights: str
    threads: int


class Done(EngineMessage, frozen=True):
    files: list[str] = []
    steps: int = 0
    """After `Restore`: optimiser steps behind the adapter that is in the engine now."""


class EndedAnswer(msgspec.Struct, frozen=True):
    """An answer by its place (prompt by prompt, answer by answer) and its text."""

    place: int
    text: str


class GenerationProgress(EngineMessage, frozen=True):
    """Sent a few times a second while generating."""

    finished: int
    total: int
    tokens: int
    ended: EndedAnswer | None = None
    """One of the answers that ended since the last of these messages: something to look at meanwhile."""


class TokenText(EngineMessage, frozen=True):
    """A piece of text of a single streamed answer (`ask`)."""

    text: str
    tokens: int = 0
    """Drawn so far."""


# -- what the host of a remote generator is asked, beside Generate, Encode and Configure ------------------------


class AdapterFolder(msgspec.Struct, frozen=True):
    """A folder that node and server both see under the same path."""

    path: str
    owner: str
    """Stands in the names of this node's adapters, the same at every start, so that it finds its own again."""


class LoadRemote(EngineMessage, frozen=True):
    """Connect to a server that has the model. Must come first; may come again (another server)."""

    url: str
    model: str
    """The server's name of it; empty: the one that the server has."""
    folder: str
    """The same model in transformers' layout on this machine, for its tokenizer."""
    key: str | None = None
    adapters: AdapterFolder | None = None
    """Without it nothing learned gets there."""
    seconds: float = 600.0
    """That one reply may take."""
    proxy: str = ""
    """What to ask through, as the setting of that name says it (core/network/proxies.py)."""


EngineWork = Generate | Encode | Step | Save | Restore | Configure | Export | WriteAdapter
"""What needs a `Load` before."""
EngineRequest = TimeProducts | Load | WriteGguf | EngineWork
EngineReply = ProductsTimed | Loaded | Generated | Encoded | Stepped | Done
EngineProgress = GenerationProgress | TokenText
GeneratorRequest = LoadGguf | Generate | Encode | UseAdapter | Configure | Quantise
GeneratorReply = Loaded | Generated | Encoded | Done
RemoteRequest = LoadRemote | Generate | Encode | UseAdapter | Configure
