"""What a model needs and what a computer has, as records: made by models/, shown by whoever asks.

Sizes are bytes. Pure data; the arithmetic stands in models/fit/memory.py, the choice in models/fit/ways.py and fit.py.
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
"""Bytes of free memory that a node leaves to other programs: a browser opens without swapping."""
TINY_PARAMETERS = 50_000_000
"""Up to here a model is one like the starter, with settings of its own."""
_WORTH = 1.1
"""A format with fewer digits is for a gain that no noise of a measurement makes."""

Seconds = Annotated[float, msgspec.Meta(gt=0)]
Width = Annotated[int, msgspec.Meta(ge=1)]


class PassSeconds(Record, frozen=True):
    """Seconds of a product for each row and each column of it: with as many rows as are at once while answers are
    generated, and while they are learned from."""

    generating: Seconds
    learning: Seconds

    @property
    def round(self) -> float:
        """Of a token in a round: read once while generating; forwards and backwards, of a frozen matrix, in a step."""
        return self.generating + 2 * self.learning


class ProductTimes(Record, frozen=True):
    """What a processor was measured to take for products with a matrix of a model's width, in two number formats."""

    hidden: Width
    """Numbers of a row: the model's hidden size."""
    float32: PassSeconds
    bfloat16: PassSeconds

    @property
    def bfloat16_pays(self) -> bool:
        """Whether a round is worth computing in bfloat16."""
        return self.float32.round >= _WORTH * self.bfloat16.round


class Pace(Record, frozen=True):
    """What the rounds that were played last on this computer took, beside what was estimated of them."""

    parameters: int
    """Of the model that played them."""
    written: float
    """Tokens of an answer, on average."""
    slower: float
    """Times the estimate."""

    def holds_for(self, parameters: int) -> bool:
        """Whether such a model is asked, and answers, as that one did."""
        return (parameters <= TINY_PARAMETERS) == (self.parameters <= TINY_PARAMETERS)


def recommended_tokens(parameters: int) -> int:
    """The most tokens of an answer where the user names none: the starter's steps are short, and a chat model that
    reasons in words takes some four characters a token."""
    return 512 if parameters > TINY_PARAMETERS else 256


class Parts(Record, frozen=True):
    """What a node's engines hold at their peak, by kind."""

    weights: int = 0
    """Of the model: in a process's own memory, or files that are mapped and have to stay in memory."""
    adapter: int = 0
    """With the copy that a reset goes back to."""
    optimiser: int = 0
    gradients: int = 0
    activations: int = 0
    """What the backward pass needs again; while answering, the tensors of one layer."""
    logits: int = 0
    kv_cache: int = 0
    runtime: int = 0
    """Interpreter, libraries, their buffers."""
    reserve: int = 0
    """Left free on purpose."""

    @property
    def total(self) -> int:
        return sum(msgspec.structs.astuple(self))

    def __add__(self, other: Parts) -> Parts:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Parts(**dict(zip(self.__struct_fields__, (a + b for a, b in pairs), strict=True)))


class Way(Record, frozen=True):
    """One way to run one model here: who answers, who learns, how much at once, and what that takes."""

    model: str
    generator: GeneratorKind
    trainer: TrainerKind
    device: Device
    precision: str
    """Number format of the weights that torch learns with (float32, bfloat16); empty where nothing is trained."""
    weights: str
    """Number format of the weights that llama.cpp answers with (Q8_0, ...); empty where it does not answer."""
    batch: int
    """Answers under way at once."""
    micro_batch: int
    """Answers per forward and backward pass; 0 where nothing is trained."""
    answers: int
    """To each question (the group)."""
    prompt_tokens: int
    """Assumed of a question."""
    max_tokens: int
    """Longest answer."""
    lora_rank: int
    memory: Parts
    """In the computer's own memory."""
    device_memory: Parts = Parts()
    """On the graphics card; nothing where it has none or shares the computer's."""
    fits: bool = False
    why_not: Text = ""
    """With numbers, where it does not fit."""
    unmeasured: bool = False
    """The estimate of this way was never compared with a measured peak."""
    overlap: bool = False
    """Whether there is room to answer the next round beside this one's step."""
    recompute: bool = False
    """Whether the backward pass makes each layer's tensors again: less memory, half more time a step."""
    rounded: bool = False
    """Whether torch holds the matrices of the base's blocks in 8 bits."""
    round_seconds: float = 0.0
    """That a round takes, estimated (models/fit/pace.py); 0 where nothing learns here, or a server answers."""

    @property
    def estimate(self) -> int:
        """Bytes in all, the reserve not counted."""
        return self.memory.total - self.memory.reserve + self.device_memory.total - self.device_memory.reserve

    @property
    def refusal(self) -> Text:
        """`why_not`, with what to do: where a setting is in the way, that is said already."""
        if isinstance(self.why_not, Sentence) and "least" in self.why_not.values:
            return self.why_not
        return joined([self.why_not, sentence("Close other programs, or choose a smaller model.")])

    @property
    def settings(self) -> dict[str, str]:
        """What a node is set to that goes this way, as a person would type it: what was chosen for another model is
        none of this one's."""
        return {"model": self.model, "max_tokens": "0", "learning_rate": "0"}

    @property
    def words(self) -> Text:
        """Who answers, who learns, and where."""
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
    """The memory that there is to choose in."""

    memory: int
    memory_free: int
    device: Device
    device_name: str = ""
    device_memory: int = 0
    device_memory_free: int = 0
    card_allowed: int | None = None
    """Where that is less than what is free on the card: what the settings allow of it."""
    allowed: int | None = None
    """Of the memory, beside the reserve; None: all that is free."""
    unified: bool = False
    """The graphics card works in the computer's own memory."""
    unmeasured: bool = False
    """On such a machine no estimate was ever compared with a measured peak."""
    notes: tuple[Text, ...] = ()
    """What a reader should know: a container's limit, swap that does not count, a card in use."""


class Fit(Record, frozen=True):
    """What would run, and why nothing bigger."""

    available: Available
    chosen: Way
    ways: list[Way]
    """Every way that was looked at for the chosen model, from weak to strong."""
    bigger: Sequence[Text]
    """A sentence for each bigger model that does not fit, with numbers."""


class Estimate(Record, frozen=True, kw_only=True):
    """What a model takes on this computer."""

    parameters: int
    badge: Badge
    estimate: int
    """Of the best way that fits; of the least that learning takes, where the model can only answer or not even that."""
    free: int
    way: Text
    """In words: who answers, who learns; empty where nothing fits."""
    round_seconds: float = 0.0
    """Of a round, estimated (models/fit/pace.py); 0 where it cannot learn here."""


class ModelBadge(Estimate, frozen=True, kw_only=True):
    """A model of the catalogue as this computer sees it."""

    id: str
    name: str
    about: str
    licence: str
    gate: str
    repository: str
    here: str = ""
    """The setting `model` that names it where it is on this computer; empty where it is not."""
    unverified: list[str]

    @property
    def downloaded(self) -> bool:
        return bool(self.here)
