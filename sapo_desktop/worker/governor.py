"""Whether a node computes now, how gently, and why: one decision, taken anew whenever something changes.

What the user asked for and what else is so go in, with the time; the node's state comes out, with its reason as
data. Nothing is remembered here and nothing is done: worker/orders.py keeps the wishes and makes the decision true.

```
starting ──> working <──> paused        a pause, what holds back (`_held_back`), the end of either
               │  └──finish──> finishing ──round done──> paused    (finish leads there from paused too)
               └──as many rounds as were ordered──> idle           (where nothing was ordered, too)
failed: until somebody goes on          stopping: from anywhere, for good
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
"""Without keyboard and mouse, after which the computer counts as unused: longer than one reads a page."""
LEAST_CHARGE = 30
"""Percent of a battery, below which a node that computes on battery pauses: some is left for its owner."""
CARD_SHARE = 50
"""Percent of a card's memory in other programs' hands, above which the node pauses: a game or a training runs there."""
COOLER = 5
"""Degrees below the limit at which a computer that was too hot is not any more."""


class NodeState(enum.StrEnum):
    """An idle node holds the data folder and answers requests, but no rounds are wanted of it."""

    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    FINISHING = "finishing"
    PAUSED = "paused"
    STOPPING = "stopping"
    FAILED = "failed"


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
    anyway_until: float | None = None
    """Unix time until which to go on whatever holds back."""
    rounds_left: int | None = None
    """Rounds until nothing is wished any more; None: until told."""


class Situation(Record, frozen=True, kw_only=True):
    """The wishes, and all else that a decision depends on."""

    wishes: Wishes
    round: int
    """The round in hand, or the next one."""
    rounds_done: int | None = None
    """The last of the rounds that were ordered, where they all were played."""
    trains: bool = True
    here: Presence = Presence()
    """As the computer was seen last."""
    too_hot: bool = False
    """Whether the decision before this one was that it is too hot: it has to cool down a little then."""
    cores: int = 1
    """That the node may use."""
    failed: Failed | None = None
    """Why the node gave up, until somebody lets it go on."""
    busy: Text = ""
    """That other programs have the processor, where they do."""
    not_kept: NotKept | None = None
    """Why what was learned cannot be written now."""
    ends: bool = False
    """Whether the node ends where `finish` leads to."""
    ending: bool = False


class Decision(Record, frozen=True, kw_only=True):
    """What the node does from now on."""

    state: NodeState
    why: Why
    threads: int
    cores: float = 1.0
    """Whose time it may use, on average over a moment."""
    network: bool = True
    """Whether it may be in the swarm, where the settings say so."""
    upload: int = 0
    """KB a second that may go to peers, over all links; 0: no limit."""
    download: int = 0
    """KB a second that may come from peers, and of a model; 0: no limit."""
    held: Why | None = None
    """What forbids to compute now, whatever was asked for; None: nothing does."""

    @property
    def computes(self) -> bool:
        return self.state in (NodeState.WORKING, NodeState.FINISHING)

    @property
    def changes_at(self) -> float | None:
        """Unix time at which a new decision is due."""
        return getattr(self.why, "until", None)


def decide(state: Situation, settings: Settings, now: float) -> Decision:
    """The decision for this moment, `now` in Unix time. A pause of the user goes before what holds back or works."""
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
    """The limits, which may end while nobody uses the computer. That of memory stays, as a model does not shrink when
    somebody comes back (docs/guest.md)."""
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
    """The first of the user's own conditions that forbids to compute now; what lasts longest first."""
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
    """Whether nobody uses the computer, as far as that can be told."""
    return here.idle is not None and here.idle >= 60 * AWAY_MINUTES


def _is_anyway(state: Situation, now: float) -> bool:
    return state.wishes.anyway_until is not None and now < state.wishes.anyway_until


def _is_metered(state: Situation, settings: Settings, now: float) -> bool:
    return state.here.metered and settings.on_metered == "pause" and not _is_anyway(state, now)
