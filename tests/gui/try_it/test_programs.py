"""The switch for other programs, and the address and key for them."""

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.gui.try_it.page import ProgramsCard
from sapo_desktop.view.link import Lost
from sapo_desktop.worker.control.messages.events import SettingsChanged
from sapo_desktop.worker.control.messages.replies import SettingsAre
from sapo_desktop.worker.control.messages.requests import SetSettings
from sapo_desktop.worker.control.messages.serving import GetServer, NewServerKey, ServerIs
from tests.gui import scenes
from tests.gui.driving import button, press, texts
from tests.gui.stage import StageBridge

URL = "http://127.0.0.1:8766/v1"


@pytest.fixture
def bridge(qapp: object) -> StageBridge:
    bridge = StageBridge(scenes.a_view())
    bridge.replies |= {
        GetServer: ServerIs(url=URL, key="sk-sapo-1", kept=True),
        NewServerKey: ServerIs(url=URL, key="sk-sapo-2", kept=True),
    }
    return bridge


@pytest.fixture
def card(qtbot: QtBot, bridge: StageBridge) -> ProgramsCard:
    qtbot.addWidget(card := ProgramsCard(bridge.view, bridge))
    bridge.changed.connect(lambda _: card.refresh())
    card.resize(800, 400)
    card.show()
    card.refresh()
    return card


def offers(card: ProgramsCard, name: str) -> bool:
    """Whether that can be pressed now."""
    buttons = card.findChildren(QAbstractButton)
    return any(name in (one.text(), one.accessibleName()) and one.isVisible() for one in buttons)


def serve(bridge: StageBridge, on: bool) -> None:
    settings = Settings(serve=on)
    bridge.tell(SettingsChanged(now=SettingsAre(settings=settings, changed=[], overridden=[])))


def test_it_is_off_and_asks_nothing_until_somebody_switches_it_on(card: ProgramsCard, bridge: StageBridge) -> None:
    assert not card.switch.isChecked() and bridge.asked == [] and not offers(card, "Copy the address")
    press(card.switch)
    assert bridge.asked == [SetSettings(values={"serve": "on"})]
    serve(bridge, True)
    assert card.switch.isChecked()
    press(button(card, "Copy the address"))
    assert QGuiApplication.clipboard().text() == URL
    serve(bridge, False)
    assert not card.switch.isChecked() and not offers(card, "Copy the address")


def test_the_key_is_copied_and_never_shown(card: ProgramsCard, bridge: StageBridge) -> None:
    serve(bridge, True)
    press(button(card, "Copy the key"))
    assert QGuiApplication.clipboard().text() == "sk-sapo-1" and not any("sk-sapo" in text for text in texts(card))
    bridge.replies[GetServer] = bridge.replies[NewServerKey]
    press(button(card, "Draw another key"))
    press(button(card, "Copy the key"))
    assert QGuiApplication.clipboard().text() == "sk-sapo-2"
    assert len(bridge.asked_for(NewServerKey)) == 1


def test_what_goes_wrong_is_said_where_it_was_wanted(card: ProgramsCard, bridge: StageBridge) -> None:
    bridge.replies[SetSettings] = UsageError("It cannot be saved.")
    press(card.switch)
    assert not card.switch.isChecked() and "It cannot be saved." in texts(card)
    bridge.replies[GetServer] = ServerIs(url="", key="", kept=True, error="Port 8766 is in use.")
    serve(bridge, True)
    assert "Port 8766 is in use." in texts(card) and not offers(card, "Copy the key")


def test_a_key_that_does_not_last_says_so(card: ProgramsCard, bridge: StageBridge) -> None:
    bridge.replies[GetServer] = ServerIs(url=URL, key="sk-sapo-1", kept=False)
    serve(bridge, True)
    assert any("no keyring" in text for text in texts(card))


def test_without_a_node_nothing_can_be_switched(card: ProgramsCard, bridge: StageBridge) -> None:
    serve(bridge, True)
    bridge.tell(Lost(reason="It ended."))
    assert not card.switch.isEnabled() and not offers(card, "Copy the key")
