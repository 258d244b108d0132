"""Features of a question for policies that look at one feature only, and give one answer for each of its values.

`by the last digit of number 1` answers 2 if the first number ends in 4, and 5 if it ends in 5. The answers are learnt
from other questions than those they are tried on.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

Weights: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[Any]

LEAST = 30
"""Questions with a value, of those learnt from, that it takes to have an answer of its own; others share one."""
_PLACES = 4
_WORDS = 8
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SIGNS = "+-*/()=¬∧∨→↔×#AB"
_REST = "rest"


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A question by its features, and its right answers."""

    features: Mapping[str, str]
    right: Collection[str]


class Best(msgspec.Struct, frozen=True, kw_only=True):
    """The best policy of one kind."""

    name: str
    share: float


def best_feature(learnt: Sequence[Seen], asked: Sequence[Seen]) -> Best:
    """The feature whose answers, chosen on `learnt`, solve most of `asked`."""
    names = {name for one in learnt for name in one.features}
    shares = {name: _solved(name, learnt, asked) / len(asked) for name in sorted(names)}
    best = max(shares, key=shares.__getitem__)
    return Best(name=f"by {best}", share=shares[best])


def _solved(name: str, learnt: Sequence[Seen], asked: Sequence[Seen]) -> int:
    kept = values_kept(name, learnt)
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in learnt:
        answers[value_of(name, one, kept)].update(one.right)
        answers[_REST].update(one.right)
    said = {value: counts.most_common(1)[0][0] for value, counts in answers.items()}
    return sum(said[value_of(name, one, kept)] in one.right for one in asked)


def values_kept(name: str, learnt: Sequence[Seen]) -> frozenset[str]:
    """The values of a feature that have an answer of their own."""
    counts = Counter(one.features.get(name, _REST) for one in learnt)
    return frozenset(value for value, count in counts.items() if count >= LEAST)


def value_of(name: str, one: Seen, kept: Collection[str]) -> str:
    value = one.features.get(name, _REST)
    return value if value in kept else _REST


class Policy(Protocol):
    """What it solves may depend on what the rows weigh."""

    def solved(self, weights: Weights) -> Mask: ...


class Always:
    """A policy that solves the same rows whatever they weigh."""

    def __init__(self, places: Sequence[int], count: int) -> None:
        self._mask = np.zeros(count, dtype=bool)
        self._mask[list(places)] = True

    def solved(self, weights: Weights) -> Mask:
        return self._mask


class Cells:
    """The policy that says, for each value of a feature, the answer that weighs most: by `cell`, the place of each row
    in a table of values and answers."""

    def __init__(self, table: tuple[Mask, int, int]) -> None:
        self._cell, self._values, self._answers = table

    def solved(self, weights: Weights) -> Mask:
        summed = np.bincount(self._cell, weights, self._values * self._answers)
        best = summed.reshape(self._values, self._answers).argmax(axis=1)
        chosen: Mask = best[self._cell // self._answers] == self._cell % self._answers
        return chosen


def by_feature(rows: Sequence[Seen]) -> Iterator[tuple[Mask, int, int]]:
    """Per feature the cell of each row, the number of values, and that of answers; of several right answers the first
    counts."""
    answers = {answer: place for place, answer in enumerate(sorted({min(one.right) for one in rows}))}
    said = np.array([answers[min(one.right)] for one in rows])
    for name in sorted({name for one in rows for name in one.features}):
        kept = values_kept(name, rows)
        values = {value: place for place, value in enumerate(sorted({*kept, _REST}))}
        looked = np.array([values[value_of(name, one, kept)] for one in rows])
        yield looked * len(answers) + said, len(values), len(answers)


def features_of(question: str) -> dict[str, str]:
    """Name and value of everything that one might look at."""
    numbers = _NUMBER.findall(question)
    words = [word for part in question.split() if (word := part.strip(" \t\n.,:;?!\"'()[]{}$°="))]
    found = {
        "how many numbers": str(len(numbers)),
        "how many words": str(len(words)),
        "how long it is": str(len(question) // 4),
        "its wording": re.sub(r"\d+", "0", question)[:60],
        "the end of its wording": re.sub(r"\d+", "0", question)[-60:],
        **{f"how many {sign}": str(question.count(sign)) for sign in _SIGNS},
        **dict(_of_words(words)),
    }
    places = {f"number {place}": number for place, number in enumerate(numbers[:_PLACES], 1)}
    places |= {f"number -{place}": number for place, number in enumerate(numbers[: -_PLACES - 1 : -1], 1)}
    if numbers:
        places |= {"the smallest number": min(numbers, key=float), "the largest number": max(numbers, key=float)}
    for place, number in places.items():
        found |= _of_number(place, number)
    return found


def _of_number(place: str, number: str) -> dict[str, str]:
    digits = number.replace(".", "")
    return {
        f"the last digit of {place}": digits[-1],
        f"the first digit of {place}": digits[0],
        f"the length of {place}": str(len(number)),
        f"the rest of {place} by 3": str(int(digits) % 3),
        f"the rest of {place} by 4": str(int(digits) % 4),
        f"the sum of the digits of {place}": str(sum(map(int, digits))),
    }


def _of_words(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, word in [
        *enumerate(words[:_WORDS], 1),
        *((-n, word) for n, word in enumerate(words[: -_WORDS - 1 : -1], 1)),
    ]:
        yield f"word {place}", "0" if word[0].isdigit() else word
        yield f"the length of word {place}", str(len(word))
    if words:
        yield "the first letter of the last word", words[-1][0]
        yield "the last letter of the last word", words[-1][-1]
