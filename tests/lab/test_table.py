"""The table's figures, worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import HistoryError, UsageError
from sapo_desktop.lab.table import Run, read_runs, t_interval, table
from tests.lab.runs import arm, played, score, write

BASE = [score(0, -1, 0.5, 0.4), score(0, -1, 0.5, 0.45, temperature=0.5)]


def silo(seed: int = 1, rounds: int = 2) -> Run:
    rows = [played(n, node, 0.25) for n in range(1, rounds + 1) for node in range(2)]
    return Run(arm(seed=seed), rows, [*BASE, score(rounds, 0, 0.5, 0.5), score(rounds, 1, 0.6, 0.5)])


def shared(seed: int = 1, reward: float = 0.5, seconds: float = 1.0) -> Run:
    rows = [played(n, node, reward, seconds) for n in (1, 2) for node in range(2)]
    return Run(arm("4/4", seed), rows, [*BASE, score(1, 0, 0.6, 0.6), score(1, 1, 0.6, 0.6), score(2, 0, 0.8, 0.7)])


def test_a_line_adds_up_rewards_and_takes_the_means_of_scores() -> None:
    first, second = table([shared(), silo()])
    assert (first.mix, second.mix) == ("8/0", "4/4"), "the silo stands first"
    assert first.cumulative == 1.0 and first.ratio == 1.0
    assert second.cumulative == 2.0 and second.ratio == 2.0 and second.ratio_low is None
    assert (first.greedy_first, first.greedy) == (0.5, 0.55)
    assert (second.sampled_first, second.sampled, second.sampled_against) == (0.4, 0.7, 0.5)
    assert (first.base_best, first.pass_at_k) == (0.45, 0.7)
    assert first.informative == 0.25
    assert (first.answers, first.samples, first.tokens, first.cpu_seconds, first.refused) == (256, 240, 4000, 4, 12)


def test_the_median_node_stands_next_to_the_best_of_those_it_is_compared_with() -> None:
    three = Run(shared().arm, shared().rounds, [*BASE, *(score(2, n, at, 0.5) for n, at in enumerate((0.9, 0.2, 0.7)))])
    first, second = table([silo(), three])
    assert (second.greedy_median, second.greedy_best_against) == (0.7, 0.6)
    assert (first.greedy_median, first.greedy_best_against) == (0.55, 0.6)


def test_how_soon_the_first_the_median_and_the_last_node_solve_a_task() -> None:
    def run(mix: str, *solved: tuple[int, int, str]) -> Run:
        """Three nodes, four rounds; `solved`: round, node, tasks."""
        by_place = {(number, node): tasks for number, node, tasks in solved}
        rows = [
            msgspec.structs.replace(played(number, node, 0.5), solved=by_place.get((number, node), ""))
            for number in range(1, 5)
            for node in range(3)
        ]
        return Run(arm(mix, nodes=3), rows, [])

    alone = run("8/0", (2, 0, "gcd/easy"), (3, 0, "gcd/easy lcm/easy"))
    together = run("4/4", (1, 1, "gcd/easy"), (2, 0, "gcd/easy"), (3, 2, "gcd/easy"), (4, 1, "lcm/easy"))
    first, second = table([together, alone])
    # Alone: gcd 2, never, never; lcm 3, never, never, and never is 5. Together: gcd 1, 2, 3; lcm 4, never, never.
    assert (first.first, first.median, first.last) == (2.5, 5.0, 5.0)
    assert (second.first, second.median, second.last) == (2.5, 3.5, 4.0)
    assert second.median_sooner == pytest.approx(5 / 3.5)
    unknown = table([silo(), shared()])
    assert all(line.first is None and line.median_sooner is None for line in unknown)


def test_ratios_are_taken_seed_by_seed() -> None:
    runs = [silo(1), silo(2), shared(1, 0.5), shared(2, 0.75)]
    line = table(runs)[1]
    # Ratios 2 and 3: mean 2.5, standard deviation sqrt(1/2), error sqrt(1/4) = 0.5, and 12.706 of these either way.
    assert (line.seeds, line.seed_list, line.ratio) == (2, [1, 2], 2.5)
    assert (line.ratio_low, line.ratio_high) == (pytest.approx(-3.853), pytest.approx(8.853))


def test_a_line_a_seed_is_compared_as_its_part_of_the_mean_is() -> None:
    runs = [shared(2, 0.75), silo(2), shared(1, 0.5), silo(1)]
    lines = table(runs, by_seed=True)
    assert [(line.seed_list, line.mix, line.ratio) for line in lines] == [
        ([1], "8/0", 1),
        ([1], "4/4", 2),
        ([2], "8/0", 1),
        ([2], "4/4", 3),
    ]


def test_how_much_higher_scores_end_is_asked_seed_by_seed() -> None:
    higher = Run(shared(2).arm, shared(2).rounds, [*BASE, score(2, 0, 1.0, 0.7)])
    first, second = table([silo(1), silo(2), shared(1), higher])
    # 0.8 and 1.0 compared with 0.55: the mean is .35, its error .1, and 12.706 of these either way.
    assert second.greedy_more == pytest.approx(0.35)
    assert (second.greedy_more_low, second.greedy_more_high) == (pytest.approx(-0.9206), pytest.approx(1.6206))
    assert (second.sampled_more, second.pass_at_k_more) == (pytest.approx(0.2), 0.0)
    assert (first.greedy_more, first.greedy_more_low, first.greedy_more_high) == (0.0, 0.0, 0.0)


def test_of_an_arm_that_was_stopped_between_two_scores_it_is_not_said_how_much_higher_it_ends() -> None:
    stopped = Run(shared().arm, [*shared().rounds, played(3, 0, 0.5)], shared().scores)
    line = table([silo(rounds=5), stopped])[1]
    assert (line.greedy, line.greedy_against, line.greedy_more) == (0.8, pytest.approx(0.53), None)


def test_some_of_the_rounds_are_looked_at_alone() -> None:
    rows = [played(n, node, 0.1 * n) for n in range(1, 5) for node in range(2)]
    run = Run(arm(), rows, [*BASE, score(2, 0, 0.6, 0.5), score(4, 0, 0.8, 0.5)])
    (line,) = table([run.between(2, 3)])
    assert line.cumulative == pytest.approx(2 * (0.2 + 0.3)) and line.reward == pytest.approx(0.25)
    assert line.greedy == pytest.approx(0.7), "on the line between its scores"
    assert line.solved_per_1000_tokens == pytest.approx(0.25 * 64)
    assert table([run.between(1, 99)]) == table([run])
    with pytest.raises(UsageError, match=r"An arm here has not played round 5\."):
        run.between(5, 9)


def settled(run: Run, **values: str) -> Run:
    return Run(msgspec.structs.replace(run.arm, values=values), run.rounds, run.scores)


def test_another_value_of_a_setting_may_be_compared_with() -> None:
    runs = [settled(silo(rounds=2), updates="1", curriculum="off"), settled(silo(rounds=4), updates="1")]
    found = {line.settings.get("curriculum"): line for line in table(runs, against="curriculum=off")}
    assert found["off"].ratio == found[None].ratio == 1.0
    assert found[None].rounds == 2, "as far as both went"
    assert {line.rounds for line in table(runs, against="curriculum=")} == {2, 4}, "that did not name it"
    with pytest.raises(UsageError, match=r"No arm here has curriculum=odd\."):
        table(runs, against="curriculum=odd")


def test_what_nobody_played_is_not_compared_with_but_the_silo_may_be_missing() -> None:
    with pytest.raises(UsageError, match=r"No arm here has the mix 4/5; there are 4/4, 8/0\."):
        table([silo(), shared()], against="4/5")
    assert table([shared()])[0].ratio is None


def test_an_arm_without_its_silo_has_no_ratio() -> None:
    (line,) = table([shared(seed=2)])
    assert line.ratio is None and line.greedy_against is None and line.greedy_best_against is None


@pytest.mark.parametrize("first", [True, False])
def test_arms_with_a_budget_are_compared_with_one_that_has_none_if_there_is_one(first: bool) -> None:
    def within(run: Run) -> Run:
        return Run(msgspec.structs.replace(run.arm, budget="cpu=4"), run.rounds, run.scores)

    short, full = within(silo(rounds=1)), silo()
    assert table([short, within(shared())])[1].ratio == 2.0
    found = table([short, full, shared()] if first else [full, short, shared()])
    assert [line.rounds for line in found if line.mix == "4/4"] == [2]


def test_the_nodes_of_one_model_of_several_are_looked_at_alone() -> None:
    two = msgspec.structs.replace(arm(), models=("starter", "other"))
    rows = [played(1, node, 0.2 + 0.1 * node) for node in range(4)]
    base = [score(0, -1, 0.1, 0.1), score(0, -2, 0.3, 0.3)]
    run = Run(two, rows, [*base, *(score(1, node, 0.5 + 0.1 * node, 0.5) for node in range(4))])
    (line,) = table([run.of("other")])
    assert line.cumulative == pytest.approx(0.3 + 0.5)
    assert (line.greedy_first, line.greedy) == (0.3, pytest.approx((0.6 + 0.8) / 2))
    with pytest.raises(UsageError, match=r"No node began with third here; there are starter, other\."):
        run.of("third")


def test_the_nodes_that_are_shown_nothing_are_looked_at_alone() -> None:
    rows = [played(1, node, 0.2 + 0.1 * node) for node in range(4)]
    run = Run(msgspec.structs.replace(arm(), kind="half-shown"), rows, [score(0, -1, 0.3, 0.3), score(0, -2, 0, 0)])
    (line,) = table([run.of("unshown")])
    assert (line.cumulative, line.greedy_first) == (pytest.approx(0.3 + 0.5), 0)
    assert table([run.of("shown")])[0].cumulative == pytest.approx(0.2 + 0.4)


def test_another_mix_than_the_silo_may_be_compared_with() -> None:
    first, second = table([silo(), shared()], against="4/4")
    assert (first.ratio, second.ratio, first.greedy_against) == (0.5, 1.0, 0.8)


def weighed(run: Run, weighting: str) -> Run:
    return Run(msgspec.structs.replace(run.arm, weighting=weighting), run.rounds, run.scores)


def test_of_several_weightings_an_arm_is_compared_with_its_own() -> None:
    """`shared` is weighed as in the paper, like the other mix; of what has no weighting in common nothing is said."""
    guarded = weighed(shared(reward=0.25), "guarded")
    other = Run(msgspec.structs.replace(shared().arm, mix="2/6"), shared().rounds, shared().scores)
    lines = table([guarded, shared(), other, silo()], against="4/4")
    found = {(line.mix, line.weighting): line.ratio for line in lines}
    assert found == {("8/0", ""): None, ("4/4", "guarded"): 1, ("4/4", "paper"): 1, ("2/6", "paper"): 1}


def test_a_young_arm_is_compared_in_nothing_where_the_other_spent_more_in_its_first_round() -> None:
    young = Run(shared().arm, [played(1, 0, 0.5, 0.25)], BASE)
    line = table([silo(), young], "cpu", against="4/4")[0]
    assert (line.rounds, line.cumulative, line.ratio, line.greedy) == (0, 0, 0, None)


def test_at_equal_rounds_the_longer_one_is_cut() -> None:
    assert table([silo(rounds=5), shared()])[1].ratio == 2.0


def test_at_equal_seconds_the_dearer_one_plays_fewer_rounds() -> None:
    # The silo used 4 seconds; the other, at 4 a round, has 1 round until then.
    line = table([silo(), shared(seconds=2.0)], "cpu")[1]
    assert (line.rounds, line.cumulative, line.ratio) == (1, 1.0, 1.0)
    assert line.greedy == 0.6, "its last score until then"
    # The other way round: the silo has played half of its way from .5 to .55.
    line = table([silo(), shared(seconds=0.5)], "cpu")[1]
    assert line.greedy_against == pytest.approx(0.525), "on the line between its scores"


def test_how_soon_a_score_is_reached_is_read_off_the_line_between_two_scores() -> None:
    # From .5 to .55 in 4 CPU-seconds: .52 after .4 of them. The other: to .6 in the 4 of its first round, .52 after .2.
    first, second = table([silo(), shared(seconds=2.0)], "cpu", reach=0.52)
    assert (first.reached, first.sooner) == (pytest.approx(1.6), 1.0)
    assert (second.reached, second.sooner) == (pytest.approx(0.8), pytest.approx(2.0))
    first, second = table([silo(), shared()], "rounds", reach=0.7)
    assert (first.reached, first.sooner, second.sooner) == (None, None, None), "the silo never came there"
    assert second.reached == pytest.approx(1.5)


def test_a_score_that_one_seed_never_reached_has_no_mean() -> None:
    # The silo of seed 2 comes to .52, that of seed 3 played too little to be scored.
    runs = [silo(2), Run(arm(seed=3), silo(3).rounds, BASE), shared(2), shared(3)]
    assert [(line.reached is None, line.sooner) for line in table(runs, reach=0.52)] == [(True, None), (False, None)]


def test_who_lies_counts_in_no_reward() -> None:
    run = Run(arm(), [played(1, 0, 0.5), played(1, 1, 1.0, honest=False)], [])
    (line,) = table([run])
    assert line.cumulative == 0.5 and line.greedy is None


def test_the_interval_of_a_few_values_is_students() -> None:
    found = t_interval([1.0, 2.0, 3.0])
    assert found is not None
    assert found.high - 2.0 == pytest.approx(4.303 / math.sqrt(3))
    assert t_interval([1.0]) is None


def test_the_figures_are_those_of_the_files(tmp_path: Path) -> None:
    for run in (silo(), shared()):
        write(tmp_path, run.arm, run.rounds, run.scores)
    assert table(read_runs(tmp_path)) == table([silo(), shared()])


def test_a_folder_without_arms_is_said(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="There is no arm"):
        read_runs(tmp_path)
