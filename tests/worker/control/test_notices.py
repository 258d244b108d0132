"""Notices are there after the next start."""

from pathlib import Path

import pytest

from sapo_desktop.core.sentences import sentence
from sapo_desktop.worker.control import notices
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.notices import KeptNotices


def said(number: int) -> Notice:
    return Notice(level="error", text=sentence("It broke {count} times.", count=number), time=float(number))


def test_they_outlast_a_start_and_the_newest_stay(tmp_path: Path) -> None:
    kept = KeptNotices(tmp_path / "notices.jsonl")
    for number in range(notices.MOST + 5):
        kept.add(said(number))
    again = KeptNotices(tmp_path / "notices.jsonl").newest()
    assert again == [said(number) for number in range(5, notices.MOST + 5)]


def test_their_file_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "LONGEST_NOTICES", 1000)
    kept = KeptNotices(tmp_path / "notices.jsonl")
    for number in range(100):
        kept.add(said(number))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3000
    assert kept.newest()[-1] == said(99)


def test_half_a_line_and_a_disk_that_takes_none_cost_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "notices.jsonl"
    kept = KeptNotices(path)
    kept.add(said(1))
    with path.open("ab") as file:
        file.write(b'{"level": "err\n')
    kept.add(said(2))
    assert kept.newest() == [said(1), said(2)]
    (tmp_path / "taken").write_bytes(b"")
    lost = KeptNotices(tmp_path / "taken" / "notices.jsonl")
    lost.add(said(3))
    assert lost.newest() == [said(3)]
