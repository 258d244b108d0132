"""Which side of the held-out split a question is on, by its content and not by its wording.

Everything that trains (the starter's priming and every round) uses only questions of the training side; the validation
and test sets use only the others. So they are disjoint by construction, on every computer and for every level of a
family. `gcd 12, 18` and `gcd 18, 12` have the same content, as do `1 + 2 - 3` and `2 - 3 + 1`, premises in another
order or with other letters, and two phrasings of one question. Families that calculate share their contents: a sum is a
sum in any of them.

Left out: making and scoring questions (questions.py, examiner.py). Nothing here imports reasoning_gym.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from itertools import permutations

from sapo_desktop.tasks.expressions import folded
from sapo_desktop.tasks.formulas import IMPLIES, NOT, VARIABLES, parse_formula, sides

HELD_OUT_ONE_IN = 8


def canonical(family: str, question: str) -> str:
    """The question without case, white space, phrasing and the order of commuting terms."""
    return _CONTENT.get(family, _whole)(" ".join(question.split())).casefold()


def held_out_side(family: str, question: str) -> bool:
    """Whether the question is held out: SHA-256 of family and content is 0 modulo 8."""
    kind = "arithmetic" if family in _CALCULATING else family
    digest = hashlib.sha256(f"{kind}\n{canonical(family, question)}".encode()).digest()
    return int.from_bytes(digest, "big") % HELD_OUT_ONE_IN == 0


def _whole(question: str) -> str:
    return question


def _numbers(question: str) -> str:
    """All integers, in order."""
    return " ".join(re.findall(r"-?\d+", question))


def _sorted_numbers(question: str) -> str:
    """All integers, smallest first, for families in which order has no meaning."""
    return " ".join(map(str, sorted(int(text) for text in re.findall(r"\d+", question))))


def _expression(question: str) -> str:
    """The arithmetic expression, without the phrase around it and the order of terms and factors."""
    found = re.search(r"[-(\s]*\d[\d\s.+*/()-]*", question.split(": ")[-1].split("value. ")[-1])
    return _folded_or_whole(found[0].strip().rstrip(".") if found else question)


def _equation(question: str) -> str:
    """The equation with its unknown called x and the terms of each side sorted."""
    return " = ".join(map(_folded_or_whole, question.split(": ")[-1].split(" = ")))


def _folded_or_whole(expression: str) -> str:
    """A question of unexpected form must not stop a round; a test checks questions of every level."""
    try:
        return folded(expression)
    except ValueError:
        return expression


def _letter_and_words(question: str) -> str:
    """The letter, and the words in alphabetical order, which does not affect the count."""
    letter, _, rest = question.partition('"')[2].partition('"')
    text = rest.partition('"')[2].rpartition('"')[0]
    return " ".join([letter, *sorted(text.casefold().split())])


def _examples(question: str) -> str:
    """The examples in any order, and the requested grid."""
    examples = re.findall(r"Input: ([\d ]+?) Output: ([\d ]+?)(?= Example| Below)", question)
    return " ".join([*sorted(f"{given}>{made}" for given, made in examples), question.rsplit("Input: ", 1)[-1]])


def _premises(question: str) -> str:
    """The premises in any order, with commuting sides in any order and any letters."""
    stated = re.findall(r"\d+\. (.+?) \.", question.split("Given: ")[-1])
    premises = [parse_formula(premise) or premise for premise in stated]
    letters = "".join(sorted(set("".join(premises)) & VARIABLES))
    renamings = [str.maketrans(letters, "".join(names)) for names in permutations(sorted(VARIABLES)[: len(letters)])]
    return min(" ".join(sorted({_sorted_sides(p.translate(renamed)) for p in premises})) for renamed in renamings)


def _sorted_sides(formula: str) -> str:
    if formula.startswith(NOT):
        return NOT + _sorted_sides(formula[1:])
    if not formula.startswith("("):
        return formula
    left, sign, right = sides(formula)
    both = [_sorted_sides(left), _sorted_sides(right)]
    return f"({f' {sign} '.join(both if sign == IMPLIES else sorted(both))})"


def _after_colon(question: str) -> str:
    return question.split(": ")[-1]


def _legs(question: str) -> str:
    """Numbers of animals, in alphabetical order of the animals."""
    listed = question.split("if you have ")[-1].rstrip("?").split(", ")
    return ", ".join(sorted(listed, key=lambda item: item.split(" ", 1)[-1]))


def _angles(question: str) -> str:
    return " ".join(sorted(re.findall(r"\d+\.\d+", question)))


def _bf_program(question: str) -> str:
    return max(re.findall(r"[<>+.,\[\]-]+", question), key=len, default=question)


def _ab_program(question: str) -> str:
    return question.split("following program: ")[-1].split(" Return")[0]


def _clear_text(question: str) -> str:
    """Cipher text rotated to begin with A: all rotations of a sentence are one content."""
    found = re.search(r"cipher text: ([A-Z ]+)", question)
    if not found:
        return question
    turn = ord(found[1][0]) - ord("A")
    return "".join(chr((ord(c) - 65 - turn) % 26 + 65) if c != " " else c for c in found[1])


_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"


def _date_content(question: str) -> str:
    """Dates, weekdays, ordinals and numbers in order, without the instructions for the answer."""
    asked = re.split(r"(?<=[?.]) (?=(?:Answer|Provide|State|Give|Reply|Write|Respond|Name|Express) )", question)
    text = asked[0].replace(" (Monday-Friday)", "").replace(" (Monday through Friday)", "")
    text = re.sub(r"(\d\d)/(\d\d)/(\d{4})", lambda m: f"{_MONTHS[int(m[1]) - 1]} {int(m[2])}, {m[3]}", text)
    text = re.sub(rf"{_DAY}, (?={'|'.join(_MONTHS)})", "", text)  # the weekday of a date that is also given
    kind = next((word for word in ("business", "leap") if word in text), "")
    parts = re.findall(
        rf"\b(?:{'|'.join(_MONTHS)}|{_DAY}|first|second|third|fourth|last|ago|before|backward)|\d+", text
    )
    return " ".join([kind, *sorted(set(parts))])


_CONTENT: dict[str, Callable[[str], str]] = {
    "ab": _ab_program,
    "arc_1d": _examples,
    "basic_arithmetic": _expression,
    "bf": _bf_program,
    "caesar_cipher": _clear_text,
    "calendar_arithmetic": _date_content,
    "chain_sum": _expression,
    "count_bits": _numbers,
    "decimal_arithmetic": _expression,
    "fraction_simplification": _numbers,
    "gcd": _sorted_numbers,
    "lcm": _sorted_numbers,
    "letter_counting": _letter_and_words,
    "leg_counting": _legs,
    "prime_factorization": _numbers,
    "products": _expression,
    "propositional_logic": _premises,
    "simple_equations": _equation,
    "simple_geometry": _angles,
    "spell_backward": _after_colon,
}
_CALCULATING = frozenset({"basic_arithmetic", "chain_sum", "decimal_arithmetic", "products"})
"""Families whose questions may coincide: they share one split."""
