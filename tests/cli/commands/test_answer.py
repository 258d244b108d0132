"""`sapo-desktop answer`, with a person, a script or nobody at the keyboard."""

import io
import json
from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.control.messages.requests import AskForQuestion, GiveAnswer
from sapo_desktop.worker.control.messages.rollouts import Rollouts
from tests.builders import rollout
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.words import Words


@pytest.fixture
def door() -> FakeDoor:
    return FakeDoor(node=FakeNode(settings=Settings(share=True)), there=True)


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def given(door: FakeDoor) -> list[GiveAnswer]:
    return [request for request in door.node.requests if isinstance(request, GiveAnswer)]


def test_it_is_seen_where_the_text_goes_first(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "12\n13\n")
    assert run("answer", "gcd") == 0
    assert door.node.requests[0] == AskForQuestion(task="gcd")
    assert given(door) == [GiveAnswer(id="0123456789abcdef", answer="12\n")]
    before, after = run.stdout.split("skip the question.")
    assert "48 and 36" in before and "a whole number, like 42" in before and "published under this node" in before
    assert "\x1b" not in before and "\u202e" not in before
    assert "✓ right. Right: 12" in after and "2 of 7 right" in after and "Shared with the swarm" in after


def test_wrong_and_not_shared_is_said_so(run: Words, door: FakeDoor) -> None:
    door.node.settings = Settings()
    assert run("answer", "--answer", "13", "--reasoning", "a guess") == 0
    assert door.node.requests[0] == AskForQuestion(task=None)
    assert given(door) == [GiveAnswer(id="0123456789abcdef", answer="13", reasoning="a guess")]
    assert "stays on this computer" in run.stdout
    assert "✗ wrong. Right: 12" in run.stdout and "Not shared." in run.stdout


@pytest.mark.parametrize("text", ["", "\n", "  \t\n"], ids=["end", "empty", "blank"])
def test_nothing_typed_skips_a_question(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    typed(monkeypatch, text)
    assert run("answer", "--json") == 0
    assert [line["event"] for line in run.lines] == ["question", "skipped"]
    assert given(door) == []
    assert run("answer", "--answer", text.strip()) == 0
    assert given(door) == []


def test_machines_read_a_line_for_question_and_outcome(run: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "12\n")
    assert run("answer", "--json") == 0
    asked, marked = run.lines
    assert (asked["event"], asked["task"], asked["shared"], asked["seconds"]) == ("question", "gcd/easy", True, 900.0)
    assert (marked["event"], marked["solved"], marked["truth"]) == ("human_answer", True, "12")
    assert (marked["model_solved"], marked["model_answers"], marked["shared"], marked["learned"]) == (2, 7, True, True)
    assert run.stdout.isascii() and "published under this node" in run.stderr


def test_only_a_line_of_bounded_length_is_read(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "1" * 10_000_000)
    assert run("answer") == 0
    assert len(given(door)[0].answer) == 64 * 1024


def test_what_is_no_text_is_refused(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), encoding="utf-8"))
    assert run("answer") == 2
    assert "cannot be read" in run.stderr and given(door) == []
    assert run("answer", "--answer", "caf\udce9") == 0
    assert given(door)[0].answer == "caf\ufffd"


def test_what_the_node_refuses_is_one_sentence(run: Words, door: FakeDoor) -> None:
    door.node.fail = UsageError("This question was answered already.")
    assert run("answer", "--answer", "12") == 2
    assert run.stderr == "This question was answered already.\n"


def test_rollouts_tell_a_persons_answer_from_the_models(run: Words, door: FakeDoor, tmp_path: Path) -> None:
    door.node.rounds = []
    assert run("history", "--rollouts", str(tmp_path / "r.jsonl")) == 0
    answer = rollout(origin="human", completion="12", kind="human")
    door.node._rollouts = lambda after: Rollouts(items=[answer], more=False)  # type: ignore[method-assign]
    assert run("history", "--rollouts", str(tmp_path / "r.jsonl")) == 0
    assert json.loads((tmp_path / "r.jsonl").read_text())["kind"] == "human"
