"""The statistics behind figures and guard: intervals for shares, paired differences, means.

Pure functions on plain lists, checked against hand calculations in the tests. Bootstrap and exact tests are omitted:
with hundreds of held-out questions, the normal approximation differs from them by less than the rounding of the
figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sapo_desktop.core.records import Record

Z95 = 1.959963984540054
"""97.5% point of the standard normal distribution: two-sided 95%."""


class Interval(Record, frozen=True):
    """Both ends of an interval."""

    low: float
    high: float


class Estimate(Record, frozen=True):
    """A value with its standard error and its 95% interval (normal approximation)."""

    value: float
    standard_error: float
    low: float
    high: float
    count: int
    """The number of values or pairs behind it."""


def wilson(solved: int, questions: int, z: float = Z95) -> Interval:
    """Interval of a share (Wilson 1927), which stays accurate near 0 and 1, where the plain one collapses to a point.

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)

    Raises:
        ValueError: more solved than asked, or negative numbers.
    """
    if not 0 <= solved <= questions:
        raise ValueError(f"expected 0 <= solved <= questions, got {solved} of {questions}")
    if questions == 0:
        return Interval(low=0.0, high=1.0)
    share, square = solved / questions, z * z
    centre = share + square / (2 * questions)
    spread = z * math.sqrt(share * (1 - share) / questions + square / (4 * questions**2))
    scale = 1 + square / questions
    # Rounding leaves 1e-17 next to 0 and 1, which would print as -0.0.
    low = 0.0 if solved == 0 else (centre - spread) / scale
    high = 1.0 if solved == questions else (centre + spread) / scale
    return Interval(low=low, high=high)


def paired_difference(after: Sequence[bool], before: Sequence[bool]) -> Estimate:
    """Difference of two shares on the same questions: after - before.

    With g questions gained and l lost of n, the difference is (g - l)/n and its variance (g + l - (g - l)²/n)/n², as in
    McNemar's test. Questions with equal results add no noise.

    Raises:
        ValueError: the lists differ in length or are empty.
    """
    if len(after) != len(before) or not after:
        raise ValueError(f"expected two lists of equal length, got {len(after)} and {len(before)} results")
    pairs = len(after)
    gained = sum(a and not b for a, b in zip(after, before, strict=True))
    lost = sum(b and not a for a, b in zip(after, before, strict=True))
    net = gained - lost
    return _estimate(net / pairs, math.sqrt(gained + lost - net * net / pairs) / pairs, pairs)


def mean_with_error(values: Sequence[float]) -> Estimate:
    """Mean with the standard error of independent values (sample deviation over sqrt n).

    The error of a single value is unknown and given as infinity.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("expected at least one value")
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return _estimate(mean, math.inf, count)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return _estimate(mean, math.sqrt(variance / count), count)


def _estimate(value: float, error: float, count: int) -> Estimate:
    margin = Z95 * error
    return Estimate(value=value, standard_error=error, low=value - margin, high=value + margin, count=count)
