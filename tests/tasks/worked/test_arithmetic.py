"""Written arithmetic against lines worked out by hand."""

import re

import pytest

from sapo_desktop.tasks.worked import arithmetic


def test_sums_carry() -> None:
    assert arithmetic.add(34, 58) == "34+58=4+8=12,3+5+1=9=92"
    assert arithmetic.add(7, 8) == "7+8=15"
    assert arithmetic.add(95, 7) == "95+7=5+7=12,9+1=10=102"


def test_differences_borrow() -> None:
    assert arithmetic.subtract(62, 38) == "62-38=12-8=4,6-3-1=2=24"
    assert arithmetic.subtract(38, 62) == "38-62=62-38:12-8=4,6-3-1=2=-24"
    assert arithmetic.subtract(-25, 30) == "-25-30=5+0=5,2+3=5=-55"


def test_products_by_digits() -> None:
    assert arithmetic.multiply(34, 7) == "34*7=4*7=28,3*7+2=23=238"
    assert arithmetic.multiply(21, 13) == "21*13:21*3=1*3=3,2*3=6=63;21*1=21;63+210=3+0=3,6+1=7,2=2=273;273"


def test_euclid_takes_multiples_away() -> None:
    assert arithmetic.euclid(18, 48) == ("48%18:36=12 18%12:12=6 12%6:12=0", 6)


def test_decimals() -> None:
    assert [arithmetic.decimal(value, 2) for value in (-1234, 5, 0, 100)] == ["-12.34", "0.05", "0.00", "1.00"]


@pytest.mark.parametrize("left", [-340, -21, -1, 0, 9, 20, 99, 305])
@pytest.mark.parametrize("right", [-305, -20, -1, 0, 8, 21, 100])
def test_every_line_ends_in_its_value(left: int, right: int) -> None:
    assert arithmetic.add(left, right).endswith(f"={left + right}")
    assert arithmetic.subtract(left, right).endswith(f"={left - right}")
    assert re.split("[=;]", arithmetic.multiply(left, right))[-1] == str(left * right)
