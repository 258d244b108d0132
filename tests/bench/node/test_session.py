"""The starter's engine stays below half a gigabyte in a real session at default settings; what a session counts."""

import sys

import pytest

from tests.bench.node.session import EVERY, MOST, Session, count, session
from tests.builders import round_report


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_rounds_of_the_starter_stay_below_the_bound() -> None:
    found = session(2 * EVERY, seed=5)
    assert 100e6 < found.share <= found.resident <= MOST
    assert 0 <= found.teaching <= found.groups and found.seconds > 0


def test_what_held_out_questions_took_is_no_time_of_a_round() -> None:
    found = Session()
    count([round_report(1), round_report(2, seconds=5.0, evaluate_seconds=3.0)], found)
    assert found.seconds == 2.0
