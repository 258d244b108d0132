"""How much energy computing took: the processor's own counter (RAPL) and the card's (NVML) where they may be read, else
processor time at a stated power. The counters are of the whole computer; a node answers for its share of the work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sapo_desktop.system.hardware import card_joules
from sapo_desktop.system.processes import Processors, processors

_RAPL = Path("/sys/class/powercap")


class _Seen(NamedTuple):
    packages: list[int] | None
    """Microjoules of each; None where nobody may read them, which most systems keep for root."""
    processors: Processors
    cards: list[tuple[float, bool]]


class Energy:
    """Counts from one look to the next."""

    def __init__(self, rapl: Path = _RAPL) -> None:
        self._packages = sorted(rapl.glob("*-rapl:[0-9]"))
        self._before = _Seen(self._count(), processors(), [])

    @property
    def measured(self) -> bool:
        """Whether the processor's counter can be read."""
        return self._before.packages is not None

    def look(self, cpu_seconds: float, core_watts: float, own: Sequence[int]) -> float:
        """Joules since the last look, in which the node took so much processor time. `core_watts`: what a computing
        core is said to take; `own`: the node's processes, for the card."""
        before, now = self._before, _Seen(self._count(), processors(), card_joules(own))
        self._before = now
        pairs = zip(before.cards, now.cards, strict=False)  # the first look has none
        card = sum(max(0.0, after - earlier) for (earlier, _), (after, ours) in pairs if ours)
        if before.packages is None or now.packages is None:
            return cpu_seconds * core_watts + card
        counted = enumerate(zip(before.packages, now.packages, strict=True))
        used = sum(self._since(place, *pair) for place, pair in counted)
        busy = max(1e-6, now.processors.busy - before.processors.busy)
        return used * min(1.0, cpu_seconds / busy) + card

    def _count(self) -> list[int] | None:
        try:
            return [int((package / "energy_uj").read_text()) for package in self._packages] or None
        except (OSError, ValueError):
            return None

    def _since(self, place: int, before: int, now: int) -> float:
        """Joules between two states of a counter, which begins anew now and then."""
        if now < before:
            now += int((self._packages[place] / "max_energy_range_uj").read_text())
        return (now - before) / 1e6
