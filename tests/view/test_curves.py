"""The history as columns, and what a chart is given of it: values derived by hand."""

import math

import msgspec
import numpy as np
import pytest

from sapo_desktop.core.records import Gain, SwarmReward
from sapo_desktop.view.curves import Curves, Means, last_known, smoothed
from sapo_desktop.worker.control.messages.replies import Curve, EvalPoint
from tests.builders import eval_report, round_report
from tests.gui.scenes import curve

NAN = math.nan


def score(number: int, value: float, base: float | None = None) -> EvalPoint:
    """After this round; the margin of its gain is .05."""
    gain = None if base is None else Gain(value=value - base, low=value - base - 0.05, high=value - base + 0.05)
    name = str(number) if number else "base"
    return EvalPoint(round=number, which="validation", checkpoint=name, score=value, low=0.1, high=0.9, gain=gain)


def history(rounds: int) -> Curve:
    last = EvalPoint(round=rounds, which="validation", checkpoint="last", score=0.4, low=0.3, high=0.5)
    return curve([n / rounds for n in range(1, rounds + 1)], [last])


def test_a_loaded_history_grows_round_by_round() -> None:
    curves = Curves()
    curves.load(history(2000))
    swarm = SwarmReward(value=0.4, low=0.3, high=0.5, peers=3, tasks={})
    curves.add(round_report(2001, reward=0.75, swarm_reward=swarm, silo=False))
    assert len(curves) == 2001 and curves.last_round == 2001
    assert curves.column("reward")[[0, -1]].tolist() == [1 / 2000, 0.75]
    assert curves.column("swarm_peers")[-1] == 3 and np.isnan(curves.column("swarm_peers")[0])
    assert curves.column("silo")[[0, -1]].tolist() == [1, 0]


def test_here_and_in_the_swarm_the_same_rounds_are_compared() -> None:
    curves = Curves()
    curves.load(curve([0.9] * 30))
    assert curves.shares() is None, "nobody else was measured"
    for number in range(31, 61):
        others = 0.2 if number < 41 else 0.4
        swarm = SwarmReward(value=others, low=others - 0.1, high=others + 0.1, peers=3, tasks={}, mine=0.5)
        # Every other round nobody was measured: what was solved in it is compared with nothing.
        alone = round_report(number, solved=0.9, silo=False)
        curves.add(round_report(number, solved=0.1, swarm_reward=swarm, silo=False) if number % 2 else alone)
    for at, others in ((None, 0.4), (39, 0.2)):
        assert (found := curves.shares(at)) is not None and found.peers == 3
        assert (found.mine, found.others) == pytest.approx((0.5, others))
        assert (found.low, found.high) == pytest.approx((others - 0.1, others + 0.1))
    assert curves.shares(29) is None


def test_a_round_played_again_replaces_the_lost_ones() -> None:
    curves = Curves()
    curves.load(history(10))
    curves.add(round_report(7, reward=0.25))
    assert curves.column("round").tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert curves.column("reward")[-1] == 0.25
    assert curves.evals == [], "the score of round 10 went with it"


def test_an_empty_history_is_no_trouble() -> None:
    curves = Curves()
    curves.load(history(0))
    assert len(curves) == 0 and curves.last_round == 0
    assert last_known(curves.column("reward"), 10) is None
    x, means = Means(curves.column("round"), curves.column("reward")).glimpse(0, 10, 5)
    assert len(x) == len(means) == 0


def test_smoothing_is_the_mean_of_the_last_values() -> None:
    values = np.array([1.0, 2.0, NAN, 4.0, 6.0])
    assert smoothed(values, 2)[:2].tolist() == [1.0, 1.5]
    assert np.isnan(smoothed(values, 2)[2]), "where nothing was measured nothing is shown"
    assert smoothed(values, 2)[3:].tolist() == [4.0, 5.0]
    assert smoothed(values, 1) is values


def test_few_values_are_shown_as_they_are() -> None:
    x, y = Means(np.arange(1.0, 11), np.arange(10.0)).glimpse(3, 5, 100)
    assert x.tolist() == [2, 3, 4, 5, 6], "one neighbour on either side, so that the line leaves the frame"
    assert y.tolist() == [1, 2, 3, 4, 5]


def test_the_newest_round_is_shown() -> None:
    x, y = Means(np.arange(1.0, 11), np.arange(10.0)).glimpse(1, 10, 100)
    assert x[-1] == 10 and y[-1] == 9
    x, y = Means(np.arange(1.0, 1001), np.where(np.arange(1000) == 999, 10.0, 0.0)).glimpse(1, 1000, 100)
    assert y[-1] == 1, "the last bucket has it"


def test_many_values_become_buckets_with_their_mean() -> None:
    values = np.zeros(1000)
    values[777] = 9.0
    x, y = Means(np.arange(1.0, 1001), values).glimpse(1, 1000, 100)
    assert len(x) == 100 and x[0] == 5.5
    assert y.max() == pytest.approx(0.9) and y.sum() == pytest.approx(0.9)


def test_buckets_stay_where_they_are_while_the_view_moves() -> None:
    means = Means(np.arange(1.0, 10_001), np.random.default_rng(1).random(10_000))
    here, there = means.glimpse(1, 9_000, 100), means.glimpse(101, 9_100, 100)
    inner = {(round(a, 6), round(b, 9)) for a, b in zip(*here, strict=True)}
    assert len([1 for a, b in zip(*there, strict=True) if (round(a, 6), round(b, 9)) in inner]) >= 95


def test_a_bucket_without_values_is_a_gap() -> None:
    x = np.arange(1.0, 101)
    _, y = Means(x, np.where(x <= 50, NAN, 1.0)).glimpse(1, 100, 10)
    assert np.isnan(y[:5]).all() and (y[5:] == 1).all()


def test_held_out_scores_stand_in_the_order_of_their_rounds() -> None:
    curves = Curves()
    curves.evals = [score(number, value) for number, value in ((0, 0.3), (8, 0.6), (4, 0.5))]
    found = curves.held_out()
    assert (found.rounds.tolist(), found.scores.tolist(), found.base) == ([0, 4, 8], [0.3, 0.5, 0.6], 0.3)
    assert np.isnan(found.low).all(), "no gain is known"


def test_the_line_is_that_of_the_model_that_was_scored_last() -> None:
    curves = Curves()
    starter = [score(0, 0.1), score(5, 0.2, base=0.1), score(9, 0.25, base=0.1)]
    larger = [score(0, 0.3), score(12, 0.4, base=0.3)]
    curves.evals = [*starter, *larger]
    found = curves.held_out()
    assert (found.rounds.tolist(), found.scores.tolist(), found.base) == ([0, 12], [0.3, 0.4], 0.3)
    curves.evals.append(score(15, 0.28, base=0.1))
    back = curves.held_out()
    assert (back.rounds.tolist(), back.base) == ([0, 5, 9, 15], 0.1), "the starter continues where it was left"


def test_a_checkpoint_that_is_scored_by_hand_keeps_its_gain() -> None:
    curves = Curves()
    curves.evals = [score(0, 0.3), score(5, 0.4, base=0.3)]
    curves.add_eval(eval_report("5", 0.45))
    curves.add_eval(eval_report("base", 0.3))
    found = curves.held_out()
    assert (found.rounds.tolist(), found.scores.tolist(), found.base) == ([0, 5], [0.3, 0.45], 0.3)
    assert (found.low[1], found.high[1]) == (pytest.approx(0.35), pytest.approx(0.45))


def test_a_base_scored_by_hand_that_comes_out_a_question_different_begins_no_line() -> None:
    curves = Curves()
    curves.evals = [score(0, 0.3), score(5, 0.4, base=0.3)]
    curves.add_eval(eval_report("base", 0.304))
    found = curves.held_out()
    assert (found.rounds.tolist(), found.scores.tolist(), found.base) == ([0, 5], [0.3, 0.4], 0.3)
    curves.evals.append(score(9, 0.5, base=0.304))
    larger = curves.held_out()
    assert (larger.rounds.tolist(), larger.base) == ([0, 9], 0.304), "it was another model's after all"


@pytest.mark.parametrize(
    ("scores", "since"),
    [
        ([0.1, 0.2, 0.4, 0.41, 0.405, 0.41], 200),
        ([0.1, 0.2, 0.4, 0.39, 0.38, 0.3], 200),
        ([0.1, 0.2, 0.25, 0.3, 0.35, 0.4], None),
        ([0.1, 0.1, 0.11, 0.1, 0.1, 0.1], None),
        ([0.1, 0.4, 0.4], None),
    ],
    ids=["level", "fallen again", "rising", "never learned", "not for long enough"],
)
def test_a_line_that_became_level_says_since_when(scores: list[float], since: int | None) -> None:
    """The base solves a tenth, and the margin of a gain is .05. All questions are asked again within 160 rounds."""
    points = [score(100 * at, value, base=0.1 if at else None) for at, value in enumerate(scores)]
    curves = Curves()
    curves.load(msgspec.structs.replace(history(500), evals=points))
    assert curves.held_out().level_since(160) == since
    assert curves.held_out().level_since(0) is None, "nothing is scored any more"


def test_a_lucky_first_look_at_few_questions_is_not_where_a_line_became_level() -> None:
    """All questions were asked once after half of the 160 rounds; a model may have come later."""
    looks = {5: 0.41, 80: 0.35, 160: 0.36, 300: 0.41}
    for began in (0, 500):
        points = [score(0, 0.1), *(score(began + at, value, base=0.1) for at, value in looks.items())]
        curves = Curves()
        curves.load(msgspec.structs.replace(history(1000), evals=points))
        assert curves.held_out().level_since(160) is None


def test_an_empty_line_is_not_level() -> None:
    assert Curves().held_out().level_since(160) is None


def test_the_band_of_a_share_stays_between_nothing_and_all() -> None:
    curves = Curves()
    curves.evals = [score(0, 0.3), score(5, 0.98, base=0.3), score(9, 0.02, base=0.3)]
    found = curves.held_out()
    assert found.low.tolist()[1:] == [pytest.approx(0.93), 0.0]
    assert found.high.tolist()[1:] == [1.0, pytest.approx(0.07)]
