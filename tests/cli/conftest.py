"""Commands on a folder that reach a node without a process."""

from pathlib import Path

import pytest

from sapo_desktop.core.records import Check
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.fake_replies import scripted_round
from tests.cli.words import Words


@pytest.fixture
def door() -> FakeDoor:
    """A node that runs already and has played 30 rounds."""
    return FakeDoor(node=FakeNode(rounds=[scripted_round(number) for number in range(1, 31)]), there=True)


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What `doctor` finds about this computer; nothing of it is looked at."""
    found: list[Check] = []
    monkeypatch.setattr("sapo_desktop.commands.doctor.computer_checks", lambda *about: list(found))
    return found


@pytest.fixture
def gone(door: FakeDoor) -> None:
    """No node runs."""
    door.there = False


@pytest.fixture
def run(tmp_path: Path, door: FakeDoor, capsys: pytest.CaptureFixture[str]) -> Words:
    return Words(tmp_path, door, capsys)
