"""Worked examples of a family: questions with good answers, shown to a model before it is asked one.

They come from easy levels and from the training side of the split, so no example gives away a held-out answer. Every
node makes the same ones. Several of a family take turns, since a model that always sees the same example copies its
answer. A question of the level `first` takes one step: it is shown answers alone. All others are shown steps.
Left out: which models are shown examples, and how many (learning/first_look.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Protocol

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Exchange, Question
from sapo_desktop.core.task_list import FIRST
from sapo_desktop.tasks.catalogue import Family, Level, TaskKey, level_of, task_key
from sapo_desktop.tasks.split import held_out_side
from sapo_desktop.tasks.worked import WRITERS

OF_A_FAMILY = 4
"""Of each kind: with steps and, where the family has the level `first`, without."""
LONGEST_ANSWER = 220
"""Characters of an example's answer: it is read with every question."""
LONGEST_QUESTION = 600
_SEEDS = 60
_FOR_ANYTHING = "chain_sum"
_COLUMNS = re.compile(r"^(-?\d+[*+-]-?\d+)[:=]\S*[=;](-?\d+)$")


class EntryMaker(Protocol):
    """Makes questions; examiner.py is the one that has the datasets."""

    def entry(self, task: TaskKey, seed: int) -> Mapping[str, Any]: ...


def worked_examples(maker: EntryMaker, family: Family) -> list[Exchange]:
    """Up to `OF_A_FAMILY` examples of each kind; of an own family the row that is set aside for this. None where nobody
    wrote down how its questions are worked out, or where that takes too long; answers alone need no steps."""
    if family.shown is not None:
        return [Exchange(question=family.shown.question, answer=f"{OPEN}{family.shown.answer}{CLOSE}")]
    if family.own or family.name not in WRITERS:
        return []
    first = [level for level in family.levels if level.name == FIRST]
    # Some writers have no steps for what the easiest level asks.
    longer = [level for level in family.levels if level.name != FIRST][:2]
    return [*_examples(maker, family, first, bare=True), *_examples(maker, family, longer, bare=False)]


def _examples(maker: EntryMaker, family: Family, levels: Sequence[Level], *, bare: bool) -> list[Exchange]:
    writer, found = WRITERS[family.name], list[Exchange]()
    for task, place in product([task_key(family, level) for level in levels], range(_SEEDS)):
        try:
            entry = maker.entry(task, _seed(task, place))
        except TaskError:
            continue  # this seed has no question
        question, written = str(entry["question"]), writer(dict(entry))
        if bare and written is None:
            written = f"{OPEN}{entry['answer']}{CLOSE}"
        if written is None or held_out_side(family.name, question) or question in [one.question for one in found]:
            continue
        steps, _, answer = written.partition(OPEN)
        worked = f"{'' if bare else _in_one_go(steps)}{OPEN}{answer}"
        if len(worked) > LONGEST_ANSWER or len(question) > LONGEST_QUESTION:
            continue
        found.append(Exchange(question=question, answer=worked))
        if len(found) == OF_A_FAMILY:
            break
    return found


def _in_one_go(steps: str) -> str:
    """The steps without written arithmetic, which tiny models need: `10*4=40` for `10*4=0*4=0,1*4=4=40`."""
    return " ".join(_COLUMNS.sub(r"\1=\2", step) for step in steps.split(" "))


def shown_with(question: Question, examples: Sequence[Exchange], shots: int) -> tuple[Exchange, ...]:
    """Those `shots` of a family's examples that stand before this question: always the same ones, never itself."""
    others = [one for one in examples if one.question != question.text]
    bare = level_of(question.task) == FIRST
    others = [one for one in others if one.answer.startswith(OPEN) == bare] or others
    first = question.hash[0] if question.hash else 0
    return tuple(others[(first + turn) % len(others)] for turn in range(min(shots, len(others))))


def free_question(text: str) -> Question:
    """A question of no family, as a person types it: it is shown the examples of a family that everybody can read."""
    return Question(task=f"{_FOR_ANYTHING}/free", seed=0, text=text, hash=b"")


def _seed(task: TaskKey, place: int) -> int:
    return int.from_bytes(digest(b"sapo/example/1", task.encode("ascii"), bytes([place]))[:8], "big") & (2**63 - 1)
