"""Worked examples of a family: questions with good answers, shown to a model before it is asked one.

They come from the easiest level and from the training side of the split, so no example gives away a held-out answer.
Every node makes the same ones. Several of a family take turns, since a model that always sees the same example copies
its answer. Left out: which models are shown examples, and how many (learning/first_look.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Protocol

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Exchange, Question
from sapo_desktop.tasks.catalogue import Family, TaskKey, task_key
from sapo_desktop.tasks.split import held_out_side
from sapo_desktop.tasks.worked import WRITERS

OF_A_FAMILY = 4
LONGEST_ANSWER = 220
"""Characters of an example's answer: it is read with every question."""
LONGEST_QUESTION = 600
_SEEDS = 60
_FOR_ANYTHING = "chain_sum"


class EntryMaker(Protocol):
    """Makes questions; examiner.py is the one that has the datasets."""

    def entry(self, task: TaskKey, seed: int) -> Mapping[str, Any]: ...


def worked_examples(maker: EntryMaker, family: Family) -> list[Exchange]:
    """Up to `OF_A_FAMILY` examples of a family; of an own one the row that is set aside for this. None where nobody
    wrote down how its questions are worked out, or where that takes too long."""
    if family.shown is not None:
        return [Exchange(question=family.shown.question, answer=f"{OPEN}{family.shown.answer}{CLOSE}")]
    writer = None if family.own else WRITERS.get(family.name)
    if writer is None:
        return []
    found: list[Exchange] = []
    # Some writers have no steps for what the easiest level asks.
    for task, place in product([task_key(family, level) for level in family.levels[:2]], range(_SEEDS)):
        try:
            entry = maker.entry(task, _seed(task, place))
        except TaskError:
            continue  # this seed has no question
        question, answer = str(entry["question"]), writer(dict(entry))
        fits = answer is not None and len(answer) <= LONGEST_ANSWER and len(question) <= LONGEST_QUESTION
        if not fits or held_out_side(family.name, question) or question in [one.question for one in found]:
            continue
        found.append(Exchange(question=question, answer=str(answer)))
        if len(found) == OF_A_FAMILY:
            break
    return found


def shown_with(question: Question, examples: Sequence[Exchange], shots: int) -> tuple[Exchange, ...]:
    """Those `shots` of a family's examples that stand before this question: always the same ones, never itself."""
    others = [one for one in examples if one.question != question.text]
    first = question.hash[0] if question.hash else 0
    return tuple(others[(first + turn) % len(others)] for turn in range(min(shots, len(others))))


def free_question(text: str) -> Question:
    """A question of no family, as a person types it: it is shown the examples of a family that everybody can read."""
    return Question(task=f"{_FOR_ANYTHING}/free", seed=0, text=text, hash=b"")


def _seed(task: TaskKey, place: int) -> int:
    return int.from_bytes(digest(b"sapo/example/1", task.encode("ascii"), bytes([place]))[:8], "big") & (2**63 - 1)
