"""Every question can be answered, its stored answer is right, and usual spellings of right answers count as right."""

import pytest

from tests.tasks.examiner.test_examiner import scene

PARTS = 4


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(PARTS))
def test_an_independent_solver_agrees_on_3000_questions_of_every_level(part: int) -> None:
    assert scene("sound", str(part), str(PARTS), seconds=900) == {}


def test_what_people_reported_stays_right() -> None:
    """Questions that could not be answered, and right answers that were not taken."""
    assert scene("reported") == {"asked": [], "not solved": []}
