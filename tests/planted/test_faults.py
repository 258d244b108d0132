"""The planted faults still fit the source."""

import pytest

from tests.planted.__main__ import ROOT, find
from tests.planted.faults import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_the_text_of_a_fault_is_in_the_product_once(fault: Fault) -> None:
    find(fault, ROOT)
