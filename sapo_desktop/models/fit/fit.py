"""Which model runs here: one choice for command line and window, and what they show of every other.

`fit` chooses for a user the largest of the catalogue that learns here with whole answers, and says why nothing bigger;
`badges` is the list to choose from. What one model takes is models/fit/ways.py's, how long a round takes
models/fit/pace.py's estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sapo_desktop.core.fitting import Available, Badge, Device, Fit, ModelBadge, Way
from sapo_desktop.core.sentences import Size, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import Entry, ModelCatalogue
from sapo_desktop.models.fit.pace import round_seconds
from sapo_desktop.models.fit.room import places
from sapo_desktop.models.fit.ways import Model, best, ways
from sapo_desktop.system.hardware import Hardware

TIGHT = 0.9
"""Of the free memory: above it a model is badged tight."""
_TOO_SLOW = sentence("a processor teaches a model of that size too slowly")
_LARGER_TIER = sentence("it is meant for a larger tier")


def fit(hardware: Hardware, catalogue: ModelCatalogue, settings: Settings, *, llama_cpp: bool = True) -> Fit:
    """Choose model, engines, and how much at once; say why nothing bigger. `llama_cpp`: whether it can be used."""
    bigger: list[Text] = []
    rooms = places(hardware, settings)
    for entry in sorted(catalogue.models, key=lambda entry: -entry.exact_parameters):
        looks = [_Look(entry, catalogue, hardware, settings, here, llama_cpp) for here in rooms]
        for look in looks:
            if look.chosen:
                return Fit(available=look.here, chosen=best(look.ways), ways=look.ways, bigger=bigger)
        bigger.append(looks[0].why_not)
    return _answer_only(catalogue, hardware, settings, rooms[-1], llama_cpp, bigger)


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
        learning = [way for way in _learning(self.ways) if way.fits]
        self.trains = bool(learning)
        # A model that is left with stumps of answers learns less than a smaller one with whole ones.
        self.whole = entry.shipped or any(way.max_tokens >= tier.max_tokens // 2 for way in learning)
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
        looks = [_Look(entry, catalogue, hardware, settings, here, llama_cpp) for here in places(hardware, settings)]
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


def _learning(found: Sequence[Way]) -> list[Way]:
    """The ways in which something learns here."""
    return [way for way in found if way.trainer == "torch" and way.generator != "remote"]


def _least_training(found: Sequence[Way]) -> Way:
    """Of these the one that takes least."""
    return min(_learning(found), key=lambda way: way.estimate)


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
