"""Which of the pooled groups a round gets: a bounded, stratified sample.

Each pick goes down the path, uniformly at every step: link -> origin relay -> tag -> identity -> group (newest slot
first). So a source gains nothing by sending more: a hundred times the groups are still one identity, a thousand
identities still one tag. Two shares are capped: no link gives more than half if there are others, and identities
younger than a day together at most a quarter while others have enough. The cap for the local network applies even if
the draw stays short: there, one neighbour could be every peer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from random import Random
from typing import Any, NamedTuple

from sapo_desktop.swarm.pool.pool import Entry, Name

LINK_SHARE = 0.5
NEW_SHARE = 0.25


class Drawn(NamedTuple):
    """Names of the entries, in the order drawn, and remarks about them."""

    names: list[Name]
    one_source: bool
    """Whether all came by one link because there was no other."""


def draw(
    entries: Iterable[Entry],
    n: int,
    tasks: Collection[bytes],
    is_new: Callable[[bytes], bool],
    rng: Random,
    *,
    linked: Collection[bytes] = (),
    most_lan: int | None = None,
    before: Collection[Entry] = (),
) -> Drawn:
    """Up to `n` entries of these tasks, at most `most_lan` of them from the local network. `linked`: the open links, by
    Link.source. `before`: what the same round already has, which counts towards its link's share.

    The newcomers' cap is lifted if the rest of the pool cannot fill the draw. A link's cap is lifted only if there is
    no other link, since a peer that fills the pool is not alone just because nothing from others waits there.
    """
    wanted = [entry for entry in entries if entry.name.task in tasks]
    links = {*linked, *(entry.path.link for entry in wanted)}
    of_round = n + len(before)
    of_link = of_round if len(links) <= 1 else max(1, int(of_round * LINK_SHARE))
    of_new = max(1, int(n * NEW_SHARE))
    drawn: list[Entry] = []
    of_lan = n if most_lan is None else max(0, most_lan)
    for caps in (_Caps(of_link, of_new, of_lan), _Caps(of_link, n, of_lan)):
        _fill(drawn, wanted, n, caps, before, is_new, rng)
    return Drawn([entry.name for entry in drawn], one_source=bool(drawn) and len(links) == 1)


class _Caps(NamedTuple):
    """Maximum groups from one link, from all newcomers together, and from all local links together."""

    of_link: int
    of_new: int
    of_lan: int


def _fill(
    drawn: list[Entry],
    wanted: Sequence[Entry],
    n: int,
    caps: _Caps,
    before: Collection[Entry],
    is_new: Callable[[bytes], bool],
    rng: Random,
) -> None:
    """Continue to draw from `wanted` within the caps, until `n` are drawn or nothing is left."""
    while len(drawn) < n:
        from_link = Counter(entry.path.link for entry in (*before, *drawn))
        newcomers = sum(is_new(entry.name.author) for entry in drawn)
        neighbours = sum(entry.path.lan for entry in drawn)
        full = {link for link, count in from_link.items() if count >= caps.of_link}
        # By object identity: hashing the names of a large pool takes longer than everything else here.
        taken = {id(entry) for entry in drawn}
        tree = _Branch(
            entry
            for entry in wanted
            if id(entry) not in taken
            and entry.path.link not in full
            and (newcomers < caps.of_new or not is_new(entry.name.author))
            and (neighbours < caps.of_lan or not entry.path.lan)
        )
        if not tree.steps:
            return
        # One tree is enough until a cap is reached.
        while tree.steps and len(drawn) < n:
            entry = tree.pick(rng)
            drawn.append(entry)
            from_link[entry.path.link] += 1
            newcomers += is_new(entry.name.author)
            neighbours += entry.path.lan
            if (
                from_link[entry.path.link] >= caps.of_link
                or newcomers >= caps.of_new
                or (entry.path.lan and neighbours >= caps.of_lan)
            ):
                break


_STEPS: tuple[Callable[[Entry], Any], ...] = (
    lambda entry: entry.path.link,
    lambda entry: entry.path.relay,
    lambda entry: entry.path.tag,
    lambda entry: entry.name.author,
    lambda entry: entry.name.slot,
    lambda entry: entry.name,
)
_SLOT = 4


class _Branch:
    """Entries, split step by step. A branch is split when a pick first visits it, since most never are."""

    def __init__(self, entries: Iterable[Entry], depth: int = 0) -> None:
        self._depth = depth
        self._parts: dict[Any, list[Entry] | _Branch] = defaultdict(list)
        for entry in entries:
            self._parts[_STEPS[depth](entry)].append(entry)  # type: ignore[union-attr]
        # Sorted, so that the same pool and seed give the same draw.
        self.steps = sorted(self._parts)

    def pick(self, rng: Random) -> Entry:
        """Remove one entry: uniform down to the author, then the newest slot."""
        place = len(self.steps) - 1 if self._depth == _SLOT else rng.randrange(len(self.steps))
        step = self.steps[place]
        part = self._parts[step]
        if isinstance(part, list) and len(part) > 1:
            part = self._parts[step] = _Branch(part, self._depth + 1)
        entry = part[0] if isinstance(part, list) else part.pick(rng)
        if isinstance(part, list) or not part.steps:
            del self._parts[step]
            del self.steps[place]
        return entry
