"""eval, export, compare and checkpoints."""

import asyncio
from pathlib import Path

import pytest

from sapo_desktop.commands.line import context as context_module
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.worker.control.messages import requests
from sapo_desktop.worker.control.messages.events import PhaseChanged, Progressed
from tests.cli.fake_node import FakeDoor
from tests.cli.words import Words


def test_two_models_are_compared_on_the_same_questions(run: Words) -> None:
    assert run("models", "compare") == 0
    assert "smollm2-135m: 3% -> 22%" in run.stdout and "starter: - -> 40%" in run.stdout
    assert "the same 120 held-out questions (test)" in run.stdout and "-18 points (-26 to -10)" in run.stdout
    assert run("models", "compare", "--json") == 0
    assert run.lines[0]["questions"] == 120 and run.lines[0]["other"]["base"] is None  # type: ignore[index,call-overload]


def test_checkpoints_show_the_base_and_what_is_kept(run: Words) -> None:
    assert run("checkpoints") == 0
    assert "3.6 MB" in run.stdout
    assert "best, last" in run.stdout
    assert run("checkpoints", "back", "best") == 0


def test_eval_gives_the_score_per_task_and_says_where_nothing_was_trained(run: Words, door: FakeDoor) -> None:
    assert run("eval") == 0
    assert "27% of 200 questions solved" in run.stdout and "untrained" not in run.stdout
    assert run("eval", "--checkpoint", "best", "--json") == 0
    line = run.lines[0]
    assert line.keys() >= {"checkpoint", "score", "partial", "tasks", "low", "high", "pass_at_k", "too_long"}
    assert next(iter(line)) == "event"
    assert (line["checkpoint"], line["score"], line["tasks"]) == ("best", 0.27, {"gcd/easy": 0.27})
    door.node.evaluated_round = 0  # as where --data was mistyped
    assert run("eval") == 0
    assert "No round was finished here: this is the untrained model." in run.stdout


def test_eval_asks_the_test_questions_of_one_level(run: Words, door: FakeDoor) -> None:
    assert run("eval", "--level", "first") == 0
    asked = door.node.requests[-1]
    assert isinstance(asked, requests.Evaluate) and (asked.which, asked.level) == ("test", "first")
    assert run("eval", "--level", "first", "--which", "validation") == 2
    assert run("eval", "--level", "simple") == 2


def test_eval_asks_the_questions_of_some_families(run: Words, door: FakeDoor) -> None:
    assert run("eval", "--tasks", "months, gcd/easy") == 0
    asked = door.node.requests[-1]
    assert isinstance(asked, requests.Evaluate) and asked.tasks == ["months", "gcd/easy"]


def test_eval_draws_answers_at_a_temperature(run: Words, door: FakeDoor) -> None:
    assert run("eval", "--samples", "4", "--temperature", "0.5") == 0
    asked = door.node.requests[-1]
    assert isinstance(asked, requests.Evaluate) and (asked.samples, asked.temperature) == (4, 0.5)
    assert run("eval", "--temperature", "0.5") == 2
    assert "Say how many with --samples" in run.stderr
    for text in ("3", "0", "0.0", "2.1", "hot"):
        assert run("eval", "--samples", "4", "--temperature", text) == 2


def test_export_is_to_a_folder_here(
    run: Words, door: FakeDoor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("export", "--format", "gguf", "--to", "out") == 0
    assert door.node.requests[-1] == requests.ExportModel(format="gguf", to=str(tmp_path / "out"), checkpoint="last")


def test_an_evaluation_says_at_once_what_it_does_and_then_how_long(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_module, "ESTIMATE_AFTER", -1.0)
    real = door.node.call

    async def call(request: Request) -> Message:
        if isinstance(request, requests.Evaluate):
            await asyncio.sleep(0)  # who listens begins
            door.node.publish(PhaseChanged(round=0, phase="evaluate"))
            for done in (0, 100, 200, 300):
                door.node.publish(Progressed(round=0, phase="evaluate", done=done, total=1153))
            await asyncio.sleep(0)
        return await real(request)

    monkeypatch.setattr(door.node, "call", call)
    assert run("eval", "--checkpoint", "base") == 0
    first, then = run.stderr.splitlines()
    assert first == "Asking the held-out questions (test) of base. Ctrl-C cancels."
    assert then.startswith("1,153 answers: about ") and len(run.stderr.splitlines()) == 2, "not from the first 100"
