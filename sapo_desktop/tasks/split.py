"""Which side of the held-out split a question falls on, by its content and not by its wording.

Everything that trains (the starter's priming and every round) takes only questions on the training side; the
validation and test sets take only the others. So they are disjoint by construction, on every machine and for every
level of a family. `gcd 12, 18` and `gcd 18, 12` are the same content, and so are two phrasings of one question.

Left out: making questions and marking them (questions.py, examiner.py). Nothing here imports reasoning_gym.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

HELD_OUT_ONE_IN = 8


def canonical(family: str, question: str) -> str:
    """What the question asks, freed of case, white space, phrasing and the order of terms that commute."""
    folded = " ".join(question.split())
    content = _CONTENT.get(family, _whole)(folded)
    return content.casefold()


def held_out_side(family: str, question: str) -> bool:
    """Whether the question belongs to the held-out sets: SHA-256 of family and content is 0 modulo 8."""
    digest = hashlib.sha256(f"{family}\n{canonical(family, question)}".encode()).digest()
    return int.from_bytes(digest, "big") % HELD_OUT_ONE_IN == 0


def _whole(question: str) -> str:
    return question


def _numbers(question: str) -> str:
    """All integers, in order."""
    return " ".join(re.findall(r"-?\d+", question))


def _sorted_numbers(question: str) -> str:
    """All integers, smallest first: for families where the order says nothing."""
    return " ".join(map(str, sorted(int(text) for text in re.findall(r"\d+", question))))


def _expression(question: str) -> str:
    """From the first to the last sign of an arithmetic expression, without spaces: phrasings differ, this does not."""
    found = re.search(r"[-(]*\s*\d[\d\s.+*/()-]*", question.split(": ")[-1].split("value. ")[-1])
    return re.sub(r"\s", "", found[0]).rstrip(".") if found else question


def _commuting_product(question: str) -> str:
    return "*".join(sorted(re.findall(r"-?\d+", question)))


def _equation(question: str) -> str:
    """The equation with its unknown called x."""
    return re.sub(r"[a-z]", "x", question.split(": ")[-1].replace(" ", ""))


def _after_colon(question: str) -> str:
    return question.split(": ")[-1]


def _legs(question: str) -> str:
    """Numbers of animals in alphabetical order of the animals."""
    listed = question.split("if you have ")[-1].rstrip("?").split(", ")
    return ", ".join(sorted(listed, key=lambda item: item.split(" ", 1)[-1]))


def _angles(question: str) -> str:
    return " ".join(sorted(re.findall(r"\d+\.\d+", question)))


def _bf_program(question: str) -> str:
    return max(re.findall(r"[<>+.,\[\]-]+", question), key=len, default=question)


def _ab_program(question: str) -> str:
    return question.split("following program: ")[-1].split(" Return")[0]


def _clear_text(question: str) -> str:
    """Cipher text turned so that it begins with A: one sentence under all rotations is one content."""
    found = re.search(r"cipher text: ([A-Z ]+)", question)
    if not found:
        return question
    turn = ord(found[1][0]) - ord("A")
    return "".join(chr((ord(c) - 65 - turn) % 26 + 65) if c != " " else c for c in found[1])


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"


def _date_content(question: str) -> str:
    """Dates, weekdays, ordinals and numbers in order, without the phrase that says how to answer."""
    asked = re.split(r"(?<=[?.]) (?=(?:Answer|Provide|State|Give|Reply|Write|Respond|Name|Express) )", question)
    text = asked[0].replace(" (Monday-Friday)", "").replace(" (Monday through Friday)", "")
    text = re.sub(r"(\d\d)/(\d\d)/(\d{4})", lambda m: f"{_MONTHS[int(m[1]) - 1]} {int(m[2])}, {m[3]}", text)
    text = re.sub(rf"{_DAY}, (?={'|'.join(_MONTHS)})", "", text)  # the weekday of a date that is given anyway
    kind = next((word for word in ("business", "leap") if word in text), "")
    parts = re.findall(
        rf"\b(?:{'|'.join(_MONTHS)}|{_DAY}|first|second|third|fourth|last|ago|before|backward)|\d+", text
    )
    return " ".join([kind, *sorted(set(parts))])


_CONTENT: dict[str, Callable[[str], str]] = {
    "ab": _ab_program,
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
    "leg_counting": _legs,
    "prime_factorization": _numbers,
    "products": _commuting_product,
    "simple_equations": _equation,
    "simple_geometry": _angles,
    "spell_backward": _after_colon,
}
