"""Which model runs here, with which engines, how much at once: one calculation for command line, window and loader.

`fit` chooses for a user; `ways` says for one model what every way would take; `plan` is the loader's question, for the
model that is there already. Where something does not fit, less is tried in the order of what it costs: smaller micro-
batches and fewer answers at once (time only), then shorter answers, then a smaller model. The arithmetic is
models/fit/memory.py's; looking at the machine is system/hardware.py's, anew before each load. How long a
round takes is models/fit/pace.py's estimate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypedDict

import msgspec

from sapo_desktop.core.errors import TooBig
from sapo_desktop.core.fitting import (
    Available,
    Badge,
    Device,
    Fit,
    GeneratorKind,
    ModelBadge,
    Parts,
    TrainerKind,
    Way,
    recommended_tokens,
)
from sapo_desktop.core.sentences import Sentence, Size, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import BITS_A_WEIGHT, Entry, ModelCatalogue, Tier
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
from sapo_desktop.models.fit.shape import ModelShape
from sapo_desktop.system.hardware import Gpu, Hardware

PROMPT_TOKENS = 336
"""Assumed of a question with its template and what the model is told before (engines/prompts.py); the longest of the
catalogue's tasks stay below it with common tokenizers."""
PROMPT_TOKENS_STARTER = 64
"""Its tokenizer has whole phrases of the questions."""
FEWEST_TOKENS = 32
MOST_AT_ONCE, MOST_AT_ONCE_LLAMA = 64, 128
"""Answers under way together, as engines/torch/service.py and engines/llama_cpp/service.py have it."""
FEW_AT_ONCE = 8
"""Answers; fewer under way take longer than a step that computes its layers twice."""
SMALL_PARAMETERS = 1_000_000_000
"""From here on llama.cpp answers with 4 bits a weight, below with 8."""
TOKENS_A_PASS = 2048
"""On a processor a large model learns no faster from more at once."""
ASSUMED_FREE, ASSUMED_FREE_CARD = 0.75, 0.9
"""Of a machine that is only described: what its system and other programs leave."""
CARD_IN_USE = 0.85
"""With less than this free, somebody computes on the card or plays a game."""
TIGHT = 0.9
"""Of the free memory: above it a model is badged tight."""
_TOO_SLOW = sentence("a processor teaches a model of that size too slowly")
_LARGER_TIER = sentence("it is meant for a larger tier")
BESIDE_ENGINE = 450_000_000
"""Bytes that worker and examiners hold beside an engine, of what all of the node's processes may."""
_RESERVE_USED_UP = sentence(
    "Memory is short: the reserve for other programs is used up. A smaller model leaves it to them."
)
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
_DEFAULTS = Settings()
_PRECISION: dict[Literal[2, 4], str] = {2: "bfloat16", 4: "float32"}
_WIDTHS: dict[str, Literal[2, 4]] = {name: width for width, name in _PRECISION.items()}


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """What this module needs to know of a model: one of the catalogue, or of a folder."""

    id: str
    shape: ModelShape
    architecture: str
    context: int
    gguf: dict[str, int] = {}
    """Bytes of its weights in llama.cpp, by number format: a GGUF file's size, and what is held beside it."""
    shipped: bool = False
    trainable: bool = True
    """False of a GGUF file."""

    @property
    def prompt_tokens(self) -> int:
        """Assumed of a question."""
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


def described(ram: float | None, vram: float | None, here: Hardware) -> Hardware:
    """The hardware here, with so much memory instead (GiB); what it has free is assumed."""
    changed = here
    if ram is not None:
        total = int(ram * 2**30)
        changed = msgspec.structs.replace(
            changed, memory=total, memory_free=int(ASSUMED_FREE * total), memory_limited=False, swap=0
        )
    if vram is not None:
        total = int(vram * 2**30)
        card = Gpu(f"a card of {vram:g} GiB", total, int(ASSUMED_FREE_CARD * total))
        changed = msgspec.structs.replace(changed, gpus=[card] if total else [], unified=False)
    return changed


def available(hardware: Hardware, settings: Settings) -> Available:
    """The memory to choose in. One card only: the one with the most free memory."""
    notes: list[Text] = []
    if hardware.memory_limited:
        notes.append(sentence("A container grants {size} of memory.", size=Size(bytes=hardware.memory)))
    if hardware.idle_gpus:
        idle = ", ".join(hardware.idle_gpus)
        notes.append(sentence("{names}: not used, this installation computes on the processor only.", names=idle))
    if hardware.swap:
        swap = Size(bytes=hardware.swap)
        notes.append(sentence("{size} of swap are not counted: a model in swap stands still.", size=swap))
    cards = sorted(hardware.gpus, key=lambda card: card.free, reverse=True)
    if cards and settings.device in ("auto", "cuda"):
        card = cards[0]
        if len(cards) > 1:
            notes.append(sentence("Of {count} cards the one with the most free memory is used.", count=len(cards)))
        if card.free < CARD_IN_USE * card.memory:
            taken, whole = Size(bytes=card.memory - card.free), Size(bytes=card.memory)
            notes.append(sentence("The card is in use: {taken} of its {size} are taken.", taken=taken, size=whole))
        most = int(settings.card_memory_most * 1e9) or card.free
        return Available(
            memory=hardware.memory,
            memory_free=hardware.memory_free,
            device="cuda",
            device_name=card.name,
            device_memory=card.memory,
            device_memory_free=min(card.free, most),
            card_allowed=most if most < card.free else None,
            allowed=_allowed(settings),
            unmeasured=True,
            notes=tuple(notes),
        )
    if hardware.unified:
        notes.append(sentence("Graphics and processor share one memory: it is counted once."))
    return Available(
        memory=hardware.memory,
        memory_free=hardware.memory_free,
        device="mps" if hardware.unified and settings.device == "mps" else "cpu",
        allowed=_allowed(settings),
        unified=hardware.unified,
        unmeasured=hardware.unified or not hardware.system.startswith("Linux"),
        notes=tuple(notes),
    )


def _allowed(settings: Settings) -> int | None:
    """Bytes for the engine, of all that the node's processes may hold."""
    return max(0, int(settings.memory_most * 1e9) - BESIDE_ENGINE) if settings.memory_most else None


def fit(hardware: Hardware, catalogue: ModelCatalogue, settings: Settings, *, llama_cpp: bool = True) -> Fit:
    """Choose model, engines, and how much at once; say why nothing bigger. `llama_cpp`: whether it can be used."""
    bigger: list[Text] = []
    places = _places(hardware, settings)
    for entry in sorted(catalogue.models, key=lambda entry: -entry.exact_parameters):
        looks = [_Look(entry, catalogue, hardware, settings, here, llama_cpp) for here in places]
        for look in looks:
            if look.chosen:
                return Fit(available=look.here, chosen=best(look.ways), ways=look.ways, bigger=bigger)
        bigger.append(looks[0].why_not)
    return _answer_only(catalogue, hardware, settings, places[-1], llama_cpp, bigger)


def _places(hardware: Hardware, settings: Settings) -> list[Available]:
    """Where torch may compute here, the stronger first: a card that is too small, or in use, leaves the processor."""
    here = available(hardware, settings)
    if here.device == "cuda" and settings.device == "auto":
        return [here, available(hardware, msgspec.structs.replace(settings, device="cpu"))]
    return [here]


class _Look:
    """One model of the catalogue in one place."""

    def __init__(
        self,
        entry: Entry,
        catalogue: ModelCatalogue,
        hardware: Hardware,
        settings: Settings,
        here: Available,
        llama_cpp: bool,
    ) -> None:
        tier = catalogue.recommended(entry, *_tier_key(here))
        self.entry, self.here = entry, here
        found = ways(Model.of(entry), tier, hardware, settings, here)
        self.ways = [way for way in found if llama_cpp or way.generator != "llama.cpp"]
        self.trains = any(way.fits and way.trainer == "torch" and way.generator != "remote" for way in self.ways)
        # A model that is left with stumps of answers learns less than a smaller one with whole ones.
        self.whole = entry.shipped or any(
            way.fits and way.trainer == "torch" and way.generator != "remote" and way.max_tokens >= tier.max_tokens // 2
            for way in self.ways
        )
        self._picked = entry.id in catalogue.picks(*_tier_key(here))

    @property
    def chosen(self) -> bool:
        """Whether it is what `fit` chooses, where no larger one is."""
        return self.trains and self.whole and self._picked and self.entry.gate == "open"

    @property
    def why_not(self) -> Text:
        """Why it is not, in a sentence."""
        entry = self.entry
        if entry.gate != "open":
            return sentence(
                "{name} is never chosen by itself: {licence} has to be accepted first.",
                name=entry.name,
                licence=entry.licence,
            )
        if not self.trains:
            return sentence("{name}: {reason}", name=entry.name, reason=_least_training(self.ways).why_not)
        way = best(self.ways)
        if not self.whole:
            return sentence(
                "{name} could learn here ({size}), but only with answers of {tokens} tokens; smaller models get "
                "whole ones.",
                name=entry.name,
                size=Size(bytes=way.estimate),
                tokens=way.max_tokens,
            )
        return sentence(
            "{name} could learn here ({size}), but is not recommended: {reason}. You can choose it all the same: {id}.",
            name=entry.name,
            size=Size(bytes=way.estimate),
            reason=_TOO_SLOW if self.here.device == "cpu" else _LARGER_TIER,
            id=entry.id,
        )


def best(found: Sequence[Way]) -> Way:
    """Of a model's ways the strongest that fits, on a card before the processor; without any, the one that needs least.

    A server elsewhere is never chosen before an engine here. Where torch learns it answers too: in one batch of a round
    it was measured to be faster than llama.cpp, and it holds the weights once (docs/generators.md).
    """
    found = [way for way in found if way.generator != "remote"] or found
    fitting = [way for way in found if way.fits]
    if not fitting:
        return min(found, key=lambda way: way.estimate)
    on_card = [way for way in fitting if way.device != "cpu" and way.trainer == "torch"]
    order = on_card or [way for way in fitting if way.trainer == "torch"] or fitting
    order = [way for way in order if way.max_tokens == max(each.max_tokens for each in order)]
    return next((way for way in order if way.generator == "torch"), order[-1])


def badges(
    hardware: Hardware,
    catalogue: ModelCatalogue,
    settings: Settings,
    downloaded: frozenset[str],
    *,
    llama_cpp: bool = True,
) -> list[ModelBadge]:
    """Every model of the catalogue as this computer sees it."""
    made = []
    for entry in catalogue.models:
        looks = [_Look(entry, catalogue, hardware, settings, here, llama_cpp) for here in _places(hardware, settings)]
        look = next((look for look in looks if look.trains), looks[-1])
        found, here = look.ways, look.here
        way = best(found)
        needed = way if way.fits and way.trainer == "torch" else _least_training(found)
        made.append(
            ModelBadge(
                id=entry.id,
                name=entry.name,
                about=entry.about,
                parameters=entry.exact_parameters,
                licence=entry.licence,
                gate=entry.gate,
                repository=entry.repository,
                downloaded=entry.shipped or entry.id in downloaded,
                badge=_badge(needed, here),
                estimate=needed.estimate,
                free=_free(needed.device, here),
                way=way.words if way.fits else "",
                unverified=list(entry.unverified),
                round_seconds=expected_round(needed, entry, hardware, settings) if needed.fits else 0.0,
            )
        )
    return made


def expected_round(way: Way, entry: Entry, hardware: Hardware, settings: Settings) -> float:
    """Seconds that a round of this model may take here, by as many threads as a node takes."""
    threads = settings.threads or max(1, hardware.cores // 2)
    return round_seconds(way, entry.shape, settings.questions, threads)


def ways(model: Model, tier: Tier, hardware: Hardware, settings: Settings, place: Available | None = None) -> list[Way]:
    """Every way to run a model here (or in one of the places that there are here), from weak to strong, each with as
    much at once as fits."""
    here = place or available(hardware, settings)
    torch = _torch(model, hardware, settings, here)
    plans: list[tuple[GeneratorKind, TrainerKind]] = [("llama.cpp", "none")]
    if model.trainable:
        plans += [("llama.cpp", "torch"), ("torch", "torch"), ("remote", "torch")]
    return [_largest(_Sketch(model, torch, generator, trainer, tier, settings, here)) for generator, trainer in plans]


def way_for(model: Model, hardware: Hardware, settings: Settings, *, llama_cpp: bool) -> Way:
    """Of the ways that the settings leave open the one to run this model by here; where none fits, the least.

    `llama_cpp`: whether it is installed. A server elsewhere answers only where the settings say so. The reserve for
    other programs is given up before learning is.
    """
    chosen = best(_open_ways(model, hardware, settings, llama_cpp))
    if chosen.trainer == "torch" and chosen.fits:
        return chosen
    without = msgspec.structs.replace(settings, memory_reserve=0.0)
    pressed = best(_open_ways(model, hardware, without, llama_cpp))
    return pressed if pressed.fits and pressed.trainer == "torch" else chosen


def _open_ways(model: Model, hardware: Hardware, settings: Settings, llama_cpp: bool) -> list[Way]:
    return [
        way
        for place in _places(hardware, settings)
        for way in ways(model, _as_set(settings, model), hardware, settings, place)
        if way.generator in ((settings.generator,) if settings.generator != "auto" else ("torch", "llama.cpp"))
        and settings.trainer in ("auto", way.trainer)
        and (llama_cpp or way.generator != "llama.cpp")
        # What full training changes does not fit into an adapter.
        and not (settings.method == "full" and way.generator == "llama.cpp" and way.trainer == "torch")
    ]


def weights_of(model: Model, settings: Settings) -> str:
    """Number format of the weights that llama.cpp answers with, as GGUF names it."""
    if not model.trainable:
        return next(iter(model.gguf))
    if settings.generator_weights != "auto":
        return settings.generator_weights.upper()
    return "Q8_0" if model.parameters < SMALL_PARAMETERS else "Q4_K_M"


def _torch(model: Model, hardware: Hardware, settings: Settings, here: Available, precision: str = "") -> TorchModel:
    if settings.method == "full":
        width = _WIDTHS["float32"]  # what all weights learn is lost in fewer digits
    elif precision in _WIDTHS and here.device == "cpu":  # what a run began with on a processor binds no card
        width = _WIDTHS[precision]
    else:
        width = torch_width(model.parameters, here.device, bfloat16_computes_faster(hardware, model.shape.hidden))
    return TorchModel(shape=model.shape, architecture=model.architecture, width=width, device=here.device)


def to_be_measured(model: Model, hardware: Hardware, settings: Settings, device: str) -> bool:
    """Whether the number format hangs on how fast this processor computes at this width, and nobody has measured it.

    `device`: as of `plan`.
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
    """What the loader may ask for at once: for just these settings, up to what the engine takes.

    `device`: where, instead of what the settings say. `precision`: the number format in which the run computes that is
    gone on with; empty: the one that is best here. `running`: bytes of the estimate that are taken already, by the
    processes that wait for the model. Where the reserve leaves no room it is given up, and the way says so by
    `why_not`.

    Raises:
        TooBig: not even one short answer at a time fits.
    """
    hardware = msgspec.structs.replace(hardware, memory_free=hardware.memory_free + running)
    here = available(hardware, msgspec.structs.replace(settings, device=device or settings.device))
    torch = _torch(model, hardware, settings, here, precision)
    sketch = _Sketch(model, torch, generator, trainer, _as_set(settings, model), settings, here)
    sketch.most = MOST_AT_ONCE_LLAMA if generator == "llama.cpp" else MOST_AT_ONCE
    way = _largest(sketch)
    if way.fits:
        return way
    sketch.reserve = 0
    without = _largest(sketch)
    if not without.fits:
        raise TooBig(sentence("{name} does not fit: {reason}", name=model.id, reason=without.refusal))
    return msgspec.structs.replace(without, why_not=_RESERVE_USED_UP)


def _as_set(settings: Settings, model: Model) -> Tier:
    """The settings as they are, where no tier recommends others."""
    return Tier(
        device="any",
        from_gigabytes=0,
        models=[],
        picks=[],
        lora_rank=settings.lora_rank,
        learning_rate=settings.learning_rate or 1e-5,
        answers=settings.answers,
        max_tokens=settings.max_tokens or recommended_tokens(model.parameters),
    )


class _Sketch:
    """A way before it is known how much of it fits."""

    def __init__(
        self,
        model: Model,
        torch: TorchModel,
        generator: GeneratorKind,
        trainer: TrainerKind,
        tier: Tier,
        settings: Settings,
        here: Available,
    ) -> None:
        self.model, self.torch, self.here = model, torch, here
        self.generator, self.trainer = generator, trainer
        self.weights = weights_of(model, settings) if generator == "llama.cpp" else ""
        # A setting that was changed is a wish; one that was not gives way to what is recommended for such a machine.
        self.answers = _wish(settings.answers, _DEFAULTS.answers, tier.answers)
        tokens = _wish(settings.max_tokens, _DEFAULTS.max_tokens, tier.max_tokens)
        self.tokens = max(FEWEST_TOKENS, min(tokens, model.context - model.prompt_tokens))
        self.rank = _wish(settings.lora_rank, _DEFAULTS.lora_rank, tier.lora_rank)
        self.rate = settings.learning_rate or tier.learning_rate
        self.method = settings.method
        self.overlap = settings.overlap
        self.questions = settings.questions
        self.micro_batch = settings.micro_batch
        if torch.device == "cpu" and not torch.written_out:
            self.micro_batch = max(1, min(self.micro_batch, TOKENS_A_PASS // (model.prompt_tokens + self.tokens)))
        self.most = min(MOST_AT_ONCE, self.questions * self.answers)
        self.reserve = int(settings.memory_reserve * 1e9)
        self.can_recompute = trainer == "torch" and torch.written_out and not torch.packed

    def work(self, batch: int, micro_batch: int, tokens: int, recompute: bool = False) -> Work:
        return Work(
            prompts=max(1, min(self.questions, batch)),
            batch=batch,
            micro_batch=micro_batch,
            prompt_tokens=self.model.prompt_tokens,
            max_tokens=tokens,
            method=self.method,
            rank=self.rank,
            recompute=recompute,
            overlap=self.overlap,
        )

    def answers_take_more(self, batch: int, micro_batch: int, tokens: int, recompute: bool) -> bool:
        """Whether answering takes more than learning of what grows with how much is done at once."""
        if self.trainer == "none":
            return True
        work = self.work(batch, micro_batch, tokens, recompute)
        if self.generator == "llama.cpp":
            answer = llama_answering(self.model.shape, 0, work)
        else:
            answer = answering(self.torch, work)
        learn = learning(self.torch, work)
        return answer.activations + answer.kv_cache + answer.logits > learn.activations + learn.logits

    def way(self, batch: int, micro_batch: int, tokens: int, recompute: bool = False) -> Way:
        work = self.work(batch, micro_batch, tokens, recompute)
        memory, on_device = self._memory(work)
        learns = self.trainer == "torch"
        return Way(
            model=self.model.id,
            generator=self.generator,
            trainer=self.trainer,
            device=self.torch.device if learns else "cpu",
            precision=_PRECISION[self.torch.width] if learns else "",
            weights=self.weights,
            batch=batch,
            micro_batch=micro_batch if learns else 0,
            recompute=recompute,
            answers=self.answers,
            prompt_tokens=self.model.prompt_tokens,
            max_tokens=tokens,
            lora_rank=self.rank,
            learning_rate=self.rate,
            memory=memory,
            device_memory=on_device,
            unmeasured=self.here.unmeasured or self.generator == "remote" or (learns and self._unmeasured_torch),
        )

    @property
    def _unmeasured_torch(self) -> bool:
        return self.torch.device != "cpu" or self.torch.width == 2

    def _memory(self, work: Work) -> tuple[Parts, Parts]:
        """What the way takes of the computer's memory, and of the card's."""
        model, reserve = self.model, Parts(reserve=self.reserve)
        own, card = reserve, Parts()
        if self.generator == "llama.cpp":
            cache_width = 4 if self.weights == "F32" else 2
            own = own + llama_answering(model.shape, model.gguf[self.weights], work, cache_width=cache_width)
        if self.trainer == "torch":
            trainer = both(self.torch, work) if self.generator == "torch" else learning(self.torch, work)
            if self.torch.device == "cuda":
                own, card = own + Parts(runtime=CUDA_RUNTIME), trainer
            else:
                own = own + trainer
        return own, card


def _largest(sketch: _Sketch) -> Way:
    """The way with as much at once as fits, or with the least, where that is still too much."""
    tokens = sketch.tokens
    while True:
        for recompute in (False, True) if sketch.can_recompute else (False,):
            way = _with_less_at_once(sketch, tokens, recompute)
            lacking = _lacking(way, sketch.here)
            if lacking is None:
                plain = sketch.way(way.batch, way.micro_batch, tokens)
                return msgspec.structs.replace(way if _lacking(plain, sketch.here) else plain, fits=True)
        if tokens <= FEWEST_TOKENS:
            return msgspec.structs.replace(way, why_not=lacking)
        tokens = max(FEWEST_TOKENS, tokens // 2)


def _with_less_at_once(sketch: _Sketch, tokens: int, recompute: bool) -> Way:
    """The way with as much at once as fits; with the least, where that is still too much."""
    # To compute layers twice costs less than to answer a few questions at a time.
    fewest = 1 if recompute or not sketch.can_recompute else min(sketch.most, FEW_AT_ONCE)
    batch, micro = sketch.most, sketch.micro_batch
    way = sketch.way(batch, micro, tokens, recompute)
    while _lacking(way, sketch.here) and (batch > fewest or micro > 1):
        # Whatever takes more of what can be had in smaller pieces is halved.
        if batch > fewest and (micro == 1 or sketch.answers_take_more(batch, micro, tokens, recompute)):
            batch = max(fewest, batch // 2)
        else:
            micro = max(1, micro // 2)
        way = sketch.way(batch, micro, tokens, recompute)
    return way


def _lacking(way: Way, here: Available) -> Text | None:
    """Why a way does not fit, with numbers; None where it does."""
    if here.card_allowed is not None and way.device_memory.total > here.card_allowed:
        return sentence(
            "it {way} in no less than {needed} of {card} ({largest}, {second}); card_memory_most leaves it {free}. "
            "Set card_memory_most to {least} GB or more, choose a smaller model, or let the processor compute.",
            card=here.device_name,
            least=_gigabytes(way.device_memory.total),
            **_needs(way, way.device_memory, here.card_allowed),
        )
    if way.device_memory.total > here.device_memory_free:
        return sentence(
            "it {way} in no less than {needed} of {card} ({largest}, {second}); {free} are free.",
            card=here.device_name,
            **_needs(way, way.device_memory, here.device_memory_free),
        )
    if way.memory.total > here.memory_free:
        return sentence(
            "it {way} in no less than {needed} ({largest}, {second}); {free} are free.",
            **_needs(way, way.memory, here.memory_free),
        )
    engine = msgspec.structs.replace(way.memory, reserve=0)
    if here.allowed is not None and engine.total > here.allowed:
        return sentence(
            "it {way} in no less than {needed} ({largest}, {second}); memory_most leaves it {free}. "
            "Set memory_most to {least} GB or more, choose a smaller model, or have it answer only.",
            least=_gigabytes(engine.total + BESIDE_ENGINE),
            **_needs(way, engine, here.allowed),
        )
    return None


def _gigabytes(size: int) -> str:
    """As a setting takes it: no less than that."""
    return f"{math.ceil(size / 1e8) / 10:.1f}"


class _Needs(TypedDict):
    """What the sentences below name."""

    way: Text
    needed: Size
    largest: Sentence
    second: Sentence
    free: Size


def _needs(way: Way, parts: Parts, free: int) -> _Needs:
    """What a way takes, its two largest parts, and what there is."""
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


def _answer_only(
    catalogue: ModelCatalogue,
    hardware: Hardware,
    settings: Settings,
    here: Available,
    llama_cpp: bool,
    bigger: list[Text],
) -> Fit:
    """Nothing can learn here: the largest that can answer, else the starter as it is, which then says what it lacks."""
    for entry in sorted(catalogue.models, key=lambda entry: -entry.exact_parameters):
        found = _Look(entry, catalogue, hardware, settings, here, llama_cpp).ways
        if (entry.gate == "open" and any(way.fits for way in found if way.generator != "remote")) or entry.shipped:
            return Fit(available=here, chosen=best(found), ways=found, bigger=bigger)
    raise AssertionError("the catalogue has a shipped model")


def _least_training(found: Sequence[Way]) -> Way:
    """Of the ways in which something learns here the one that takes least."""
    learn = [way for way in found if way.trainer == "torch" and way.generator != "remote"]
    return min(learn, key=lambda way: way.estimate)


def _badge(way: Way, here: Available) -> Badge:
    if not way.fits:
        return "too big"
    free = _free(way.device, here)
    used = (way.device_memory if way.device == "cuda" else way.memory).total
    return "tight" if used > TIGHT * free else "fits"


def _free(device: Device, here: Available) -> int:
    return here.device_memory_free if device == "cuda" else here.memory_free


def _tier_key(here: Available) -> tuple[Literal["cpu", "gpu"], int]:
    """By which device and how much memory settings are recommended."""
    if here.device == "cuda":
        return "gpu", here.device_memory
    return ("gpu", here.memory) if here.device == "mps" else ("cpu", here.memory)


def _wish(value: int, default: int, recommended: int) -> int:
    return recommended if value == default else value
