"""The tray: its icon, its menu, and notifications."""

import sys
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSystemTrayIcon
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.why import Paused
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.tray import Tray
from sapo_desktop.system.desktop import notification
from sapo_desktop.view.link import Lost
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import (
    StateChanged,
)
from sapo_desktop.worker.control.messages.requests import (
    Finish,
    Pause,
    Quit,
    Resume,
    SetSilo,
)
from tests.gui.scenes import NOW, SILO_ROUNDS, a_view, silo_curve
from tests.gui.stage import StageBridge


@pytest.fixture
def a_tray(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the desktop has a tray; a test changes it."""
    there = [True]
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: there[0]))
    return there


TrayOf = Callable[[View], tuple[Tray, StageBridge]]


@pytest.fixture
def tray_of(qtbot: QtBot, a_tray: list[bool]) -> Iterator[TrayOf]:
    """Makes trays, and takes them away at the end."""
    made: list[Tray] = []

    def make(view: View) -> tuple[Tray, StageBridge]:
        bridge = StageBridge(view)
        made.append(Tray(view, bridge, Actions(view, bridge)))
        return made[-1], bridge

    yield make
    for tray in made:
        tray.close()


def entry(tray: Tray, text: str) -> QAction:
    menus = [tray._menu, tray._pauses]
    return next(action for menu in menus for action in menu.actions() if action.text() == text)


def test_the_tray_pauses_finishes_and_goes_silo(qtbot: QtBot, tray_of: TrayOf) -> None:
    tray, bridge = tray_of(a_view(silo_curve()))
    texts = ("15 minutes", "1 hour", "3 hours", "Until tomorrow", "Finish this round, then pause")
    for text in (*texts, "Finish this round, then quit"):
        entry(tray, text).trigger()
    entry(tray, "Silo: no network at all").trigger()
    paused = [request.seconds for request in bridge.asked_for(Pause)]
    assert paused[:3] == [900, 3600, 10800] and 0 < paused[3] <= 86400
    assert bridge.asked_for(Finish) and bridge.asked_for(SetSilo) == [SetSilo(on=False)]
    assert bridge.asked_for(Quit) == [Quit(finish_round=True)]


def test_the_tray_shows_each_state_and_its_reason(qtbot: QtBot, tray_of: TrayOf) -> None:
    tray, bridge = tray_of(a_view(silo_curve()))
    assert tray._face == "silo" and tray._icon is not None
    assert tray._icon.toolTip() == f"SAPO Desktop, in silo\nTraining round {SILO_ROUNDS + 1}, alone"
    bridge.tell(StateChanged(state="paused", reason="", why=Paused(until=NOW + 60), resume_at=NOW + 60))
    assert tray._face == "paused" and tray._icon.toolTip().endswith(", 1 min left")
    assert tray._clock.isActive(), "a countdown runs"
    bridge.tell(Lost(reason="Gone"))
    assert tray._face == "attention"


def test_a_tray_that_comes_late_or_again_gets_its_icon(qtbot: QtBot, tray_of: TrayOf, a_tray: list[bool]) -> None:
    a_tray[0] = False
    tray, _ = tray_of(a_view())
    assert not tray.there
    a_tray[0] = True
    tray.look()
    assert tray.there
    a_tray[0] = False
    with qtbot.waitSignal(tray.went):
        tray.look()
    assert not tray.there
    a_tray[0] = True
    tray.look()
    assert tray.there


@pytest.mark.parametrize(("platform", "opens"), [("linux", True), ("win32", True), ("darwin", False)])
def test_a_click_on_its_icon_opens_the_window_where_it_opens_no_menu(
    tray_of: TrayOf, monkeypatch: pytest.MonkeyPatch, platform: str, opens: bool
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    tray, _ = tray_of(a_view())
    wanted: list[bool] = []
    tray.open_wanted.connect(lambda: wanted.append(True))
    assert tray._icon is not None
    tray._icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert bool(wanted) is opens


def test_a_refused_switch_shows_what_holds(qtbot: QtBot, tray_of: TrayOf) -> None:
    tray, bridge = tray_of(a_view(silo=False))
    bridge.replies[SetSilo] = UsageError("A remote server answers: that is no silo.")
    silo = entry(tray, "Silo: no network at all")
    with qtbot.waitSignal(bridge.trouble):
        silo.trigger()
    assert not silo.isChecked()


def test_what_a_notification_offered_is_done_only_while_it_still_means_that(qtbot: QtBot, tray_of: TrayOf) -> None:
    tray, bridge = tray_of(a_view(silo_curve()))
    tray._act("pause")
    assert bridge.asked_for(Pause)
    bridge.tell(StateChanged(state="paused", reason="", why=Paused(until=None)))
    with qtbot.waitSignal(tray.open_wanted):
        tray._act("pause")
    assert not bridge.asked_for(Resume)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere notifications come from the icon")
@pytest.mark.allowed_skip("elsewhere notifications come from the icon")
def test_where_there_is_no_tray_notifications_offer_what_its_menu_would(
    qtbot: QtBot, tray_of: TrayOf, a_tray: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[dict[str, str]] = []
    monkeypatch.setattr(notification, "show", lambda title, text, actions: offered.append(actions) or "quit")
    tray, _ = tray_of(a_view(silo_curve()))
    tray.tell("With a tray", "")
    qtbot.waitUntil(lambda: len(offered) == 1)
    assert offered.pop() == {"default": "Open SAPO Desktop", "pause": "Pause"}
    a_tray[0] = False
    tray.look()
    with qtbot.waitSignal(tray.quit_wanted):
        tray.tell("Without one", "")
    assert offered == [{"default": "Open SAPO Desktop", "pause": "Pause", "quit": "Quit"}]
