"""Window, small window and tray together, without a worker: which one is visible, and its requests."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QSystemTrayIcon
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge, Call
from sapo_desktop.gui.shell import app
from sapo_desktop.gui.shell.app import App, Desktop
from sapo_desktop.gui.shell.remembered import WELCOME, Remembered, remember
from sapo_desktop.gui.try_it.page import TryPage
from sapo_desktop.gui.try_it.trying import Draft
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.messages.requests import Quit, SetSilo


@pytest.fixture(params=[True, False], ids=["tray", "no tray"])
def tray(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    there: bool = request.param
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: there))
    return there


@pytest.fixture
def desktop(qapp: App, tmp_path: Path, tray: bool, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    """The whole window of a node in silo, in sight."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(Bridge, "ask", lambda bridge, request, *then, of: None)
    folder = DataFolder.open(tmp_path)
    remember(folder, Remembered(welcomed=WELCOME, told_of_tray=True, told_of_minimised=True))
    made = Desktop(qapp, folder)
    made.window.show()
    yield made
    made.tray.close()
    made.window.deleteLater()


@pytest.mark.parametrize("tray", [True], indirect=True)
def test_an_answer_under_way_ends_where_the_language_changes(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call()
    desktop.window.go("try")
    page = desktop.window.page
    assert isinstance(page, TryPage)
    with monkeypatch.context() as patch:
        patch.setattr(Bridge, "ask", lambda bridge, request, *then, of: call)
        page._begin(Draft("Why?"))
    desktop._speak()
    now = desktop.window.page
    assert call.cancelled() and now is not page and isinstance(now, TryPage)
    assert [one.draft.question for one in now._tries] == ["Why?"], "what was tried is still there"


@pytest.mark.parametrize("tray", [True], indirect=True)
def test_the_chosen_tab_stays_where_the_language_changes(desktop: Desktop) -> None:
    desktop.window.go("log")
    desktop.window.page._tabs.buttons["file"].click()  # type: ignore[attr-defined]
    desktop._speak()
    assert desktop.window.page._tabs.current == "file"  # type: ignore[attr-defined]


@pytest.mark.parametrize("tray", [True], indirect=True)
def test_the_window_stays_where_to_quit_after_the_round_was_taken_back(desktop: Desktop) -> None:
    actions, no = desktop.actions, SapoError("Not now.")
    for taken_back in (actions.finish, lambda: actions._refused(Quit(finish_round=True), no)):
        actions.finish_and_quit()
        actions.silo(True)
        actions._refused(SetSilo(on=True), no)
        assert actions.quits_after_round
        taken_back()
        assert not actions.quits_after_round


@pytest.mark.parametrize(("platform", "opens"), [("darwin", True), ("linux", False)])
def test_on_a_mac_the_dock_brings_a_closed_window_back(
    qtbot: QtBot, qapp: App, desktop: Desktop, monkeypatch: pytest.MonkeyPatch, platform: str, opens: bool
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(app, "STARTED_MS", 0)
    monkeypatch.setattr(desktop.bridge, "start", lambda: None)
    desktop.window.hide()
    desktop.begin(hidden=True)
    desktop.window.hide()
    qtbot.wait(20)
    QCoreApplication.sendEvent(qapp, QEvent(QEvent.Type.ApplicationActivate))
    assert desktop.window.isVisible() is opens


@pytest.mark.parametrize("tray", [True], indirect=True)
@pytest.mark.parametrize("when_closed", ["quit", "continue"])
def test_the_node_ends_before_data_is_deleted(
    qtbot: QtBot, qapp: App, desktop: Desktop, monkeypatch: pytest.MonkeyPatch, when_closed: str
) -> None:
    ended: list[str] = []
    link = SimpleNamespace(quit_worker=lambda: ended.append("worker") or Done(), stop=lambda: ended.append("link"))
    monkeypatch.setattr(Bridge, "link", link)
    monkeypatch.setattr(qapp, "exit", lambda code: ended.append("window"))
    desktop.view.settings = msgspec.structs.replace(desktop.view.settings, when_window_closes=when_closed)
    desktop.actions.erase.emit("learned")
    qtbot.waitUntil(lambda: "window" in ended)
    assert ended == ["worker", "link", "window"] and desktop.erases == "learned"


class Done:
    def done(self) -> bool:
        return True
