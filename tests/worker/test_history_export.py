"""Exports hold every round once, and nothing of a peer's text that acts on its reader."""

from __future__ import annotations

import csv
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import HistoryError
from sapo_desktop.core.records import Completion, Group, Mark, Question, TaskMark
from sapo_desktop.worker.history import History
from sapo_desktop.worker.history_export import plain_text, safe_cell, write_csv, write_rollouts
from sapo_desktop.worker.messages import Rollout
from tests.records import round_report, run_manifest

HOSTILE = "=HYPERLINK(1)\u202e\x1b[31m\x00 ok\n"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    history = History(tmp_path_factory.mktemp("history") / "history.db")
    run = history.begin_run(run_manifest())
    mark = Mark(solved=False, partial=0.0, reward=0.0, answer=None, verdict="unparsed")
    group = Group(
        question=Question(task="gcd/easy", seed=3, text="gcd?", hash=b"12345678"),
        completions=[Completion(tokens=[1], logprobs=[0.0], text=HOSTILE, finish="stop")],
        marks=[mark],
        origin="peer",
        author="cd" * 32,
    )
    gcd = TaskMark(task="gcd/easy", answers=1, solved=0.5, partial=0.5, reward=0.5)
    for number in range(1, 1002):
        tasks = [gcd] if number > 1 else [gcd, msgspec.structs.replace(gcd, task="-legs", solved=0.125)]
        note = "@SUM(A1)" if number == 2 else ""
        history.record_round(run, round_report(number, tasks=tasks, note=note), [group], [[0.0]])
    return history


def test_every_round_is_a_line(history: History, tmp_path: Path) -> None:
    assert write_csv(history, tmp_path / "rounds.csv") == 1001
    with (tmp_path / "rounds.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [int(line["round"]) for line in lines] == list(range(1, 1002))
    assert (lines[0]["reward"], lines[0]["swarm_reward"], lines[0]["step_loss"]) == ("0.25", "", "")
    assert (lines[0]["solved -legs"], lines[1]["solved -legs"], lines[1]["solved gcd/easy"]) == (
        "0.125",
        "",
        "0.5",
    )
    assert lines[1]["note"] == "'@SUM(A1)"


def test_every_kept_answer_is_a_line(history: History, tmp_path: Path) -> None:
    count = write_rollouts(history, tmp_path / "answers.jsonl")
    lines = (tmp_path / "answers.jsonl").read_bytes().splitlines()
    assert len(lines) == count == 1001
    first = msgspec.json.decode(lines[0], type=Rollout)
    assert (first.round, first.author, first.verdict) == (1, "cd" * 32, "unparsed")
    assert first.completion == "=HYPERLINK(1)[31m ok\n"


def test_a_file_that_cannot_be_written_is_explained(history: History, tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match=r"none.x\.csv could not be written"):
        write_csv(history, tmp_path / "none" / "x.csv")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_text_that_would_be_a_formula_is_quoted(start: str) -> None:
    assert safe_cell(f"{start}1") == f"'{start}1"


def test_a_formula_behind_a_control_character_is_found() -> None:
    assert safe_cell("\x00\u202e=1") == "'=1"


def test_numbers_and_plain_text_stay_as_they_are() -> None:
    assert [safe_cell(cell) for cell in (-0.5, -3, None, "a-b", "")] == [-0.5, -3, None, "a-b", ""]


def test_letters_of_all_scripts_and_line_ends_stay() -> None:
    assert plain_text("äß αβ 中 🙂\n\t\u2067x\u2069\ud800") == "äß αβ 中 🙂\n\tx"
