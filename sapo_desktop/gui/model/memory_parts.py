"""What a model's memory goes into, put together so that a bar can show it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sapo_desktop.core.fitting import Fit, Parts, Way

PieceName = Literal["weights", "learning", "work", "answers", "program", "reserve"]
PIECES: tuple[PieceName, ...] = get_args(PieceName)
"""In the order of a bar."""
_PARTS: dict[PieceName, tuple[str, ...]] = {
    "weights": ("weights",),
    "learning": ("adapter", "optimiser", "gradients"),
    "work": ("activations", "logits"),
    "answers": ("kv_cache",),
    "program": ("runtime",),
    "reserve": ("reserve",),
}
PART_NAMES: tuple[str, ...] = Parts.__struct_fields__


@dataclass(frozen=True)
class Piece:
    """One colour of a bar."""

    name: PieceName
    bytes: int


@dataclass(frozen=True)
class Bar:
    """What one way takes in one memory: the computer's own, or the card's."""

    way: Way
    on_card: bool
    pieces: tuple[Piece, ...]
    free: int

    @property
    def takes(self) -> int:
        return sum(piece.bytes for piece in self.pieces)


def pieces(parts: Parts) -> tuple[Piece, ...]:
    """The parts, put together; what is nothing is left out."""
    sums = [Piece(name, sum(getattr(parts, part) for part in _PARTS[name])) for name in PIECES]
    return tuple(piece for piece in sums if piece.bytes)


def bars(fit: Fit) -> list[Bar]:
    """Every way that was looked at, from weak to strong; two bars where a card has memory of its own."""
    here, made = fit.available, []
    for way in fit.ways:
        if way.device_memory.total:
            card = pieces(way.device_memory)
            made.append(Bar(way, True, card, here.device_memory_free))
        made.append(Bar(way, False, pieces(way.memory), here.memory_free))
    return made


def scale(shown: list[Bar]) -> int:
    """Bytes that the whole width of the bars stands for: the most that any takes or that there is to take."""
    return max([1, *(max(bar.takes, bar.free) for bar in shown)])


def part_rows(fit: Fit) -> list[tuple[str, list[int]]]:
    """The table behind the bars: each part with its bytes in every way, memory and card together, and the sum."""
    sums = [way.memory + way.device_memory for way in fit.ways]
    rows = [(name, [getattr(parts, name) for parts in sums]) for name in PART_NAMES]
    return [*((name, row) for name, row in rows if any(row)), ("total", [parts.total for parts in sums])]
