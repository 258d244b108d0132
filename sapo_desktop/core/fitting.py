"""What a model needs and what a computer has, as records that models/ makes and clients show.

Sizes are bytes. Pure data; the arithmetic is in models/fit/memory.py, the choice in models/fit/ways.py and fit.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Sentence, Text, joined, sentence

GeneratorKind = Literal["llama.cpp", "torch", "remote"]
TrainerKind = Literal["torch", "none"]
Device = Literal["cpu", "cuda", "mps"]
Badge = Literal["fits", "tight", "too big"]
MEMORY_LEFT_FREE = 500_000_000
"""Bytes of free memory left to other programs: enough for a browser to start without swapping."""
TINY_PARAMETERS = 50_000_000
"""Models up to this size count as tiny, like the starter, and have settings of their own."""
_WORTH = 1.1
"""The lower-precision format must be faster by more than the noise of a measurement."""

Seconds = Annotated[float, msgspec.Meta(gt=0)]
Width = Annotated[int, msgspec.Meta(ge=1)]


class PassSeconds(Record, frozen=True):
    """Seconds of a matrix product per row and column, with the number of rows used in generation and in training."""

    generating: Seconds
    learning: Seconds

    @property
    def round(self) -> float:
        """Seconds per token of a round: one pass to generate, a forward and a backward pass through a frozen matrix
        to train."""
        return self.generating + 2 * self.learning


class ProductTimes(Record, frozen=True):
    """Measured times of this processor for products with a matrix of a model's width, in two number formats."""

    hidden: Width
    """The model's hidden size."""
    float32: PassSeconds
    bfloat16: PassSeconds

    @property
    def bfloat16_pays(self) -> bool:
        """Whether a round is faster in bfloat16 by enough to use it."""
        return self.float32.round >= _WORTH * self.bfloat16.round


class Pace(Record, frozen=True):
    """What the last rounds on this computer took, compared with their estimate."""

    parameters: int
    """Parameters of the model that played them."""
    written: float
    """Mean number of tokens in an answer."""
    slower: float
    """Measured time divided by the estimate."""

    def holds_for(self, parameters: int) -> bool:
        """Whether these rounds are comparable: the other model gets similar prompts and answers at similar length."""
        return (parameters <= TINY_PARAMETERS) == (self.parameters <= TINY_PARAMETERS)


def recommended_tokens(parameters: int) -> int:
    """The recommended limit of tokens in an answer if the user sets none. The starter's steps are short; a chat
    model that reasons in words has about four characters per token."""
    return 512 if parameters > TINY_PARAMETERS else 256


class Parts(Record, frozen=True):
    """What a node's engines hold at their peak, by kind."""

    weights: int = 0
    """The model, in a process's own memory or as mapped files that must stay in memory."""
    adapter: int = 0
    """Including the copy that a reset restores."""
    optimiser: int = 0
    gradients: int = 0
    activations: int = 0
    """What the backward pass needs again; while answering, the tensors of one layer."""
    logits: int = 0
    kv_cache: int = 0
    runtime: int = 0
    """Interpreter, libraries, their buffers."""
    reserve: int = 0
    """Deliberately left free."""

    @property
    def total(self) -> int:
        return sum(msgspec.structs.astuple(self))

    def __add__(self, other: Parts) -> Parts:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Parts(**dict(zip(self.__struct_fields__, (a + b for a, b in pairs), strict=True)))


class Way(Record, frozen=True):
    """One way to run one model here: which engines answer and learn, batch sizes, and the memory needed."""

    model: str
    generator: GeneratorKind
    trainer: TrainerKind
    device: Device
    precision: str
    """Number format of the weights that torch trains (float32, bfloat16); empty if nothing is trained."""
    weights: str
    """Number format of the weights that llama.cpp answers with (Q8_0, ...); empty if it does not answer."""
    batch: int
    """Answers generated at once."""
    micro_batch: int
    """Answers per forward and backward pass; 0 if nothing is trained."""
    answers: int
    """Answers to each question (the group size)."""
    prompt_tokens: int
    """Assumed tokens of a question."""
    max_tokens: int
    """Maximum tokens of an answer."""
    lora_rank: int
    memory: Parts
    """In the computer's main memory."""
    device_memory: Parts = Parts()
    """On the graphics card; empty if there is none or it shares the computer's memory."""
    fits: bool = False
    why_not: Text = ""
    """Why it does not fit, with numbers."""
    unmeasured: bool = False
    """This kind of estimate was never compared with a measured peak."""
    overlap: bool = False
    """Whether there is memory to answer the next round during the training step."""
    recompute: bool = False
    """Whether the backward pass recomputes each layer's tensors: less memory, 1.5 times the time per step."""
    rounded: bool = False
    """Whether torch stores the matrices of the base's blocks in 8 bits."""
    round_seconds: float = 0.0
    """Estimated seconds of a round (models/fit/pace.py); 0 if nothing learns here, or a server answers."""

    @property
    def estimate(self) -> int:
        """Total bytes without the reserve."""
        return self.memory.total - self.memory.reserve + self.device_memory.total - self.device_memory.reserve

    @property
    def refusal(self) -> Text:
        """`why_not`, with advice, unless it already names the setting that is in the way."""
        if isinstance(self.why_not, Sentence) and "least" in self.why_not.values:
            return self.why_not
        return joined([self.why_not, sentence("Close other programs, or choose a smaller model.")])

    @property
    def settings(self) -> dict[str, str]:
        """The settings that select this way, as a person would type them. Choices made for another model are reset."""
        return {"model": self.model, "max_tokens": "0", "learning_rate": "0"}

    @property
    def words(self) -> Text:
        """Which engines answer and learn, and where, in words."""
        match self.generator, self.trainer:
            case _, "none":
                return sentence("answers with llama.cpp ({weights}), learns nothing", weights=self.weights)
            case "torch", _:
                text = sentence("answers and learns with PyTorch")
            case "remote", _:
                text = sentence("answers through a server, learns with PyTorch")
            case _:
                text = sentence("answers with llama.cpp ({weights}), learns with PyTorch", weights=self.weights)
        if self.device == "cuda":
            text = sentence("{way} on the graphics card", way=text)
        elif self.device == "mps":
            text = sentence("{way} on the Mac's GPU", way=text)
        if self.rounded:
            return sentence("{way} ({precision}, its matrices in 8 bits)", way=text, precision=self.precision)
        return sentence("{way} ({precision})", way=text, precision=self.precision)


class Available(Record, frozen=True):
    """The memory available to the choice."""

    memory: int
    memory_free: int
    device: Device
    device_name: str = ""
    device_memory: int = 0
    device_memory_free: int = 0
    card_allowed: int | None = None
    """The settings' limit for the card, if it is lower than what is free."""
    allowed: int | None = None
    """Allowed main memory besides the reserve; None: all that is free."""
    unified: bool = False
    """The graphics card uses the computer's main memory."""
    unmeasured: bool = False
    """No estimate was ever compared with a measured peak on such a computer."""
    notes: tuple[Text, ...] = ()
    """Remarks for the reader: a container's limit, swap that does not count, a card in use."""


class Fit(Record, frozen=True):
    """What would run, and why nothing larger."""

    available: Available
    chosen: Way
    ways: list[Way]
    """Every way that was considered for the chosen model, from small to large."""
    bigger: Sequence[Text]
    """A sentence for each larger model that does not fit, with numbers."""


class Estimate(Record, frozen=True, kw_only=True):
    """What a model needs on this computer."""

    parameters: int
    badge: Badge
    estimate: int
    """Bytes of the best way that fits; if it cannot learn here, of the smallest way to learn."""
    free: int
    way: Text
    """Which engines answer and learn, in words; empty if nothing fits."""
    round_seconds: float = 0.0
    """Estimated seconds of a round (models/fit/pace.py); 0 if it cannot learn here."""


class ModelBadge(Estimate, frozen=True, kw_only=True):
    """A model of the catalogue as it applies to this computer."""

    id: str
    name: str
    about: str
    licence: str
    gate: str
    repository: str
    here: str = ""
    """The value of the setting `model` if it is on this computer; otherwise empty."""
    unverified: list[str]

    @property
    def downloaded(self) -> bool:
        return bool(self.here)
