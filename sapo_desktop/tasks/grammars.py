"""Answer grammars: the only way for an answer to reach a scorer.

A grammar parses an answer into its canonical form, or None. Canonical forms are short, contain only the characters of
their grammar, and parse as themselves. An answer is parsed as it is, and otherwise without its usual wrapping
(spellings.py). If it still does not parse, it scores 0 and goes no further, so no scorer ever gets an expression, a
name, a call, or text after the answer. All grammars are pure, linear in the bounded input, never raise, and use no
pattern with bad backtracking. ASCII only, except the connectives of formulas, the × of factors and the words of own
tasks. Left out: whether an answer is right (scoring.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from types import MappingProxyType
from typing import TypeAlias

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.tasks.formulas import parse_formula
from sapo_desktop.tasks.spellings import undressed

Grammar: TypeAlias = Callable[[str], str | None]

GRAMMARS_VERSION = 2
"""Part of every task id: nodes with different grammars may score a text differently."""
MAX_ANSWER = 4096
"""Maximum characters of an answer; longer ones are also refused by the protocol."""
MAX_DIGITS = 40
MAX_TEXT = 200
"""Maximum characters of an answer in words."""
MAX_SIDE = 32
"""Maximum rows and columns of a matrix."""

_INTEGER = re.compile(r"([+-]?)([0-9]{1,40}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,12})(?:\.0{1,20})?")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?")
_LETTERS_AND_DIGITS = re.compile(r"[0-9A-Za-z]{1,64}")
_CAPITALS = re.compile(r"[A-Za-z]+(?: [A-Za-z]+){0,63}")
_WHOLE = re.compile(r"[0-9]{1,20}")
_PLAIN_FRACTION = re.compile(r"([0-9]{1,20}) ?/ ?([0-9]{1,20})")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac ?\{ ?([0-9]{1,20}) ?\} ?\{ ?([0-9]{1,20}) ?\}")
_SIGNED = re.compile(r"([+-]?) ?(\\[dt]?frac ?\{ ?)?([+-]?)(.*)")
_COMMA = re.compile(
    r"([+-]?(?:[0-9]{0,40}(?=,)|[0-9]{1,40}|[1-9][0-9]{0,2}(?:\.[0-9]{3}){1,12}))(?:,([0-9]{1,40}))?([eE][+-]?[0-9]{1,2})?"
)
_CELL = re.compile(r"[0-9]{1,3}")
_FACTOR = re.compile(r"[0-9]{1,12}")
_AB_TOKENS = frozenset({"A#", "#A", "B#", "#B"})
_WEEKDAYS = frozenset({"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"})
_EXACT = Context(prec=200)


def integer(text: str) -> str | None:
    """A whole number of at most 40 digits: `+1,234.00` is `1234`."""
    match = _INTEGER.fullmatch(text)
    return str(int(match[1] + match[2].replace(",", ""))) if match else None


def decimal(text: str) -> str | None:
    """A decimal number, without exponent: `-1.50E+1` is `-15`. Exponents are limited to ±40."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = Decimal(text, _EXACT)
    if number == 0:
        return "0"
    plain = format(number.normalize(_EXACT), "f")
    return plain if len(plain) <= 2 * MAX_DIGITS + 2 and _DECIMAL.fullmatch(plain) else None


def decimal_comma(text: str) -> str | None:
    """A number with a decimal comma and dots as thousands separators: `-1.234,50` is `-1234,5`. A dot that cannot be
    a separator is a decimal point: `0.125` is `0,125`."""
    match = _COMMA.fullmatch(text)
    plain = match[1].replace(".", "") + "." + (match[2] or "0") + (match[3] or "") if match else text
    canonical = decimal(re.sub(r"^([+-]?)(?=\.)", r"\g<1>0", plain))
    return canonical.replace(".", ",") if canonical else None


def digits(text: str) -> str | None:
    """A number in a base up to 36, in lower case and without leading zeros."""
    return (text.lower().lstrip("0") or "0") if _LETTERS_AND_DIGITS.fullmatch(text) else None


def word(text: str) -> str | None:
    """One word of ASCII letters and digits, unchanged."""
    return text if _LETTERS_AND_DIGITS.fullmatch(text) else None


def capitals(text: str) -> str | None:
    """Words of ASCII letters with single spaces between them, in upper case."""
    joined = " ".join(text.split())
    return joined.upper() if len(joined) <= 512 and _CAPITALS.fullmatch(joined) else None


def digits_row(text: str) -> str | None:
    """A row of at most 128 small whole numbers, `0 1 2`; also `[0, 1, 2]`."""
    if text.startswith("[") and text.endswith("]"):
        cells = [cell.strip() for cell in text[1:-1].split(",")]
    else:
        cells = text.split()
    return _row(cells, 128)


def matrix(text: str) -> str | None:
    """Rows of whole numbers, one per line; also `[[0, 1], [1, 0]]`. At most 32 by 32, with rows of equal length."""
    if text.startswith("[") and text.endswith("]"):
        compact = "".join(text.split())
        if not (compact.startswith("[[") and compact.endswith("]]")):
            return None
        cells = [row.split(",") for row in compact[2:-2].split("],[")]
    else:
        cells = [line.split() for line in text.split("\n")]
    if len(cells) > MAX_SIDE or len({len(row) for row in cells}) != 1:
        return None
    rows = [_row(row, MAX_SIDE) for row in cells]
    return "\n".join(row for row in rows if row is not None) if None not in rows else None


def _row(cells: list[str], most: int) -> str | None:
    if not 1 <= len(cells) <= most or not all(_CELL.fullmatch(cell) for cell in cells):
        return None
    return " ".join(str(int(cell)) for cell in cells)


def fraction(text: str) -> str | None:
    """A fraction of two whole numbers: `$\\frac{3}{4}$`, `$3/4$` and `3 / 4` are `3/4`, and `3` is `3/1`."""
    inside = text[1:-1].strip() if len(text) > 2 and text[0] == text[-1] == "$" else text
    if _WHOLE.fullmatch(inside):
        return f"{int(inside)}/1"
    match = _PLAIN_FRACTION.fullmatch(inside) or _LATEX_FRACTION.fullmatch(inside)
    return f"{int(match[1])}/{int(match[2])}" if match else None


def ratio(text: str) -> str | None:
    """A whole number, or a fraction with a sign and a nonzero denominator: `-\frac{6}{8}` is `-6/8`."""
    inside = text[1:-1].strip() if len(text) > 2 and text[0] == text[-1] == "$" else text
    match = _SIGNED.fullmatch(inside)
    whole = integer(inside)
    if whole is not None or match is None or (match[1] and match[3]):
        return whole
    canonical = fraction((match[2] or "") + match[4])
    if canonical is None or canonical.endswith("/0"):
        return None
    return f"-{canonical}" if "-" in (match[1], match[3]) and canonical[0] != "0" else canonical


def factors(text: str) -> str | None:
    """A product of at most 24 whole numbers in ascending order, `2 × 2 × 3`; `*` and `x` count as ×."""
    parts = [part.strip() for part in text.replace("*", "×").replace("x", "×").split("×")]
    if len(parts) > 24 or not all(_FACTOR.fullmatch(part) for part in parts):
        return None
    return " × ".join(str(number) for number in sorted(int(part) for part in parts))


def calendar(text: str) -> str | None:
    """A weekday, Yes or No, or a whole number."""
    title = text.title() if len(text) <= 9 and text.isascii() else ""
    return title if title in _WEEKDAYS or title in ("Yes", "No") else integer(text)


def ab(text: str) -> str | None:
    """At most 64 of the tokens `A#`, `#A`, `B#`, `#B`; an empty answer is valid too."""
    tokens = text.split()
    return " ".join(tokens) if len(tokens) <= 64 and _AB_TOKENS.issuperset(tokens) else None


def text(answer: str) -> str | None:
    """Words in any script on one line, with single spaces, otherwise unchanged. They are only compared (own/)."""
    line = unicodedata.normalize("NFC", " ".join(answer.split()))
    return line if 1 <= len(line) <= MAX_TEXT and line.isprintable() else None


GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "integer": integer,
        "decimal": decimal,
        "decimal_comma": decimal_comma,
        "digits": digits,
        "word": word,
        "capitals": capitals,
        "digits_row": digits_row,
        "matrix": matrix,
        "fraction": fraction,
        "ratio": ratio,
        "factors": factors,
        "calendar": calendar,
        "ab": ab,
        "formula": parse_formula,
        "text": text,
    }
)


FORMS: Mapping[str, Text] = MappingProxyType(
    {
        "integer": sentence("a whole number, like 42"),
        "decimal": sentence("a number, like -1.5"),
        "decimal_comma": sentence("a number with a decimal comma, like -1,5"),
        "digits": sentence("a number in the requested base, like 1f"),
        "word": sentence("one word"),
        "capitals": sentence("words of letters only, like NEW ORDER"),
        "digits_row": sentence("a row of whole numbers, like 0 1 2"),
        "matrix": sentence("rows of whole numbers, like [[0, 1], [1, 0]]"),
        "fraction": sentence("a fraction, like 3/4"),
        "ratio": sentence("a fraction or a whole number, like -3/4"),
        "factors": sentence("a product of whole numbers, like 2 x 2 x 3"),
        "calendar": sentence("a weekday, Yes or No, or a whole number"),
        "ab": sentence("a row of the tokens A# #A B# #B (<answer></answer> for none of them), like A# #B"),
        "formula": sentence("a formula of P to Z with ¬ ∧ ∨ → ↔, like (P ∧ ¬Q)"),
        "text": sentence("a few words on one line, like Lisbon"),
    }
)
"""The form that each grammar asks for, in plain words."""


def parse_answer(grammar: str, text: str) -> str | None:
    """The canonical form of an answer, with or without its usual wrapping, or None. Raises TaskError for an unknown
    grammar."""
    canonical = parse_exactly(grammar, text)
    if canonical is None and len(text) <= MAX_ANSWER:
        return GRAMMARS[grammar](undressed(grammar, text))
    return canonical


def parse_exactly(grammar: str, text: str) -> str | None:
    """Like `parse_answer`, without any wrapping."""
    if grammar not in GRAMMARS:
        raise TaskError(
            "There is no answer grammar '{name}'. Known ones: {known}.", name=grammar, known=", ".join(GRAMMARS)
        )
    return GRAMMARS[grammar](text.strip()) if len(text) <= MAX_ANSWER else None
