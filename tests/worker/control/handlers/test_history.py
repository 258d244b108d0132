"""Kept answers in a file: complete or not at all, and never over an existing file unasked."""

import json
from pathlib import Path

import pytest

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.learning.counters import Counters
from sapo_desktop.worker.control.handlers import history as history_requests
from sapo_desktop.worker.control.handlers.history import HistoryRequests
from sapo_desktop.worker.control.messages.base import Exported
from sapo_desktop.worker.control.messages.rollouts import ExportRollouts, GetRollouts
from tests.builders import run_manifest
from tests.worker.store.test_history import record
from tests.worker.test_node import SETTINGS, Scene

HOSTILE = "3\n\u202e\x1b]0;owned\x07"


@pytest.fixture
def requests(tmp_path: Path) -> HistoryRequests:
    """Over five rounds of four answers each."""
    keeper = Scene(tmp_path / "node", SETTINGS, 1e9).keeper
    run = keeper.history.begin_run(run_manifest())
    for number in range(1, 6):
        record(keeper.history, run, number, text=HOSTILE)
    return HistoryRequests(keeper, Counters)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    (tmp_path / "node").mkdir()


async def test_matches_are_written(requests: HistoryRequests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_requests, "_PAGE", 3)
    path = tmp_path / "out.jsonl"
    reply = await requests.export(ExportRollouts(to=str(path), origin="peer", after=1))
    assert reply == Exported(folder=str(tmp_path), files=["out.jsonl"])
    text = path.read_bytes().decode("ascii")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["round"] for line in lines] == [2, 2, 3, 3, 4, 4, 5, 5]
    assert lines[0]["completion"] == HOSTILE and "\x1b" not in text


async def test_a_file_that_is_there_is_not_written_over_unasked(requests: HistoryRequests, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        await requests.export(ExportRollouts(to=str(path)))
    assert path.read_text() == "mine"
    await requests.export(ExportRollouts(to=str(path), replace=True))
    assert len(path.read_text().splitlines()) == 20


@pytest.mark.parametrize("replace", [True, False])
async def test_what_fails_in_the_middle_leaves_what_was_there(
    requests: HistoryRequests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replace: bool
) -> None:
    path = tmp_path / "out.jsonl"
    if replace:
        path.write_text("mine")
    monkeypatch.setattr(history_requests, "json_line", lambda item: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await requests.export(ExportRollouts(to=str(path), replace=replace))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["node"] + ["out.jsonl"] * replace
    assert not replace or path.read_text() == "mine"


async def test_where_it_goes_must_be_named_in_full_and_be_there(requests: HistoryRequests, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="full path"):
        await requests.export(ExportRollouts(to="out.jsonl"))
    with pytest.raises(SapoError, match="could not be written"):
        await requests.export(ExportRollouts(to=str(tmp_path / "nowhere" / "out.jsonl")))


async def test_a_page_has_at_least_one_answer_and_no_more_than_a_message_holds(requests: HistoryRequests) -> None:
    assert len((await requests.page(GetRollouts(limit=0, newest_first=True))).items) == 1
    assert len((await requests.page(GetRollouts(limit=10**9))).items) == 20
