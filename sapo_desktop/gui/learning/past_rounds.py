"""The rounds of this node by the mix and the treatment under which they were played. No Qt.

Like comparison.py this is a look back and no experiment: rounds under one mix came before or after those under another,
when the model had learned less or more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sapo_desktop.core.records import RoundReport
from sapo_desktop.gui.home.comparison import Side, side_of

PAGE = 1000
"""Rounds that are asked for at once."""
MIXES = ("8/0", "6/2", "4/4", "2/6")
_EIGHT = 8


class Played(NamedTuple):
    """What is kept of a finished round."""

    round: int
    mix: str
    """Of eight groups; empty where the round does not say."""
    treatment: str
    reward: float
    own: int
    external: int


@dataclass(frozen=True)
class Under:
    """The rounds under one mix or treatment."""

    name: str
    side: Side
    external: float | None
    """Share of the groups that came from peers; None without a round."""


class PastRounds:
    """Keeps the newest rounds, page by page further back where one wants it."""

    def __init__(self) -> None:
        self._rounds: dict[int, Played] = {}
        self.first = self.last = 0
        """The oldest and the newest round that is known; 0 where none is."""

    def __len__(self) -> int:
        return len(self._rounds)

    def add(self, reports: Iterable[RoundReport]) -> None:
        """Take rounds in; one that was lost and played again replaces the lost one."""
        for report in reports:
            self._rounds[report.round] = _played(report)
            self.first = min(self.first or report.round, report.round)
            self.last = max(self.last, report.round)

    def keep_until(self, last_round: int) -> None:
        """Rounds after this one were lost."""
        if self.last > last_round:
            self._rounds = {number: one for number, one in self._rounds.items() if number <= last_round}
            self.first, self.last = min(self._rounds, default=0), max(self._rounds, default=0)

    def by_mix(self) -> list[Under]:
        """The four mixes, and others that were played, from all own to most of peers."""
        rows = self._ordered()
        names = dict.fromkeys(MIXES) | dict.fromkeys(one.mix for one in rows if one.mix)
        return [_under(name, rows, [one.mix == name for one in rows]) for name in sorted(names, key=_external)]

    def by_treatment(self, treatments: Iterable[str]) -> list[Under]:
        """Each treatment over the rounds in which a peer's group was weighed by it."""
        rows = self._ordered()
        return [_under(name, rows, [one.treatment == name and one.external > 0 for one in rows]) for name in treatments]

    def _ordered(self) -> list[Played]:
        return [self._rounds[number] for number in sorted(self._rounds)]


def mix_of(mix: str) -> str:
    """A round's mix, such as `24/8`, as one of eight groups: `6/2`; empty where it is none."""
    own, _, external = mix.partition("/")
    if not (own.isdecimal() and external.isdecimal()) or not int(own) + int(external):
        return ""
    peers = round(_EIGHT * int(external) / (int(own) + int(external)))
    return f"{_EIGHT - peers}/{peers}"


def _external(mix: str) -> int:
    return int(mix.partition("/")[2])


def _played(report: RoundReport) -> Played:
    return Played(
        round=report.round,
        mix=mix_of(report.mix),
        treatment=report.treatment,
        reward=report.reward,
        own=report.local_groups,
        external=report.external_groups,
    )


def _under(name: str, rows: list[Played], mine: list[bool]) -> Under:
    chosen = [one for one, is_mine in zip(rows, mine, strict=True) if is_mine]
    groups = sum(one.own + one.external for one in chosen)
    side = side_of(np.array(mine, dtype=np.bool_), np.array([one.reward for one in rows], dtype=np.float64))
    return Under(name, side, sum(one.external for one in chosen) / groups if groups else None)
