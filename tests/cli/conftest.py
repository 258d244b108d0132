"""Commands on a folder that reach a node without a process."""

from pathlib import Path

import pytest

from tests.cli.fake_node import FakeDoor
from tests.cli.test_cli import Words


@pytest.fixture
def run(tmp_path: Path, door: FakeDoor, capsys: pytest.CaptureFixture[str]) -> Words:
    return Words(tmp_path, door, capsys)
