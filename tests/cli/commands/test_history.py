"""history: tables, files, and where nothing is finished yet."""

import json
from pathlib import Path

import pytest

from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.worker.control.messages import requests
from sapo_desktop.worker.control.messages.replies import Sources
from tests.cli.fake_node import FakeDoor
from tests.cli.words import Words


def test_history_shows_the_newest_rounds_and_writes_all(run: Words, tmp_path: Path) -> None:
    assert run("history") == 0
    assert "  30 " in run.stdout
    assert "   1 " not in run.stdout
    assert run("history", "--csv", str(tmp_path / "h.csv")) == 0
    rows = (tmp_path / "h.csv").read_text().splitlines()
    assert len(rows) == 31
    assert rows[0].startswith("round,reward,solved,partial,swarm_reward")
    assert run("history", "--rollouts", str(tmp_path / "r.jsonl")) == 0
    answers = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [answer["round"] for answer in answers] == list(range(1, 31))


def test_a_file_in_the_home_folder_is_named_by_its_path_and_one_that_cannot_be_written_is_said(
    run: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert run("history", "--csv=~/h.csv", "--json") == 0
    assert run.lines == [{"event": "written", "file": str(tmp_path / "h.csv"), "what": "30 rounds"}]
    assert run("history", "--csv", str(tmp_path / "no" / "h.csv")) == 1 and "could not be written" in run.stderr


def test_history_says_from_whom_was_learned(run: Words) -> None:
    assert run("history", "--sources") == 0
    assert "this node" in run.stdout and "75%" in run.stdout
    assert "abababababababab   peer" in run.stdout
    assert run("history", "--sources", "--json") == 0
    assert [(line["origin"], line["groups"]) for line in run.lines] == [("own", 30), ("peer", 9)]


@pytest.mark.parametrize("option", [(), ("--sources",)])
def test_history_in_the_first_round_says_that_it_runs(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    door.there, door.node.rounds = True, []
    real = door.node.call

    async def call(request: Request) -> Message:
        return Sources(items=[]) if isinstance(request, requests.GetSources) else await real(request)

    monkeypatch.setattr(door.node, "call", call)
    assert run("history", *option) == 0 and "No rounds yet. Start with: sapo-desktop run" in run.stdout
    door.node.state = "working"
    assert run("history", *option) == 0
    assert run.stdout == "No round is finished yet. Training round 13.\n"
