"""One decision for every situation, with its reason."""

import msgspec
import pytest

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
)
from sapo_desktop.worker.governor import NodeState, Situation, Wishes, decide

NOW = 1_000_000.0
WORKING = Wishes(contribute=True)


def situation(wishes: Wishes, **changes: object) -> Situation:
    return msgspec.convert({"wishes": wishes, "round": 7, "cores": 8} | changes, Situation)


def test_nothing_is_done_that_nobody_wished() -> None:
    decision = decide(situation(Wishes(), on_battery=True), Settings(), NOW)
    assert (decision.state, decision.why, decision.resume_at) == (NodeState.IDLE, Ready(), None)


def test_contributing_says_the_round_and_whether_it_teaches() -> None:
    assert decide(situation(WORKING), Settings(), NOW).why == Training(round=7)
    assert decide(situation(WORKING, trains=False), Settings(), NOW).why == Answering(round=7)


def test_a_pause_holds_until_its_time_and_goes_before_everything() -> None:
    until = NOW + 900
    paused = Wishes(contribute=True, paused=True, paused_until=until, finish=True)
    decision = decide(situation(paused, on_battery=True), Settings(), NOW)
    assert (decision.state, decision.why, decision.resume_at) == (NodeState.PAUSED, Paused(until=until), until)
    assert decide(situation(paused, on_battery=False), Settings(), until).state is NodeState.FINISHING
    for_good = Wishes(contribute=True, paused=True)
    assert decide(situation(for_good), Settings(), NOW + 10**9).why == Paused()


def test_on_battery_it_pauses_unless_the_user_says_otherwise() -> None:
    on_battery = situation(WORKING, on_battery=True)
    assert decide(on_battery, Settings(), NOW).why == OnBattery()
    assert decide(on_battery, Settings(on_battery="continue"), NOW).state is NodeState.WORKING
    pressed = situation(Wishes(contribute=True, despite_battery=True), on_battery=True)
    assert decide(pressed, Settings(), NOW).state is NodeState.WORKING


def test_finishing_is_about_the_round_in_hand() -> None:
    finish = Wishes(contribute=True, finish=True)
    assert decide(situation(finish), Settings(), NOW).why == Finishing(round=7)
    after = Wishes(contribute=True, paused=True, paused_after_round=7)
    assert decide(situation(after), Settings(), NOW).why == PausedAfterRound(round=7)


@pytest.mark.parametrize(("cores", "threads", "expected"), [(8, 0, 4), (1, 0, 1), (8, 6, 6)])
def test_half_the_cores_unless_told(cores: int, threads: int, expected: int) -> None:
    assert decide(situation(WORKING, cores=cores), Settings(threads=threads), NOW).threads == expected


def test_what_failed_or_ends_does_so_whatever_is_wished() -> None:
    failed = Failed(text="It died.", failures=5)
    decision = decide(situation(WORKING, failed=failed, on_battery=True), Settings(), NOW)
    assert (decision.state, decision.why) == (NodeState.FAILED, failed)
    decision = decide(situation(WORKING, failed=failed, ending=True), Settings(), NOW)
    assert (decision.state, decision.why) == (NodeState.STOPPING, Ending())
    assert decide(situation(Wishes(), rounds_done=8), Settings(), NOW).why == RoundsDone(round=8)
