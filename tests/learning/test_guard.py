"""The guard rolls back for lost skill and not for noise; its errors are worked out by hand."""

import math
from itertools import cycle, islice

import msgspec
import pytest

from sapo_desktop.core.records import EvalReport
from sapo_desktop.learning.guard import (
    REMEDY_EVALUATIONS,
    Action,
    Decision,
    Fall,
    GuardState,
    effective_external,
    interrupt,
    largest_fall,
    observe,
)
from tests.builders import eval_report


def look(solved: int, of: int = 100, lost_from: int = 0) -> list[bool]:
    """An evaluation in which the questions from `lost_from` on, `solved` of them, are solved."""
    return [lost_from <= place < lost_from + solved for place in range(of)]


def score(solved: int, of: int = 100, lost_from: int = 0) -> EvalReport:
    """The same as a report."""
    return eval_report("last", solved / of, partial=0.0, questions=of, solved=look(solved, of, lost_from))


def feed(state: GuardState, *solved: int, external: int = 0) -> list[Decision]:
    decisions: list[Decision] = []
    for number, each in enumerate(solved, start=1):
        decisions.append(observe(state, score(each), number, external, "set"))
        state = decisions[-1].state
    return decisions


def actions(decisions: list[Decision]) -> list[str]:
    return [decision.action.value for decision in decisions]


STEADY = feed(GuardState(), *[60] * 20)[-1].state


def test_a_higher_score_is_the_best_and_an_equal_one_is_not() -> None:
    decisions = feed(GuardState(), 50, 60, 60, 55)
    assert actions(decisions) == ["best", "best", "go_on", "go_on"]
    assert decisions[-1].state.best_checkpoint == 2
    assert decisions[-1].state.best_score == 0.6


def test_a_fall_is_measured_in_the_errors_that_this_runs_flips_make() -> None:
    """Twenty alike, then ten questions fewer. Without a flip in 19 pairs the expected noise counts 4 of 23: variance
    4 x 8/23 = 32/23, flips 4 x 10/23 = 40/23, so correlation 1 - 40/64 = 3/8 and a factor of 11/5. One evaluation
    against twenty: 32/23 x 2.2 x 1.05 = 3.214. Changes for good: 0.07 (1 + sum of (j/20)^2 for j below 20) = 0.502;
    sqrt(3.716) = 1.928."""
    fall = largest_fall([look(60)] * 20 + [look(50)])
    assert (fall.evaluations, fall.points) == (1, pytest.approx(0.1))
    assert fall.errors == pytest.approx(10 / math.sqrt(32 / 23 * 2.2 * 1.05 + 0.07 * 7.175))


def test_the_noise_is_that_of_the_evaluations_before() -> None:
    """Twelve questions that alternate: of four evaluations each is solved in two, 2 x 2/4 = 1 of spread each; twelve
    flips in each of three pairs. Variance (12 + 32)/7, flips (36 + 40)/7: correlation 1 - 76/88 = 3/22, so a factor
    of 25/19. One evaluation against four: 1/1 + 1/4; changes for good 0.07 (1 + 14/16)."""
    restless = list(islice(cycle([look(60), look(60, lost_from=6)]), 4))
    fall = largest_fall([*restless, look(40)])
    assert fall.errors == pytest.approx(20 / math.sqrt(44 / 7 * 25 / 19 * 1.25 + 0.07 * 1.875))


def test_answers_that_flip_and_stay_so_for_a_while_make_the_same_fall_worth_less() -> None:
    two_and_two = [look(60), look(60), look(60, lost_from=12), look(60, lost_from=12)]
    calm = largest_fall([look(60)] * 20 + [look(50)])
    assert largest_fall([*two_and_two * 5, look(50)]).errors < 0.7 * calm.errors


def test_a_small_fall_shows_in_the_mean_of_several() -> None:
    """Six questions: one evaluation is 6/1.928 = 3.1 errors; three are 32/23 x 2.2 x (1/3 + 1/20), and changes for good
    0.07 (1 + 4/9 + 1/9 + 6.175)."""
    assert largest_fall([look(60)] * 20 + [look(54)]).errors == pytest.approx(3.112, abs=1e-3)
    fall = largest_fall([look(60)] * 20 + [look(54)] * 3)
    assert fall.evaluations == 3
    assert fall.errors == pytest.approx(6 / math.sqrt(32 / 23 * 2.2 * (1 / 3 + 1 / 20) + 0.07 * (14 / 9 + 6.175)))


@pytest.mark.parametrize("looks", [[], [look(60)], [look(60), look(60)], [look(50)] * 9 + [look(60)] * 9])
def test_what_does_not_fall_is_no_fall(looks: list[list[bool]]) -> None:
    assert largest_fall(looks) == Fall()


def test_a_large_fall_rolls_back_at_once_and_a_smaller_one_soon() -> None:
    assert actions(feed(STEADY, 50)) == ["roll_back"]
    soon = actions(feed(STEADY, *[54] * 10))
    assert soon.index("roll_back") < 5


def test_a_slow_loss_is_found_though_it_moves_what_it_is_compared_with() -> None:
    """A question every third evaluation: the newest ten lie five below the twenty before, which is 3.6 errors."""
    slide = actions(feed(STEADY, *[60 - step // 3 for step in range(60)]))
    assert slide.index("roll_back") < 30


def test_scores_that_fall_in_a_row_are_found_before_there_is_any_history() -> None:
    """A trained node that learned from an answer key: .361 to .266 of 252 questions."""
    state, found = GuardState(), []
    for step in range(8):
        decision = observe(state, score(91 - 24 * step // 7, of=252), step + 1, 4, "set")
        state = decision.state
        found.append(decision.action)
    assert found[-1] is Action.ROLL_BACK and state.external_less == 2


def test_a_fall_of_a_single_evaluation_that_noise_explains_is_none() -> None:
    assert set(actions(feed(STEADY, 55, 60, 57, 60, 56, 60, 60, 55))) == {"go_on"}


def test_as_many_gained_as_lost_is_no_fall() -> None:
    state = STEADY
    for _ in range(12):
        decision = observe(state, score(60, lost_from=40), 2, 0, "set")
        state = decision.state
        assert decision.action is Action.GO_ON


def test_one_lucky_score_is_not_what_later_ones_are_compared_with() -> None:
    """66 among sixties is the best, and the sixties after it are no loss."""
    assert set(actions(feed(STEADY, 66, *[60] * 30))) == {"best", "go_on"}


def test_who_improves_slowly_and_then_loses_it_is_found_out_from_where_it_was() -> None:
    risen = feed(GuardState(), *[30 + step // 8 for step in range(160)])
    assert set(actions(risen)) == {"best", "go_on"}
    assert "roll_back" in actions(feed(risen[-1].state, *[41] * 10))


def test_a_roll_back_names_checkpoint_and_remedy_and_keeps_the_reference() -> None:
    decision = feed(STEADY, 50)[0]
    after = decision.state
    assert (after.best_checkpoint, after.learning_rate_factor) == (1, 0.5)
    assert after.looks == [look(60)] * 20
    assert str(decision.reason) == (
        "The held-out score fell by 0.100 to 0.500, 5.2 standard errors of its own noise. The node "
        "goes back to checkpoint 1, and uses half the learning rate for a while."
    )


def test_external_groups_go_first_then_the_learning_rate() -> None:
    state = STEADY
    external, seen = 6, list[tuple[int, float]]()
    for _ in range(5):
        state = feed(state, 50, external=effective_external(state, external))[-1].state
        seen.append((effective_external(state, external), state.learning_rate_factor))
    assert seen == [(3, 1.0), (1, 1.0), (0, 1.0), (0, 0.5), (0, 0.25)]


def test_remedies_expire_by_halves_where_nothing_more_is_lost() -> None:
    state = feed(STEADY, 50, 50)[-1].state
    assert state.learning_rate_factor == 0.25
    decisions = feed(state, *[60] * 2 * REMEDY_EVALUATIONS)
    factors = [decision.state.learning_rate_factor for decision in decisions]
    assert factors == [0.25] * (REMEDY_EVALUATIONS - 1) + [0.5] * REMEDY_EVALUATIONS + [1.0]
    said = [str(decision.reason) for decision in decisions if decision.reason]
    assert said == [
        "No skill was lost for 20 held-out scores, so half of the caution ends.",
        "No skill was lost for 20 held-out scores, so learning continues as before.",
    ]


def test_external_groups_come_back() -> None:
    state = feed(STEADY, 50, external=6)[-1].state
    less = [decision.state.external_less for decision in feed(state, *[60] * 2 * REMEDY_EVALUATIONS)]
    assert less == [3] * (REMEDY_EVALUATIONS - 1) + [1] * REMEDY_EVALUATIONS + [0]


def test_another_alarm_begins_the_time_of_a_remedy_again() -> None:
    state = feed(feed(STEADY, 50)[-1].state, *[60] * 15)[-1].state
    assert state.remedy_left == REMEDY_EVALUATIONS - 15
    assert feed(state, 50)[-1].state.remedy_left == REMEDY_EVALUATIONS


def test_another_validation_set_starts_again() -> None:
    decision = observe(STEADY, score(10), 9, 0, "other set")
    assert decision.action is Action.BEST
    assert (decision.state.best_checkpoint, decision.state.looks) == (9, [look(10)])
    assert observe(STEADY, score(5, of=10), 9, 0, "set").action is Action.BEST


def test_the_same_set_answered_otherwise_starts_again() -> None:
    state = observe(GuardState(), score(60), 1, 0, "set torch 256").state
    assert observe(state, score(10), 9, 0, "set torch 32").action is Action.BEST
    assert observe(state, score(10), 9, 0, "set torch 256").action is Action.ROLL_BACK


def test_weights_that_a_person_put_back_are_no_lost_skill() -> None:
    state = interrupt(STEADY)
    assert (state.best_checkpoint, state.looks) == (1, [])
    assert set(actions(feed(state, *[40] * 10))) == {"go_on"}


def test_a_checkpoint_of_the_version_before_opens_and_goes_on() -> None:
    """Its guard counted falls below the best and took remedies for good: these run out from now on."""
    old = {
        "best_checkpoint": 7,
        "best_score": 0.6,
        "best_solved": look(60),
        "questions": "set",
        "below": 2,
        "external_less": 2,
        "learning_rate_factor": 0.5,
        "roll_backs": 3,
    }
    state = msgspec.msgpack.decode(msgspec.msgpack.encode(old), type=GuardState)
    decision = observe(state, score(50), 9, 4, "set torch 256")
    assert (decision.action, decision.state.best_checkpoint) == (Action.GO_ON, 7)
    assert decision.state.questions == "set torch 256"
    for _ in range(2 * REMEDY_EVALUATIONS):
        decision = observe(decision.state, score(50), 9, 4, "set torch 256")
    assert (decision.state.external_less, decision.state.learning_rate_factor) == (0, 1.0)


def test_an_empty_set_decides_nothing() -> None:
    state = observe(GuardState(), score(0, of=1), 1, 0, "set").state
    empty = msgspec.structs.replace(state, best_solved=[], looks=[[]])
    none = msgspec.structs.replace(score(0, of=1), solved=[])
    assert observe(empty, none, 2, 0, "set").action is Action.GO_ON
