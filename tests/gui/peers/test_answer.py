"""A person's answer: the texts before and after it, and the requests to the worker."""

from typing import Any

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import TaskError, UsageError
from sapo_desktop.core.records import Mark
from sapo_desktop.gui.peers.answer import AnswerSheet
from sapo_desktop.worker.control.messages.requests import AskForQuestion, GiveAnswer
from tests.gui import scenes
from tests.gui.driving import all_texts, press
from tests.gui.late import LateBridge
from tests.gui.stage import StageBridge
from tests.gui.staged_peers import MARKED, POSED, stage


def _sheet(
    qtbot: QtBot, kind: type[StageBridge] = StageBridge, posed: Any = POSED, marked: Any = MARKED
) -> tuple[AnswerSheet, StageBridge]:
    view = scenes.a_view(silo=True)
    bridge = kind(view)
    stage(bridge)
    bridge.replies |= {AskForQuestion: posed, GiveAnswer: marked}
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    sheet = AnswerSheet(window, view, bridge)
    sheet.kept = window  # type: ignore[attr-defined]  # collected otherwise, and the sheet with it
    sheet.open()
    return sheet, bridge


def _give(qtbot: QtBot, sheet: AnswerSheet, text: str) -> None:
    qtbot.keyClicks(sheet._answer, text)
    qtbot.keyClick(sheet._answer, Qt.Key.Key_Return)


def test_the_question_its_form_and_where_the_text_goes_come_first(qtbot: QtBot) -> None:
    sheet, _ = _sheet(qtbot)
    said = all_texts(sheet)
    assert "Count a letter, 15:00 left" in said and "a whole number" in said
    assert "stays on this computer" in said and "nothing leaves this computer" in said
    assert sheet._question.toPlainText() == POSED.question
    assert not sheet.give.isEnabled()


def test_an_answer_that_is_published_says_so_on_the_button_too(qtbot: QtBot) -> None:
    sheet, _ = _sheet(qtbot, posed=msgspec.structs.replace(POSED, shared=True))
    assert "cannot be withdrawn" in all_texts(sheet)
    assert sheet.give.text() == "Publish the answer"


def test_enter_gives_the_answer_and_the_result_is_shown(qtbot: QtBot) -> None:
    sheet, bridge = _sheet(qtbot)
    sheet._reasoning.setPlainText("t-h-e ...")
    _give(qtbot, sheet, "9")
    assert bridge.asked_for(GiveAnswer) == [GiveAnswer(id="9f3a", answer="9", reasoning="t-h-e ...")]
    said = all_texts(sheet)
    assert "Right" in said and "3 of 7 right" in said and "will learn from it" in said
    assert not sheet.give.isVisible()


def test_a_wrong_answer_shows_the_right_one_and_the_note(qtbot: QtBot) -> None:
    wrong = Mark(solved=False, partial=0.0, reward=0.0, answer="7", verdict="wrong")
    sheet, _ = _sheet(
        qtbot, marked=msgspec.structs.replace(MARKED, mark=wrong, learned=False, note="It is not learned from.")
    )
    _give(qtbot, sheet, "7")
    said = all_texts(sheet)
    assert "Wrong" in said and "It is not learned from." in said
    assert sheet._result._truth.toPlainText() == "9"


def test_an_answer_that_is_refused_can_be_typed_again(qtbot: QtBot) -> None:
    sheet, bridge = _sheet(qtbot, marked=UsageError("Only letters and digits may stand in an answer."))
    sheet._answer.setText("\u2603")
    qtbot.keyClick(sheet._answer, Qt.Key.Key_Return)
    assert "Only letters and digits" in all_texts(sheet)
    assert sheet._answer.isEnabled() and sheet.give.isEnabled()
    bridge.replies[GiveAnswer] = MARKED
    qtbot.keyClick(sheet._answer, Qt.Key.Key_Return)
    assert "Right" in all_texts(sheet)


def test_no_question_is_said_and_another_can_be_asked_for(qtbot: QtBot) -> None:
    sheet, bridge = _sheet(qtbot, posed=TaskError("There is no question of it now."))
    assert "There is no question of it now." in all_texts(sheet)
    bridge.replies[AskForQuestion] = POSED
    press(sheet.another)
    assert "Count a letter" in all_texts(sheet) and "no question" not in all_texts(sheet)


def test_a_question_whose_time_is_over_takes_no_answer(qtbot: QtBot) -> None:
    sheet, _ = _sheet(qtbot)
    qtbot.keyClicks(sheet._answer, "9")
    sheet._view.clock = lambda: scenes.NOW + POSED.seconds
    sheet._tick()
    assert "Time is up" in all_texts(sheet) and not sheet.give.isEnabled()


def test_while_the_worker_thinks_nothing_can_be_pressed_twice(qtbot: QtBot) -> None:
    sheet, bridge = _sheet(qtbot, LateBridge)
    assert isinstance(bridge, LateBridge)
    assert not sheet.another.isEnabled() and not sheet._answer.isEnabled()
    bridge.deliver()
    _give(qtbot, sheet, "9")
    assert not sheet.give.isEnabled() and not sheet._answer.isEnabled()
    sheet.reject()
    bridge.deliver()
