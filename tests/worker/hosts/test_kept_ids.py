"""Task ids that cannot be kept are made anew; that never ends the worker."""

import logging
from pathlib import Path

import pytest

from sapo_desktop.worker.hosts.examiner import KeptIds

IDS = {"gcd/easy": bytes(32)}


def test_ids_that_cannot_be_written_are_only_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = KeptIds(tmp_path / "missing" / "task-ids.json", "key")
    with caplog.at_level(logging.WARNING):
        kept.write(IDS)
    assert "They are made anew at every start." in caplog.text
    assert kept.read() == {}


def test_ids_that_cannot_be_read_are_made_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "task-ids.json"
    folder.mkdir()  # whoever runs the tests, a folder cannot be read as a file
    assert KeptIds(folder, "key").read() == {}
    assert "They are made anew." in caplog.text


def test_kept_ids_come_back(tmp_path: Path) -> None:
    kept = KeptIds(tmp_path / "task-ids.json", "key")
    kept.write(IDS)
    assert kept.read() == IDS
