"""Whether a node computes now, within which limits, and why: one decision, repeated whenever something changes.

The user's orders, the situation and the time go in; the node's state comes out, with its reason as data. This module
has no state and no effects: worker/orders.py stores the orders and applies the decision.

```
starting ──> working <──> paused        a pause, an automatic pause (`_held_back`), the end of either
               │  └──finish──> finishing ──round done──> paused    (finish leads there from paused too)
               └──as many rounds as were ordered──> idle           (also without an order)
failed: until somebody resumes          stopping: from anywhere, permanently
```
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from sapo_desktop.core import schedule
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import (
    Answering,
    CardTaken,
    Ending,
    Failed,
    Finishing,
    HeldBack,
    InUse,
    Metered,
    NotKept,
    OnBattery,
    OutOfHours,
    Paused,
    PausedAfterRound,
    ProgramRuns,
    Ready,
    RoundsDone,
    TooHot,
    Training,
    Why,
)
from sapo_desktop.system.presence.watch import Presence

AWAY_MINUTES = 10
"""Minutes without keyboard and mouse after which the computer counts as unused; longer than reading a page."""
LEAST_CHARGE = 30
"""Percent of charge below which a node that computes on battery pauses, to leave some for the owner."""
CARD_SHARE = 50
"""Percent of a card's memory in use by other programs above which the node pauses: a game or a training is running."""
COOLER = 5
"""Degrees below the limit at which a computer that was too hot counts as cool again."""


class NodeState(enum.StrEnum):
    """An idle node holds the data folder and answers requests, but no rounds are wanted."""

    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    FINISHING = "finishing"
    PAUSED = "paused"
    STOPPING = "stopping"
    FAILED = "failed"


class Wishes(Record, frozen=True, kw_only=True):
    """The user's orders, stored so that a restart continues with them."""

    contribute: bool = False
    """Whether rounds are wanted at all."""
    paused: bool = False
    paused_until: float | None = None
    """Unix time at which a pause ends by itself; None: no limit."""
    paused_after_round: int | None = None
    """The round after which the pause began, if `finish` requested it."""
    finish: bool = False
    """Finish the current round, then pause."""
    anyway_until: float | None = None
    """Unix time until which everything that holds the node back is ignored."""
    rounds_left: int | None = None
    """Rounds that remain of the order; None: no limit."""


class Situation(Record, frozen=True, kw_only=True):
    """The wishes, and everything else that a decision depends on."""

    wishes: Wishes
    round: int
    """The current round, or the next one."""
    rounds_done: int | None = None
    """The last of the ordered rounds, once all were played."""
    trains: bool = True
    here: Presence = Presence()
    """The computer at the last check."""
    too_hot: bool = False
    """Whether the previous decision was that it is too hot; then it must cool down somewhat."""
    cores: int = 1
    """Cores that the node may use."""
    failed: Failed | None = None
    """Why the node gave up, until a person resumes it."""
    busy: Text = ""
    """A sentence that other programs use the processor, if so."""
    not_kept: NotKept | None = None
    """Why what was learned cannot be saved now."""
    ends: bool = False
    """Whether the node ends after `finish`."""
    ending: bool = False


class Decision(Record, frozen=True, kw_only=True):
    """What the node does from now on."""

    state: NodeState
    why: Why
    threads: int
    cores: float = 1.0
    """Average number of cores that it may use."""
    network: bool = True
    """Whether it may be in the swarm, if the settings say so."""
    upload: int = 0
    """Limit in KB per second to peers, over all links; 0: no limit."""
    download: int = 0
    """Limit in KB per second from peers, and for a download; 0: no limit."""
    held: Why | None = None
    """What forbids computing now, whatever was ordered; None: nothing."""

    @property
    def computes(self) -> bool:
        return self.state in (NodeState.WORKING, NodeState.FINISHING)

    @property
    def changes_at(self) -> float | None:
        """Unix time at which a new decision is due."""
        return getattr(self.why, "until", None)


def decide(state: Situation, settings: Settings, now: float) -> Decision:
    """The decision for this moment, `now` in Unix time. The user's pause comes before other reasons."""
    held = state.not_kept or _held_back(state, settings, now)
    node, why = _state(state, held, settings, now)
    bounds = _bounds(settings, state)
    threads = min(bounds.threads, state.cores) or max(1, state.cores // 2)
    return Decision(
        state=node,
        why=why,
        threads=threads,
        cores=threads * bounds.percent / 100,
        network=not _is_metered(state, settings, now),
        upload=bounds.upload,
        download=bounds.download,
        held=held,
    )


class _Bounds(NamedTuple):
    threads: int
    percent: int
    upload: int
    download: int


def _bounds(settings: Settings, state: Situation) -> _Bounds:
    """The limits, which may be lifted while nobody uses the computer. The memory limit stays, because a model cannot
    shrink when somebody returns (docs/guest.md)."""
    if settings.when_in_use == "limits" and _is_away(state.here):
        return _Bounds(state.cores, percent=100, upload=0, download=0)
    return _Bounds(settings.threads, settings.processor_percent, settings.upload_kilobytes, settings.download_kilobytes)


def _state(state: Situation, held: Why | None, settings: Settings, now: float) -> tuple[NodeState, Why]:
    wishes = state.wishes
    if state.ending:
        return NodeState.STOPPING, Ending()
    if state.failed is not None:
        return NodeState.FAILED, state.failed
    if not wishes.contribute:
        return NodeState.IDLE, Ready() if state.rounds_done is None else RoundsDone(round=state.rounds_done)
    if wishes.paused and (wishes.paused_until is None or now < wishes.paused_until):
        if wishes.paused_after_round is not None:
            return NodeState.PAUSED, PausedAfterRound(round=wishes.paused_after_round)
        return NodeState.PAUSED, Paused(until=wishes.paused_until)
    anyway = isinstance(held, HeldBack) and _is_anyway(state, now)
    if held is not None and not anyway:
        return NodeState.PAUSED, held
    if wishes.finish:
        return NodeState.FINISHING, Finishing(round=state.round, busy=state.busy, ends=state.ends)
    until = wishes.anyway_until if anyway else schedule.next_change(schedule.parse(settings.schedule), now)
    working = Training if state.trains else Answering
    return NodeState.WORKING, working(round=state.round, until=until, anyway=anyway, busy=state.busy)


def _held_back(state: Situation, settings: Settings, now: float) -> Why | None:
    """The first of the user's conditions that forbids computing now; the longest-lasting ones come first."""
    here = state.here
    hours = schedule.parse(settings.schedule)
    if not schedule.is_open(hours, now):
        return OutOfHours(until=schedule.next_change(hours, now) or now)
    if here.on_battery and settings.on_battery == "pause":
        return OnBattery()
    if here.on_battery and here.charge is not None and here.charge < LEAST_CHARGE:
        return OnBattery(below=LEAST_CHARGE)
    if here.metered and settings.on_metered == "pause" and not settings.silo:
        return Metered()
    limit = settings.hottest - (COOLER if state.too_hot else 0)
    if settings.hottest and here.degrees is not None and here.degrees > limit:
        return TooHot(limit=settings.hottest)
    if here.program is not None and settings.pause_for:
        return ProgramRuns(name=here.program)
    if here.card_share > CARD_SHARE:
        return CardTaken(limit=CARD_SHARE)
    if settings.when_in_use == "pause" and here.idle is not None and not _is_away(here):
        return InUse(minutes=AWAY_MINUTES)
    return None


def _is_away(here: Presence) -> bool:
    """Whether nobody uses the computer, as far as that is known."""
    return here.idle is not None and here.idle >= 60 * AWAY_MINUTES


def _is_anyway(state: Situation, now: float) -> bool:
    return state.wishes.anyway_until is not None and now < state.wishes.anyway_until


def _is_metered(state: Situation, settings: Settings, now: float) -> bool:
    return state.here.metered and settings.on_metered == "pause" and not _is_anyway(state, now)
