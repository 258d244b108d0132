"""The starter's engine stays below half a gigabyte in a real session at default settings."""

import sys

import pytest

from tests.bench.node.session import EVERY, MOST, session


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_rounds_of_the_starter_stay_below_the_bound() -> None:
    found = session(2 * EVERY, seed=5)
    assert 100e6 < found.share <= found.resident <= MOST
    assert 0 <= found.teaching <= found.groups and found.seconds > 0
