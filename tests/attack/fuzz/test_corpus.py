"""The kept inputs and the first ones raise only the reader's own errors; `__main__.py` looks for more."""

from pathlib import Path

import pytest

from tests.attack.fuzz.files import FILES
from tests.attack.fuzz.target import attempt, known
from tests.attack.fuzz.wire import WIRE

TARGETS = {**WIRE, **FILES}


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_a_readers_own_error_comes_out_and_some_beginning_is_taken(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    take = target.open(tmp_path)
    for data in (b"", *known(name)):
        attempt(take, target.refused, data)
    taken = [attempt(take, target.refused, data) for data in target.seeds()]
    assert any(taken)
