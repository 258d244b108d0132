"""Bytes a second of each link, from what successive looks at the links counted. No Qt."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from sapo_desktop.worker.control.messages.swarm import LinkInfo

LOOKS = 5
"""A rate is measured over so many looks: one alone would jump."""
LONGEST_GAP = 20.0
"""Seconds without a look, after which what was seen before it says nothing about now."""

LinkName: TypeAlias = tuple[str, str, int]
"""Key, dialled address, and which one of those that share both."""


class Rate(NamedTuple):
    """Bytes a second; None until there were two looks."""

    incoming: float | None = None
    outgoing: float | None = None


class LinkRow(NamedTuple):
    """One link, as a table shows it."""

    name: LinkName
    link: LinkInfo
    rate: Rate

    def refused(self, kind: str) -> int:
        """How much that came over it was refused so."""
        return sum(self.link.refused.get(kind, {}).values())


class _Seen(NamedTuple):
    time: float
    incoming: int
    outgoing: int


class Traffic:
    """Remembers the last looks."""

    def __init__(self) -> None:
        self._seen: dict[LinkName, deque[_Seen]] = {}
        self._looked = 0.0
        self.rows: list[LinkRow] = []
        """As of the last look."""

    def look(self, links: Sequence[LinkInfo], now: float) -> list[LinkRow]:
        """Note what the links have counted by `now` (seconds of any clock)."""
        before = self._seen if now - self._looked <= LONGEST_GAP else {}
        self._seen, self._looked, self.rows = {}, now, []
        for name, link in _named(links):
            past = before.get(name) or deque(maxlen=LOOKS)
            seen = _Seen(now, link.bytes_in, link.bytes_out)
            if past and (seen.incoming < past[-1].incoming or seen.outgoing < past[-1].outgoing):
                past.clear()  # another link to the same peer
            past.append(seen)
            self._seen[name] = past
            self.rows.append(LinkRow(name, link, _rate(past)))
        return self.rows

    @property
    def total(self) -> Rate:
        """Of all links together, those left out that were seen once only."""
        incoming = [row.rate.incoming for row in self.rows if row.rate.incoming is not None]
        outgoing = [row.rate.outgoing for row in self.rows if row.rate.outgoing is not None]
        return Rate(sum(incoming) if incoming else None, sum(outgoing) if outgoing else None)


def _named(links: Sequence[LinkInfo]) -> list[tuple[LinkName, LinkInfo]]:
    count: Counter[tuple[str, str]] = Counter()
    named = []
    for link in links:
        place = (link.key, link.dialled)
        named.append(((*place, count[place]), link))
        count[place] += 1
    return named


def _rate(past: deque[_Seen]) -> Rate:
    first, last = past[0], past[-1]
    seconds = last.time - first.time
    if seconds <= 0:
        return Rate()
    return Rate((last.incoming - first.incoming) / seconds, (last.outgoing - first.outgoing) / seconds)
