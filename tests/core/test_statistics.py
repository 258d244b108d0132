"""Values worked out by hand, or taken from the tables of the papers named."""

import math

import pytest

from sapo_desktop.core.statistics import mean_with_error, paired_difference, wilson


def test_wilson_by_hand() -> None:
    """8 of 10, z = 2: (0.8 + 0.2 ± 2 sqrt(0.016 + 0.01)) / 1.4 with z²/2n = 0.2, z²/4n² = 0.01, z²/n = 0.4."""
    interval = wilson(8, 10, z=2.0)
    assert interval.low == pytest.approx((1.0 - 2 * math.sqrt(0.026)) / 1.4)
    assert interval.high == pytest.approx((1.0 + 2 * math.sqrt(0.026)) / 1.4)


def test_wilson_against_newcombe_1998() -> None:
    """Table I of Newcombe, Statistics in Medicine 17:857, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    for solved, asked, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        interval = wilson(solved, asked)
        assert (interval.low, interval.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_wilson_at_the_ends() -> None:
    assert wilson(0, 5).low == 0.0
    assert wilson(5, 5).high == 1.0
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)
    for solved, asked in ((6, 5), (-1, 5)):
        with pytest.raises(ValueError, match="expected 0 <= solved"):
            wilson(solved, asked)


def test_paired_difference_by_hand() -> None:
    """Of 10 pairs 4 gained and 1 lost: (4-1)/10 = 0.3; variance (5 - 9/10)/100 = 0.041."""
    before = [True, False, False, False, False, True, True, False, False, False]
    after = [False, True, True, True, True, True, True, False, False, False]
    found = paired_difference(after, before)
    assert found.value == pytest.approx(0.3)
    assert found.standard_error == pytest.approx(math.sqrt(0.041))
    assert found.low == pytest.approx(0.3 - 1.959964 * math.sqrt(0.041), abs=1e-6)
    assert found.high == pytest.approx(0.3 + 1.959964 * math.sqrt(0.041), abs=1e-6)
    assert found.count == 10


def test_answers_alike_have_no_noise() -> None:
    found = paired_difference([True, False], [True, False])
    assert (found.value, found.standard_error) == (0.0, 0.0)


def test_a_paired_test_wants_pairs() -> None:
    for after, before in (([True], [True, False]), ([], [])):
        with pytest.raises(ValueError, match="two lists of equal length"):
            paired_difference(after, before)


def test_mean_by_hand() -> None:
    """1, 2, 3, 6: mean 3, squares 4 + 1 + 0 + 9 = 14, sample variance 14/3, error sqrt(14/12)."""
    found = mean_with_error([1.0, 2.0, 3.0, 6.0])
    assert found.value == 3.0
    assert found.standard_error == pytest.approx(math.sqrt(14 / 12))


def test_a_single_value_has_an_unknown_error() -> None:
    assert mean_with_error([0.5]).standard_error == math.inf
    with pytest.raises(ValueError, match="at least one"):
        mean_with_error([])
