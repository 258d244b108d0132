"""How an answer in canonical form is scored: by the dataset's own scorer if that is safe, otherwise here.

Three datasets keep their own scorer; their grammars let nothing through that could fool or break it. All others are
scored here, because their scorers evaluate the answer (binary_matrix), give the full score to text after it
(spell_backward), give up to 0.99 for merely containing the right answer, accept anything that follows as a conclusion
(propositional_logic, which copying would then solve), or accept a tenth more or less as the same number
(decimal_arithmetic). Pure; the dataset's scorer is passed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from math import gcd
from types import MappingProxyType
from typing import Any, TypeAlias

from sapo_desktop.tasks.conclusions import premises_of
from sapo_desktop.tasks.expressions import exact, last_place
from sapo_desktop.tasks.grammars import parse_answer
from sapo_desktop.tasks.own.family import OWN_ROWS

OWN_SCORERS = frozenset({"fraction_simplification", "calendar_arithmetic", "prime_factorization", OWN_ROWS})
SOLVED = 0.99


def score(
    dataset: str,
    grammar: str,
    config: Mapping[str, Any],
    answer: str,
    entry: Entry,
    scorer: Callable[[str, dict[str, Any]], float],
) -> float:
    """The score of `answer` (canonical under `grammar`), 0 to 1 if the scorer is sound.

    `scorer` is the dataset's own `score_answer`, called for the datasets in `OWN_SCORERS` only.
    """
    if dataset in OWN_SCORERS:
        return scorer(answer, dict(entry))
    if dataset == "propositional_logic":
        return float(premises_of(entry["metadata"]).concludes(answer))
    truth = str(entry["answer"])
    if dataset == "decimal_arithmetic":
        return float(is_rounded(answer, str(entry["question"]), int(config["precision"])))
    if dataset == "spell_backward":
        return same_letters(answer, truth)
    return 1.0 if answer == canonical_truth(grammar, truth) else 0.0


def canonical_truth(grammar: str, truth: str) -> str:
    """The right answer in canonical form. base_conversion writes the value 0 as an empty text in most bases."""
    if grammar == "digits" and truth == "":
        return "0"
    canonical = parse_answer(grammar, truth)
    return truth if canonical is None else canonical


def right_answers(dataset: str, grammar: str, entry: Entry) -> tuple[str, ...]:
    """The right answers in canonical form: one, or several in some families; none if it is unknown or the dataset's
    is wrong."""
    if not is_sound(dataset, entry):
        return ()
    if dataset == "propositional_logic":
        return tuple(str(clause) for clause in premises_of(entry["metadata"]).accepted)
    truth = canonical_truth(grammar, str(entry["answer"]))
    return () if parse_answer(grammar, truth) is None else (truth,)


def is_rounded(answer: str, question: str, digits: int) -> bool:
    """Whether it equals the question's value to so many significant digits, plus or minus one unit of the last; the
    dataset's own answer also rounds after every step."""
    value = exact(question.rsplit("\n", 1)[-1].removesuffix(" = ?"))
    return abs(Fraction(answer) - value) <= last_place(value, digits)


def same_letters(answer: str, truth: str) -> float:
    """1 for the same word, regardless of case; otherwise the share of positions with the right letter, below 1."""
    left, right = answer.lower(), truth.lower()
    if left == right:
        return 1.0
    return sum(a == b for a, b in zip(left, right, strict=False)) / max(len(left), len(right))


# Which questions of a dataset can be answered: those with exactly one right answer, which is the dataset's. Some
# generators occasionally ask for something that does not exist: contradictory dates, a missing number, a convex polygon
# with an angle of 200 degrees. Such a question is replaced by the next one under its seed (questions.py). A slow test
# solves 3,000 questions of every level independently (tests/tasks/examiner/test_soundness.py). Pure and quick, because
# it runs for every drawn question.


Entry: TypeAlias = Mapping[str, Any]
"""A dataset's entry: question, answer (None if only the metadata have it), metadata."""

_DIGITS = re.compile(r"maximum of (\d+) significant digits")


def is_sound(dataset: str, entry: Entry) -> bool:
    """Whether the question can be answered and the dataset's answer is right."""
    check = _CHECKS.get(dataset)
    return check is None or check(entry)


def _divides_evenly(entry: Entry) -> bool:
    """The dataset divides without remainder even if there is one; the exact value is asked for."""
    try:
        return exact(entry["metadata"]["expression"]) == Fraction(entry["answer"])
    except ZeroDivisionError:
        return False


def _names_its_number(entry: Entry) -> bool:
    """The value 0 is written as an empty text in most bases."""
    return bool(entry["metadata"]["source_repr"])


def _dates_exist(entry: Entry) -> bool:
    """Questions print one year for both dates. If only the weekday of January 1 is given, dates after February
    depend on whether it is a leap year."""
    metadata = entry["metadata"]
    if metadata["task"] == "weekday_of_date_from_first_date":
        return date.fromisoformat(metadata["target_date"]) < date(metadata["year"], 3, 1)
    if "end_date" not in metadata:
        return True
    return date.fromisoformat(metadata["start_date"]).year == date.fromisoformat(metadata["end_date"]).year


def _rounds_to_one_value(entry: Entry) -> bool:
    """The dataset rounds after every step, which may change the result."""
    places = _DIGITS.search(entry["question"])
    expression = entry["question"].rsplit("\n", 1)[-1].removesuffix(" = ?")
    value = exact(expression)
    return places is not None and abs(Fraction(entry["answer"]) - value) <= last_place(value, int(places[1]))


def _in_lowest_terms(entry: Entry) -> bool:
    metadata = entry["metadata"]
    return gcd(metadata["simplified_numerator"], metadata["simplified_denominator"]) == 1


def _letter_in_one_case(entry: Entry) -> bool:
    """Capitals are counted although the question does not say so, and digits are not letters."""
    letter, text = entry["metadata"]["target_letter"], " ".join(entry["metadata"]["span"])
    return bool(letter.isalpha()) and text.isascii() and letter.upper() not in text


def _asks_for_its_unknown(entry: Entry) -> bool:
    """`(5 - 5) * x` is 0 for every x."""
    metadata = entry["metadata"]
    return metadata["variable"] in metadata["equation"]


def _is_convex(entry: Entry) -> bool:
    return bool(0 < entry["metadata"]["missing_angle_rounded"] < 180)


_CHECKS: Mapping[str, Callable[[Entry], bool]] = MappingProxyType(
    {
        "base_conversion": _names_its_number,
        "basic_arithmetic": _divides_evenly,
        "calendar_arithmetic": _dates_exist,
        "decimal_arithmetic": _rounds_to_one_value,
        "fraction_simplification": _in_lowest_terms,
        "letter_counting": _letter_in_one_case,
        "simple_equations": _asks_for_its_unknown,
        "simple_geometry": _is_convex,
    }
)
