from collections import Counter
from random import Random

import msgspec
import pytest

from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.asking import Again, Asking, Chance
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.guard import GuardState
from sapo_desktop.learning.mixing import MixShare
from sapo_desktop.learning.plan import (
    after_round,
    choose_questions,
    draw_task,
    group_levels,
    mix_in_force,
    next_learning_rate,
    plan_round,
    recommended_learning_rate,
    share_of,
    tasks_in_training,
    tasks_of_interest,
    trainer_settings,
)
from sapo_desktop.tasks.service import QuestionRef
from tests.learning.test_round import play
from tests.worker.fakes import FakeEngine

LEVELS = {"gcd": ["easy", "middle", "hard"], "lcm": ["easy", "middle"]}

LARGE = 500_000_000


def counters(**changes: object) -> Counters:
    return msgspec.structs.replace(Counters(round=4, instance="i", seed=11), **changes)


def test_levels_are_grouped_by_family_in_order() -> None:
    assert group_levels(["gcd/easy", "gcd/middle", "lcm/middle"]) == {"gcd": ["easy", "middle"], "lcm": ["middle"]}


def test_a_plan_follows_from_settings_and_counters_alone() -> None:
    settings = Settings(answers=4, questions=6, max_tokens=99, temperature=0.7, curriculum=False)
    plan = plan_round(settings, counters(), LEVELS, LARGE)
    assert (plan.number, plan.seed, plan.answers, len(plan.tasks)) == (5, 11, 4, 6)
    assert (plan.sampling.max_tokens, plan.sampling.temperature) == (99, 0.7)
    assert plan == plan_round(settings, counters(), LEVELS, LARGE)
    assert plan.tasks != plan_round(settings, counters(round=5), LEVELS, LARGE).tasks


def test_without_curriculum_families_are_drawn_alike_and_at_their_second_level() -> None:
    settings = Settings(curriculum=False)
    drawn = Counter(task for n in range(500) for task in choose_questions(settings, counters(), LEVELS, n, 8)[1])
    assert set(drawn) == {"gcd/middle", "lcm/middle"}
    assert drawn["gcd/middle"] / sum(drawn.values()) == pytest.approx(0.5, abs=0.05)


def test_the_curriculum_asks_most_what_is_mixed_most() -> None:
    known = {"gcd/easy": Chance(alike=30), "gcd/hard": Chance(alike=30), "lcm/easy": Chance(alike=30)}
    seen = counters(asking=Asking(chances=known | {"gcd/middle": Chance(mixed=20, alike=10, right=15)}))
    drawn = Counter(task for n in range(200) for task in choose_questions(Settings(), seen, LEVELS, n, 6)[1])
    assert set(drawn) == {"gcd/easy", "gcd/middle", "gcd/hard", "lcm/easy", "lcm/middle"}, "nothing is left for good"
    assert drawn["gcd/middle"] + drawn["lcm/middle"] > 0.5 * sum(drawn.values())
    for settings in (Settings(), Settings(curriculum=False)):
        assert tasks_in_training(settings, seen, LEVELS) == {"gcd/middle", "lcm/middle"}


def test_mixed_questions_are_asked_again_before_fresh_ones() -> None:
    kept = [Again(task="gcd/hard", seed=7, round=1, times=1, solved=0.5)]
    asked = plan_round(Settings(questions=4), counters(asking=Asking(again=kept)), LEVELS, LARGE)
    assert asked.again == (QuestionRef(task="gcd/hard", seed=7),)
    assert len(asked.tasks) == 3
    alike = plan_round(Settings(questions=4, curriculum=False), counters(asking=Asking(again=kept)), LEVELS, LARGE)
    assert (alike.again, len(alike.tasks)) == ((), 4)


def test_silo_means_own_groups_only() -> None:
    assert share_of(Settings(silo=True, mix="2/6"), counters()) == MixShare(8, 0)
    assert share_of(Settings(silo=False, mix="2/6"), counters()) == MixShare(2, 6)
    assert share_of(Settings(silo=False, mix="2/6", questions=32), counters()) == MixShare(8, 24)
    for mix in ("2/6", "auto"):
        assert mix_in_force(Settings(silo=True, mix=mix), counters(teaching=0.1)) == "8/0"
    assert mix_in_force(Settings(silo=False, mix="2/6"), counters(teaching=0.9)) == "2/6"


def test_the_automatic_mix_takes_more_from_peers_while_few_own_groups_teach() -> None:
    shared = Settings(silo=False, mix="auto")
    known = {None: "4/4", 0.0: "2/6", 0.2: "2/6", 0.3: "4/4", 1.0: "4/4"}
    assert {share: mix_in_force(shared, counters(teaching=share)) for share in known} == known


def test_what_own_groups_teach_is_smoothed_over_groups_not_rounds() -> None:
    alike, mixed = (play(FakeEngine(skill=skill), number=1) for skill in (4, 2))
    assert after_round(counters(), alike, LEVELS, most=512).teaching == 0
    assert after_round(counters(), mixed, LEVELS, most=512).teaching == 1
    seen = len(mixed.outcomes)
    assert after_round(counters(teaching=0.0), mixed, LEVELS, most=512).teaching == pytest.approx(1 - 0.97**seen)


def test_a_round_moves_counters_on() -> None:
    result = play(FakeEngine(skill=4), number=5)
    after = after_round(counters(), result, LEVELS, most=512)
    assert after.round == 5
    assert after.solve_rates == {"gcd/easy": 1.0, "lcm/easy": 1.0}
    assert set(after.asking.chances) == {"gcd/easy", "lcm/easy"}


def test_the_guards_factor_reaches_the_learning_rate() -> None:
    guarded = counters(guard=GuardState(learning_rate_factor=0.5))
    assert trainer_settings(Settings(learning_rate=1e-3), LARGE, guarded).learning_rate == 5e-4


def test_the_learning_rate_falls_with_the_adapters_steps_to_a_tenth_at_last() -> None:
    settings = Settings(learning_rate=1e-3, learning_rate_decay=100)
    rates = [next_learning_rate(settings, LARGE, counters(round=77), n) for n in (0, 100, 200, 900, 10**6)]
    assert rates == pytest.approx([1e-3, 5e-4, 1e-3 / 3, 1e-4, 1e-4])
    constant = [next_learning_rate(Settings(), LARGE, counters(), n) for n in (0, 1000)]
    assert constant == pytest.approx([recommended_learning_rate("lora", LARGE)] * 2)
    tiny = [next_learning_rate(Settings(), 2_000_000, counters(), n) for n in (0, 50)]
    assert tiny == pytest.approx([4e-3, 2e-3])


def test_recommended_rates_fall_with_the_fourth_root_of_the_size() -> None:
    assert recommended_learning_rate("lora", 134_500_000) == pytest.approx(3e-4)
    assert recommended_learning_rate("lora", 16 * 134_500_000) == pytest.approx(1.5e-4)
    for parameters in (2_000_000, 500_000_000):
        assert recommended_learning_rate("full", parameters) < recommended_learning_rate("lora", parameters)


def test_what_is_not_trained_any_more_is_not_asked() -> None:
    gone = Asking(
        chances={"gone/easy": Chance(mixed=9)}, again=[Again(task="gone/easy", seed=3, round=1, times=1, solved=0.5)]
    )
    assert choose_questions(Settings(), counters(asking=gone), {"gcd": ["middle"]}, 5, 8) == ((), ("gcd/middle",) * 8)


def test_a_person_or_a_preview_is_given_a_task_as_a_round_would() -> None:
    random = Random(1)
    assert draw_task(Settings(), counters(), LEVELS, random, "lcm").startswith("lcm/")
    assert draw_task(Settings(curriculum=False), counters(), LEVELS, random, "gcd") == "gcd/middle"


def test_a_smaller_micro_batch_than_what_once_fitted_is_taken() -> None:
    stood = counters(micro_batch=8)
    assert trainer_settings(Settings(micro_batch=16), 1, stood).micro_batch == 8
    assert trainer_settings(Settings(micro_batch=4), 1, stood).micro_batch == 4


def test_a_step_has_eight_groups_as_in_sapo_unless_the_user_says_otherwise() -> None:
    assert len(plan_round(Settings(), counters(), LEVELS, LARGE).tasks) == 8
    assert len(plan_round(Settings(questions=5), counters(), LEVELS, 2_000_000).tasks) == 5


def test_the_guard_takes_external_groups_away_and_own_ones_stand_in() -> None:
    settings = Settings(silo=False, mix="4/4")
    lost = counters(guard=GuardState(external_less=3))
    assert plan_round(settings, counters(), LEVELS, LARGE).share == MixShare(4, 4)
    assert plan_round(settings, lost, LEVELS, LARGE).share == MixShare(7, 1)


def test_external_groups_are_wanted_where_this_node_does_not_solve_all() -> None:
    levels = {"gcd": ["easy", "middle", "hard"], "bf": ["easy"]}
    able = counters(solve_rates={"gcd/easy": 0.98, "gcd/middle": 0.6})
    assert tasks_of_interest(Settings(), able, levels) == ("bf/easy", "gcd/middle", "gcd/hard")
    all_known = counters(solve_rates={"bf/easy": 1.0})
    assert tasks_of_interest(Settings(), all_known, {"bf": ["easy"]}) == ("bf/easy",)
    off = Settings(curriculum=False)
    assert tasks_of_interest(off, counters(), levels) == ("bf/easy", "gcd/easy", "gcd/middle", "gcd/hard")


def test_a_checkpoint_from_before_right_and_wrong_were_kept_apart_is_read() -> None:
    """It held the lengths of own answers alone: they are collected again."""
    before = msgspec.msgpack.encode({"round": 3, "instance": "i", "seed": 1, "reasoning": {"gcd/easy": [5, 9]}})
    assert msgspec.msgpack.decode(before, type=Counters) == Counters(round=3, instance="i", seed=1)
