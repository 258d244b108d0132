"""Work as a chat model would write it: one line for questions of one step, and for others a line a step.

The steps of the other writers are short, for a tiny model that reads letter by letter. A chat model knows what it has
read: it completes `5 * 9 =` where it only guesses what stands between the tags (`python -m tests.bench.tasks.shown`).
So a line ends before the answer's tag begins. Families without a line here are shown answers alone, which served the
reference as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .numbers import conversion
from .sums import LEGS, singular

_SIGN = re.compile(r"(?<=[\w)])([-+*/%=])(?=[\w(-])")
OPERATIONS = frozenset(
    {
        "basic_arithmetic",
        "chain_sum",
        "decimal_arithmetic",
        "fraction_simplification",
        "gcd",
        "lcm",
        "leg_counting",
        "prime_factorization",
        "products",
        "simple_equations",
        "simple_geometry",
    }
)
"""Families whose steps are operations on numbers with a space between two of them."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def written_out(steps: str) -> str:
    """`5 + 9 = 14` and `14 - 2 = 12`, a line each, of `5+9=14 14-2=12`."""
    return "\n".join(_SIGN.sub(r" \1 ", step) for step in steps.split(" "))


def _operation(entry: dict[str, Any]) -> str:
    """`5 * 9 = 45`."""
    left, sign, right = re.findall(r"(-?\d+)\s*([-+*/])\s*(-?\d+)", entry["question"])[-1]
    return f"{left} {sign} {right} = {entry['answer']}"


def _equation(entry: dict[str, Any]) -> str:
    """`k = 12 - 9 = 3`, of an unknown and a number on the left side."""
    left, _, right = entry["question"].rpartition(": ")[2].strip().partition(" = ")
    first, sign, second = left.split(" ")
    if first.isalpha():
        unknown, work = first, f"{right} {'-' if sign == '+' else '+'} {second}"
    else:
        unknown, work = second, f"{right} - {first}" if sign == "+" else f"{first} - {right}"
    return f"{unknown} = {work.replace('- -', '+ ')} = {entry['answer']}"


def _two_numbers(entry: dict[str, Any]) -> tuple[int, int]:
    first, second = re.findall(r"\d+", entry["question"])[-2:]
    return int(first), int(second)


def _common_divisor(entry: dict[str, Any]) -> str:
    """`gcd(12, 20) = 4`."""
    first, second = _two_numbers(entry)
    return f"gcd({first}, {second}) = {entry['answer']}"


def _common_multiple(entry: dict[str, Any]) -> str:
    """`10 * 4 / 2 = 20`: the product by the greatest common divisor."""
    first, second = _two_numbers(entry)
    return f"{first} * {second} / {first * second // int(entry['answer'])} = {entry['answer']}"


def _fraction(entry: dict[str, Any]) -> str:
    """`Divide both by 4: 8 / 4 = 2, 12 / 4 = 3`."""
    match = re.search(r"(\d+)/(\d+)", entry["question"])
    assert match is not None, entry["question"]
    top, bottom = int(match[1]), int(match[2])
    divisor = top // int(str(entry["answer"]).partition("/")[0])
    return f"Divide both by {divisor}: {top} / {divisor} = {top // divisor}, {bottom} / {divisor} = {bottom // divisor}"


def _conversion(entry: dict[str, Any]) -> str:
    """`102 in base 3 = 11 = 14 in base 7`."""
    found = conversion(entry["question"])
    assert found is not None, entry["question"]
    source, written, target = found
    return f"{written} in base {source} = {int(written, source)} = {entry['answer']} in base {target}"


def _days(entry: dict[str, Any]) -> str:
    """`Sunday, Monday, Tuesday`: from the day in the question to the one asked for."""
    start = next(word for word in re.findall(r"[A-Z]\w+", entry["question"]) if word in DAYS)
    ahead = (DAYS.index(str(entry["answer"])) - DAYS.index(start)) % 7
    step, count = (1, ahead) if ahead <= 3 else (-1, 7 - ahead)
    return ", ".join(DAYS[(DAYS.index(start) + step * number) % 7] for number in range(count + 1))


def _letters(entry: dict[str, Any]) -> str:
    """`s, u, n; backward: n, u, s`."""
    word = str(entry["answer"])[::-1]
    return f"{', '.join(word)}; backward: {', '.join(reversed(word))}"


def _legs(entry: dict[str, Any]) -> str:
    """`One spider has 8 legs. 3 * 8 = 24`."""
    match = re.search(r"have (\d+) (.+)\?", entry["question"])
    assert match is not None, entry["question"]
    animal = singular(match[2])
    return f"One {animal} has {LEGS[animal]} legs. {match[1]} * {LEGS[animal]} = {entry['answer']}"


LINES: dict[str, Callable[[dict[str, Any]], str]] = {
    "basic_arithmetic": _operation,
    "base_conversion": _conversion,
    "calendar_arithmetic": _days,
    "chain_sum": _operation,
    "decimal_arithmetic": _operation,
    "fraction_simplification": _fraction,
    "gcd": _common_divisor,
    "lcm": _common_multiple,
    "leg_counting": _legs,
    "products": _operation,
    "simple_equations": _equation,
    "spell_backward": _letters,
}
"""By family."""
