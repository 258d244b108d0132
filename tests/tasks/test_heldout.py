"""Held-out sets: fixed, on the held-out side, without duplicates, disjoint, and never an endless
search."""

import pytest

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.records import Question
from sapo_desktop.core.task_list import LEVELS, PAPER
from sapo_desktop.tasks.catalogue import Catalogue, Family, Level, family_of
from sapo_desktop.tasks.heldout import OWN_WANTED, PATIENCE, WANTED, SetName, held_out_seed, held_out_set, part_of
from sapo_desktop.tasks.own.family import held_out_counts, parse_file
from sapo_desktop.tasks.questions import question_hash
from sapo_desktop.tasks.split import canonical, held_out_side

SECRET = bytes(range(32))


def catalogue(*names: str) -> Catalogue:
    levels = tuple(Level(name=name, config={}) for name in LEVELS)
    return Catalogue(
        families=tuple(
            Family(
                name=name, title=name, dataset=name, grammar="integer", scorer=1, reasoning=True,
                levels=levels,
            )
            for name in names
        )
    )  # fmt: skip


def test_every_level_that_is_trained_on_by_default_is_held_out_too() -> None:
    for per_level in WANTED.values():
        assert set(per_level) == set(LEVELS) - {PAPER}


class Asker:
    """Questions about pairs of numbers below `space`, made from the seed."""

    def __init__(self, space: int) -> None:
        self.space = space
        self.asked = 0

    def __call__(self, task: str, seed: int) -> Question:
        self.asked += 1
        if seed % 50 == 0:
            raise TaskError("no question")
        text = f"{family_of(task)} of {seed % self.space}, {seed // self.space % self.space}?"
        return Question(task=task, seed=seed, text=text, hash=question_hash(text))


def contents(questions: list[Question]) -> list[tuple[str, str]]:
    return [(family_of(q.task), canonical(family_of(q.task), q.text)) for q in questions]


def test_sets_have_their_size_and_hold_what_they_promise() -> None:
    found: dict[SetName, list[tuple[str, str]]] = {}
    for which, per_level in WANTED.items():
        made = held_out_set(which, SECRET, catalogue("gcd", "lcm"), Asker(1000))
        assert len(made) == 2 * sum(per_level.values())
        assert all(held_out_side(family_of(q.task), q.text) for q in made)
        found[which] = contents(made)
        assert len(set(found[which])) == len(found[which])
    assert not set(found["test"]) & set(found["validation"])


def test_other_counts_may_be_asked_for() -> None:
    made = held_out_set("validation", SECRET, catalogue("gcd", "lcm"), Asker(1000), {"hard": 3})
    assert [question.task for question in made] == ["gcd/hard"] * 3 + ["lcm/hard"] * 3


def test_an_own_family_is_scored_on_every_row_that_is_held_out_up_to_a_hundred_a_level() -> None:
    def sizes(count: int) -> tuple[int, int]:
        rows = "\n".join(["question,answer", *(f"What is {n} plus one?,{n + 1}" for n in range(count))])
        own = parse_file("sums.csv", rows.encode(), set())

        def ask(task: str, seed: int) -> Question:
            text = own.family.levels[0].rows[seed % len(own.family.levels[0].rows)][0]
            return Question(task=task, seed=seed, text=text, hash=question_hash(text))

        made = {which: held_out_set(which, SECRET, Catalogue(families=(own.family,)), ask) for which in WANTED}
        assert not {q.hash for q in made["validation"]} & {q.hash for q in made["test"]}
        found = len(made["validation"]), len(made["test"])
        if count < 500:
            assert found == held_out_counts("sums", [row.question for row in own.rows])
        return found

    assert sizes(300)[1] > 8
    assert sizes(3000) == (OWN_WANTED["validation"], OWN_WANTED["test"])


def test_the_test_set_is_everybodys_and_the_validation_set_ones_own() -> None:
    def hashes(which: SetName, secret: bytes) -> list[bytes]:
        return [q.hash for q in held_out_set(which, secret, catalogue("gcd"), Asker(1000))]

    assert hashes("test", SECRET) == hashes("test", b"")
    assert hashes("validation", SECRET) == hashes("validation", SECRET)
    assert hashes("validation", SECRET) != hashes("validation", bytes(32))


def test_a_tiny_space_gives_a_smaller_set_and_ends() -> None:
    asker = Asker(6)
    made = held_out_set("test", b"", catalogue("gcd"), asker)
    assert 0 < len(made) < sum(WANTED["test"].values())
    assert asker.asked <= (3 + sum(WANTED["test"].values())) * PATIENCE


def test_a_space_without_any_question_ends_too() -> None:
    def nothing(task: str, seed: int) -> Question:
        raise TaskError("no question")

    assert held_out_set("validation", SECRET, catalogue("gcd"), nothing) == []


def test_the_secret_must_be_one() -> None:
    with pytest.raises(TaskError, match="32 bytes"):
        held_out_set("validation", b"short", catalogue("gcd"), Asker(1000))


def test_a_quarter_of_held_out_content_is_for_validation() -> None:
    share = sum(part_of(str(number)) == "validation" for number in range(4000)) / 4000
    assert 0.22 < share < 0.28


def test_seeds_differ_by_set_secret_task_and_try() -> None:
    seeds = {
        held_out_seed("test", SECRET, "gcd/easy", 0),
        held_out_seed("validation", SECRET, "gcd/easy", 0),
        held_out_seed("test", bytes(32), "gcd/easy", 0),
        held_out_seed("test", SECRET, "gcd/middle", 0),
        held_out_seed("test", SECRET, "gcd/easy", 1),
    }
    assert len(seeds) == 5
    assert max(seeds) < 2**63
