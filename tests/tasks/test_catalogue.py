"""The catalogue file is read strictly, and lists of tasks mean what a person expects."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import TaskError, UsageError
from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import Catalogue, family_of, level_of, load_catalogue, parse_tasks
from sapo_desktop.tasks.grammars import GRAMMARS

SMALL = """
[gcd]
dataset = "gcd"
grammar = "integer"
scorer = 1
reasoning = true
title = "Greatest common divisor"
[gcd.levels.middle]
max_value = 500
[gcd.levels.easy]
max_value = 50
[lcm]
dataset = "lcm"
grammar = "integer"
scorer = 1
reasoning = true
shared = ["easy"]
title = "Least common multiple"
[lcm.levels.easy]
max_value = 9
[lcm.levels.middle]
max_value = 30
[lcm.levels.paper]
max_value = 100
"""


def load(folder: Path, text: str) -> Catalogue:
    path = folder / "tasks.toml"
    path.write_text(text, encoding="utf-8")
    return load_catalogue(path)


def test_levels_come_from_easy_to_hard_whatever_the_order_in_the_file(tmp_path: Path) -> None:
    assert load(tmp_path, SMALL).tasks() == ("gcd/easy", "gcd/middle", "lcm/easy", "lcm/middle", "lcm/paper")


def test_a_task_is_found_with_its_config(tmp_path: Path) -> None:
    family, level = load(tmp_path, SMALL).find("gcd/middle")
    assert (family.title, level.config) == ("Greatest common divisor", {"max_value": 500})


def test_levels_are_shared_unless_the_file_names_those_that_are(tmp_path: Path) -> None:
    catalogue = load(tmp_path, SMALL)
    assert [catalogue.find(task)[1].shared for task in catalogue.tasks()] == [True, True, True, False, False]


def test_names_are_taken_apart() -> None:
    assert (family_of("gcd/easy"), level_of("gcd/easy")) == ("gcd", "easy")


@pytest.mark.parametrize("key", ["gcd", "gcd/", "gcd/hard", "nothing/easy", "", "gcd/easy/x"])
def test_a_task_that_does_not_exist_is_an_error(tmp_path: Path, key: str) -> None:
    with pytest.raises(TaskError):
        load(tmp_path, SMALL).find(key)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('title = "Greatest common divisor"', 'titel = "Greatest common divisor"'),
        ("scorer = 1", 'scorer = "1"'),
        ("[gcd.levels.easy]", "[gcd.levels.trivial]"),
        ("[gcd.levels.easy]", "[gcd.levels.hard]"),
        ('shared = ["easy"]', 'shared = ["eazy"]'),
        ('shared = ["easy"]', "shared = true"),
        ("max_value = 50\n", "seed = 1\n"),
        ("max_value = 50\n", "max_value = 1979-05-27\n"),
        ("[gcd]", "[gcd"),
        ("[gcd]", '["../gcd"]'),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(TaskError, match=r"tasks\.toml"):
        load(tmp_path, SMALL.replace(old, new, 1))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be read"):
        load_catalogue(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("gcd", ("gcd/easy", "gcd/middle")),
        ("lcm", ("lcm/easy", "lcm/middle")),
        ("paper", ("lcm/paper",)),
        ("easy", ("gcd/easy", "lcm/easy")),
        ("all", ("gcd/easy", "gcd/middle", "lcm/easy", "lcm/middle")),
        (" lcm/middle , gcd/easy,lcm/middle,", ("gcd/easy", "lcm/middle")),
    ],
)
def test_a_list_of_tasks(tmp_path: Path, text: str, tasks: tuple[str, ...]) -> None:
    assert parse_tasks(load(tmp_path, SMALL), text) == tasks


@pytest.mark.parametrize("text", ["", " , ", "gdc", "gcd/hard", "gcd;lcm"])
def test_a_list_that_means_nothing_is_wrong_usage(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        parse_tasks(load(tmp_path, SMALL), text)


def test_the_shipped_catalogue_has_the_papers_nine_and_more_and_only_known_grammars() -> None:
    catalogue = load_catalogue(resource("tasks.toml"))
    assert sum(task.endswith("/paper") for task in catalogue.tasks()) == 9
    assert len(catalogue.families) >= 19
    assert {family.grammar for family in catalogue.families} <= set(GRAMMARS)
