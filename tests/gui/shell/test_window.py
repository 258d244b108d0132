"""The window around the pages, driven without a worker."""

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop import __version__
from sapo_desktop.gui.peers.join import JoinSheet
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.app import Desktop
from sapo_desktop.gui.shell.help import HelpSheet, what_it_is
from sapo_desktop.gui.shell.window import AwaySheet, MainWindow
from sapo_desktop.gui.try_it.page import TryPage
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.worker.control.messages.events import SwarmChanged
from sapo_desktop.worker.control.messages.requests import (
    JoinSwarm,
    ListTasks,
    SetSilo,
)
from tests.gui import staged_try
from tests.gui.driving import a_window, all_texts, press
from tests.gui.scenes import a_view, silo_curve, swarm_curve
from tests.gui.stage import StageBridge


def test_silo_is_shown_so_that_nobody_can_miss_it(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(peers="wss://relay.example:8765"))
    chip = window._side.silo
    assert chip.isChecked() and chip.text() == "Silo: offline"
    window._side.silo.click()
    assert bridge.asked_for(SetSilo) == [SetSilo(on=False)]


INVITES = tuple(f"sapo://join?swarm={key * 32}&peer=wss://relay.example:8765" for key in ("ab", "cd"))


def open_ones(window: MainWindow) -> list[JoinSheet]:
    return [sheet for sheet in window.findChildren(JoinSheet) if sheet.isVisible()]


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_invite_is_asked_about_and_not_followed_and_another_in_the_dialog_that_is_open(
    qtbot: QtBot, by_hand: bool
) -> None:
    window, bridge = a_window(qtbot, a_view())
    window.join_others("" if by_hand else INVITES[0])
    (sheet,) = open_ones(window)
    assert window.page.name == "peers" and sheet.link == ("" if by_hand else INVITES[0])
    assert sheet.ok.text() == "Join" and not bridge.asked_for(JoinSwarm)
    if by_hand:
        sheet._way.buttons["lan"].click()
    window.join_others(INVITES[1])
    assert open_ones(window) == [sheet]
    assert sheet.link == INVITES[1] and sheet._way.current == "address" and "cdcdcdcd" in all_texts(sheet)


def test_an_invite_that_comes_while_another_is_followed_waits_for_its_end(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view())
    first, second = INVITES
    window.join_others(first)
    (sheet,) = open_ones(window)
    sheet.ok.click()
    window.join_others(second)
    assert open_ones(window) == [sheet] and sheet.link == first
    sheet.cancel.click()
    (after,) = open_ones(window)
    assert after is not sheet and after.link == second
    assert [one.link for one in bridge.asked_for(JoinSwarm)] == [first]


def test_closing_asks_a_user_with_a_tray(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view())
    with qtbot.waitSignal(window.closing):
        window.close()
    assert window.isVisible()


def test_a_page_learns_what_to_show_of_it(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(), {ListTasks: staged_try.tasks()})
    window.go("try/gcd")
    page = window.page
    assert isinstance(page, TryPage) and page._question._task._family.current == "gcd"


def test_the_focus_follows_to_another_page(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(silo_curve()))
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window._side._buttons["home"].setFocus()
    window.go("log")
    assert window._side._buttons["log"].hasFocus()
    window.page.setFocus()
    window.go("home")
    assert not window._side._buttons["home"].hasFocus(), "what somebody types elsewhere stays where it is"


def test_a_window_that_was_put_away_is_seen_by_nobody_until_it_is_back(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view())
    assert window.seen
    window.put_away()
    window.setWindowState(Qt.WindowState.WindowNoState)  # on Wayland nothing reports a minimised window
    assert not window.seen
    window.present()
    assert window.seen


def test_where_it_goes_is_said_with_the_way_to_quit(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view())
    sheet = AwaySheet(window)
    sheet.open()
    assert "no tray" in all_texts(sheet) and "Ctrl+Q quits" in all_texts(sheet)
    with qtbot.waitSignal(sheet.quit_wanted):
        sheet.quit_button.click()
    assert not sheet.isVisible()


def test_ctrl_q_quits(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view())
    with qtbot.waitActive(window):
        window.activateWindow()
    with qtbot.waitSignal(window.quitting):
        qtbot.keyClick(window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)


def test_what_takes_long_to_change_shows_a_wait_cursor_first(qtbot: QtBot) -> None:
    seen: list[bool] = []
    Desktop._soon(QObject(QApplication.instance()), lambda: seen.append(QApplication.overrideCursor() is not None))  # type: ignore[arg-type]
    assert not seen and QApplication.overrideCursor() is not None
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [True] and QApplication.overrideCursor() is None


@pytest.mark.parametrize(
    ("page", "made"), [("log", ["log"]), ("", ["home"]), ("The worker is from another release", ["home"])]
)
def test_a_window_makes_the_page_that_it_begins_with_and_no_other(qtbot: QtBot, page: str, made: list[str]) -> None:
    view = a_view(silo=True)
    bridge = StageBridge(view)
    window = MainWindow(view, bridge, Actions(view, bridge), page)
    qtbot.addWidget(window)
    assert window.focusWidget() is window._side._buttons[made[0]]
    window.look_as({"page": page})
    assert list(window._pages) == made


def test_a_screen_reader_gets_no_markup_and_pages_are_no_check_boxes(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(silo_curve()))
    for widget in window.findChildren(QWidget):
        interface = QAccessible.queryAccessibleInterface(widget)
        for kind in (QAccessible.Text.Name, QAccessible.Text.Description):
            assert interface is None or "<span" not in interface.text(kind), widget
    roles = {QAccessible.queryAccessibleInterface(button).role() for button in window._side._buttons.values()}
    assert roles == {QAccessible.Role.RadioButton}


@pytest.mark.parametrize("peers", ["", "wss://relay.example:8765"])
def test_leaving_silo_asks_whom_to_join_where_there_is_nobody(qtbot: QtBot, peers: str) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve(), peers=peers))
    window._side.silo.click()
    asks = [sheet for sheet in window.findChildren(Sheet) if sheet.isVisible()]
    assert bool(asks) == (not peers) and bridge.asked_for(SetSilo) == [SetSilo(on=False)] * bool(peers)
    assert window._side.silo.isChecked() or peers, "the switch shows what holds"
    for sheet in asks:
        sheet.reject()


def test_help_lists_the_licences_of_the_libraries(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(silo_curve()))
    window.help()
    press(window.findChild(HelpSheet), "Licences")
    said = all_texts(window.findChild(HelpSheet))
    assert "msgspec" in said and "BSD-3-Clause" in said
    assert "Font: Inter, under the Open Font License" in said


def test_help_says_what_each_page_is_and_leads_to_the_log(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(silo_curve()))
    said = set()
    for name in window._entries:
        window.go(name)
        window.help()
        sheet = window.findChildren(HelpSheet)[-1]
        words = what_it_is(name)
        assert words in all_texts(sheet) and __version__ in all_texts(sheet) and words.count(".") == 2
        said.add(words)
        sheet._go()
        assert window.page.name == "log"
    assert len(said) == len(window._entries)


def test_who_asks_to_join_is_counted_at_the_page_peers(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(swarm_curve(), silo=False))
    for asking, title in ((2, "Peers (2)"), (0, "Peers")):
        bridge.tell(SwarmChanged(state="alone", reason="", peers=0, asking=asking))
        assert window._side._buttons["peers"].text() == title
