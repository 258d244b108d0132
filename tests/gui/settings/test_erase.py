"""Data is deleted after a dialog that names what goes and what stays, and only once node and window are closed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.settings.erase import EraseSheet
from sapo_desktop.gui.settings.page import SettingsPage
from sapo_desktop.gui.shell import app
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.words import language
from sapo_desktop.system import folders
from sapo_desktop.system.erasing import What
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.lock import FolderLock
from tests.gui import staged_settings
from tests.gui.driving import all_texts, press, shown
from tests.gui.scenes import a_view
from tests.gui.stage import StageBridge


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """A node's, and the models of its user."""
    monkeypatch.setattr(folders.platformdirs, "user_data_dir", lambda *name, **more: str(tmp_path / "own"))
    made = DataFolder.open(tmp_path / "node")
    (made.checkpoints / "one").mkdir()
    (made.checkpoints / "one" / "weights").write_bytes(bytes(2_000_000))
    made.history.write_bytes(bytes(500_000))
    made.settings.write_text("")
    return made


@pytest.fixture
def page(qtbot: QtBot, folder: DataFolder) -> Iterator[SettingsPage]:
    bridge = StageBridge(a_view())
    bridge.folder = folder.root
    staged_settings.stage(bridge)
    yield shown(qtbot, SettingsPage(bridge.view, bridge, Actions(bridge.view, bridge)), 1000, 900)
    language.speak("en")


def wanted(page: SettingsPage, *what: What, then: str) -> list[str]:
    """What is deleted where a person chooses these one after the other, and then presses that button."""
    page._choose("storage")
    erased: list[str] = []
    page._erase._erase = erased.append
    press(page._erase.button)
    sheet = next(one for one in page.findChildren(EraseSheet) if one.isVisible())
    for one in what:
        press(sheet.choices[one].radio)
    press(sheet, then)
    return erased


def test_it_is_with_storage_and_found_by_its_words(page: SettingsPage) -> None:
    assert not page._erase.isVisible()
    for query in ("delete", "KEY models"):
        page._search.setText(query)
        assert page._erase.isVisible() and not page._empty.isVisible()
    page._search.setText("nothing like it")
    assert not page._erase.isVisible() and page._empty.isVisible()
    page._choose("storage")
    assert page._erase.isVisible()


def test_what_goes_is_named_before_anything_can_be_deleted(page: SettingsPage, folder: DataFolder) -> None:
    page._choose("storage")
    press(page._erase.button)
    sheet = page.findChild(EraseSheet)
    assert not sheet.delete.isEnabled(), "nothing is chosen"
    press(sheet.choices["models"].radio)
    assert not sheet.delete.isEnabled() and "Nothing of that is there." in all_texts(sheet)
    press(sheet.choices["learned"].radio)
    said = all_texts(sheet)
    assert sheet.delete.isEnabled() and "To be deleted: 2.5 MB" in said and f"{folder.history}  (500 KB)" in said
    assert str(folder.settings) not in said and "Keeps models, settings and your key" in said
    press(sheet.choices["everything"].radio)
    assert str(folder.settings) in all_texts(sheet)


def test_only_the_button_deletes_and_only_what_was_chosen_last(page: SettingsPage) -> None:
    assert wanted(page, "everything", then="Cancel") == []
    assert wanted(page, "everything", "learned", then="Delete and close") == ["learned"]


@pytest.mark.parametrize("spoken", ["en", "de"])
def test_what_was_deleted_and_what_could_not_be_is_said(
    page: SettingsPage, folder: DataFolder, monkeypatch: pytest.MonkeyPatch, spoken: str
) -> None:
    language.speak(spoken)
    said: list[tuple[str, str]] = []
    monkeypatch.setattr(QMessageBox, "exec", lambda box: said.append((box.windowTitle(), box.text())))
    with FolderLock(folder):
        app._erase(folder, "learned")
    assert folder.history.exists(), "a node runs"
    app._erase(folder, "learned")
    assert not folder.history.exists() and folder.settings.exists()
    app._erase(folder, "everything")
    assert not folder.root.exists()
    assert [title for title, _ in said][:2] == {
        "en": ["Not everything was deleted", "Deleted"],
        "de": ["Nicht alles wurde gelöscht", "Gelöscht"],
    }[spoken]
    assert str(folder.root) in said[0][1]
