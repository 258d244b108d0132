"""The guard rolls back for lost skill, three times seen, and for nothing less."""

from __future__ import annotations

import msgspec

from sapo_desktop.core.guard import Action, Decision, GuardState, effective_external, observe
from sapo_desktop.core.records import EvalReport


def score(solved: int, of: int = 100, lost_from: int = 0) -> EvalReport:
    """An evaluation in which the questions from `lost_from` on, `solved` of them, are solved."""
    results = [lost_from <= place < lost_from + solved for place in range(of)]
    return EvalReport(
        checkpoint="last",
        round=0,
        which="validation",
        score=solved / of,
        partial=0.0,
        questions=of,
        low=0.0,
        high=1.0,
        tasks=[],
        solved=results,
        seconds=1.0,
    )


def feed(state: GuardState, *solved: int, external: int = 0) -> list[Decision]:
    decisions: list[Decision] = []
    for number, each in enumerate(solved, start=1):
        decisions.append(observe(state, score(each), number, external, "set"))
        state = decisions[-1].state
    return decisions


def actions(decisions: list[Decision]) -> list[str]:
    return [decision.action.value for decision in decisions]


def test_a_higher_score_is_the_best_and_an_equal_one_is_not() -> None:
    decisions = feed(GuardState(), 50, 60, 60, 55)
    assert actions(decisions) == ["best", "best", "go_on", "go_on"]
    assert decisions[-1].state.best_checkpoint == 2
    assert decisions[-1].state.best_score == 0.6


def test_three_clear_falls_roll_back() -> None:
    """60 -> 50 of 100 with 10 lost and none gained: -0.1 with error sqrt(10 - 1)/100 = 0.03: clearly below."""
    decisions = feed(GuardState(), 60, 50, 50, 50)
    assert actions(decisions) == ["best", "go_on", "go_on", "roll_back"]
    after = decisions[-1].state
    assert (after.best_checkpoint, after.best_score, after.below, after.roll_backs) == (1, 0.6, 0, 1)
    assert after.learning_rate_factor == 0.5
    assert "back to checkpoint 1, with half the learning rate" in str(decisions[-1].reason)


def test_a_fall_within_two_errors_is_noise() -> None:
    """60 -> 57: -0.03 with error sqrt(3 - 0.09)/100 = 0.017, that is 1.76 errors."""
    assert actions(feed(GuardState(), 60, 57, 57, 57, 57)) == ["best"] + ["go_on"] * 4


def test_as_many_gained_as_lost_is_no_fall() -> None:
    state = feed(GuardState(), 50)[0].state
    for _ in range(4):
        decision = observe(state, score(48, lost_from=50), 2, 0, "set")
        state = decision.state
        assert decision.action is Action.GO_ON


def test_a_recovery_in_between_starts_the_count_anew() -> None:
    assert "roll_back" not in actions(feed(GuardState(), 60, 50, 50, 60, 50, 50, 59, 50, 50))


def test_external_groups_go_first_then_the_learning_rate() -> None:
    state = GuardState()
    external, seen = 6, list[tuple[int, float]]()
    for _ in range(5):
        state = feed(state, 60, 50, 50, 50, external=effective_external(state, external))[-1].state
        seen.append((effective_external(state, external), state.learning_rate_factor))
    assert seen == [(3, 1.0), (1, 1.0), (0, 1.0), (0, 0.5), (0, 0.25)]


def test_another_validation_set_starts_anew() -> None:
    state = feed(GuardState(), 60, 50, 50)[-1].state
    decision = observe(state, score(10), 9, 0, "other set")
    assert decision.action is Action.BEST
    assert (decision.state.best_checkpoint, decision.state.below) == (9, 0)
    assert observe(state, score(5, of=10), 9, 0, "set").action is Action.BEST


def test_the_state_survives_a_checkpoint() -> None:
    state = feed(GuardState(), 60, 50, 50)[-1].state
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=GuardState) == state
    assert observe(state, score(50), 4, 0, "set").action is Action.ROLL_BACK


def test_an_empty_set_decides_nothing() -> None:
    state = observe(GuardState(), score(0, of=1), 1, 0, "set").state
    empty = msgspec.structs.replace(state, best_solved=[])
    assert observe(empty, msgspec.structs.replace(score(0, of=1), solved=[]), 2, 0, "set").action is Action.GO_ON
