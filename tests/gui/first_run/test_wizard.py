"""The first-run pages, driven without a worker."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.why import Training
from sapo_desktop.gui.first_run.wizard import Wizard
from sapo_desktop.view.link import Connecting, Ended, Lost
from sapo_desktop.worker.control.messages.asking import EnvelopePreview, PreviewEnvelope
from sapo_desktop.worker.control.messages.events import (
    StateChanged,
)
from sapo_desktop.worker.control.messages.requests import (
    SetSettings,
    StartRounds,
)
from tests.gui.late import LateBridge
from tests.gui.scenes import a_view
from tests.gui.stage import StageBridge


@pytest.fixture
def idle(qapp: object) -> StageBridge:
    """To a node that has not begun."""
    bridge = StageBridge(a_view(state="idle"))
    bridge.replies[PreviewEnvelope] = EnvelopePreview(text='{"a": "<b>"}', bytes=742, signed=False, task="gcd/easy")
    return bridge


AT_WORK = StateChanged(state="working", reason="", why=Training(round=1))


@pytest.fixture
def wizard(qtbot: QtBot, idle: StageBridge) -> Wizard:
    wizard = Wizard(idle.view, idle)
    qtbot.addWidget(wizard)
    wizard.show()
    return wizard


def go_on(wizard: Wizard, steps: int) -> None:
    for _ in range(steps):
        wizard._go_on()


def test_the_first_run_by_keyboard_ends_with_a_node_at_work(qtbot: QtBot, wizard: Wizard, idle: StageBridge) -> None:
    for _ in range(3):
        qtbot.keyClick(wizard._next, Qt.Key.Key_Return)
    assert wizard._next.text() == "Start learning"
    ended: list[bool] = []
    wizard.finished_well.connect(ended.append)
    qtbot.keyClick(wizard._next, Qt.Key.Key_Return)
    assert idle.asked_for(StartRounds) and ended == [], "the window would say that nothing was begun"
    idle.tell(AT_WORK)
    idle.tell(AT_WORK)
    assert ended == [False]
    (asked,) = idle.asked_for(SetSettings)
    settings = asked.values
    assert asked.for_good and (settings["silo"], settings["share"], settings["threads"]) == ("on", "off", "0")


def test_who_closes_the_questions_after_the_order_has_answered_them(wizard: Wizard, idle: StageBridge) -> None:
    ended: list[str] = []
    wizard.finished_well.connect(lambda others: ended.append("well"))
    wizard.left.connect(lambda: ended.append("left"))
    go_on(wizard, 4)
    wizard.close()
    assert not wizard.isVisible() and not ended
    idle.tell(AT_WORK)
    assert ended == ["well"]


def test_an_order_that_is_refused_after_the_questions_were_closed_has_left_them(qtbot: QtBot) -> None:
    bridge = LateBridge(a_view(state="idle"), SetSettings)
    wizard = Wizard(bridge.view, bridge)
    qtbot.addWidget(wizard)
    wizard.show()
    go_on(wizard, 4)
    wizard.close()
    bridge.replies[SetSettings] = UsageError("The disk is full.")
    ends: list[str] = []
    wizard.left.connect(lambda: ends.append("left"))
    bridge.trouble.connect(ends.append)
    bridge.deliver()
    assert sorted(ends) == ["The disk is full.", "left"] and not bridge.asked_for(StartRounds)


def test_what_leaves_is_shown_with_a_real_message(wizard: Wizard) -> None:
    wizard._go_on()
    message = wizard.step._message  # type: ignore[attr-defined]
    assert not message.reading.isVisible(), "first what it means, then the message"
    message.button.click()
    shown = message.reading.toPlainText()
    assert "742 B" in shown and '{"a": "<b>"}' in shown and "thrown away" in shown


def test_whom_to_join_is_asked_after_the_first_run_and_until_then_it_is_silo(
    qtbot: QtBot, wizard: Wizard, idle: StageBridge
) -> None:
    go_on(wizard, 3)
    wizard.step._swarm.click()  # type: ignore[attr-defined]
    assert wizard._next.text() == "Start, then join others"
    with qtbot.waitSignal(wizard.finished_well) as finished:
        wizard._go_on()
        idle.tell(AT_WORK)
    assert finished.args == [True]
    (asked,) = idle.asked_for(SetSettings)
    assert (asked.values["silo"], asked.values["share"]) == ("on", "off")


@pytest.mark.parametrize(
    ("link", "reason", "last"),
    [
        (Lost(reason="There is no model.", remedy="model"), "There is no model", "The node cannot start"),
        (Lost(reason="It was killed."), "It was killed", "The node is not running"),
        (Ended(), "The node is switched off", "The node is not running"),
    ],
)
def test_why_there_is_no_node_stands_on_every_step_of_the_first_run(
    wizard: Wizard, idle: StageBridge, link: Lost | Ended, reason: str, last: str
) -> None:
    idle.tell(link)
    for _ in range(3):
        wizard._go_on()
        assert wizard._trouble.isVisible() and reason in wizard._trouble._text.text()
        assert wizard._trouble.button.isVisible()
    assert wizard._next.text() == last and not wizard._next.isEnabled()
    wizard._trouble.button.click()
    assert idle.tries == 1
    idle.tell(Connecting(again=True))
    assert wizard._next.text() == "The node is starting" and not wizard._trouble.isVisible()


def test_a_refusal_is_said_and_nothing_is_lost(wizard: Wizard, idle: StageBridge) -> None:
    idle.replies[SetSettings] = UsageError("The disk is full.")
    go_on(wizard, 4)
    assert wizard._trouble.isVisible() and wizard._next.isEnabled()
    assert not idle.asked_for(StartRounds)


def test_leaving_the_first_run_changes_nothing(qtbot: QtBot, wizard: Wizard, idle: StageBridge) -> None:
    with qtbot.waitSignal(wizard.left):
        qtbot.keyClick(wizard, Qt.Key.Key_Escape)
    assert not idle.asked_for(SetSettings)
