"""A newer version is announced on Home and in Settings; its changes are shown on request."""

import pytest
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import InSilo
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.gui.home.page import HomePage
from sapo_desktop.gui.settings.page import SettingsPage
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.text import Reading
from sapo_desktop.worker.control.messages.facts import GetUpdates, UpdatesAre
from tests.gui import scenes, staged_home, staged_settings
from tests.gui.driving import press, shown, texts
from tests.gui.stage import StageBridge

NEWER = Standing(
    state="newer", text="It is there.", version="9.9.9", changelog="**Faster**\x1b[2J", page="https://release.example"
)


def home(qtbot: QtBot) -> HomePage:
    bridge = StageBridge(scenes.a_view())
    staged_home.stage(bridge)
    bridge.replies[GetUpdates] = UpdatesAre(standing=NEWER)
    return shown(qtbot, HomePage(bridge.view, bridge, Actions(bridge.view, bridge)), 1000, 900)


@pytest.mark.parametrize(
    ("state", "tone"), [("newer", "plain"), ("urgent", "danger"), ("current", ""), ("off", ""), ("refused", "")]
)
def test_only_a_newer_version_is_on_home(qtbot: QtBot, state: str, tone: str) -> None:
    page = home(qtbot)
    assert page._newer.isHidden()
    page.bridge.tell(UpdatesAre(standing=Standing(state=state, text="It is there.\n")))
    assert page._newer.isHidden() == (not tone) and ("It is there." in texts(page)) == bool(tone)
    assert not tone or page._newer.property("tone") == tone


def test_what_is_new_is_shown_with_the_way_to_its_page(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    page = home(qtbot)
    page.bridge.tell(UpdatesAre(standing=NEWER))
    press(page, "What is new")
    (sheet,) = page.findChildren(Sheet)
    (reading,) = sheet.findChildren(Reading)
    assert sheet.windowTitle() == "What is new in 9.9.9" and reading.toPlainText() == "**Faster**"
    press(sheet, "Open its page")
    assert opened == ["https://release.example"]
    press(sheet, "Close")


def test_the_setting_says_how_things_stand(qtbot: QtBot) -> None:
    bridge = StageBridge(scenes.a_view())
    staged_settings.stage(bridge)
    page = shown(qtbot, SettingsPage(bridge.view, bridge, Actions(bridge.view, bridge)), 1000, 900)
    page._choose("network")
    bridge.tell(UpdatesAre(standing=NEWER))
    made = page._cards["network"].rows["look_for_updates"]
    assert "It is there." in texts(made)
    bridge.replies[GetUpdates] = InSilo("In silo nothing looks.")
    press(made, "Check now")
    assert bridge.asked[-1] == GetUpdates(look=True) and "In silo nothing looks." in texts(made)
    bridge.replies[GetUpdates] = UpdatesAre(standing=NEWER)
    press(made, "Check now")
    assert "In silo nothing looks." not in texts(made)
