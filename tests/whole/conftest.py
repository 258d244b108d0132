"""Shared by tests of whole nodes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.whole.programs import Program


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def begin(name: str, *words: str) -> Program:
        started.append(Program(tmp_path / name, *words))
        return started[-1]

    yield begin
    for program in started:
        program.end()
