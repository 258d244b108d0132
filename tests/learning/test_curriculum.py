"""Families climb when they can, fall when they must, and settle in between."""

import msgspec
import pytest

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.records import TaskMark
from sapo_desktop.learning.curriculum import (
    LEAST_ANSWERS,
    MOST_ANSWERS,
    WINDOW,
    FamilyProgress,
    level_weights,
    observe,
    start,
)

LEVELS = {"gcd": ["easy", "middle", "hard"], "legs": ["easy", "middle"]}


def mark(task: str, solved: float, answers: int = 8) -> TaskMark:
    return TaskMark(task=task, answers=answers, solved=solved, partial=solved, reward=solved)


def rounds(progress: FamilyProgress, solved: float, count: int) -> FamilyProgress:
    """`count` rounds of 8 answers for gcd, at whatever level it has."""
    families = {"gcd": progress}
    for _ in range(count):
        families = observe(families, LEVELS, [mark(f"gcd/{families['gcd'].level}", solved)]).families
    return families["gcd"]


def test_all_start_at_their_first_level() -> None:
    assert {family: p.level for family, p in start(LEVELS).items()} == {"gcd": "easy", "legs": "easy"}


def test_up_after_32_answers_above_70_percent() -> None:
    before = rounds(FamilyProgress(level="easy"), 0.75, 3)
    assert (before.level, before.answers) == ("easy", 24)
    seen = observe({"gcd": before}, LEVELS, [mark("gcd/easy", 0.75)])
    assert seen.families["gcd"] == FamilyProgress(level="middle")
    (move,) = seen.moves
    assert (move.family, move.before, move.after, move.rate) == ("gcd", "easy", "middle", 0.75)


@pytest.mark.parametrize("solved", [0.20, 0.5, 0.70])
def test_between_20_and_70_percent_it_stays(solved: float) -> None:
    assert rounds(FamilyProgress(level="middle"), solved, 50).level == "middle"


def test_down_below_20_percent_and_up_again_only_with_twice_the_answers() -> None:
    fallen = rounds(FamilyProgress(level="middle"), 0.1, LEAST_ANSWERS // 8)
    assert fallen == FamilyProgress(level="easy", fell_from="middle", patience=2 * LEAST_ANSWERS)
    assert rounds(fallen, 1.0, 7).level == "easy"
    assert rounds(fallen, 1.0, 8).level == "middle"


def test_a_family_between_two_levels_settles() -> None:
    """Easy always solved, middle never: a swing every 4 rounds without patience, 125 in all.

    With it the stays at easy last 4, 8, 16, 32, then 64 rounds, those at middle 4: 8 moves in 76 rounds, then
    2 in 68.
    """
    progress, moves = FamilyProgress(level="easy"), 0
    for _ in range(500):
        level = progress.level
        progress = rounds(progress, 1.0 if level == "easy" else 0.0, 1)
        moves += progress.level != level
    assert progress.patience == MOST_ANSWERS
    assert moves == 8 + 2 * 6


def test_patience_is_for_the_level_it_fell_from_only() -> None:
    patient = FamilyProgress(level="middle", fell_from="middle", patience=MOST_ANSWERS)
    assert rounds(patient, 1.0, LEAST_ANSWERS // 8).level == "hard"


def test_no_level_above_the_last_or_below_the_first() -> None:
    assert rounds(FamilyProgress(level="hard"), 1.0, 50).level == "hard"
    assert rounds(FamilyProgress(level="easy"), 0.0, 50).level == "easy"


def test_the_rate_is_a_mean_first_and_an_average_over_the_window_then() -> None:
    """8 of 8, then 0 of 8: 0.5. At full window a round of 8 counts 8/64: 1 - 1/8 after one without any solved."""
    assert rounds(rounds(FamilyProgress(level="hard"), 1.0, 1), 0.0, 1).rate == 0.5
    full = FamilyProgress(level="hard", answers=WINDOW, rate=1.0)
    assert rounds(full, 0.0, 1).rate == 1 - 8 / WINDOW


def test_only_the_current_level_counts() -> None:
    families = observe({"gcd": FamilyProgress(level="middle")}, LEVELS, [mark("gcd/easy", 1.0), mark("x/easy", 1.0)])
    assert families.families["gcd"] == FamilyProgress(level="middle")
    assert families.moves == []


def test_new_families_and_lost_levels_start_anew() -> None:
    seen = observe({"gcd": FamilyProgress(level="gone", answers=9)}, LEVELS, [])
    assert seen.families == start(LEVELS)


def test_a_move_counts_for_one_of_two_marks_of_a_round() -> None:
    progress = FamilyProgress(level="easy", answers=64, rate=0.9)
    seen = observe({"gcd": progress}, LEVELS, [mark("gcd/easy", 1.0), mark("gcd/easy", 1.0)])
    assert seen.families["gcd"] == FamilyProgress(level="middle")


def test_weights_with_the_curriculum_off() -> None:
    assert [(w.level, w.weight) for w in level_weights(LEVELS["gcd"], None)] == [("middle", 1.0)]
    assert [(w.level, w.weight) for w in level_weights(["paper"], None)] == [("paper", 1.0)]


def test_weights_with_the_curriculum_on() -> None:
    hard = level_weights(LEVELS["gcd"], FamilyProgress(level="hard"))
    assert [(w.level, w.weight) for w in hard] == [("middle", 0.25), ("hard", 0.75)]
    easy = level_weights(LEVELS["gcd"], FamilyProgress(level="easy"))
    assert [(w.level, w.weight) for w in easy] == [("easy", 1.0)]


def test_levels_that_are_not_there_are_named() -> None:
    with pytest.raises(TaskError, match="without a level"):
        level_weights([], None)
    with pytest.raises(TaskError, match="no level paper; known are easy, middle"):
        level_weights(LEVELS["legs"], FamilyProgress(level="paper"))


def test_the_state_survives_a_checkpoint() -> None:
    state = {"gcd": rounds(FamilyProgress(level="easy"), 0.3, 2)}
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=dict[str, FamilyProgress]) == state
