"""Whether a node computes now, how gently, and why: one decision, taken anew whenever something changes.

What the user asked for and what else is so go in, with the time; the node's state comes out, with its reason as
data. Nothing is remembered here and nothing is done: worker/orders.py keeps the wishes and makes the decision true.

```
starting ──> working <──> paused        a pause, the battery, the end of either
               │  └──finish──> finishing ──round done──> paused    (finish leads there from paused too)
               └──as many rounds as were ordered──> idle           (where nothing was ordered, too)
failed: until somebody goes on          stopping: from anywhere, for good
```
"""

from __future__ import annotations

import enum

from sapo_desktop.core.records import Record
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import (
    Answering,
    Ending,
    Failed,
    Finishing,
    OnBattery,
    Paused,
    PausedAfterRound,
    Ready,
    RoundsDone,
    Training,
    Why,
)


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
    despite_battery: bool = False
    """Contribute was pressed on battery: go on until the computer is plugged in again."""
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
    on_battery: bool = False
    cores: int = 1
    """That the node may use."""
    failed: Failed | None = None
    """Why the node gave up, until somebody lets it go on."""
    ending: bool = False


class Decision(Record, frozen=True, kw_only=True):
    """What the node does from now on."""

    state: NodeState
    why: Why
    threads: int

    @property
    def resume_at(self) -> float | None:
        """Unix time at which a new decision is due."""
        return self.why.until if isinstance(self.why, Paused) else None


def decide(state: Situation, settings: Settings, now: float) -> Decision:
    """The decision for this moment, `now` in Unix time. A pause of the user goes before what holds back or works."""
    node, why = _state(state, settings, now)
    return Decision(state=node, why=why, threads=settings.threads or max(1, state.cores // 2))


def _state(state: Situation, settings: Settings, now: float) -> tuple[NodeState, Why]:
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
    if state.on_battery and settings.on_battery == "pause" and not wishes.despite_battery:
        return NodeState.PAUSED, OnBattery()
    if wishes.finish:
        return NodeState.FINISHING, Finishing(round=state.round)
    return NodeState.WORKING, Training(round=state.round) if state.trains else Answering(round=state.round)
