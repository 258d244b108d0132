"""Where a node stands: the record that its parts change and that requests read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

import msgspec

from sapo_desktop.core.records import Group
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.asking import Levels
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.round import EncodedGroup, Swarm
from sapo_desktop.worker.store.keeper import Keeper
from sapo_desktop.worker.store.manifest import RunManifest

_MOST_WAITING = 32
"""Groups with a person's answer."""
_A_ROUND = 4
"""How many of them one step takes: they are heard, and drown nothing."""


class Holds(Enum):
    """What the engine holds, compared with the counters."""

    AS_COUNTED = auto()
    """Exactly the rounds that count."""
    MORE = auto()
    """From the trainer's step to the round's end: perhaps a step that does not count yet. Nothing can be kept."""
    NOTHING = auto()
    """Its process ended to give memory back, or could not be loaded so far. The next round starts it again."""


class HumanGroups:
    """Groups with a person's answer, in their order, from when it was given until a round has learned from it."""

    def __init__(self) -> None:
        self._waiting: list[EncodedGroup] = []

    def add(self, group: EncodedGroup) -> bool:
        """Have it learned from in one of the next rounds; False where too many wait already."""
        if len(self._waiting) >= _MOST_WAITING:
            return False
        self._waiting.append(group)
        return True

    def next(self) -> tuple[EncodedGroup, ...]:
        """What the next round takes; it waits until that round is done."""
        return tuple(self._waiting[:_A_ROUND])

    def learned(self, groups: Sequence[Group]) -> None:
        """A round with these groups is done."""
        self._waiting = [one for one in self._waiting if not any(one.group is group for group in groups)]


@dataclass
class Status:
    """One node's conditions, counts and results."""

    settings: Settings
    counters: Counters
    levels: Levels
    swarm: Swarm | None = None
    """Where answers are shared and drawn; None in silo."""
    manifest: RunManifest | None = None
    """Under which rounds are played; None before the first run."""
    human_groups: HumanGroups = field(default_factory=HumanGroups)
    round_seconds: list[float] = field(default_factory=list)
    last_reward: float | None = None
    """Of the last round that ended in this process."""
    holds: Holds = Holds.AS_COUNTED
    """Changed by `engine_holds` only."""
    _longest_answer: int | None = None
    """Tokens, where memory was too short for longer answers once."""

    def engine_holds(self, now: Holds) -> None:
        """The one transition. A step needs an engine: from NOTHING the way leads through a checkpoint."""
        if self.holds is Holds.NOTHING and now is Holds.MORE:
            raise AssertionError("a step without an engine")
        self.holds = now

    def take_settings(self, settings: Settings) -> None:
        """Follow these from now on, except for answers that memory was too short for once."""
        if self._longest_answer is not None:
            longest = min(settings.max_tokens or self._longest_answer, self._longest_answer)
            settings = msgspec.structs.replace(settings, max_tokens=longest)
        self.settings = settings

    def shorten_answers(self, tokens: int) -> None:
        """Cut answers at so many tokens from now on; the kept setting stays."""
        self._longest_answer = tokens
        self.take_settings(self.settings)

    async def begin_run(self, manifest: RunManifest, keeper: Keeper) -> None:
        """From now on rounds are played under these conditions."""
        run = await keeper.patiently(keeper.history.begin_run, manifest)
        self.manifest = manifest
        self.counters = msgspec.structs.replace(self.counters, run=run)
