"""The ids by which peers know the tasks: ours, ours before the last change, and those that peers reported.

A catalogue is named by a hash over its task ids, which every HELLO contains. A peer with an unknown name is asked for
the ids, once per link. The answer must hash to that name, so a catalogue is learned once for all peers that have it,
and nobody can report a false one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from functools import lru_cache

from sapo_desktop.core.hashing import digest

_MOST_LEARNED = 32
"""The longest unused ones are dropped first; each has at most a thousand ids."""


def catalogue_id(tasks: Collection[bytes]) -> bytes:
    """The name (32 bytes) of a catalogue with these task ids."""
    return digest(*sorted(tasks))


@lru_cache(maxsize=_MOST_LEARNED)
def _both(ids: frozenset[bytes], before: frozenset[bytes]) -> frozenset[bytes]:
    """One shared union for all links with the same catalogues, because a relay has thousands."""
    return ids | before


class Catalogues:
    """Task ids by the name of their catalogue. `tasks`, `before`: our own ids, and those before a change."""

    def __init__(self, tasks: Collection[bytes] = (), before: Collection[bytes] = ()) -> None:
        self.name = catalogue_id(tasks)
        self.previous = catalogue_id(before) if before else None
        """The previous catalogue in HELLO, which we accept too."""
        self._ours = {catalogue_id(ids): frozenset(ids) for ids in (before, tasks) if ids}
        self._learned: OrderedDict[bytes, frozenset[bytes]] = OrderedDict()

    def known_to(self, name: bytes, previous: bytes | None) -> frozenset[bytes] | None:
        """The ids that a peer with this catalogue accepts, including its previous one's; None: ask it."""
        found, before = self._find(name), self._find(previous)
        return found if found is None or before is None else _both(found, before)

    def learn(self, name: bytes, tasks: Collection[bytes]) -> bool:
        """Store a catalogue that a peer reported; False if it does not match its name."""
        if catalogue_id(tasks) != name:
            return False
        self._learned[name] = frozenset(tasks)
        if len(self._learned) > _MOST_LEARNED:
            self._learned.popitem(last=False)
        return True

    def _find(self, name: bytes | None) -> frozenset[bytes] | None:
        if name is None:
            return None
        if name in self._learned:
            self._learned.move_to_end(name)
        return self._ours.get(name) or self._learned.get(name)
