"""The node's state: the record that its parts change and requests read."""

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
"""How many of them one step uses, so that they count without dominating it."""


class Holds(Enum):
    """The engine's weights compared with the counters."""

    AS_COUNTED = auto()
    """Exactly the rounds that count."""
    MORE = auto()
    """Between the training step and the end of the round: may include a step that does not count yet. Nothing can be
    stored."""
    NOTHING = auto()
    """Its process ended to free memory, or could not be loaded so far. The next round starts it again."""


class HumanGroups:
    """Groups with a person's answer, in order, until a round has learned from them."""

    def __init__(self) -> None:
        self._waiting: list[EncodedGroup] = []

    def add(self, group: EncodedGroup) -> bool:
        """Queue it for one of the next rounds; False if the queue is full."""
        if len(self._waiting) >= _MOST_WAITING:
            return False
        self._waiting.append(group)
        return True

    def next(self) -> tuple[EncodedGroup, ...]:
        """The ones for the next round; they stay queued until that round is done."""
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
    """The conditions of the rounds; None before the first run."""
    human_groups: HumanGroups = field(default_factory=HumanGroups)
    round_seconds: list[float] = field(default_factory=list)
    last_reward: float | None = None
    """Reward of the last round that ended in this process."""
    holds: Holds = Holds.AS_COUNTED
    """Changed by `engine_holds` only."""
    _longest_answer: int | None = None
    """Tokens, if memory was once too short for longer answers."""

    def engine_holds(self, now: Holds) -> None:
        """The one transition. A step needs an engine: from NOTHING, a checkpoint must be loaded first."""
        if self.holds is Holds.NOTHING and now is Holds.MORE:
            raise AssertionError("a step without an engine")
        self.holds = now

    def take_settings(self, settings: Settings) -> None:
        """Follow these from now on, except the length of answers if memory was once too short."""
        if self._longest_answer is not None:
            longest = min(settings.max_tokens or self._longest_answer, self._longest_answer)
            settings = msgspec.structs.replace(settings, max_tokens=longest)
        self.settings = settings

    def shorten_answers(self, tokens: int) -> None:
        """Limit answers to so many tokens from now on; the stored setting does not change."""
        self._longest_answer = tokens
        self.take_settings(self.settings)

    async def begin_run(self, manifest: RunManifest, keeper: Keeper) -> None:
        """From now on rounds are played under these conditions."""
        run = await keeper.patiently(keeper.history.begin_run, manifest)
        self.manifest = manifest
        self.counters = msgspec.structs.replace(self.counters, run=run)
