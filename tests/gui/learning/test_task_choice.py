"""What the setting `tasks` means and how a choice is written, so that the worker reads it back."""

import random

import pytest

from sapo_desktop.core.resources import resource
from sapo_desktop.gui.learning import task_choice
from sapo_desktop.tasks.catalogue import Catalogue, load_catalogue, parse_tasks
from tests.builders import task_info

LEVELS = {"gcd": ["easy", "middle", "hard"], "bf": ["easy", "paper"], "lcm": ["easy", "middle"]}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue(resource("tasks.toml"))


def levels_of(catalogue: Catalogue) -> dict[str, list[str]]:
    return {family.name: [level.name for level in family.levels] for family in catalogue.families}


def test_a_choice_is_written_so_that_the_worker_reads_it_back(catalogue: Catalogue) -> None:
    levels = levels_of(catalogue)
    every = list(catalogue.tasks())
    draw = random.Random(3)
    for _ in range(50):
        chosen = frozenset(draw.sample(every, draw.randint(1, len(every))))
        text = task_choice.written(levels, chosen)
        assert set(parse_tasks(catalogue, text)) == chosen and len(text) <= 2000, "the longest that the setting takes"


def test_the_shortest_way_is_taken() -> None:
    everything = task_choice.chosen_tasks(LEVELS, "all")
    assert task_choice.written(LEVELS, everything) == "all"
    assert task_choice.written(LEVELS, {"gcd/easy", "gcd/middle", "gcd/hard", "bf/paper"}) == ("gcd,bf/paper")
    assert task_choice.written(LEVELS, {"bf/easy", "bf/paper", "lcm/middle"}) == "bf,bf/paper,lcm/middle"
    assert task_choice.written(LEVELS, set()) == ""


def test_what_the_catalogue_no_longer_has_is_left_out() -> None:
    assert task_choice.chosen_tasks(LEVELS, "gone,gcd/silly,lcm/easy") == {"lcm/easy"}


def test_families_and_levels_go_on_and_off() -> None:
    chosen = task_choice.chosen_tasks(LEVELS, "gcd/easy,bf/paper")
    assert task_choice.with_family(LEVELS, chosen, "gcd", True) == {
        "gcd/easy", "gcd/middle", "gcd/hard", "bf/paper",
    }  # fmt: skip
    assert task_choice.with_family(LEVELS, chosen, "bf", False) == {"gcd/easy"}
    assert task_choice.with_family({"only": ["paper"]}, frozenset(), "only", True) == {"only/paper"}


def test_a_row_sums_up_its_levels() -> None:
    items = [
        task_info("gcd", solved=0.5, answers=30, training=True),
        task_info("gcd", "middle", solved=0.2, answers=10, training=True),
        task_info("gcd", "hard"),
        task_info("bf"),
    ]
    assert task_choice.catalogue_of(items) == {"gcd": ["easy", "middle", "hard"], "bf": ["easy"]}
    gcd, bf = task_choice.family_rows(items, frozenset({"gcd/easy", "gcd/middle"}))
    assert (gcd.title, gcd.chosen, gcd.training) == ("GCD", True, ("easy", "middle"))
    assert gcd.solved == pytest.approx((0.5 * 30 + 0.2 * 10) / 40)
    assert gcd.chosen_levels == {"easy", "middle"}
    assert not bf.chosen and bf.solved is None
