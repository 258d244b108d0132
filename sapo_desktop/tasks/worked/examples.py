"""Worked examples of a family: questions with good answers, shown to a model before it is asked one.

They come from easy levels and from the training side of the split, so no example gives away a held-out answer. All
nodes make the same ones. A family has several that take turns, since a model that always sees the same example copies
its answer. Before a question of the level `first`, which takes one step, examples have one line of work (lines.py) or
none. Before all others, they have steps. Which models are shown examples, and how many, is decided in
learning/first_look.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Protocol

from msgspec import field

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Exchange, Question, Record
from sapo_desktop.core.task_list import FIRST
from sapo_desktop.tasks.catalogue import Family, Level, TaskKey, level_of, task_key
from sapo_desktop.tasks.split import held_out_side
from sapo_desktop.tasks.worked import WRITERS
from sapo_desktop.tasks.worked.lines import LINES, OPERATIONS, written_out

OF_A_FAMILY = 4
"""Number of examples of each kind."""
LONGEST_ANSWER = 220
"""Limit in characters, because an example is read with every question."""
LONGEST_QUESTION = 600
_SEEDS = 60
_FOR_ANYTHING = "chain_sum"
Work = Callable[[Family, dict[str, Any]], str | None]
"""Writes an answer with its work for an entry of reasoning_gym; None if that entry cannot be shown."""
_COLUMNS = re.compile(r"^(-?\d+[*+-]-?\d+)[:=]\S*[=;](-?\d+)$")


class FamilyExamples(Record, frozen=True):
    """The examples of one family, up to `OF_A_FAMILY` of each kind."""

    first: list[Exchange] = field(default_factory=list)
    """For questions of the level `first`; if there are none, those in `longer` are shown."""
    longer: list[Exchange] = field(default_factory=list)

    def before(self, task: TaskKey) -> list[Exchange]:
        """The examples to choose from for a question of this task."""
        return (self.first if level_of(task) == FIRST else self.longer) or self.longer or self.first


class EntryMaker(Protocol):
    """Makes questions (examiner.py, which has the datasets)."""

    def entry(self, task: TaskKey, seed: int) -> Mapping[str, Any]: ...


def worked_examples(maker: EntryMaker, family: Family) -> FamilyExamples:
    """Make a family's examples. A family of the user's own shows the row that is set aside for this. Others have none
    if no writer knows how their questions are worked out, or if that takes too long."""
    if family.shown is not None:
        answer = f"{OPEN}{family.shown.answer}{CLOSE}"
        return FamilyExamples(longer=[Exchange(question=family.shown.question, answer=answer)])
    if family.own or family.name not in WRITERS:
        return FamilyExamples()
    first = [level for level in family.levels if level.name == FIRST]
    longer = [level for level in family.levels if level.name != FIRST][:2]
    return FamilyExamples(
        first=_examples(maker, family, first, _in_one_line),
        longer=_examples(maker, family, longer, _in_steps),
    )


def _examples(maker: EntryMaker, family: Family, levels: Sequence[Level], work: Work) -> list[Exchange]:
    found = list[Exchange]()
    for task, place in product([task_key(family, level) for level in levels], range(_SEEDS)):
        try:
            entry = maker.entry(task, _seed(task, place))
        except TaskError:
            continue  # this seed has no question
        question, worked = str(entry["question"]), work(family, dict(entry))
        if worked is None or held_out_side(family.name, question) or question in [one.question for one in found]:
            continue
        if len(worked) > LONGEST_ANSWER or len(question) > LONGEST_QUESTION:
            continue
        found.append(Exchange(question=question, answer=worked))
        if len(found) == OF_A_FAMILY:
            break
    return found


def _in_one_line(family: Family, entry: dict[str, Any]) -> str:
    answer = f"{OPEN}{entry['answer']}{CLOSE}"
    return f"{LINES[family.name](entry)}\n{answer}" if family.name in LINES else answer


def _in_steps(family: Family, entry: dict[str, Any]) -> str | None:
    """Without written arithmetic, which tiny models need: `10*4=40` for `10*4=0*4=0,1*4=4=40`. Some writers have no
    steps for what an easy level asks."""
    written = WRITERS[family.name](entry)
    if written is None:
        return None
    steps, _, answer = written.partition(OPEN)
    steps = " ".join(_COLUMNS.sub(r"\1=\2", step) for step in steps.split(" "))
    return f"{written_out(steps)}\n{OPEN}{answer}" if family.name in OPERATIONS else f"{steps}{OPEN}{answer}"


def shown_with(question: Question, examples: FamilyExamples, shots: int) -> tuple[Exchange, ...]:
    """Choose `shots` of a family's examples for this question: always the same ones, and never the question itself."""
    others = [one for one in examples.before(question.task) if one.question != question.text]
    first = question.hash[0] if question.hash else 0
    return tuple(others[(first + turn) % len(others)] for turn in range(min(shots, len(others))))


def free_question(text: str) -> Question:
    """Make a question of a text that a person typed. It is shown the examples of a family that is easy to read."""
    return Question(task=f"{_FOR_ANYTHING}/free", seed=0, text=text, hash=b"")


def _seed(task: TaskKey, place: int) -> int:
    return int.from_bytes(digest(b"sapo/example/1", task.encode("ascii"), bytes([place]))[:8], "big") & (2**63 - 1)
