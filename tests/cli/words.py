"""Commands on one folder, and what they said."""

import json
from pathlib import Path

import pytest

from sapo_desktop.cli import main
from tests.cli.fake_node import FakeDoor


class Words:
    """Runs commands on one folder and keeps what they said."""

    def __init__(self, folder: Path, door: FakeDoor, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.door = door
        self._capsys = capsys
        self.stdout = self.stderr = ""

    def __call__(self, *words: str) -> int:
        code = main([*words, "--data", str(self.folder)], self.door)
        self.stdout, self.stderr = self._capsys.readouterr()
        return code

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.stdout.splitlines()]
