"""Worked steps lead to answers that are scored as solved, and stay short where the starter is primed."""

import contextlib
import io
import tomllib
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import reasoning_gym

from sapo_desktop.tasks.grammars import parse_answer
from sapo_desktop.tasks.scoring import SOLVED, right_answers, score
from sapo_desktop.tasks.worked import WRITERS

CATALOGUE: dict[str, Any] = tomllib.loads(
    (Path(__file__).resolve().parents[3] / "resources" / "tasks.toml").read_text(encoding="utf-8")
)
PRIMED = [
    (family, level) for family in CATALOGUE for level in ("easy", "middle") if (family, level) != ("bf", "middle")
]
SEEDS = 50
DRAWN = 1000
UNSOLVED = {("decimal_arithmetic", "middle"): 25}  # quotients inside longer ones lose places: not primed
LONGEST = 300  # characters, for nine in ten completions of a level


def entries(family: str, level: str) -> tuple[Any, list[dict[str, Any]]]:
    entry = CATALOGUE[family]
    dataset = reasoning_gym.create_dataset(entry["dataset"], size=DRAWN, seed=11, **entry["levels"][level])
    with contextlib.redirect_stdout(io.StringIO()):
        drawn = (dataset[index] for index in range(DRAWN))
        answerable = (one for one in drawn if right_answers(entry["dataset"], entry["grammar"], one))
        return dataset, list(islice(answerable, SEEDS))


def solved(dataset: Any, family: str, level: str, entry: dict[str, Any], text: str) -> bool:
    of = CATALOGUE[family]
    answer = parse_answer(of["grammar"], text.rsplit("<answer>", 1)[1].removesuffix("</answer>"))
    if answer is None:
        return False
    config = of["levels"][level]
    return score(of["dataset"], of["grammar"], config, answer, entry, dataset.score_answer) >= SOLVED


@pytest.mark.parametrize(("family", "level"), PRIMED)
def test_steps_end_in_the_right_answer(family: str, level: str) -> None:
    dataset, asked = entries(family, level)
    texts = [(entry, WRITERS[family](entry)) for entry in asked]
    written = [(entry, text) for entry, text in texts if text is not None]
    assert len(written) >= SEEDS - 5
    wrong = [text for entry, text in written if not solved(dataset, family, level, entry, text)]
    assert len(wrong) <= UNSOLVED.get((family, level), 0), wrong
    assert sorted(len(text) for _, text in written)[len(written) * 9 // 10] <= LONGEST


@pytest.mark.parametrize("family", list(CATALOGUE))
def test_a_completion_has_one_answer_and_ends_with_it(family: str) -> None:
    _, asked = entries(family, "easy")
    for text in filter(None, map(WRITERS[family], asked)):
        assert text.count("<answer>") == text.count("</answer>") == 1
        assert text.endswith("</answer>")


def test_every_family_has_a_writer() -> None:
    assert set(WRITERS) == set(CATALOGUE)
