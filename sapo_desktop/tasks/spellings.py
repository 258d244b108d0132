"""The usual ways to write an answer: what a grammar may ignore, and how it may be written.

A right answer may be in bold, in `\boxed{}`, end with a period, read `x = 3`, have thousands separators, a typographic
minus, no zero before the point, or a unit. Grammars (grammars.py) first parse an answer as it is, and without these
only if that fails. Pure and linear in the bounded input. Left out: other words for an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

_AROUND = (
    *(("**", "**"), ("__", "__"), ("*", "*"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’")),
    *(("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")),
    *(("\\boxed{", "}"), ("\\fbox{", "}"), ("\\text{", "}"), ("\\mathbf{", "}"), ("\\textbf{", "}")),
)
_LAYERS = 6
_NUMBERS = frozenset({"integer", "decimal", "decimal_comma", "calendar", "digits", "fraction", "ratio", "factors"})
_WITH_UNITS = frozenset({"integer", "decimal", "calendar"})
_SIGNS = str.maketrans({"−": "-", "–": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "·": "×", "⋅": "×"})
_NAME = re.compile(r"[A-Za-z]{0,12} ?= ?")
_UNIT = re.compile(
    r"(?<=[0-9.])(?:°|\^ ?\\circ|\^ ?\{ ?\\circ ?\}|(?:st|nd|rd|th)| (?:1|one) bits?"
    r"| ?(?:°|degrees?|legs?|times|occurrences?|bits?|ones)"
    r"| ?(?:business |week|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)?days?)"
)
_NUMBER = re.compile(
    r"([+-]?) ?([1-9][0-9]{0,2}(?:,[0-9]{3}){1,12}|[1-9][0-9]{0,2}(?: [0-9]{3}){1,12}|[0-9]{1,40})?"
    r"(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,2})?"
)


def undressed(grammar: str, text: str) -> str:
    """The answer without its usual wrapping. `grammar`: the name of the one that will parse it."""
    for _ in range(_LAYERS):
        before = text
        text = text.strip()
        for opening, closing in _AROUND:
            if len(text) > len(opening + closing) and text.startswith(opening) and text.endswith(closing):
                text = text[len(opening) : -len(closing)].strip()
        text = text.removesuffix(".")
        if text == before:
            break
    return _number(grammar, text) if grammar in _NUMBERS else text


def _number(grammar: str, text: str) -> str:
    text = text.replace("{,}", ",").replace("\\times", "×").replace("\\cdot", "×").translate(_SIGNS).strip()
    if named := _NAME.match(text):
        text = text[named.end() :].strip()
    if grammar not in _WITH_UNITS:
        return text
    if (unit := _last_unit(text)) is not None:
        text = text[:unit].strip()
    found = _NUMBER.fullmatch(text)
    if not found or not (found[2] or found[3]):
        return text
    whole = (found[2] or "0").replace(",", "").replace(" ", "")
    places = (found[3] or "").removesuffix(".") if len(found[3] or "") == 1 else found[3] or ""
    return f"{found[1]}{whole}{places}{found[4] or ''}"


def _last_unit(text: str) -> int | None:
    """Where the unit at the end of a number begins."""
    tail = max(0, len(text) - 32)
    return next((found.start() for found in _UNIT.finditer(text, tail) if found.end() == len(text)), None)


def _fractions(canonical: str) -> list[str]:
    over, under = canonical.split("/")
    plain = [canonical, rf"\frac{{{over}}}{{{under}}}", rf"\dfrac{{{over}}}{{{under}}}"]
    if under == "1":
        plain.append(over)
    return [*plain, *(f"${one}$" for one in plain)]


def _decimals(canonical: str) -> list[str]:
    point = "" if "." in canonical else "."
    return [canonical, *(canonical + point + "0" * zeros for zeros in range(1, 5))]


def _factors(canonical: str) -> list[str]:
    return [canonical.replace(" × ", joint) for joint in (" × ", " * ", " x ", "×", "*", "x")]


def _matrices(canonical: str) -> list[str]:
    rows = [f"[{line.replace(' ', ', ')}]" for line in canonical.split("\n")]
    return [canonical, f"[{', '.join(rows)}]", f"[{','.join(rows)}]".replace(" ", "")]


def _formulas(canonical: str) -> list[str]:
    return [canonical, canonical[1:-1]] if canonical.startswith("(") else [canonical]


SPELLINGS: Mapping[str, Callable[[str], list[str]]] = MappingProxyType(
    {
        "integer": lambda canonical: [canonical, f"{int(canonical):,}"],
        "decimal": _decimals,
        "digits": lambda canonical: [canonical, canonical.upper()],
        "digits_row": lambda canonical: [canonical, f"[{canonical.replace(' ', ', ')}]"],
        "matrix": _matrices,
        "fraction": _fractions,
        "factors": _factors,
        "formula": _formulas,
    }
)
"""The usual ways to write a canonical form, by the name of its grammar."""


def spelled(grammar: str, canonical: str, written: str) -> str:
    """An answer as written, if that is a usual way to write its canonical form; otherwise that form. If a question asks
    for `\frac{1}{4}`, a model writes that and hardly ever `1/4`."""
    written = written.strip()
    return written if grammar in SPELLINGS and written in SPELLINGS[grammar](canonical) else canonical
