"""How many rounds are still to be played, whatever comes between."""

from __future__ import annotations

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.state import NodeState, Trigger
from sapo_desktop.worker.gate import Gate
from sapo_desktop.worker.messages import Event
from sapo_desktop.worker.orders import Orders


def orders(*, playing: bool = True) -> tuple[Orders, Gate, list[Event]]:
    events: list[Event] = []
    gate = Gate([], events.append)
    gate.move(Trigger.READY_IDLE, "Ready")
    return Orders(gate, 6, lambda: playing, lambda: True), gate, events


def test_rounds_are_counted_down_to_idle() -> None:
    told, gate, _ = orders()
    told.start(2)
    assert (gate.reason, told.is_last_round) == ("Training round 7", False)
    told.done(7)
    assert (gate.reason, told.rounds_left, told.is_last_round) == ("Training round 8", 1, True)
    told.done(8)
    assert (gate.state, gate.reason, told.rounds_left) == (NodeState.IDLE, "8 rounds done", None)
    with pytest.raises(UsageError, match="counted from 1"):
        told.start(0)


def test_rounds_that_were_lost_are_still_to_be_played() -> None:
    told, gate, _ = orders()
    told.start(3)
    told.done(7)
    told.done(8)
    told.back_to(6)
    assert told.rounds_left == 3
    told.pause(None)
    told.resume()
    assert (told.rounds_left, gate.reason) == (3, "Training round 7")


def test_finishing_ends_with_the_round_in_hand_and_tells_once() -> None:
    told, gate, _ = orders()
    ended: list[str] = []
    told.start(None)
    told.finish()
    told.when_finished = lambda: ended.append("told")
    assert (gate.reason, told.is_last_round) == ("Finishing round 7, then pausing", True)
    told.done(7)
    assert (gate.state, gate.reason, ended) == (NodeState.PAUSED, "Paused after round 7", ["told"])


def test_a_pause_between_rounds_is_all_that_finishing_asks_for() -> None:
    told, gate, events = orders(playing=False)
    told.start(None)
    gate.move(Trigger.PAUSE, "Paused")
    said = len(events)
    told.finish()
    assert gate.state is NodeState.PAUSED and len(events) == said
