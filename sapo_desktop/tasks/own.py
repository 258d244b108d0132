"""A person's own tasks: each CSV file of questions and answers in the node's folder `tasks/` is a family.

    question,answer,level        the header; `level` (easy, middle, hard) may be left out
    "What is the capital of Portugal?",Lisbon,easy

The file's name is the family's. Its answers are marked by the strictest grammar that all of them parse under. Files
are read when a node is put together; the examiner is handed what was read, so a file that changes later changes
nothing before the node takes it up. No peer can name a file or send one. Which rows are held out is split.py's rule.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_bytes, read_json
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.resources import resource
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.task_list import LEVELS
from sapo_desktop.tasks.catalogue import Catalogue, Family, Level, load_catalogue
from sapo_desktop.tasks.grammars import MAX_TEXT, parse_answer
from sapo_desktop.tasks.heldout import part_of
from sapo_desktop.tasks.split import canonical, held_out_side

OWN_ROWS = "rows"
"""Stands for the dataset of an own family."""
GRAMMARS_TRIED = ("integer", "decimal", "fraction", "text")
"""The strictest first; the last takes every row that is read at all."""
MOST_FILES = 16
MOST_BYTES = 1_000_000
MOST_ROWS = 20_000
MOST_QUESTION = 2000
"""Characters."""
LEAST_ROWS = 16
"""Of a level, that may be trained on."""
MOST_COMMON = 0.2
"""Share of a level's rows that one answer may be right for, where its groups are to travel."""
SUFFIX = ".csv"
HANDED_OVER = "SAPO_CATALOGUE"
"""Environment variable of an examiner: the file with the catalogue that it works by."""
_MOST_HANDED_OVER = 64_000_000
_PLAYED = ("easy", "middle", "hard")
_HEADERS = (["question", "answer"], ["question", "answer", "level"])


class Row(NamedTuple):
    line: int
    level: str
    question: str
    answer: str


class Rows:
    """The questions of one level, as the examiner uses a dataset: item 0 is the one of `seed`."""

    def __init__(self, level: Level) -> None:
        self.seed = 0
        self._rows = level.rows

    def __getitem__(self, index: int) -> dict[str, Any]:
        question, answer = self._rows[(self.seed + index) % len(self._rows)]
        return {"question": question, "answer": answer, "metadata": {}}

    def score_answer(self, answer: str, entry: Mapping[str, Any]) -> float:
        """1 for the answer of the row, capitals or not; both in canonical form."""
        return float(answer.casefold() == str(entry["answer"]).casefold())


def load_tasks(folder: Path) -> Catalogue:
    """The shipped catalogue with the own families of that folder; those that cannot be used are left out, and said.
    Raises TaskError for the shipped one alone."""
    shipped = load_catalogue(resource("tasks.toml"))
    taken = {family.name for family in shipped.families}
    own: list[Family] = []
    left_out: dict[str, Text] = {}
    for path in own_files(folder):
        try:
            if len(own) == MOST_FILES:
                raise _unfit(path.stem, sentence("only {count} own families are read: remove one", count=MOST_FILES))
            own.append(parse_family(path.stem, read_file(path), taken))
        except TaskError as error:
            left_out[path.stem] = error.text
    return Catalogue(families=(*shipped.families, *own), left_out=left_out)


def own_files(folder: Path) -> list[Path]:
    """The files of own tasks in the folder, by name."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith("."))


def read_file(path: Path) -> bytes:
    """The content of a file that is to be an own family. Raises TaskError."""
    try:
        return read_bytes(path, MOST_BYTES)
    except OSError as error:
        raise TaskError(
            "{path} cannot be read: {reason}. Look whether it is there and you may read it.",
            path=str(path),
            reason=str(error.strerror),
        ) from error


def parse_family(name: str, content: bytes, taken: Collection[str]) -> Family:
    """The family that the content of a CSV file is. `taken`: names that it may not have. Raises TaskError, which names
    the line."""
    _check_name(name, taken)
    rows = list(_rows(name, content))
    levels = {level: [row for row in rows if row.level == level] for level in _PLAYED}
    played = [level for level in _PLAYED if levels[level]]
    if "easy" not in played:
        raise _unfit(name, sentence("it has no questions of the level easy, which every family begins with"))
    for level in played:
        trained = sum(not held_out_side(name, row.question) for row in levels[level])
        if trained < LEAST_ROWS:
            few = sentence(
                "the level {level} has {count} questions beside those that are held out, and needs {least}: add some",
                level=level,
                count=trained,
                least=LEAST_ROWS,
            )
            raise _unfit(name, few)
    validation, test = held_out_counts(name, [row.question for row in rows])
    if not validation or not test:
        few = sentence(
            "of its {count} questions {validation} fall to the score while learning and {test} to the final one, and "
            "each needs one: add questions (a hundred are mostly enough)",
            count=len(rows),
            validation=validation,
            test=test,
        )
        raise _unfit(name, few)
    grammar = next(one for one in GRAMMARS_TRIED if all(parse_answer(one, row.answer) is not None for row in rows))
    return Family(
        name=name,
        title=name.replace("_", " ").capitalize(),
        dataset=OWN_ROWS,
        grammar=grammar,
        scorer=1,
        reasoning=True,
        levels=tuple(_level(level, grammar, levels[level]) for level in played),
        own=True,
    )


def held_out_counts(family: str, questions: Collection[str]) -> tuple[int, int]:
    """How many of the questions are never trained on: those for validation, and those for the test."""
    contents = [canonical(family, question) for question in questions if held_out_side(family, question)]
    parts = Counter(map(part_of, contents))
    return parts["validation"], parts["test"]


def hand_over(catalogue: Catalogue, path: Path) -> dict[str, str]:
    """The environment in which an examiner works by this very catalogue, which is written to `path`; nothing where the
    shipped one says it all. Raises TaskError."""
    if not catalogue.own:
        return {}
    try:
        write_atomically(path, msgspec.json.encode(catalogue))
    except OSError as error:
        raise TaskError(
            "{file} cannot be written: {reason}. Look at the free space and the folder's permissions.",
            file=str(path),
            reason=str(error.strerror),
        ) from error
    return {HANDED_OVER: str(path)}


def handed_over() -> Catalogue | None:
    """The catalogue that this process was handed; None where there is none. Raises TaskError."""
    path = os.environ.get(HANDED_OVER)
    if not path:
        return None
    try:
        return read_json(Path(path), Catalogue, _MOST_HANDED_OVER)
    except (OSError, msgspec.DecodeError) as error:
        raise TaskError("{file} cannot be read: {reason}.", file=path, reason=str(error)) from error


def _check_name(name: str, taken: Collection[str]) -> None:
    if not name.replace("_", "").isalnum() or not name.isascii() or len(name) > 40:
        raise _unfit(name, sentence("the file's name is the family's: at most 40 letters, digits and underscores"))
    if name in taken or name in (*LEVELS, "all"):
        raise _unfit(name, sentence("this name is taken: give the file another one"))


def _rows(name: str, content: bytes) -> Iterator[Row]:
    """The rows of the file, checked one by one."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise _unfit(name, sentence("it is not in UTF-8: save it so"), line) from error
    header, _, _ = text.partition("\n")
    delimiter = next((sign for sign in ",;\t" if _named(header, sign) in _HEADERS), None)
    if delimiter is None:
        two, three = (",".join(names) for names in _HEADERS)
        raise _unfit(name, sentence("the first line must be {two} or {three}", two=two, three=three), 1)
    columns = _named(header, delimiter)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    seen: dict[str, int] = {}
    try:
        next(reader)
        for cells in reader:
            if not any(map(str.strip, cells)):
                continue
            row = _row(name, reader.line_num, columns, cells)
            first = seen.setdefault(canonical(name, row.question), row.line)
            if first != row.line:
                raise _unfit(name, sentence("line {first} asks the same: remove one of the two", first=first), row.line)
            if len(seen) > MOST_ROWS:
                raise _unfit(
                    name,
                    sentence("it has more than {count} questions: divide them among several files", count=MOST_ROWS),
                    row.line,
                )
            yield row
    except csv.Error as error:
        raise _unfit(
            name, sentence("it is no CSV ({reason}): save it as one", reason=str(error)), reader.line_num
        ) from error


def _named(header: str, delimiter: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in header.split(delimiter)]


def _row(name: str, line: int, columns: list[str], cells: list[str]) -> Row:
    if len(cells) != len(columns):
        wrong = sentence(
            "it has {count} columns and not {expected} (a text with a comma in it stands in quotes)",
            count=len(cells),
            expected=len(columns),
        )
        raise _unfit(name, wrong, line)
    question, answer = cells[0].replace("\r\n", "\n").strip(), cells[1].strip()
    level = cells[2].strip().lower() if len(cells) > 2 else "easy"
    if level not in _PLAYED:
        raise _unfit(name, sentence("the level must be one of {known}", known=", ".join(_PLAYED)), line)
    if not 1 <= len(question) <= MOST_QUESTION or not question.replace("\n", "").replace("\t", "").isprintable():
        wrong = sentence("the question must have 1 to {most} characters, none of them hidden", most=MOST_QUESTION)
        raise _unfit(name, wrong, line)
    # A tag in it would be read as its end.
    if parse_answer("text", answer) is None or any(sign in answer for sign in (OPEN, CLOSE, "\n")):
        wrong = sentence("the answer must have 1 to {most} characters on one line, none of them hidden", most=MAX_TEXT)
        raise _unfit(name, wrong, line)
    return Row(line, level, question, answer)


def _level(name: str, grammar: str, rows: list[Row]) -> Level:
    """In the order of the questions, so that the same rows are the same task however a program saved them."""
    pairs = tuple(sorted((row.question, parse_answer(grammar, row.answer) or "") for row in rows))
    ((_, most_common),) = Counter(answer.casefold() for _, answer in pairs).most_common(1)
    return Level(
        name=name,
        config={"rows": len(pairs), "sha256": digest(*(text.encode() for pair in pairs for text in pair)).hex()},
        shared=most_common <= MOST_COMMON * len(pairs),
        rows=pairs,
    )


def _unfit(name: str, reason: Text, line: int | None = None) -> TaskError:
    file = name + SUFFIX
    if line is None:
        return TaskError("{file}: {reason}.", file=file, reason=reason)
    return TaskError("{file}, line {line}: {reason}.", file=file, line=str(line), reason=reason)
