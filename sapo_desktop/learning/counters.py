"""A node's state besides its adapter, kept in every checkpoint so that a resumed run equals an uninterrupted one."""

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
    """Last finished round; it never decreases, even after a rollback."""
    instance: str
    """Random name of this data folder."""
    seed: int
    """The seed from which every draw of the run derives."""
    run: int = 0
    """Row in the history's table of runs."""
    model: str = ""
    """Hash of the base model's folder; an adapter fits only this base."""
    solve_rates: dict[str, float] = msgspec.field(default_factory=dict)
    """Smoothed share solved per task: the baseline of external groups, and for displays."""
    asking: Asking = Asking()
    """The memory of which questions were worth asking."""
    standing: Standing = Standing()
    """The latest results of the validation questions."""
    guard: GuardState = GuardState()
    micro_batch: int = 0
    """The batch size that fitted so far; 0: as the settings say."""
    shots: int | None = None
    """Worked examples shown to this model before a question (learning/first_look.py); None: not chosen yet."""
    readable: float | None = None
    """Smoothed share of readable own answers; None: no answers yet."""
    teaching: float | None = None
    """Smoothed share of own groups with both right and wrong answers; None: no answers yet."""
    limit: int = 0
    """Current limit of tokens per answer (learning/limit.py); 0: the initial limit."""
    reasoned: dict[str, list[Reasoned]] = msgspec.field(default_factory=dict)
    """The last own answers by task: length of reasoning, and whether they are right (learning/reasoning.py)."""
    accounts: dict[str, Account] = msgspec.field(default_factory=dict)
    """The record of each peer whose answers were judged (learning/trust.py)."""

    @property
    def short_model(self) -> str:
        """The beginning of `model`, stored with rounds and scores so that models are never confused."""
        return self.model[:SHORT]
