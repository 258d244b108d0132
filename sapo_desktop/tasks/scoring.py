"""How an answer in canonical form is scored: by the dataset's own marker where that is safe, else here.

Four datasets keep their own marker; their grammars let nothing through that could fool or break it. All
others are scored here: their markers evaluate the answer (binary_matrix), give full marks to text after it
(spell_backward), give up to .99 for merely containing the truth, or depend on what was generated before
(decimal_arithmetic, whose marker works at the precision of the last question made). Pure; the dataset's
marker is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Any, TypeAlias

from sapo_desktop.tasks.grammars import parse_answer

Entry: TypeAlias = Mapping[str, Any]
"""What a dataset makes: question, answer (None where only metadata tell), metadata."""

OWN_MARKERS = frozenset(
    {"propositional_logic", "fraction_simplification", "calendar_arithmetic", "prime_factorization"}
)
SOLVED = 0.99
_EXACT = Context(prec=200)


def score(
    dataset: str,
    grammar: str,
    config: Mapping[str, Any],
    answer: str,
    entry: Entry,
    marker: Callable[[str, dict[str, Any]], float],
) -> float:
    """The score of `answer` (canonical under `grammar`), 0 to 1 if the marker is sound.

    `marker` is the dataset's own `score_answer`, called for the datasets in `OWN_MARKERS` only.
    """
    if dataset in OWN_MARKERS:
        return marker(answer, dict(entry))
    truth = str(entry["answer"])
    if dataset == "decimal_arithmetic":
        return within(answer, truth, int(config.get("max_num_decimal_places", 3)))
    if dataset == "spell_backward":
        return same_letters(answer, truth)
    return 1.0 if answer == canonical_truth(grammar, truth) else 0.0


def canonical_truth(grammar: str, truth: str) -> str:
    """The truth in canonical form. base_conversion writes the value 0 as an empty text in most bases."""
    if grammar == "digits" and truth == "":
        return "0"
    canonical = parse_answer(grammar, truth)
    return truth if canonical is None else canonical


def within(answer: str, truth: str, places: int) -> float:
    """1 where the answer is at most one unit in the last of the question's decimal places away, as the
    dataset has it."""
    difference = _EXACT.subtract(Decimal(answer), Decimal(truth))
    return 1.0 if abs(difference) <= Decimal(1).scaleb(-places) else 0.0


def same_letters(answer: str, truth: str) -> float:
    """1 for the same word, capitals or not; else the share of places that hold the right letter, below
    1."""
    left, right = answer.lower(), truth.lower()
    if left == right:
        return 1.0
    return sum(a == b for a, b in zip(left, right, strict=False)) / max(len(left), len(right))
