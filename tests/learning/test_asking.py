from collections import Counter
from random import Random

import pytest

from sapo_desktop.learning.asking import (
    AT_WORK,
    MEMORY,
    REST,
    TIMES,
    Again,
    Asking,
    Chance,
    Outcome,
    at_work,
    choose_again,
    choose_tasks,
    expected,
    observe,
    practised,
    start_of,
)

LEVELS = {"gcd": ["easy", "middle"], "lcm": ["easy"]}
TASKS = ["gcd/easy", "gcd/middle", "lcm/easy"]


def outcome(solved: float, task: str = "gcd/easy", seed: int = 1) -> Outcome:
    return Outcome(task=task, seed=seed, solved=solved)


def test_a_chance_is_the_mean_of_a_beta_posterior() -> None:
    assert Chance().mean == 0.5
    assert Chance(mixed=3, alike=6).mean == pytest.approx(4 / 11)
    draws = [Chance(mixed=3, alike=6).draw(Random(n)) for n in range(4000)]
    assert sum(draws) / 4000 == pytest.approx(4 / 11, abs=0.01)


def test_old_groups_count_less() -> None:
    after = Chance(mixed=1).with_group(0.0)
    assert (after.mixed, after.alike) == (pytest.approx(1 - 1 / MEMORY), 1)
    for _ in range(1000):
        after = after.with_group(0.5)
    assert after.mixed == pytest.approx(MEMORY)
    assert after.alike == pytest.approx(0, abs=1e-9)


def test_families_are_drawn_alike_and_middle_is_likely_before_anything_is_known() -> None:
    drawn = Counter(task for n in range(300) for task in choose_tasks(Asking(), LEVELS, 12, Random(n)))
    assert drawn["lcm/easy"] == pytest.approx(1800, rel=0.1)
    assert 0.75 < drawn["gcd/middle"] / (drawn["gcd/easy"] + drawn["gcd/middle"]) < 0.97


def test_a_model_begins_where_the_first_look_says_and_families_without_that_level_are_asked_less() -> None:
    levels = {"gcd": ["first", "easy", "middle", "hard"], "bf": ["easy", "paper"]}
    drawn = Counter(task for n in range(300) for task in choose_tasks(Asking(begin="first"), levels, 12, Random(n)))
    of_gcd = sum(count for task, count in drawn.items() if task.startswith("gcd"))
    assert drawn["gcd/first"] > 0.7 * of_gcd > 0.7 * (3600 - of_gcd)
    assert drawn["gcd/middle"] == drawn["gcd/hard"] == 0, "it goes up in small steps"


def test_no_level_is_asked_above_one_where_nothing_is_right() -> None:
    levels = {"gcd": ["first", "easy", "middle"]}

    def asked(*solved: float) -> Counter[str]:
        asking = Asking(begin="first")
        for number, share in enumerate(solved):
            asking = observe(asking, number, [outcome(share, "gcd/first", number)], levels)
        return Counter(choose_tasks(asking, levels, 600, Random(6)))

    assert asked(*[0.0] * 30) == {"gcd/first": 600}
    assert asked(0.5) == {"gcd/first": 600}, "one group is no ground yet"
    some = asked(*[0.5] * 10)
    assert some["gcd/first"] > some["gcd/easy"] > 0 == some["gcd/middle"]
    mastered = asked(*[1.0] * 30)
    assert mastered["gcd/easy"] > mastered["gcd/first"], "all alike, but all right: it goes up"


def test_what_a_level_showed_in_other_families_is_expected_of_a_new_one() -> None:
    levels = {"gcd": ["easy", "middle"], "lcm": ["easy", "middle"]}
    asking = Asking(begin="middle")
    for number in range(10):
        asking = observe(asking, number, [outcome(0.5, "gcd/easy", number), outcome(0.0, "gcd/middle", number)], levels)
    found = expected(asking, levels)
    assert found["lcm/easy"].mean > found["lcm/middle"].mean


def test_a_model_that_begins_at_the_bottom_works_on_a_few_families_in_turns() -> None:
    levels = {f"family{place}": ["first", "easy"] for place in range(3 * AT_WORK)}
    assert len(at_work(Asking(begin="easy"), levels)) == len(levels)
    asking, worked = Asking(begin="first"), Counter[str]()
    for number in range(120):
        tasks = choose_tasks(asking, levels, 8, Random(number))
        families = {task.partition("/")[0] for task in tasks}
        assert families <= set(at_work(asking, levels)) and len(at_work(asking, levels)) == AT_WORK
        worked.update(families)
        # Of the first family nothing is ever mixed, of the second one group in nine.
        outcomes = [
            outcome(
                0.0 if task.startswith("family0/") or (task.startswith("family1/") and number % 9) else 0.5,
                task,
                100 * number + place,
            )
            for place, task in enumerate(tasks)
        ]
        asking = observe(asking, number, outcomes, levels)
    assert worked.keys() == levels.keys()
    assert max(worked["family0"], worked["family1"]) < 0.3 * worked["family2"], "its turns are short and rare"


def test_without_a_first_look_a_family_begins_at_middle_or_in_its_place() -> None:
    assert start_of(["first", "easy", "middle", "hard"]) == "middle"
    assert [start_of(levels) for levels in (["first"], ["first", "easy"], ["hard", "paper"])] == [
        "first",
        "easy",
        "paper",
    ]


def test_a_level_is_asked_as_soon_as_the_one_above_it_is_the_likeliest() -> None:
    levels = {"gcd": ["first", "easy", "middle", "hard"]}
    too_hard = {f"gcd/{level}": Chance(alike=30) for level in ("middle", "hard")}
    drawn = Counter(choose_tasks(Asking(chances=too_hard), levels, 3000, Random(5)))
    assert drawn["gcd/first"] > 300
    past = Asking(chances={**too_hard, "gcd/middle": Chance(mixed=20, alike=10)})
    assert "gcd/first" not in choose_tasks(past, levels, 3000, Random(5))


def test_what_is_expected_gives_way_to_what_is_seen() -> None:
    asking = Asking()
    for number in range(12):
        seen = [outcome(1.0, "gcd/middle", number), outcome(0.5, "gcd/easy", number)]
        asking = observe(asking, number, seen, LEVELS)
    found = expected(asking, LEVELS)
    assert found["gcd/easy"].mean > found["gcd/middle"].mean


def test_of_a_family_the_level_that_is_mixed_is_asked_and_no_other_left_for_good() -> None:
    chances = {"gcd/easy": Chance(alike=30), "gcd/middle": Chance(mixed=20, alike=10)}
    drawn = Counter(choose_tasks(Asking(chances=chances), LEVELS, 3000, Random(3)))
    asked = drawn["gcd/easy"] + drawn["gcd/middle"]
    assert drawn["gcd/easy"] == pytest.approx(0.05 * asked, rel=0.3), "half of the tenth that is drawn alike"


def test_a_family_that_teaches_nothing_is_asked_less_and_never_not_at_all() -> None:
    chances = {task: Chance(alike=60) for task in ("gcd/easy", "gcd/middle")}
    drawn = Counter(task[:3] for task in choose_tasks(Asking(chances=chances), LEVELS, 3000, Random(4)))
    assert drawn["gcd"] / drawn["lcm"] == pytest.approx(0.1 / 0.6, rel=0.8)
    assert practised(Asking(chances=chances), LEVELS) == {"lcm/easy"}


def test_a_mixed_question_is_asked_again_after_a_rest_until_its_answers_are_alike() -> None:
    asking = observe(Asking(), 5, [outcome(0.5), outcome(1.0, seed=2), outcome(0.0, seed=3)], LEVELS)
    assert [one.seed for one in asking.again] == [1]
    assert choose_again(asking, TASKS, 5 + REST - 1, 8) == []
    (again,) = choose_again(asking, TASKS, 5 + REST, 8)
    assert (again.task, again.seed, again.times) == ("gcd/easy", 1, 1)
    assert observe(asking, 8, [outcome(1.0)], LEVELS).again == []


def test_no_question_is_asked_more_often_than_that() -> None:
    asking = Asking()
    for number in range(TIMES):
        asking = observe(asking, 10 * number, [outcome(0.5)], LEVELS)
        assert bool(asking.again) == (number < TIMES - 1)


def test_a_question_asked_again_says_nothing_of_fresh_ones() -> None:
    once = observe(Asking(), 1, [outcome(0.5)], LEVELS)
    twice = observe(once, 5, [outcome(0.5)], LEVELS)
    assert twice.chances == once.chances == {"gcd/easy": Chance().with_group(0.5)}


def test_a_quarter_of_a_round_at_most_is_asked_again_the_least_certain_first() -> None:
    kept = [Again(task="gcd/easy", seed=n, round=1, times=1, solved=n / 8) for n in range(1, 8)]
    assert [one.seed for one in choose_again(Asking(again=kept), TASKS, 9, 12)] == [3, 4, 2]


def test_what_is_remembered_is_bounded_and_of_tasks_that_are_trained() -> None:
    asking = Asking()
    for number in range(20):
        asking = observe(asking, number, [outcome(0.5, seed=100 * number + n) for n in range(50)], LEVELS)
    assert len(asking.again) == 512
    assert asking.again[-1].round == 19
    assert observe(asking, 21, [], {"lcm": ["easy"]}) == Asking()


def test_practised_are_those_nearly_as_likely_to_teach_as_the_best() -> None:
    asking = Asking(chances={"gcd/easy": Chance(mixed=1, alike=29), "gcd/middle": Chance(mixed=15, alike=15)})
    assert practised(asking, LEVELS) == {"gcd/middle", "lcm/easy"}
    assert practised(Asking(), LEVELS) == {"gcd/middle", "lcm/easy"}
    assert practised(Asking(), {}) == frozenset()
