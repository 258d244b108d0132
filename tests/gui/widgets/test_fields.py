"""Fields: what they report and when, and that the wheel changes nothing."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.widgets.fields import Choice, Line, Number, SearchLine, Writing


def shown(qtbot: QtBot, widget: QWidget) -> QWidget:
    qtbot.addWidget(widget)
    widget.show()
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow)
    widget.setFocus()
    return widget


def test_a_line_is_taken_by_enter_and_only_if_it_is_another_text(qtbot: QtBot) -> None:
    line = Line("Label", "old")
    taken: list[str] = []
    line.taken.connect(taken.append)
    shown(qtbot, line)
    QTest.keyClick(line, Qt.Key.Key_Return)
    line.selectAll()
    QTest.keyClicks(line, "new")
    QTest.keyClick(line, Qt.Key.Key_Return)
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert taken == ["new"]


def test_what_holds_does_not_overwrite_what_is_being_written(qtbot: QtBot) -> None:
    line = Line("Label", "old")
    shown(qtbot, line)
    QTest.keyClicks(line, "er")
    line.show_text("other")
    assert line.text() == "older"
    line.clearFocus()  # taken: it is what the user wants
    line.show_text("other")
    assert line.text() == "other"


@pytest.mark.parametrize(
    "field",
    [
        lambda: Choice("Theme", [("a", "A"), ("b", "B")]),
        lambda: Number("Threads", 0, 9, 1, whole=True),
        lambda: Number("Reserve", 0, 9, 0.5),
    ],
)
def test_the_wheel_scrolls_the_page(qtbot: QtBot, field: object) -> None:
    widget = shown(qtbot, field())
    before = widget.current if isinstance(widget, Choice) else widget.value()
    turn = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(0, 0), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, turn)
    assert not turn.isAccepted()
    assert (widget.current if isinstance(widget, Choice) else widget.value()) == before


def test_a_choice_keeps_its_value_when_the_choices_change(qtbot: QtBot) -> None:
    choice = Choice("Level", [("easy", "easy"), ("hard", "hard")])
    choice.show_choice("hard")
    qtbot.addWidget(choice)
    chosen: list[str] = []
    choice.chosen.connect(chosen.append)
    choice.set_choices([("easy", "easy"), ("middle", "middle"), ("hard", "hard")])
    assert choice.current == "hard"
    choice.set_choices([("only", "<b>only</b>\u202e")], "only")
    assert choice.current == "only" and choice.itemText(0) == "<b>only</b>" and not chosen


def test_decimals_show_the_digits_that_say_something(qtbot: QtBot) -> None:
    field = Number("Reserve", 0, 9, 0.5)
    qtbot.addWidget(field)
    for value, text in ((0.5, "0.5"), (2.0, "2"), (0.125, "0.125")):
        field.show_number(value)
        assert field.text() == text


def test_numbers_are_reported_as_they_are_typed_in(qtbot: QtBot) -> None:
    field = Number("Answers", 2, 64, 1, whole=True)
    chosen: list[str] = []
    field.taken.connect(chosen.append)
    shown(qtbot, field)
    field.selectAll()
    QTest.keyClicks(field, "16")
    assert chosen == []
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClick(field, Qt.Key.Key_Up)
    field.show_number(8)
    assert chosen == ["16", "17"]


def test_escape_empties_a_search(qtbot: QtBot) -> None:
    search = SearchLine("Search")
    shown(qtbot, search)
    QTest.keyClicks(search, "abc")
    QTest.keyClick(search, Qt.Key.Key_Escape)
    assert search.text() == ""


def test_a_writing_is_sent_by_control_enter_and_tab_goes_on(qtbot: QtBot) -> None:
    box = QWidget()
    writing, after = Writing("Question"), Line("After")
    writing.setParent(box)
    after.setParent(box)
    shown(qtbot, box)
    writing.setFocus()
    sent: list[bool] = []
    writing.sent.connect(lambda: sent.append(True))
    QTest.keyClicks(writing, "a")
    QTest.keyClick(writing, Qt.Key.Key_Return)
    QTest.keyClicks(writing, "b")
    QTest.keyClick(writing, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert writing.toPlainText() == "a\nb" and sent == [True]
    QTest.keyClick(writing, Qt.Key.Key_Tab)
    assert after.hasFocus()
