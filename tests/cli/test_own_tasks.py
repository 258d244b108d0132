"""`sapo-desktop tasks add` for a file that can be read in two ways, with a person or a script at the keyboard."""

import io
from pathlib import Path

import pytest

from sapo_desktop.worker.control.messages.base import Message, Ok, Request
from sapo_desktop.worker.control.messages.replies import OwnRow, ReadingChoice, TasksRead
from sapo_desktop.worker.control.messages.requests import AddTasks, ReadTasks
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.test_cli import Words

FILE = str(Path("sums.csv").absolute())
ROWS = [OwnRow(question="1,125", answer="1125")]
CHOICES = [ReadingChoice(value=value, label=value, first=ROWS) for value in ("whole", "decimal-comma")]


class Asking(FakeNode):
    """Asks how the answers of any file are read."""

    async def call(self, request: Request) -> Message:
        self.requests.append(request)
        match request:
            case ReadTasks(answers=answers):
                choices = [] if answers else CHOICES
                return TasksRead(text="Two ways.", first=[], replaces=False, asked="answers", choices=choices)
            case AddTasks():
                return Ok(text="Done.")
        raise AssertionError(request)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def door() -> FakeDoor:
    return FakeDoor(node=Asking(), there=True)


def test_a_person_is_asked_and_the_choice_is_used(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("2\n"))
    assert run("tasks", "add", "sums.csv") == 0
    assert "Two ways." in run.stderr and "2  decimal-comma: 1,125 → 1125" in run.stderr and run.stdout == "Done.\n"
    assert door.node.requests == [
        ReadTasks(path=FILE),
        ReadTasks(path=FILE, answers="decimal-comma"),
        AddTasks(path=FILE, answers="decimal-comma"),
    ]


@pytest.mark.parametrize("typed", ["", "\n", "0\n", "3\n", "both\n"])
def test_nothing_is_added_without_a_choice(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    assert run("tasks", "add", "sums.csv") == 2
    assert "Nothing was added." in run.stderr and door.node.requests == [ReadTasks(path=FILE)]


def test_a_script_is_not_asked(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n"))
    assert run("tasks", "add", "sums.csv", "--answers", "words", "--encoding", "cp1252") == 0
    assert door.node.requests == [AddTasks(path=FILE, answers="words", encoding="cp1252")]
