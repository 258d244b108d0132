"""The file dialogs: where they begin, and what they return, which is nothing on cancel."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.widgets import files
from tests.gui.driving import in_dialog


@pytest.fixture
def parent(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> QWidget:
    monkeypatch.setattr(files, "_last_folder", str(tmp_path))
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_a_path_is_suggested_and_given_back(parent: QWidget, tmp_path: Path) -> None:
    suggested: list[str] = []

    def accept(dialog: QFileDialog) -> None:
        suggested.append(dialog.findChild(QLineEdit).text())
        dialog.accept()

    in_dialog(accept, QFileDialog)
    assert files.ask_save_path(parent, "Save", "facts.txt", "Text (*.txt)") == str(tmp_path / "facts.txt")
    assert suggested == ["facts.txt"]


def test_going_back_gives_nothing(parent: QWidget) -> None:
    for ask in (
        lambda: files.ask_save_path(parent, "Save", "facts.txt"),
        lambda: files.ask_open_path(parent, "Open"),
        lambda: files.ask_folder(parent, "Folder"),
    ):
        in_dialog(QFileDialog.reject, QFileDialog)
        assert ask() == ""


def test_the_next_dialog_begins_where_the_last_one_ended(parent: QWidget, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    in_dialog(QFileDialog.accept, QFileDialog)
    assert files.ask_save_path(parent, "Save", str(tmp_path / "deep" / "a.txt")) == str(tmp_path / "deep" / "a.txt")
    begins: list[str] = []

    def look(dialog: QFileDialog) -> None:
        begins.append(dialog.directory().absolutePath())
        dialog.reject()

    in_dialog(look, QFileDialog)
    files.ask_open_path(parent, "Open")
    assert begins == [str(tmp_path / "deep")]
