"""What each way to run a model needs, with which engines and batch sizes, within the available memory.

`ways` lists all of them, `way_for` chooses one, `plan` is for the loader. If something does not fit, savings are tried
by cost: smaller micro-batches and fewer answers at once (time only), then shorter answers. On a card, layers are
recomputed if that allows larger micro-batches and saves time. A base in 8 bits (time, and a little precision) comes
before very small batches, and never together with shorter answers. The arithmetic is in models/fit/memory.py and
pace.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypedDict

import msgspec

from sapo_desktop.core.errors import TooBig
from sapo_desktop.core.fitting import (
    MEMORY_LEFT_FREE,
    Available,
    GeneratorKind,
    Parts,
    TrainerKind,
    Way,
    recommended_tokens,
)
from sapo_desktop.core.sentences import Sentence, Size, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import BITS_A_WEIGHT, Entry
from sapo_desktop.models.fit.formats import bfloat16_computes_faster
from sapo_desktop.models.fit.memory import (
    CUDA_RUNTIME,
    FLOAT32_PARAMETERS,
    TorchModel,
    Work,
    answering,
    both,
    learning,
    llama_answering,
    torch_width,
)
from sapo_desktop.models.fit.pace import round_seconds
from sapo_desktop.models.fit.room import OTHER_PROCESSES, available, places
from sapo_desktop.models.fit.shape import ModelShape
from sapo_desktop.system.hardware import Hardware, default_threads

PROMPT_TOKENS = 336
"""Assumed length of a question with template and instructions (engines/prompts.py); the catalogue's longest tasks
are shorter with common tokenizers."""
PROMPT_TOKENS_STARTER = 64
"""The starter's tokenizer has whole phrases of the questions."""
FEWEST_TOKENS = 32
MOST_AT_ONCE, MOST_AT_ONCE_LLAMA = 64, 128
"""Answers generated at once, as in engines/torch/service.py and engines/llama_cpp/service.py."""
FEW_AT_ONCE = 8
"""Answers; smaller batches take longer than recomputing layers or restoring matrices from 8 bits."""
SMALL_PARAMETERS = 1_000_000_000
"""From this size on, llama.cpp answers with 4 bits per weight, below with 8."""
_RESERVE_USED_UP = sentence("Memory is short: other programs' reserve is used up. A smaller model would leave it free.")
_PART_WORDS = {
    "weights": sentence("weights"),
    "adapter": sentence("adapter"),
    "optimiser": sentence("optimiser"),
    "gradients": sentence("gradients"),
    "activations": sentence("activations"),
    "logits": sentence("logits"),
    "kv_cache": sentence("kv cache"),
    "runtime": sentence("runtime"),
    "reserve": sentence("reserve"),
}
AS_IT_IS = "as it is"
"""Number format of a GGUF file that is used unchanged."""
_PRECISION: dict[Literal[2, 4], str] = {2: "bfloat16", 4: "float32"}
_WIDTHS: dict[str, Literal[2, 4]] = {name: width for width, name in _PRECISION.items()}


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model of the catalogue or of a folder, as needed here."""

    id: str
    shape: ModelShape
    architecture: str
    context: int
    gguf: dict[str, int] = {}
    """Bytes of its weights in llama.cpp, by number format: a GGUF file's size, plus repacked copies."""
    shipped: bool = False
    trainable: bool = True
    """False for a GGUF file that only llama.cpp supports."""

    @property
    def prompt_tokens(self) -> int:
        """Assumed tokens of a question."""
        return PROMPT_TOKENS_STARTER if self.shipped else PROMPT_TOKENS

    @staticmethod
    def of(entry: Entry) -> Model:
        sizes = {name: entry.gguf_bytes(name) for name in BITS_A_WEIGHT}
        return Model(
            id=entry.id,
            shape=entry.shape,
            architecture=entry.architecture,
            context=entry.context,
            gguf=sizes,
            shipped=entry.shipped,
        )

    @property
    def parameters(self) -> int:
        return self.shape.parameters(self.architecture)


def ways(
    model: Model,
    hardware: Hardware,
    settings: Settings,
    place: Available | None = None,
    reserve: int = MEMORY_LEFT_FREE,
) -> list[Way]:
    """Every way to run a model here (or in one of the places), from small to large, each with the largest batches
    that fit. Includes a remote server if the settings name one."""
    here = place or available(hardware, settings)
    torch = _torch(model, hardware, settings, here)
    plans: list[tuple[GeneratorKind, TrainerKind]] = [("llama.cpp", "none")]
    if model.trainable:
        plans += [("llama.cpp", "torch"), ("torch", "torch")]
    # A server answers in the tokens of a folder.
    if settings.remote_url and model.trainable and AS_IT_IS not in model.gguf:
        plans.append(("remote", "torch"))
    sketches = [_Sketch(model, torch, who, learner, settings, here, hardware) for who, learner in plans]
    for sketch in sketches:
        sketch.reserve = reserve
    return [_largest(sketch) for sketch in sketches]


def way_for(model: Model, hardware: Hardware, settings: Settings, *, llama_cpp: bool) -> Way:
    """The way to run this model here within the settings; if none fits, the smallest.

    `llama_cpp`: whether it is installed. A remote server answers only if the settings say so. The reserve for other
    programs is given up before learning is.
    """
    chosen = best(_open_ways(model, hardware, settings, llama_cpp))
    if chosen.trainer == "torch" and chosen.fits:
        return chosen
    pressed = best(_open_ways(model, hardware, settings, llama_cpp, reserve=0))
    return pressed if pressed.fits and pressed.trainer == "torch" else chosen


def _open_ways(
    model: Model, hardware: Hardware, settings: Settings, llama_cpp: bool, reserve: int = MEMORY_LEFT_FREE
) -> list[Way]:
    return [
        way
        for place in places(hardware, settings)
        for way in ways(model, hardware, settings, place, reserve)
        if way.generator in ((settings.generator,) if settings.generator != "auto" else ("torch", "llama.cpp"))
        and settings.trainer in ("auto", way.trainer)
        and (llama_cpp or way.generator != "llama.cpp")
        # The result of full training does not fit into an adapter.
        and not (settings.method == "full" and way.generator == "llama.cpp" and way.trainer == "torch")
    ]


def weights_of(model: Model) -> str:
    """Number format of the weights that llama.cpp answers with, by its GGUF name."""
    if AS_IT_IS in model.gguf:
        return AS_IT_IS
    return "Q8_0" if model.parameters < SMALL_PARAMETERS else "Q4_K_M"


def _torch(model: Model, hardware: Hardware, settings: Settings, here: Available, precision: str = "") -> TorchModel:
    if settings.method == "full":
        width = _WIDTHS["float32"]  # full training needs the precision
    elif precision in _WIDTHS and here.device == "cpu":  # a number format from a processor does not apply to a card
        width = _WIDTHS[precision]
    else:
        width = torch_width(model.parameters, here.device, bfloat16_computes_faster(hardware, model.shape.hidden))
    return TorchModel(shape=model.shape, architecture=model.architecture, width=width, device=here.device)


def to_be_measured(model: Model, hardware: Hardware, settings: Settings, device: str) -> bool:
    """Whether the number format depends on this processor's speed at this width, and that was not measured yet.

    `device`: as in `plan`.
    """
    here = available(hardware, msgspec.structs.replace(settings, device=device or settings.device))
    known = any(times.hidden == model.shape.hidden for times in hardware.products)
    return here.device == "cpu" and settings.method == "lora" and model.parameters >= FLOAT32_PARAMETERS and not known


def plan(
    model: Model,
    hardware: Hardware,
    settings: Settings,
    running: int = 0,
    generator: GeneratorKind = "torch",
    trainer: TrainerKind = "torch",
    device: str = "",
    precision: str = "",
) -> Way:
    """The batch sizes for the loader, for exactly these settings, up to the engine's limits.

    `device`: replaces the settings' choice. `precision`: the number format of the run to continue; empty: the best one
    here. `running`: bytes of the estimate that waiting processes already use. If the reserve leaves no room, it is
    given up, and `why_not` says so.

    Raises:
        TooBig: not even one short answer at a time fits.
    """
    hardware = msgspec.structs.replace(hardware, memory_free=hardware.memory_free + running)
    here = available(hardware, msgspec.structs.replace(settings, device=device or settings.device))
    torch = _torch(model, hardware, settings, here, precision)
    sketch = _Sketch(model, torch, generator, trainer, settings, here, hardware)
    sketch.most = MOST_AT_ONCE_LLAMA if generator == "llama.cpp" else MOST_AT_ONCE
    way = _largest(sketch)
    if way.fits:
        return way
    sketch.reserve = 0
    without = _largest(sketch)
    if not without.fits:
        raise TooBig("{name} does not fit: {reason}", name=model.id, reason=without.refusal)
    return msgspec.structs.replace(without, why_not=_RESERVE_USED_UP)


def best(found: Sequence[Way]) -> Way:
    """The largest of a model's ways that fits, preferring a card to the processor; if none fits, the one that needs
    least.

    A remote server is never preferred to an engine here. If torch learns, it answers too, unless a small card then only
    allows shorter answers. In one batch of a round it was faster than llama.cpp, and it stores the weights once
    (docs/generators.md).
    """
    found = [way for way in found if way.generator != "remote"] or found
    fitting = [way for way in found if way.fits]
    if not fitting:
        return min(found, key=lambda way: way.estimate)
    on_card = [way for way in fitting if way.device != "cpu" and way.trainer == "torch"]
    order = on_card or [way for way in fitting if way.trainer == "torch"] or fitting
    order = [way for way in order if way.max_tokens == max(each.max_tokens for each in order)]
    return next((way for way in order if way.generator == "torch"), order[-1])


class _Saving(NamedTuple):
    """A saving of memory that costs time."""

    recompute: bool = False
    rounded: bool = False
    fewest: int = 1
    """Minimum answers at once; before going lower, the next saving is tried."""


_PLAIN = _Saving()


class _Sketch:
    """A way before its batch sizes are known."""

    def __init__(
        self,
        model: Model,
        torch: TorchModel,
        generator: GeneratorKind,
        trainer: TrainerKind,
        settings: Settings,
        here: Available,
        hardware: Hardware,
    ) -> None:
        self.model, self.torch, self.here, self.hardware = model, torch, here, hardware
        self.generator, self.trainer = generator, trainer
        self.weights = weights_of(model) if generator == "llama.cpp" else ""
        self.answers, self.rank = settings.answers, settings.lora_rank
        tokens = settings.max_tokens or recommended_tokens(model.parameters)
        self.tokens = max(FEWEST_TOKENS, min(tokens, model.context - model.prompt_tokens))
        self.method = settings.method
        self.threads = settings.threads or default_threads(hardware.cores)
        self.may_overlap = (
            settings.overlap
            and (generator, trainer, torch.device) == ("torch", "torch", "cpu")
            and (torch.packed or settings.method == "lora")
            and self.threads > 1
        )
        """Whether answering and learning overlap if there is room; this was not measured on a card."""
        self.hands_over = trainer == "torch" and torch.device == "cuda" and not torch.packed
        """Whether a card waits for each micro-batch."""
        self.questions = settings.questions
        self.micro_batch = settings.micro_batch
        self.most = min(MOST_AT_ONCE, self.questions * self.answers)
        self.reserve = MEMORY_LEFT_FREE
        self.savings = [_PLAIN]
        """The possible savings, by cost."""
        if trainer == "torch" and not torch.packed:
            few = min(self.most, FEW_AT_ONCE)
            self.savings = [_Saving(fewest=few), _Saving(recompute=True)]
            if torch.device != "cpu" and torch.width == 2:
                self.savings[1:1] = [_Saving(True, rounded, few) for rounded in (False, True)]

    def held(self, saving: _Saving) -> TorchModel:
        """The model as torch then stores it."""
        return msgspec.structs.replace(self.torch, rounded=saving.rounded)

    def work(self, batch: int, micro_batch: int, tokens: int, saving: _Saving, overlap: bool = False) -> Work:
        return Work(
            prompts=max(1, min(self.questions, batch)),
            batch=batch,
            micro_batch=micro_batch,
            prompt_tokens=self.model.prompt_tokens,
            max_tokens=tokens,
            method=self.method,
            rank=self.rank,
            recompute=saving.recompute,
            overlap=overlap,
        )

    def answers_take_more(self, batch: int, micro_batch: int, tokens: int, saving: _Saving) -> bool:
        """Whether answering needs more of the memory that grows with the batch than learning does."""
        if self.trainer == "none":
            return True
        work, held = self.work(batch, micro_batch, tokens, saving), self.held(saving)
        if self.generator == "llama.cpp":
            answer = llama_answering(self.model.shape, 0, work)
        else:
            answer = answering(held, work)
        learn = learning(held, work)
        return answer.activations + answer.kv_cache + answer.logits > learn.activations + learn.logits

    def way(self, batch: int, micro_batch: int, tokens: int, saving: _Saving = _PLAIN, overlap: bool = False) -> Way:
        work = self.work(batch, micro_batch, tokens, saving, overlap)
        memory, on_device = self._memory(work, self.held(saving))
        learns = self.trainer == "torch"
        way = Way(
            model=self.model.id,
            generator=self.generator,
            trainer=self.trainer,
            device=self.torch.device if learns else "cpu",
            precision=_PRECISION[self.torch.width] if learns else "",
            weights=self.weights,
            batch=batch,
            micro_batch=micro_batch if learns else 0,
            recompute=saving.recompute,
            rounded=saving.rounded,
            overlap=overlap,
            answers=self.answers,
            prompt_tokens=self.model.prompt_tokens,
            max_tokens=tokens,
            lora_rank=self.rank,
            memory=memory,
            device_memory=on_device,
            unmeasured=self.here.unmeasured or self.generator == "remote" or (learns and self._unmeasured_torch),
        )
        return msgspec.structs.replace(way, round_seconds=self.seconds(way))

    def seconds(self, way: Way) -> float:
        """Seconds of a round."""
        return round_seconds(way, self.model.shape, self.hardware, self.questions, self.threads)

    @property
    def _unmeasured_torch(self) -> bool:
        return self.torch.device != "cpu" or self.torch.width == 2

    def _memory(self, work: Work, held: TorchModel) -> tuple[Parts, Parts]:
        """The memory used on the computer and on the card."""
        model, reserve = self.model, Parts(reserve=self.reserve)
        own, card = reserve, Parts()
        if self.generator == "llama.cpp":
            cache_width = 4 if self.weights == "F32" else 2
            own = own + llama_answering(model.shape, model.gguf[self.weights], work, cache_width=cache_width)
        if self.trainer == "torch":
            trainer = both(held, work) if self.generator == "torch" else learning(held, work)
            if self.torch.device == "cuda":
                own, card = own + Parts(runtime=CUDA_RUNTIME), trainer
            else:
                own = own + trainer
        return own, card


def _largest(sketch: _Sketch) -> Way:
    """The way with the largest batches that fit, or the smallest if even those do not."""
    tokens, tried = sketch.tokens, []
    while True:
        for saving in sketch.savings:
            if saving.rounded and tokens < sketch.tokens:
                continue
            way = _with_less_at_once(sketch, tokens, saving)
            tried.append(way)
            if _lacking(way, sketch.here) is None:
                if sketch.hands_over and not saving.recompute:
                    return msgspec.structs.replace(_sooner(sketch, way, saving), fits=True)
                # Options that save time are used only if there is room left.
                at_once = (way.batch, way.micro_batch, tokens)
                faster = [sketch.way(*at_once, overlap=True)] if sketch.may_overlap else []
                faster.append(sketch.way(*at_once))
                fitting = (one for one in faster if _lacking(one, sketch.here) is None)
                return msgspec.structs.replace(next(fitting, way), fits=True)
        if tokens <= FEWEST_TOKENS:
            least = min(tried, key=lambda way: way.estimate)
            return msgspec.structs.replace(least, why_not=_lacking(least, sketch.here))
        tokens = max(FEWEST_TOKENS, tokens // 2)


def _sooner(sketch: _Sketch, way: Way, saving: _Saving) -> Way:
    """This fitting way, or the same with recomputed layers if its rounds are shorter."""
    again = _with_less_at_once(sketch, way.max_tokens, saving._replace(recompute=True))
    fitting = [one for one in (way, again) if _lacking(one, sketch.here) is None]

    def seconds(one: Way) -> float:
        here = msgspec.structs.replace(one, generator="torch")  # learning takes the same time whichever engine answers
        return sketch.seconds(here)

    return min(fitting, key=seconds)


def _with_less_at_once(sketch: _Sketch, tokens: int, saving: _Saving) -> Way:
    """The way with the largest batches that fit, or the smallest if even those do not."""
    batch, micro = sketch.most, sketch.micro_batch
    way = sketch.way(batch, micro, tokens, saving)
    while _lacking(way, sketch.here) and (batch > saving.fewest or micro > 1):
        # Halve the batch of the part that needs more memory.
        if batch > saving.fewest and (micro == 1 or sketch.answers_take_more(batch, micro, tokens, saving)):
            batch = max(saving.fewest, batch // 2)
        else:
            micro = max(1, micro // 2)
        way = sketch.way(batch, micro, tokens, saving)
    return way


def _lacking(way: Way, here: Available) -> Text | None:
    """Why a way does not fit, with numbers; None if it fits."""
    if here.card_allowed is not None and way.device_memory.total > here.card_allowed:
        return sentence(
            "it {way} with no less than {needed} of {card} ({largest}, {second}), but card_memory_most "
            "leaves {free}. Set card_memory_most to {least} GB or more, choose a smaller model, or use "
            "the processor.",
            card=here.device_name,
            least=_gigabytes(way.device_memory.total),
            **_needs(way, way.device_memory, here.card_allowed),
        )
    if way.device_memory.total > here.device_memory_free:
        return sentence(
            "it {way} with no less than {needed} of {card} ({largest}, {second}), but only {free} are free.",
            card=here.device_name,
            **_needs(way, way.device_memory, here.device_memory_free),
        )
    if way.memory.total > here.memory_free:
        return sentence(
            "it {way} with no less than {needed} ({largest}, {second}), but only {free} are free.",
            **_needs(way, way.memory, here.memory_free),
        )
    engine = msgspec.structs.replace(way.memory, reserve=0)
    if here.allowed is not None and engine.total > here.allowed:
        return sentence(
            "it {way} with no less than {needed} ({largest}, {second}), but memory_most leaves {free}. "
            "Set memory_most to {least} GB or more, choose a smaller model, or let it only answer.",
            least=_gigabytes(engine.total + OTHER_PROCESSES),
            **_needs(way, engine, here.allowed),
        )
    return None


def _gigabytes(size: int) -> str:
    """The size in gigabytes as a setting accepts it, rounded up."""
    return f"{math.ceil(size / 1e8) / 10:.1f}"


class _Needs(TypedDict):
    """The numbers in the sentences below."""

    way: Text
    needed: Size
    largest: Sentence
    second: Sentence
    free: Size


def _needs(way: Way, parts: Parts, free: int) -> _Needs:
    """What a way needs, its two largest parts, and what is available."""
    sizes = sorted(((name, getattr(parts, name)) for name in parts.__struct_fields__), key=lambda part: -part[1])
    largest, second = (
        sentence("{part} {size}", part=_PART_WORDS[name], size=Size(bytes=size)) for name, size in sizes[:2]
    )
    return _Needs(
        way=way.words,
        needed=Size(bytes=parts.total),
        largest=largest,
        second=second,
        free=Size(bytes=free),
    )
