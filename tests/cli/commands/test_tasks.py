"""`sapo-desktop tasks add` for a file that can be read in two ways, with a person or a script at the keyboard."""

import io
from pathlib import Path

import pytest

from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.worker.control.messages import requests
from sapo_desktop.worker.control.messages.asking import TryTask
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import OwnRow, ReadingChoice, TasksRead
from sapo_desktop.worker.control.messages.requests import AddTasks, ReadTasks
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.words import Words

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
def asking(door: FakeDoor) -> FakeDoor:
    door.node = Asking()
    return door


def test_a_person_is_asked_and_the_choice_is_used(
    run: Words, asking: FakeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("2\n"))
    assert run("tasks", "add", "sums.csv") == 0
    assert "Two ways." in run.stderr and "2  decimal-comma: 1,125 → 1125" in run.stderr and run.stdout == "Done.\n"
    assert asking.node.requests == [
        ReadTasks(path=FILE),
        ReadTasks(path=FILE, answers="decimal-comma"),
        AddTasks(path=FILE, answers="decimal-comma"),
    ]


@pytest.mark.parametrize("typed", ["", "\n", "0\n", "3\n", "both\n"])
def test_nothing_is_added_without_a_choice(
    run: Words, asking: FakeDoor, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    assert run("tasks", "add", "sums.csv") == 2
    assert "Nothing was added." in run.stderr and asking.node.requests == [ReadTasks(path=FILE)]


def test_a_script_is_not_asked(run: Words, asking: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n"))
    assert run("tasks", "add", "sums.csv", "--answers", "words", "--encoding", "cp1252") == 0
    assert asking.node.requests == [AddTasks(path=FILE, answers="words", encoding="cp1252")]


def test_tasks_are_listed_shown_and_tried(run: Words, door: FakeDoor) -> None:
    assert run("tasks") == 0
    assert "gcd/easy" in run.stdout and "Left out: bad.csv: It is bad." in run.stdout
    assert run("tasks", "show", "gcd/middle", "--json") == 0
    assert [line["task"] for line in run.lines] == ["gcd/middle"]
    assert run("tasks", "try", "gcd/hard", "--answer", "12", "--seed", "3") == 0
    assert door.node.requests[-1] == TryTask(task="gcd/hard", seed=3, answer="12")
    assert "✓ right" in run.stdout


def test_own_tasks_are_added_and_removed(run: Words, door: FakeDoor) -> None:
    assert run("tasks", "add", "sums.csv", "--json") == 0
    assert door.node.requests[-1] == requests.AddTasks(path=str(Path("sums.csv").absolute()))
    assert run.lines == [{"event": "added", "family": "sums", "text": "Done."}]
    assert run("tasks", "remove", "sums") == 0
    assert (door.node.requests[-1], "Done." in run.stdout) == (requests.RemoveTasks(name="sums"), True)
