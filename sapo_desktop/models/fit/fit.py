"""Which model runs here: one choice for command line and window, and an estimate for every other model.

`fit` chooses the largest model of the catalogue that learns here with short enough rounds, and explains why nothing
larger; `badges` is the list to choose from. models/fit/ways.py calculates what a model needs, models/fit/pace.py how
long a round takes.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sapo_desktop.core.fitting import Available, Badge, Device, Estimate, Fit, ModelBadge, Way, recommended_tokens
from sapo_desktop.core.models import Installed
from sapo_desktop.core.sentences import Size, Span, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import Entry, ModelCatalogue
from sapo_desktop.models.fit.room import places
from sapo_desktop.models.fit.ways import Model, best, ways
from sapo_desktop.system.hardware import Hardware

TIGHT = 0.9
"""Share of the free memory above which a model is shown as tight."""
WHOLE_TOKENS = 128
"""Tokens of an answer: a model without room for these learns less than a smaller one with room."""


def fit(hardware: Hardware, catalogue: ModelCatalogue, settings: Settings, *, llama_cpp: bool = True) -> Fit:
    """Choose model, engines and batch sizes, and explain why nothing larger. `llama_cpp`: whether it is available."""
    bigger: list[Text] = []
    rooms = places(hardware, settings)
    for entry in sorted(catalogue.models, key=lambda entry: -entry.exact_parameters):
        looks = [_Look(entry, hardware, settings, here, llama_cpp) for here in rooms]
        for look in looks:
            if look.chosen:
                return Fit(available=look.here, chosen=best(look.ways), ways=look.ways, bigger=bigger)
        bigger.append(looks[0].why_not)
    return _answer_only(catalogue, hardware, settings, rooms[-1], llama_cpp, bigger)


class _Look:
    """One model of the catalogue in one place."""

    def __init__(self, entry: Entry, hardware: Hardware, settings: Settings, here: Available, llama_cpp: bool) -> None:
        self.entry, self.here, self._most = entry, here, settings.round_most
        self.ways = _ways(Model.of(entry), hardware, settings, here, llama_cpp)
        learning = [way for way in _learning(self.ways) if way.fits]
        self.trains = bool(learning)
        enough = min(WHOLE_TOKENS, settings.max_tokens or recommended_tokens(entry.exact_parameters))
        self.whole = entry.shipped or any(way.max_tokens >= enough for way in learning)

    @property
    def chosen(self) -> bool:
        """Whether `fit` chooses it unless a larger one fits. The shipped model counts however slow it is."""
        soon = self.entry.shipped or best(self.ways).round_seconds <= self._most
        return self.trains and self.whole and soon and self.entry.gate == "open"

    @property
    def why_not(self) -> Text:
        """Why it is not chosen, in a sentence."""
        entry = self.entry
        if entry.gate != "open":
            return sentence(
                "{name} is never chosen automatically: you must accept {licence} first.",
                name=entry.name,
                licence=entry.licence,
            )
        if not self.trains:
            return sentence("{name}: {reason}", name=entry.name, reason=_least(_learning(self.ways)).why_not)
        way = best(self.ways)
        if not self.whole:
            return sentence(
                "{name} could learn here ({size}), but its answers would be cut at {tokens} tokens. Smaller "
                "models can give full answers.",
                name=entry.name,
                size=Size(bytes=way.estimate),
                tokens=way.max_tokens,
            )
        return sentence(
            "{name} could learn here ({size}), but a round would take about {span}; round_most allows "
            "{most}. You can still choose it: {id}.",
            name=entry.name,
            size=Size(bytes=way.estimate),
            span=Span(seconds=way.round_seconds),
            most=Span(seconds=self._most),
            id=entry.id,
        )


def badges(
    hardware: Hardware,
    catalogue: ModelCatalogue,
    settings: Settings,
    installed: Sequence[Installed],
    *,
    llama_cpp: bool = True,
) -> list[ModelBadge]:
    """Every model of the catalogue as it applies to this computer."""
    made = []
    for entry in catalogue.models:
        # Its own name first: the same model may be installed twice.
        names = sorted((model.name for model in installed if entry.is_in(model)), key=lambda name: name != entry.id)
        made.append(
            ModelBadge(
                **msgspec.structs.asdict(estimate(Model.of(entry), hardware, settings, llama_cpp=llama_cpp)),
                id=entry.id,
                name=entry.name,
                about=entry.about,
                licence=entry.licence,
                gate=entry.gate,
                repository=entry.repository,
                here=entry.id if entry.shipped else next(iter(names), ""),
                unverified=list(entry.unverified),
            )
        )
    return made


def estimate(model: Model, hardware: Hardware, settings: Settings, *, llama_cpp: bool = True) -> Estimate:
    """What this model needs here."""
    looks = [(here, _ways(model, hardware, settings, here, llama_cpp)) for here in places(hardware, settings)]
    here, found = next((look for look in looks if any(way.fits for way in _learning(look[1]))), looks[-1])
    way = best(found)
    needed = way if way.fits and way.trainer == "torch" else _least(_learning(found) or found)
    return Estimate(
        parameters=model.parameters,
        badge=_badge(needed, here),
        estimate=needed.estimate,
        free=_free(needed.device, here),
        way=way.words if way.fits else "",
        round_seconds=needed.round_seconds if needed.fits else 0.0,
    )


def _answer_only(
    catalogue: ModelCatalogue,
    hardware: Hardware,
    settings: Settings,
    here: Available,
    llama_cpp: bool,
    bigger: list[Text],
) -> Fit:
    """Nothing can learn here: the largest model that can answer, otherwise the starter, whose way explains what is
    missing."""
    for entry in sorted(catalogue.models, key=lambda entry: -entry.exact_parameters):
        found = _Look(entry, hardware, settings, here, llama_cpp).ways
        if (entry.gate == "open" and any(way.fits for way in found if way.generator != "remote")) or entry.shipped:
            return Fit(available=here, chosen=best(found), ways=found, bigger=bigger)
    raise AssertionError("the catalogue has a shipped model")


def _learning(found: Sequence[Way]) -> list[Way]:
    """The ways in which something learns here."""
    return [way for way in found if way.trainer == "torch" and way.generator != "remote"]


def _ways(model: Model, hardware: Hardware, settings: Settings, here: Available, llama_cpp: bool) -> list[Way]:
    """All ways with or without llama.cpp. A model that only llama.cpp supports always includes its own."""
    found = ways(model, hardware, settings, here)
    return [way for way in found if llama_cpp or way.generator != "llama.cpp"] or found


def _least(found: Sequence[Way]) -> Way:
    """The way that needs least memory."""
    return min(found, key=lambda way: way.estimate)


def _badge(way: Way, here: Available) -> Badge:
    if not way.fits:
        return "too big"
    free = _free(way.device, here)
    used = (way.device_memory if way.device == "cuda" else way.memory).total
    return "tight" if used > TIGHT * free else "fits"


def _free(device: Device, here: Available) -> int:
    return here.device_memory_free if device == "cuda" else here.memory_free
