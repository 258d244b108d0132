"""The rows of a file of questions and answers: CSV or TSV from a spreadsheet, or JSON lines.

Encoding and delimiter are detected; if that is impossible, the owner is asked.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from charset_normalizer import from_bytes

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.tasks.own.choices import Choice, Undecided

SUFFIXES = (".csv", ".tsv", ".jsonl")
PLAYED = ("easy", "middle", "hard")
_COLUMNS = ("question", "answer", "level")
_MARKS = (
    *((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32")),
    *((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")),
)
"""Byte order marks. UTF-16's is the beginning of UTF-32's."""
_OLDER = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "mac_roman", "cp850", "cp932", "gb18030", "cp949", "big5"]
"""Encodings that spreadsheets used before UTF-8."""
_WESTERN = _OLDER[0]
_MOST_ENCODINGS = 4
_LOOKED_AT = 200_000
"""Bytes used to compare encodings."""
_CONTAINERS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of workbook files."""


class Row(NamedTuple):
    """One row as written, without spaces around its cells. `line`: its first line in the file."""

    line: int
    level: str
    question: str
    answer: str


class Table(NamedTuple):
    """The content of a file. `declared`: how its header says that answers are read, or empty."""

    rows: list[Row]
    encoding: str
    declared: str
    ignored: list[str]
    """Columns that are not used."""


def read_table(file: str, content: bytes, encoding: str = "") -> Table:
    """Read the rows of `file`, which is its name. `encoding`: the owner's choice.

    Raises:
        Undecided: several encodings are possible.
        TaskError: it is not a table, with the line.
    """
    if content.startswith(_CONTAINERS):
        unfit(file, sentence("it is a workbook: save it as CSV in your spreadsheet program"))
    text, found = _decoded(file, content, encoding)
    if file.lower().endswith(".jsonl"):
        return Table(list(_json_rows(file, text)), found, "", [])
    return _csv_table(file, text, found)


def unfit(file: str, reason: Text, line: int | None = None) -> NoReturn:
    """Raise the TaskError that says why a file is not a family."""
    if line is None:
        raise TaskError("{file}: {reason}.", file=file, reason=reason)
    raise TaskError("{file}, line {line}: {reason}.", file=file, line=str(line), reason=reason)


def _decoded(file: str, content: bytes, encoding: str) -> tuple[str, str]:
    """The text and its encoding."""
    if not encoding:
        mark = next((name for mark, name in _MARKS if content.startswith(mark)), None)
        encoding = mark or _unmarked(file, content)
    try:
        return content.decode(encoding), encoding
    except LookupError as error:
        raise TaskError(
            "There is no encoding '{name}'. Common ones are utf-8, utf-16, cp1252 and mac_roman.", name=encoding
        ) from error
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        line = content[:at].count(b"\n") + 1
        raise TaskError(
            "{file}, line {line}: it is not in {encoding}. Save it in UTF-8.",
            file=file,
            line=str(line),
            encoding=encoding,
        ) from error


def _unmarked(file: str, content: bytes) -> str:
    """The encoding of bytes without a mark. Raises Undecided."""
    start = content[:_LOOKED_AT]
    if start.count(0) > len(start) // 4:  # every other byte of western text in UTF-16
        return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _older(file, content, error.start)
    return "utf-8"


def _older(file: str, content: bytes, at: int) -> str:
    """The one encoding that gives a plausible text; if there are several, the owner knows."""
    names = [match.encoding for match in from_bytes(content[:_LOOKED_AT], cp_isolation=_OLDER)]
    by_text: dict[str, str] = {}
    for name in [_WESTERN, *names]:
        try:
            by_text.setdefault(content.decode(name), name)
        except UnicodeDecodeError:
            continue
    found = list(by_text.items())[:_MOST_ENCODINGS]
    line = content[:at].count(b"\n") + 1
    if not found:
        unfit(file, sentence("it is not in UTF-8: save it in UTF-8"), line)
    if len(found) == 1:
        return found[0][1]
    question = sentence(
        "{file}, line {line}: it is not in UTF-8, and its characters can be read in several ways. "
        "Choose the encoding in which this line is right, or save the file in UTF-8.",
        file=file,
        line=str(line),
    )
    choices = [Choice(name, name, [(_line(text, line), "")]) for text, name in found]
    raise Undecided(file, question, "encoding", choices)


def _line(text: str, number: int) -> str:
    return "".join(sign for sign in text.split("\n")[number - 1][:80] if sign.isprintable())


def _csv_table(file: str, text: str, encoding: str) -> Table:
    before = 0
    delimiters = ",;\t|"
    first = io.StringIO(text, newline=None).readline().strip()
    if first.lower().startswith("sep=") and len(first) <= 5:  # Excel's way to name the delimiter
        delimiters, before = first[4:] or "\t", 1
        text = text.partition("\n")[2]
    for delimiter in delimiters:
        columns = _named(text, delimiter)
        plain = [name.partition(":")[0].strip() for name in columns]
        if "question" in plain and "answer" in plain:
            break
    else:
        wrong = sentence(
            "the first line must name the columns `question` and `answer` (and optionally `level`), "
            "separated by commas, semicolons or tabs"
        )
        unfit(file, wrong, 1)
    twice = next((name for name in plain if name and plain.count(name) > 1), None)
    if twice:
        unfit(file, sentence("there are two columns {name}: remove one", name=twice), 1 + before)
    declared = columns[plain.index("answer")].partition(":")[2].strip()
    ignored = [name for name in columns if name and name.partition(":")[0].strip() not in _COLUMNS]
    return Table(list(_csv_rows(file, text, delimiter, plain, before)), encoding, declared, ignored)


def _named(text: str, delimiter: str) -> list[str]:
    """The names of the columns, if this is the delimiter."""
    header = io.StringIO(text, newline=None).readline().rstrip("\n")
    try:
        names = next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:  # a name of a hundred thousand characters
        return []
    return [name.strip().strip('"').lower() for name in names]


def _csv_rows(file: str, text: str, delimiter: str, columns: list[str], before: int) -> Iterator[Row]:
    places = [columns.index(name) if name in columns else None for name in _COLUMNS]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        next(reader)
        line = reader.line_num + 1
        for cells in reader:
            while len(cells) > len(columns) and not cells[-1].strip():
                cells.pop()
            if any(map(str.strip, cells)):
                if len(cells) != len(columns):
                    wrong = sentence(
                        "it has {count} columns instead of {expected} "
                        "(put a text that contains the separator in quotes)",
                        count=len(cells),
                        expected=len(columns),
                    )
                    unfit(file, wrong, line + before)
                question, answer, level = ("" if place is None else cells[place] for place in places)
                yield _row(line + before, level, question, answer)
            line = reader.line_num + 1
    except csv.Error as error:
        raise TaskError(
            "{file}, line {line}: it is not valid CSV ({reason}). Look for a missing closing quote, and save it again.",
            file=file,
            line=str(line + before),
            reason=str(error),
        ) from error


def _json_rows(file: str, text: str) -> Iterator[Row]:
    for line, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        try:
            found = json.loads(written, parse_int=str, parse_float=str, parse_constant=str)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not {"question", "answer"} <= found.keys():
            unfit(file, sentence("it must be a JSON object with `question` and `answer`"), line)
        cells = [found.get(name, "") for name in _COLUMNS]
        for name, cell in zip(_COLUMNS, cells, strict=True):
            if not isinstance(cell, str | bool):
                unfit(file, sentence("{name} must be a text or a number", name=name), line)
        question, answer, level = (cell if isinstance(cell, str) else str(cell).lower() for cell in cells)
        yield _row(line, level, question, answer)


def _row(line: int, level: str, question: str, answer: str) -> Row:
    """The row with uniform line ends and spaces, including no-break spaces."""
    clean = [_spaces(cell.replace("\r\n", "\n").replace("\r", "\n")).strip() for cell in (question, answer)]
    return Row(line, level.strip().lower() or PLAYED[0], *clean)


def _spaces(text: str) -> str:
    return text if text.isascii() else "".join(" " if sign.isspace() and sign != "\n" else sign for sign in text)
