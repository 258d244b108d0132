"""Questions that do not fit into a model's context are counted, own ones and the product's."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from sapo_desktop.core.records import Prompt
from sapo_desktop.core.resources import resource
from sapo_desktop.engines.protocols import Encoded
from sapo_desktop.tasks.catalogue import Catalogue, Family, load_catalogue
from sapo_desktop.tasks.own.family import parse_file
from sapo_desktop.worker.lengths import own_too_long, too_long
from tests.worker.fakes import FakeExaminer

AROUND = 20
"""Tokens of a template."""


class Counting:
    """Cuts a text into its characters."""

    def __init__(self, context: int) -> None:
        self.loaded: Any = SimpleNamespace(context=context)
        self.running, self.busy = True, False
        self.encoded = 0

    async def encode(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> Encoded:
        self.encoded += len(prompts)
        return Encoded(tokens=[], prompts=[[0] * (len(prompt.question) + AROUND) for prompt in prompts])


def family(longest: int) -> Family:
    rows = (f"{f'What is {n}? '.ljust(20 + n * (longest - 20) // 99, '.')},{n}" for n in range(100))
    return parse_file("own.csv", "\n".join(["question,answer", *rows]).encode(), ()).family


async def test_nothing_is_said_of_questions_that_fit_and_few_are_cut_for_it() -> None:
    engine = Counting(1024)
    assert await own_too_long(engine, family(500)) == [] and engine.encoded == 1
    assert await own_too_long(engine, family(1024 - AROUND - 8)) == []


async def test_what_does_not_fit_is_counted_with_the_longest() -> None:
    (said,) = await own_too_long(Counting(1024), family(2000))
    assert "own: 51 of 99 questions are too long for this model and are left out." in str(said)
    assert "context is 1,024 tokens, and the longest question has 2,020" in str(said)


async def test_a_model_that_reads_little_is_tried_with_the_products_tasks() -> None:
    catalogue = Catalogue(families=(*load_catalogue(resource("tasks.toml")).families, family(300)))
    levels = {"gcd": ["easy"], "letter_counting": ["hard"], "own": ["easy"]}
    examiner: Any = FakeExaminer()  # asks by a task's name and seed
    own, shipped = await too_long(Counting(AROUND + 20), examiner, catalogue, levels)
    assert str(own).startswith("own: ")
    assert "40 tokens. Questions of 1 of 2 tasks are longer and are left out: letter_counting/hard." in str(shipped)
    assert await too_long(Counting(1024), examiner, catalogue, levels) == []
