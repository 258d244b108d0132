"""The worker's side of the examiner: time-outs, and the cost of a hanging answer.

Task ids that cannot be kept are made again; that never ends the worker.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import HostTimeout
from sapo_desktop.core.records import Mark, Question
from sapo_desktop.tasks.service import MarkAnswers, Marked, SetQuestions
from sapo_desktop.worker.hosts.examiner import CALL_SECONDS, EXTERNAL_SECONDS, MARK_SECONDS, Examiner, KeptIds

QUESTION = Question(task="gcd/easy", seed=1, text="gcd of 6 and 9?", hash=b"12345678")


class HangingHost:
    """Hangs where an answer says so; keeps how long it was waited for."""

    pid = 1

    def __init__(self) -> None:
        self.waited: list[tuple[str, float]] = []

    async def call(self, request: Any, timeout: float) -> Any:
        self.waited.append((type(request).__name__, timeout))
        if isinstance(request, SetQuestions) or any("hang" in text for item in request.items for text in item.texts):
            raise HostTimeout("It did not answer.")
        assert isinstance(request, MarkAnswers)
        mark = Mark(solved=True, partial=1.0, reward=1.0, answer="3", verdict="solved")
        return Marked(marks=[[mark] * len(item.texts) for item in request.items])


def examiner(tmp_path: Path, *patience: float) -> tuple[Examiner, HangingHost]:
    host = HangingHost()
    return Examiner(host, KeptIds(tmp_path / "ids.json", "key"), *patience), host  # type: ignore[arg-type]


async def test_an_answer_that_hangs_costs_its_own_mark_only(tmp_path: Path) -> None:
    asked, _ = examiner(tmp_path)
    ((first, second, third),) = await asked.mark([QUESTION], [["3", "hang", "3"]], strict=True)
    assert (first.solved, second.verdict, third.solved) == (True, "timeout", True)


async def test_what_strangers_make_hang_is_waited_for_seconds_not_minutes(tmp_path: Path) -> None:
    own, waited = examiner(tmp_path)
    await own.mark([QUESTION], [["3"]], strict=True)
    assert waited.waited == [("MarkAnswers", CALL_SECONDS + MARK_SECONDS)]
    external, waited = examiner(tmp_path, EXTERNAL_SECONDS)
    await external.mark([QUESTION], [["3"]], strict=True)
    with pytest.raises(HostTimeout):
        await external.set_questions([])
    assert waited.waited == [
        ("MarkAnswers", EXTERNAL_SECONDS + MARK_SECONDS),
        *[("SetQuestions", EXTERNAL_SECONDS)] * 2,
    ]


IDS = {"gcd/easy": bytes(32)}


def test_ids_that_cannot_be_written_are_only_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = KeptIds(tmp_path / "missing" / "task-ids.json", "key")
    with caplog.at_level(logging.WARNING):
        kept.write(IDS)
    assert "They are computed again at every start." in caplog.text
    assert kept.read() == {}


def test_ids_that_cannot_be_read_are_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "task-ids.json"
    folder.mkdir()  # for any user, a folder cannot be read as a file
    assert KeptIds(folder, "key").read() == {}
    assert "They are computed again." in caplog.text


def test_kept_ids_come_back_but_for_those_of_own_tasks(tmp_path: Path) -> None:
    kept = KeptIds(tmp_path / "ids.json", "key", {"sums"})
    kept.write({"gcd/easy": b"g" * 32, "sums/easy": b"s" * 32})
    assert kept.read() == {"gcd/easy": b"g" * 32}
