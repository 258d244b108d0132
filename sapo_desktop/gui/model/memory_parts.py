"""What a model's memory goes into, put together so that a bar can show it. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sapo_desktop.core.fitting import Fit, Parts, Way

PieceName = Literal["weights", "learning", "work", "answers", "program", "reserve"]
_PARTS: dict[PieceName, tuple[str, ...]] = {
    "weights": ("weights",),
    "learning": ("adapter", "optimiser", "gradients"),
    "work": ("activations", "logits"),
    "answers": ("kv_cache",),
    "program": ("runtime",),
    "reserve": ("reserve",),
}
"""In the order of a bar."""


@dataclass(frozen=True)
class Bar:
    """What one way takes in one memory: the computer's own, or the card's."""

    way: Way
    on_card: bool
    pieces: Mapping[PieceName, int]
    """Bytes of each colour, from left to right."""
    free: int

    @property
    def takes(self) -> int:
        return sum(self.pieces.values())


def pieces(parts: Parts) -> dict[PieceName, int]:
    """The parts, put together; what is nothing is left out."""
    sums = {name: sum(getattr(parts, part) for part in of_it) for name, of_it in _PARTS.items()}
    return {name: size for name, size in sums.items() if size}


def bars(fit: Fit) -> list[Bar]:
    """Every way that was looked at, from weak to strong; two bars where a card has memory of its own."""
    here, made = fit.available, []
    for way in fit.ways:
        if way.device_memory.total:
            made.append(Bar(way, True, pieces(way.device_memory), here.device_memory_free))
        made.append(Bar(way, False, pieces(way.memory), here.memory_free))
    return made


def scale(shown: list[Bar]) -> int:
    """Bytes that the whole width of the bars stands for: the most that any takes or that there is to take."""
    return max([1, *(max(bar.takes, bar.free) for bar in shown)])
