"""The adaptive mix, with values worked out by hand, and played where one mix is better and where none is."""

import math
from collections import Counter
from random import Random

import msgspec
import pytest

from sapo_desktop.learning.adaptive import ARMS, AdaptiveState, Arm, begin, choose, conclude, interrupt, rolled_back
from tests.learning.test_guard import score

STARTED = begin(score(50).solved, "set", AdaptiveState())


def test_every_mix_has_its_first_block_in_order() -> None:
    state, played = STARTED, []
    for _ in ARMS:
        played.append(choose(state))
        state = conclude(state, score(50), "set")
    assert played == ["4/4", "6/2", "2/6", "8/0"]


def test_a_block_earns_its_change_in_standard_errors() -> None:
    """50 -> 54 of 100, 4 gained and none lost: 0.04 with error sqrt(4 - 16/100)/100 = 0.019596: 2.0412 errors."""
    state = conclude(STARTED, score(54), "set")
    assert state.arms["4/4"].blocks == 1
    assert state.arms["4/4"].earned == pytest.approx(4 / math.sqrt(3.84))


@pytest.mark.parametrize(("solved", "earned"), [(50, 0.0), (51, 1 / math.sqrt(1)), (90, 3.0), (10, -3.0)])
def test_one_block_is_never_worth_more_than_three_errors(solved: int, earned: float) -> None:
    """One question gained has an error of sqrt(1 - 1/100)/100, less than a question: it counts as one question."""
    assert conclude(STARTED, score(solved), "set").arms["4/4"].earned == pytest.approx(earned)


def test_what_was_earned_before_fades() -> None:
    state = conclude(conclude(STARTED, score(54), "set"), score(50), "set")
    # The second block was the second mix's: 4 lost, none gained.
    assert state.arms["4/4"].blocks == pytest.approx(0.95)
    assert state.arms["4/4"].mean == pytest.approx(4 / math.sqrt(3.84))
    assert state.arms["6/2"].mean == pytest.approx(-4 / math.sqrt(3.84))


def test_the_highest_upper_bound_is_played_and_the_first_among_equals() -> None:
    def state() -> AdaptiveState:
        """Blocks and mean of each mix in `rows`."""
        arms = {name: Arm(blocks=n, earned=n * mean) for name, (n, mean) in zip(ARMS, rows, strict=True)}
        return AdaptiveState(arms=arms)

    rows = [(4.0, 0.0)] * 4
    assert choose(state()) == "4/4"
    rows[2] = (4.0, 0.1)
    assert choose(state()) == "2/6"
    # ln 16.5 = 2.803: 0.1 + sqrt(2.803/8) = 0.692 against 0 + sqrt(2.803/2.5) = 1.059 of 8/0.
    rows = [(3.0, 0.0), (3.0, 0.0), (8.0, 0.1), (2.5, 0.0)]
    assert choose(state()) == "8/0"
    # 0.5 + 0.592 = 1.092 is more.
    rows[2] = (8.0, 0.5)
    assert choose(state()) == "2/6"


def test_a_roll_back_is_a_bad_block_and_the_next_one_begins_at_the_best() -> None:
    best = score(60).solved
    state = rolled_back(STARTED, best, "set")
    assert (state.arms["4/4"].earned, state.began_at) == (-3.0, best)
    assert conclude(state, score(60), "set").arms["6/2"].earned == 0.0


@pytest.mark.parametrize(
    "state",
    [
        AdaptiveState(),
        interrupt(STARTED),
        msgspec.structs.replace(STARTED, questions="another set"),
        begin(score(5, of=10).solved, "set", AdaptiveState()),
    ],
    ids=["first", "interrupted", "other questions", "other count"],
)
def test_a_block_without_a_comparable_beginning_earns_nothing(state: AdaptiveState) -> None:
    after = conclude(state, score(54), "set")
    assert after.arms == {} and after.began_at == score(54).solved
    assert rolled_back(AdaptiveState(), score(60).solved, "set").arms == {}


def test_no_questions_teach_nothing() -> None:
    none = msgspec.structs.replace(score(1), solved=[], score=0.0, questions=0)
    assert conclude(begin([], "set", AdaptiveState()), none, "set").arms == {}


def play(seed: int, better: str | None, blocks: int = 150) -> Counter[str]:
    """Which mixes were played after the first third. A block flips one question in twenty by chance; one played with
    the better mix, which changes in the middle of the run where there is one, gains six of 400 more."""
    rng, solved = Random(seed), [n % 2 == 0 for n in range(400)]
    state, played = begin(solved, "set", AdaptiveState()), Counter[str]()
    for block in range(blocks):
        mix = choose(state)
        if block >= blocks // 3:
            played[mix] += 1
        solved = [was != (rng.random() < 0.05) for was in solved]
        if mix == better:
            for place in rng.sample([n for n, was in enumerate(solved) if not was], 6):
                solved[place] = True
        report = msgspec.structs.replace(score(1, of=2), solved=solved, score=sum(solved) / 400)
        state = conclude(state, report, "set")
    return played


@pytest.mark.parametrize("better", ARMS)
def test_a_mix_that_is_truly_better_is_played_most(better: str) -> None:
    for seed in range(5):
        played = play(seed, better)
        assert played[better] > sum(played.values()) / 2, (seed, played)


def test_where_none_is_better_none_is_played_for_good() -> None:
    played = sum((play(seed, None) for seed in range(5)), Counter[str]())
    assert all(0.1 < played[mix] / sum(played.values()) < 0.45 for mix in ARMS), played


def test_the_same_state_chooses_the_same() -> None:
    assert play(1, "6/2", 30) == play(1, "6/2", 30)
    state = conclude(STARTED, score(54), "set")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=AdaptiveState) == state
