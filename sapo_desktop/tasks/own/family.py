"""Turns a file of questions and answers into a family: rows are checked, and one is reserved as an example.

split.py decides which rows are held out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.files.names import is_device
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.task_list import LEVELS
from sapo_desktop.tasks.catalogue import Example, Family, Level
from sapo_desktop.tasks.grammars import MAX_TEXT
from sapo_desktop.tasks.heldout import part_of
from sapo_desktop.tasks.own.answers import Reading, read_answers
from sapo_desktop.tasks.own.table import PLAYED, Row, Table, read_table, unfit
from sapo_desktop.tasks.spellings import undressed
from sapo_desktop.tasks.split import canonical, held_out_side

OWN_ROWS = "rows"
"""Stands for the dataset of an own family."""
MOST_ROWS = 100_000
MOST_QUESTION = 2000
"""Characters."""
LEAST_ROWS = 16
"""Minimum number of a level's rows that can be trained on."""
MOST_COMMON = 0.2
"""Maximum share of a level's rows with the same answer, if its groups are to be shared."""


class How(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the owner of a file chose, if it can be read in several ways; empty: detect it."""

    answers: str = ""
    """One of answers.GRAMMARS."""
    encoding: str = ""
    """A name of a codec in Python."""


class OwnFile(NamedTuple):
    """A file that was read. `rows`: without duplicates, as many as `reading` has answers."""

    family: Family
    table: Table
    rows: list[Row]
    reading: Reading


class Rows:
    """The questions of one level in the form of a dataset: item 0 is the one of `seed`."""

    def __init__(self, level: Level) -> None:
        self.seed = 0
        self._rows = level.rows

    def __getitem__(self, index: int) -> dict[str, Any]:
        question, answer = self._rows[(self.seed + index) % len(self._rows)]
        return {"question": question, "answer": answer, "metadata": {}}

    def score_answer(self, answer: str, entry: Mapping[str, Any]) -> float:
        """1 if it matches the row's answer regardless of case, bold type or period; both in canonical form."""
        given, right = (undressed("text", text).casefold() for text in (answer, str(entry["answer"])))
        return float(given == right)


def parse_file(file: str, content: bytes, taken: Collection[str], how: How | None = None) -> OwnFile:
    """Parse the content of a file into a family. `file`: its name; `taken`: names that are not available.

    Raises:
        Undecided: it can be read in several ways, and `how` chooses none.
        TaskError: it is not a family, with the line.
    """
    how = how or How()
    name = PurePath(file).stem
    _check_name(file, name, taken)
    table = read_table(file, content, how.encoding)
    rows = _checked(file, name, table.rows)
    _check_counts(file, name, rows)
    reading = read_answers(file, rows, how.answers or table.declared)
    return OwnFile(_family(name, rows, reading), table, rows, reading)


def held_out_counts(family: str, questions: Collection[str]) -> tuple[int, int]:
    """How many of the questions are never trained on: for validation, and for test."""
    contents = [canonical(family, question) for question in questions if held_out_side(family, question)]
    parts = Counter(map(part_of, contents))
    return parts["validation"], parts["test"]


def _check_name(file: str, name: str, taken: Collection[str]) -> None:
    if not name.replace("_", "").isalnum() or not name.isascii() or len(name) > 40:
        unfit(file, sentence("the file's name becomes the family's name: at most 40 letters, digits and underscores"))
    if is_device(name):
        unfit(file, sentence("Windows reserves this name for a device. Give the file another name"))
    if name.lower() in taken or name.lower() in (*LEVELS, "all"):
        unfit(file, sentence("this name is taken: give the file another one"))


def _checked(file: str, name: str, rows: Sequence[Row]) -> list[Row]:
    """The rows, each question once. Raises TaskError for the first unusable one."""
    seen: dict[str, Row] = {}
    for row in rows:
        _check_row(file, row)
        first = seen.setdefault(canonical(name, row.question), row)
        if (first.answer, first.level) != (row.answer, row.level):
            wrong = sentence(
                "line {first} asks the same and has '{answer}' ({level}): correct or remove one of the two",
                first=str(first.line),
                answer=first.answer,
                level=first.level,
            )
            unfit(file, wrong, row.line)
        if len(seen) > MOST_ROWS:
            unfit(file, sentence("it has more than {count} questions: split them over several files", count=MOST_ROWS))
    return list(seen.values())


def _check_row(file: str, row: Row) -> None:
    if row.level not in PLAYED:
        unfit(file, sentence("the level must be one of {known}", known=", ".join(PLAYED)), row.line)
    if not row.question:
        unfit(file, sentence("the question is empty"), row.line)
    if not row.answer:
        unfit(file, sentence("the answer is empty"), row.line)
    if len(row.question) > MOST_QUESTION:
        wrong = sentence(
            "the question has {count} characters, but at most {most} are allowed",
            count=len(row.question),
            most=MOST_QUESTION,
        )
        unfit(file, wrong, row.line)
    # A tag in it would end the answer.
    if any(sign in row.answer for sign in (OPEN, CLOSE, "\n")) or len(row.answer) > MAX_TEXT:
        wrong = sentence("the answer must have at most {most} characters on one line, without tags", most=MAX_TEXT)
        unfit(file, wrong, row.line)
    for text in (row.question, row.answer):
        if not text.isprintable():
            hidden = next((sign for sign in text if not (sign.isprintable() or sign in "\n\t")), None)
            if hidden is not None:
                unfit(file, sentence("it contains a hidden character, {code}", code=f"U+{ord(hidden):04X}"), row.line)


def _check_counts(file: str, name: str, rows: Sequence[Row]) -> None:
    """Raise TaskError if there are too few to learn from or to score with."""
    by_level = Counter(row.level for row in rows)
    if PLAYED[0] not in by_level:
        unfit(file, sentence("it has no questions at the level easy, with which every family begins"))
    trained = Counter(row.level for row in rows if not held_out_side(name, row.question))
    trained[PLAYED[0]] -= 1  # one is the example
    for level in (level for level in PLAYED if level in by_level and trained[level] < LEAST_ROWS):
        few = sentence(
            "the level {level} has {count} questions for training, without those held out or shown as "
            "examples, but it needs {least}: add some",
            level=level,
            count=max(0, trained[level]),
            least=LEAST_ROWS,
        )
        unfit(file, few)
    validation, test = held_out_counts(name, [row.question for row in rows])
    if not validation or not test:
        few = sentence(
            "of its {count} questions, {validation} are held out for the score during training and "
            "{test} for the final one. Each of them needs at least one: add questions (a hundred usually "
            "suffice)",
            count=len(rows),
            validation=validation,
            test=test,
        )
        unfit(file, few)


def _family(name: str, rows: Sequence[Row], reading: Reading) -> Family:
    by_level: dict[str, list[Example]] = {level: [] for level in PLAYED}
    for row, answer in zip(rows, reading.answers, strict=True):
        by_level[row.level].append(Example(row.question, answer))
    shown = _shown(name, by_level[PLAYED[0]])
    by_level[PLAYED[0]].remove(shown)
    return Family(
        name=name,
        title=name.replace("_", " ").capitalize(),
        dataset=OWN_ROWS,
        grammar=reading.grammar,
        scorer=1,
        reasoning=True,
        levels=tuple(_level(level, pairs) for level, pairs in by_level.items() if pairs),
        own=True,
        shown=shown,
    )


def _shown(name: str, pairs: Sequence[Example]) -> Example:
    """The shortest pair that is not held out; the same for all files with the same rows at this level."""
    trained = [pair for pair in pairs if not held_out_side(name, pair.question)]
    return min(trained, key=lambda pair: (len(pair.question) + len(pair.answer), pair))


def _level(name: str, pairs: Sequence[Example]) -> Level:
    """Ordered by question, so that the same rows are the same task, however a program saved them."""
    rows = tuple(sorted(pairs))
    ((_, most_common),) = Counter(answer.casefold() for _, answer in rows).most_common(1)
    return Level(
        name=name,
        config={"rows": len(rows), "sha256": digest(*(text.encode() for pair in rows for text in pair)).hex()},
        shared=most_common <= MOST_COMMON * len(rows),
        rows=rows,
    )
