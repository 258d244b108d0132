import itertools

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.worker.state import NodeState, Trigger, transition


def walk(*triggers: Trigger) -> NodeState:
    state = NodeState.STARTING
    for trigger in triggers:
        state = transition(state, trigger)
    return state


def test_a_day_in_the_life() -> None:
    T = Trigger
    assert walk(T.READY) is NodeState.WORKING
    assert walk(T.READY, T.ROUND_DONE, T.PAUSE) is NodeState.PAUSED
    assert walk(T.READY, T.PAUSE, T.RESUME) is NodeState.WORKING
    assert walk(T.READY, T.FINISH, T.ROUND_DONE) is NodeState.PAUSED
    assert walk(T.READY, T.FINISH, T.RESUME, T.ROUND_DONE) is NodeState.WORKING
    assert walk(T.READY, T.PAUSE, T.FINISH, T.ROUND_DONE) is NodeState.PAUSED
    assert walk(T.READY_IDLE, T.START, T.ROUNDS_DONE) is NodeState.IDLE
    assert walk(T.READY, T.FAIL, T.RESUME, T.READY) is NodeState.WORKING


def test_pausing_before_ready_holds() -> None:
    assert walk(Trigger.PAUSE, Trigger.READY) is NodeState.PAUSED


def test_quit_and_fail_work_from_every_live_state() -> None:
    for state in set(NodeState) - {NodeState.STOPPED, NodeState.STOPPING}:
        assert transition(state, Trigger.QUIT) is NodeState.STOPPING
        assert transition(state, Trigger.FAIL) is NodeState.FAILED


def test_what_makes_no_sense_is_refused_in_words() -> None:
    with pytest.raises(UsageError, match="stopped: it cannot resume"):
        transition(NodeState.STOPPED, Trigger.RESUME)


def test_every_pair_has_an_answer() -> None:
    for state, trigger in itertools.product(NodeState, Trigger):
        try:
            assert isinstance(transition(state, trigger), NodeState)
        except UsageError:
            continue
