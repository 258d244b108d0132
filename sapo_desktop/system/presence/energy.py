"""Energy used for computing: from the processor's counter (RAPL) and the card's (NVML) if they are readable, else
from processor time at a given power. The counters cover the whole computer; a node counts its share of the work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sapo_desktop.system.hardware import card_joules
from sapo_desktop.system.processes import Processors, processors

_RAPL = Path("/sys/class/powercap")


class _Seen(NamedTuple):
    packages: list[int] | None
    """Microjoules of each; None if they are not readable, as on most systems except for root."""
    processors: Processors
    cards: list[tuple[float, bool]]


class Energy:
    """Counts from one call to the next."""

    def __init__(self, rapl: Path = _RAPL) -> None:
        self._packages = sorted(rapl.glob("*-rapl:[0-9]"))
        self._before = _Seen(self._count(), processors(), [])

    @property
    def measured(self) -> bool:
        """Whether the processor's counter is readable."""
        return self._before.packages is not None

    def look(self, cpu_seconds: float, core_watts: float, own: Sequence[int]) -> float:
        """Joules since the last call, during which the node used so much processor time. `core_watts`: assumed power
        of a computing core; `own`: the node's processes, for the card."""
        before, now = self._before, _Seen(self._count(), processors(), card_joules(own))
        self._before = now
        pairs = zip(before.cards, now.cards, strict=False)  # at the first call there are none
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
        """Joules between two states of a counter, which occasionally restarts."""
        if now < before:
            now += int((self._packages[place] / "max_energy_range_uj").read_text())
        return (now - before) / 1e6
