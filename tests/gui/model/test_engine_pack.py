"""The card that fetches what learns, with a process that prints what the real one does."""

import sys
import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.model import engine_pack
from sapo_desktop.gui.model.engine_pack import EnginePackCard
from sapo_desktop.system import installation, processes
from tests.gui.driving import all_texts, press

MARK = installation.Payload(python="p", launcher="l", engines={}, least_driver=580, least_capability=7.5)


def card(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str = "", *, can_learn: bool = False
) -> EnginePackCard:
    """In an installed application, as a rule without its pack; `code` plays the process."""
    monkeypatch.setattr(installation, "payload", lambda *root: MARK)
    monkeypatch.setattr(installation, "can_learn", lambda: can_learn)
    monkeypatch.setattr(processes, "python_command", lambda module: [sys.executable, "-c", code])
    made = EnginePackCard(tmp_path / "engine.log")
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_clone_has_no_such_card(qtbot: QtBot, tmp_path: Path) -> None:
    made = EnginePackCard(tmp_path / "engine.log")
    qtbot.addWidget(made)
    assert made.isHidden()


@pytest.mark.parametrize(
    ("code", "said", "again"),
    [
        ("print('[1/5] torch ...')", "Quit and start the app again", False),
        ("import sys; sys.exit('The disk is full.')", "The disk is full.", True),
    ],
)
def test_how_it_ended_is_said(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str, again: bool
) -> None:
    made = card(qtbot, tmp_path, monkeypatch, code)
    assert not made.stop.isVisible()
    press(made.get)
    qtbot.waitUntil(lambda: said in all_texts(made), timeout=30_000)
    assert made.get.isVisible() == again and not made.stop.isVisible()


def test_it_moves_and_can_be_stopped(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "print('[1/5] torch: 12 of 192 MB', flush=True); __import__('threading').Event().wait()"
    made = card(qtbot, tmp_path, monkeypatch, code)
    press(made.get)
    qtbot.waitUntil(lambda: "12 of 192 MB" in all_texts(made), timeout=30_000)
    assert made.stop.isVisible() and not made.get.isVisible()
    press(made.stop)
    qtbot.waitUntil(lambda: "The downloaded part is kept" in all_texts(made), timeout=30_000)
    assert made.get.isVisible()


def test_it_does_not_outlive_the_window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; print('waits', sys.argv[-1], flush=True); sys.stdin.read()"
    made = card(qtbot, tmp_path, monkeypatch, code)
    press(made.get)
    qtbot.waitUntil(lambda: "waits --started" in all_texts(made), timeout=30_000)
    assert made._process is not None and made._process.stdin is not None
    made._process.stdin.close()  # as the system does once the window has ended
    qtbot.waitUntil(lambda: "The engine pack is installed" in all_texts(made), timeout=30_000)


def test_another_pack_is_offered_once_the_card_changed(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_in: list[threading.Thread] = []

    def other() -> str:
        asked_in.append(threading.current_thread())
        return "linux-cuda"

    monkeypatch.setattr(engine_pack, "other_engine", other)
    made = card(qtbot, tmp_path, monkeypatch, "print('[1/5] torch ...')", can_learn=True)
    qtbot.waitUntil(lambda: not made._asking.isActive(), timeout=30_000)
    assert threading.main_thread() not in asked_in, "the driver may take a second, and the window must not"
    assert made.isVisible() and "another PyTorch fits now (linux-cuda)" in all_texts(made)
    press(made.get)
    qtbot.waitUntil(lambda: "The engine pack is installed. Quit and start" in all_texts(made), timeout=30_000)


def test_a_pack_that_fits_is_not_talked_about(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pack, "other_engine", lambda: None)
    made = card(qtbot, tmp_path, monkeypatch, can_learn=True)
    made.hide()
    qtbot.waitUntil(lambda: not made._asking.isActive(), timeout=30_000)
    assert made.isHidden()
