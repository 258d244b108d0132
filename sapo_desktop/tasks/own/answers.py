"""How the answers of a file are meant: as numbers of one kind, or as words.

`0,125` is an eighth in Berlin and not a number in Boston; `1,125` is a different number in each; `01067` is a postcode
or a number. If all answers of a file are numbers under exactly one reading, that reading is used. The owner is asked if
two readings differ, if a zero or plus would be lost, or if a few answers do not fit the kind of all others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from sapo_desktop.core.plain_text import shortened
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.tasks.grammars import FORMS, parse_exactly
from sapo_desktop.tasks.own.choices import Choice, Undecided
from sapo_desktop.tasks.own.table import Row, unfit

WORDS = "words"
GRAMMARS: Mapping[str, str] = MappingProxyType(
    {"whole": "integer", "decimal": "decimal", "decimal-comma": "decimal_comma", "fractions": "ratio", WORDS: "text"}
)
"""Each way to read answers and its grammar. Of those that read a file equally, the first is used."""
SHOWN = 3
"""Number of rows shown as examples of a reading."""
_MOST_NAMED = 3
_MOSTLY = 0.5
"""If at least this share of answers are numbers of one kind, the others are treated as mistakes until the owner
decides."""

_GAPS = re.compile("([+-]?[1-9][0-9]{0,2})(?:([ '\N{RIGHT SINGLE QUOTATION MARK}])[0-9]{3})(?:\\2[0-9]{3})*(?![0-9])")
_GROUPED = re.compile(r"([+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+)(\.[0-9]+)?")
_DOTTED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]+)?")
_LOST = re.compile(r"\+.*|-?0[0-9].*|.*/ ?0[0-9]+")
"""Numbers whose plus or leading zero would be lost."""
_MISSING = re.compile(r"nan|NaN|NAN|null|NULL|[nN]/[aA]|[+-]?(?:inf|Inf|INF|Infinity|infinity)|[+-]?[0-9]+ ?/ ?0+")
"""What other programs write for missing and undefined values."""
_ERROR = re.compile(r"#(?:\w[\w/]*[!?]|N/A|NV|GETTING_DATA|#+)")
"""What spreadsheets show for an error."""

_CUT = re.compile(r"[0-9][.,][0-9]{1,5}E\+(?:0[6-9]|[1-9][0-9])")
"""A long number as a spreadsheet abbreviates it."""
_WITH_UNIT = re.compile(r"[-+]?[€$£¥]? ?[-+]?[0-9][0-9.,' ]* ?(?:[%€$£¥°]|[^\W\d]{1,4}[²³]?)?")


class Reading(NamedTuple):
    """How a file's answers are read. `answers`: the canonical form of each."""

    kind: str
    grammar: str
    answers: list[str]


def read_answers(file: str, rows: Sequence[Row], kind: str = "") -> Reading:
    """Read the answers of these rows. `kind`: the owner's choice; empty: detect it.

    Raises:
        Undecided: there are several readings, or one that mostly fits.
        TaskError: an answer cannot be read in the chosen way, with its line.
    """
    for row in rows:
        if _ERROR.fullmatch(row.answer):
            unfit(
                file, sentence("'{answer}' is an error of the spreadsheet, not an answer", answer=row.answer), row.line
            )
    if kind:
        return _chosen(file, rows, kind)
    missing = [row for row in rows if _MISSING.fullmatch(row.answer)]
    if missing:
        wrong = sentence("'{answer}' is not an answer", answer=missing[0].answer)
        _offer_words(file, rows, missing, wrong)
    parsed = {name: [read_as(name, row.answer) for row in rows] for name in GRAMMARS if name != WORDS}
    fitting = {name: [one for one in found if one is not None] for name, found in parsed.items() if None not in found}
    if not fitting:
        _look_for_mistakes(file, rows, parsed)
        return _chosen(file, rows, WORDS)
    different: dict[tuple[str, ...], str] = {}
    for name, found in fitting.items():
        different.setdefault(tuple(answer.replace(",", ".") for answer in found), name)
    kinds = list(different.values())
    if any(_LOST.fullmatch(row.answer) for row in rows):
        kinds.insert(0, WORDS)
    if len(kinds) > 1:
        _ask(file, rows, kinds)
    return Reading(kinds[0], GRAMMARS[kinds[0]], fitting[kinds[0]])


def read_as(kind: str, written: str) -> str | None:
    """The canonical form of one answer under this reading, or None."""
    if kind == WORDS:
        return parse_exactly("text", written)
    plain = written.replace("\N{MINUS SIGN}", "-")
    if gaps := _GAPS.match(plain):
        plain = gaps[0].replace(gaps[2], "") + plain[gaps.end() :]
    if kind != "decimal-comma" and "," in plain:
        grouped = _GROUPED.fullmatch(plain)
        if grouped is None:
            return None
        plain = grouped[1].replace(",", "") + (grouped[2] or "")
    if kind == "decimal-comma" and "." in plain and not _DOTTED.fullmatch(plain):
        return None
    if kind in ("decimal", "decimal-comma"):
        plain = re.sub(r"^([+-]?)(?=[.,][0-9])", r"\g<1>0", plain)
    return parse_exactly(GRAMMARS[kind], plain)


def examples(rows: Sequence[Row], reading: Reading) -> list[tuple[str, str]]:
    """Up to three answers as written and as read, changed ones first."""
    pairs = dict.fromkeys((row.answer, answer) for row, answer in zip(rows, reading.answers, strict=True))
    return sorted(pairs, key=lambda pair: pair[0] == pair[1])[:SHOWN]


def notes(rows: Sequence[Row], reading: Reading) -> list[Text]:
    """What may surprise the owner of the file about this reading."""
    cut = next((row for row in rows if _CUT.fullmatch(row.answer)), None)
    if cut is not None:
        return [
            sentence(
                "Line {line} has {answer}. A spreadsheet writes long numbers like this and loses digits. "
                "Format the column as text there.",
                line=str(cut.line),
                answer=cut.answer,
            )
        ]
    measured = sum(bool(_WITH_UNIT.fullmatch(row.answer)) for row in rows) if reading.kind == WORDS else 0
    if measured >= _MOSTLY * len(rows):
        return [
            sentence(
                "Most answers are numbers like {answer}, but they are compared as text. Keep only the number "
                "if every way of writing it is right.",
                answer=next(row.answer for row in rows if _WITH_UNIT.fullmatch(row.answer)),
            )
        ]
    return []


def _chosen(file: str, rows: Sequence[Row], kind: str) -> Reading:
    if kind not in GRAMMARS:
        known = ", ".join(GRAMMARS)
        unfit(file, sentence("answers are read as one of {kinds}, not as '{kind}'", kinds=known, kind=kind))
    found = []
    for row in rows:
        answer = read_as(kind, row.answer)
        if answer is None:
            wrong = sentence("'{answer}' is not {form}", answer=shortened(row.answer, 60), form=FORMS[GRAMMARS[kind]])
            unfit(file, wrong, row.line)
        found.append(answer)
    return Reading(kind, GRAMMARS[kind], found)


def _look_for_mistakes(file: str, rows: Sequence[Row], parsed: Mapping[str, Sequence[str | None]]) -> None:
    """Raise Undecided if most answers are numbers of one kind, and a few are not."""
    counts = {name: len(found) - found.count(None) for name, found in parsed.items()}
    best = max(counts, key=counts.__getitem__)
    if counts[best] < _MOSTLY * len(rows):
        return
    others = [row for row, answer in zip(rows, parsed[best], strict=True) if answer is None]
    why = sentence(
        "'{answer}' does not fit: {count} of {all} answers can be read as {form}",
        answer=shortened(others[0].answer, 60),
        form=FORMS[GRAMMARS[best]],
        count=counts[best],
        all=len(rows),
    )
    _offer_words(file, rows, others, why)


def _offer_words(file: str, rows: Sequence[Row], others: Sequence[Row], why: Text) -> NoReturn:
    """Raise Undecided, which names these rows."""
    lines = ", ".join(str(row.line) for row in others[:_MOST_NAMED]) + ", ..." * (len(others) > _MOST_NAMED)
    question = sentence(
        "{file}, line {lines}: {why}. Correct the file, or let all answers be read as words and "
        "compared exactly as written.",
        file=file,
        lines=lines,
        why=why,
    )
    raise Undecided(file, question, "answers", [_choice(rows, WORDS, others)])


def _ask(file: str, rows: Sequence[Row], kinds: Sequence[str]) -> NoReturn:
    """Raise Undecided with these readings, shown on rows that they read differently."""
    read = [[read_as(kind, row.answer) for kind in kinds] for row in rows]
    telling = [row for row, ways in zip(rows, read, strict=True) if len(set(ways)) > 1]
    question = sentence("{file}: its answers can be read in several ways. Choose the right one.", file=file)
    raise Undecided(file, question, "answers", [_choice(rows, kind, telling) for kind in kinds])


def _choice(rows: Sequence[Row], kind: str, telling: Sequence[Row]) -> Choice:
    shown = (telling or rows)[:SHOWN]
    label = sentence("as words, compared exactly as written") if kind == WORDS else FORMS[GRAMMARS[kind]]
    return Choice(kind, label, [(row.answer, read_as(kind, row.answer) or "") for row in shown])
