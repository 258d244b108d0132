"""Where a node stands beside its adapter: kept in every checkpoint, so that a resumed run equals an unbroken one."""

from __future__ import annotations

import msgspec

from sapo_desktop.core.records import Record
from sapo_desktop.learning.asking import Asking
from sapo_desktop.learning.guard import GuardState
from sapo_desktop.learning.heldout import Standing
from sapo_desktop.learning.reasoning import Reasoned
from sapo_desktop.learning.trust import Account

SHORT = 16
"""Hex digits of a model's short hash."""


class Counters(Record, frozen=True):
    """Everything outside the engine that the next round depends on."""

    round: int
    """Last finished round; never goes back, not even at a roll-back."""
    instance: str
    """Random name of this data folder."""
    seed: int
    """What every draw of the run derives from."""
    run: int = 0
    """Row in history's table of runs."""
    model: str = ""
    """Hash of the base model's folder: an adapter fits no other one."""
    solve_rates: dict[str, float] = msgspec.field(default_factory=dict)
    """Smoothed share solved per task: the baseline of external groups, and for displays."""
    asking: Asking = Asking()
    """Which questions were worth asking."""
    standing: Standing = Standing()
    """The newest answers to the validation questions."""
    guard: GuardState = GuardState()
    micro_batch: int = 0
    """What fitted so far; 0: as the settings say."""
    shots: int | None = None
    """Worked examples that this model is shown before a question (learning/first_look.py); None: not looked at yet."""
    readable: float | None = None
    """Smoothed share of own answers that could be read; None: nothing was answered yet."""
    teaching: float | None = None
    """Smoothed share of own groups that had right and wrong answers; None: nothing was answered yet."""
    limit: int = 0
    """Tokens that an answer may have now (learning/limit.py); 0: as many as at the start."""
    reasoned: dict[str, list[Reasoned]] = msgspec.field(default_factory=dict)
    """The last own answers by task: how long they reason, and whether they are right (learning/reasoning.py)."""
    accounts: dict[str, Account] = msgspec.field(default_factory=dict)
    """What was seen of each peer whose answers were looked at (learning/trust.py)."""

    @property
    def short_model(self) -> str:
        """The beginning of `model`, which rounds and scores carry: one model's numbers never stand for another's."""
        return self.model[:SHORT]
