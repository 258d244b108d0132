"""Whether a node computes now, how gently, and why: one decision, taken anew whenever something changes.

What the user asked for and what the computer is doing go in, with the time; what to do comes out, with its reason as
data. Nothing is remembered here and nothing is done: worker/orders.py keeps the wishes and makes the decision true.
"""

from __future__ import annotations

from typing import Literal

from sapo_desktop.core.records import Record
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Answering, Finishing, OnBattery, Paused, PausedAfterRound, Ready, Training, Why

Activity = Literal["idle", "pause", "work", "finish"]
"""idle: rounds are not wanted; pause: they are, but not now; finish: the one in hand, and no other."""


class Wishes(Record, frozen=True, kw_only=True):
    """What the user asked for; kept, so that a restart goes on with it."""

    contribute: bool = False
    """Whether rounds are wanted at all."""
    paused: bool = False
    paused_until: float | None = None
    """Unix time at which a pause ends by itself; None: until told."""
    paused_after_round: int | None = None
    """The round after which the pause began, where `finish` asked for it."""
    finish: bool = False
    """Play the round in hand, then pause."""
    despite_battery: bool = False
    """Contribute was pressed on battery: go on until the computer is plugged in again."""
    rounds_left: int | None = None
    """Rounds until nothing is wished any more; None: until told."""


class Situation(Record, frozen=True, kw_only=True):
    """The wishes, and all else that a decision depends on."""

    wishes: Wishes
    round: int
    """The round in hand, or the next one."""
    trains: bool = True
    on_battery: bool = False
    cores: int = 1
    """That the node may use."""


class Decision(Record, frozen=True, kw_only=True):
    """What the node does from now on."""

    activity: Activity
    why: Why
    threads: int
    silo: bool
    low_priority: bool
    resume_at: float | None = None
    """Unix time at which a new decision is due."""


def decide(state: Situation, settings: Settings, now: float) -> Decision:
    """The decision for this moment. A pause of the user goes before everything; the battery holds back what works."""
    activity, why, resume_at = _activity(state, settings, now)
    return Decision(
        activity=activity,
        why=why,
        threads=settings.threads or max(1, state.cores // 2),
        silo=settings.silo,
        low_priority=settings.low_priority,
        resume_at=resume_at,
    )


def _activity(state: Situation, settings: Settings, now: float) -> tuple[Activity, Why, float | None]:
    wishes = state.wishes
    if not wishes.contribute:
        return "idle", Ready(), None
    if wishes.paused and (wishes.paused_until is None or now < wishes.paused_until):
        if wishes.paused_after_round is not None:
            return "pause", PausedAfterRound(round=wishes.paused_after_round), None
        return "pause", Paused(until=wishes.paused_until), wishes.paused_until
    if state.on_battery and settings.on_battery == "pause" and not wishes.despite_battery:
        return "pause", OnBattery(), None
    if wishes.finish:
        return "finish", Finishing(round=state.round), None
    return "work", Training(round=state.round) if state.trains else Answering(round=state.round), None
