"""How an answer in canonical form is scored: by the dataset's own marker where that is safe, else here.

Three datasets keep their own marker; their grammars let nothing through that could fool or break it. All
others are scored here: their markers evaluate the answer (binary_matrix), give full marks to text after it
(spell_backward), give up to .99 for merely containing the truth, take whatever follows for a conclusion
(propositional_logic, which is then solved by copying), or a tenth more or less for the same number
(decimal_arithmetic). Pure; the dataset's marker is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sapo_desktop.tasks.conclusions import premises_of
from sapo_desktop.tasks.expressions import exact, last_place
from sapo_desktop.tasks.grammars import parse_answer
from sapo_desktop.tasks.own.family import OWN_ROWS
from sapo_desktop.tasks.soundness import Entry, is_sound

OWN_MARKERS = frozenset({"fraction_simplification", "calendar_arithmetic", "prime_factorization", OWN_ROWS})
SOLVED = 0.99


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
    if dataset == "propositional_logic":
        return float(premises_of(entry["metadata"]).concludes(answer))
    truth = str(entry["answer"])
    if dataset == "decimal_arithmetic":
        return float(is_rounded(answer, str(entry["question"]), int(config["precision"])))
    if dataset == "spell_backward":
        return same_letters(answer, truth)
    return 1.0 if answer == canonical_truth(grammar, truth) else 0.0


def canonical_truth(grammar: str, truth: str) -> str:
    """The truth in canonical form. base_conversion writes the value 0 as an empty text in most bases."""
    if grammar == "digits" and truth == "":
        return "0"
    canonical = parse_answer(grammar, truth)
    return truth if canonical is None else canonical


def right_answers(dataset: str, grammar: str, entry: Entry) -> tuple[str, ...]:
    """The right answers in canonical form: one, or the several that a family has; none where nothing can be said, or
    not what the dataset says."""
    if not is_sound(dataset, entry):
        return ()
    if dataset == "propositional_logic":
        return tuple(str(clause) for clause in premises_of(entry["metadata"]).accepted)
    truth = canonical_truth(grammar, str(entry["answer"]))
    return () if parse_answer(grammar, truth) is None else (truth,)


def is_rounded(answer: str, question: str, digits: int) -> bool:
    """Whether it is the question's value to so many significant digits, a unit of the last one either way: the
    dataset's own truth rounds after every step as well."""
    value = exact(question.rsplit("\n", 1)[-1].removesuffix(" = ?"))
    return abs(Fraction(answer) - value) <= last_place(value, digits)


def same_letters(answer: str, truth: str) -> float:
    """1 for the same word, capitals or not; else the share of places that hold the right letter, below
    1."""
    left, right = answer.lower(), truth.lower()
    if left == right:
        return 1.0
    return sum(a == b for a, b in zip(left, right, strict=False)) / max(len(left), len(right))
