"""The small window, driven without a worker."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from pytestqt.qtbot import QtBot

from sapo_desktop.core.why import Paused
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.mini import MiniWindow
from sapo_desktop.gui.shell.window import SMALL_KEYS
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import language
from sapo_desktop.worker.control.messages.events import Progressed, StateChanged
from sapo_desktop.worker.control.messages.requests import Pause, Resume
from tests.gui.driving import all_texts
from tests.gui.scenes import SILO_ROUNDS, a_view, silo_curve
from tests.gui.stage import StageBridge


@pytest.fixture
def bridge() -> StageBridge:
    return StageBridge(a_view(silo_curve(), silo=True))


@pytest.fixture
def mini(qtbot: QtBot, bridge: StageBridge) -> MiniWindow:
    mini = MiniWindow(bridge.view, bridge, Actions(bridge.view, bridge))
    qtbot.addWidget(mini)
    mini.show()
    return mini


def test_it_says_what_the_node_does_and_can_do(mini: MiniWindow, bridge: StageBridge) -> None:
    said = all_texts(mini)
    assert "Training round" in said and "since the start" in said and mini._button.text() == "Pause"
    assert mini.windowFlags() & Qt.WindowType.WindowStaysOnTopHint
    bridge.tell(Progressed(round=SILO_ROUNDS + 1, phase="generate", done=5, total=32))
    assert (mini._bar.value(), mini._bar.maximum()) == (5, 32)


def test_its_button_is_the_large_one(qtbot: QtBot, mini: MiniWindow, bridge: StageBridge) -> None:
    qtbot.mouseClick(mini._button, Qt.MouseButton.LeftButton)
    assert bridge.asked_for(Pause)
    bridge.tell(StateChanged(state="paused", reason="", why=Paused()))
    assert (mini._bar.value(), mini._bar.maximum()) == (0, 1), "nothing moves while nothing happens"
    qtbot.mouseClick(mini._button, Qt.MouseButton.LeftButton)
    assert bridge.asked_for(Resume)


@pytest.mark.parametrize("spoken", ["en", "de"])
def test_it_is_as_high_as_what_it_says(qtbot: QtBot, spoken: str) -> None:
    language.speak(spoken)
    bridge = StageBridge(a_view(silo_curve(), silo=True))
    mini = MiniWindow(bridge.view, bridge, Actions(bridge.view, bridge))
    qtbot.addWidget(mini)
    mini.show()
    for label in mini.findChildren(Label):
        qtbot.waitUntil(lambda label=label: label.height() >= label.heightForWidth(label.width()))


def test_the_whole_window_comes_back_by_a_key_and_closing_is_told(qtbot: QtBot, mini: MiniWindow) -> None:
    keys = {shortcut.key(): shortcut for shortcut in mini.findChildren(QShortcut)}
    with qtbot.waitSignal(mini.full_wanted):
        keys[QKeySequence(SMALL_KEYS)].activated.emit()
    with qtbot.waitSignal(mini.closing):
        mini.close()
    assert not mini._clock.isActive()
