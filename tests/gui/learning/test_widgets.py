"""Widgets that came with the Learning page: tabs, split, fold, columns that stay readable."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.gui.widgets.split import Split
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.tabs import Tabs
from sapo_desktop.gui.widgets.text import Label


def test_tabs_are_moved_by_arrow_keys(qtbot: QtBot) -> None:
    tabs = Tabs("Parts", [("a", "One & two"), ("b", "Three")])
    qtbot.addWidget(tabs)
    tabs.show()
    assert tabs.current == "a" and tabs._buttons["a"].text() == "One && two"
    chosen: list[str] = []
    tabs.chosen.connect(chosen.append)
    tabs._buttons["a"].setFocus()
    qtbot.keyClick(tabs._buttons["a"], Qt.Key.Key_Right)
    qtbot.keyClick(tabs._buttons["b"], Qt.Key.Key_Space)
    assert tabs.current == "b" and chosen[-1] == "b"
    tabs.show_choice("a")
    assert tabs.current == "a" and chosen[-1] == "b", "showing is not choosing"


def test_two_parts_stand_beside_each_other_where_there_is_room(qtbot: QtBot) -> None:
    first, second = Label("word " * 100), Label("word")
    split = Split(first, second, narrowest=600, shares=(2, 1), gap=2)
    qtbot.addWidget(split)
    split.resize(616, 400)
    split.show()
    assert split.is_beside and first.width() == 2 * second.width() and first.height() == second.height()
    beside = split.layout().heightForWidth(616)
    split.resize(500, 400)
    QApplication.processEvents()
    assert not split.is_beside and first.width() == second.width() == 500
    assert second.y() == first.height() + 16
    assert split.layout().heightForWidth(500) > split.layout().heightForWidth(599) - beside


def test_larger_text_needs_more_room_to_stand_beside(qtbot: QtBot) -> None:
    split = Split(Label("a"), Label("b"), narrowest=600)
    qtbot.addWidget(split)
    split.resize(900, 300)
    split.show()
    assert split.is_beside
    theme.wear(theme.LIGHT, 200)
    assert not split.is_beside
    theme.wear(theme.LIGHT)


def test_a_fold_keeps_its_place_and_its_text_to_itself(qtbot: QtBot) -> None:
    fold = Folded("Answer")
    qtbot.addWidget(fold)
    fold.set_text("<b>secret</b>", "Show it", "Hide it")
    fold.show()
    height = fold.minimumHeight()
    assert not fold.is_open and fold.reading.toPlainText() == "" and fold.button.text() == "Show it"
    fold.button.click()
    assert fold.is_open and fold.reading.toPlainText() == "<b>secret</b>" and fold.button.text() == "Hide it"
    fold.set_text("other", "Show it", "Hide it")
    assert not fold.is_open, "another text is folded again"
    fold.set_text("own", "Show it", "Hide it", fold=False)
    assert fold.is_open and not fold.button.isVisible() and fold.reading.toPlainText() == "own"
    assert fold.minimumHeight() == height


def test_a_column_that_takes_what_is_left_never_vanishes(qtbot: QtBot) -> None:
    headings = [Heading("Task", str, stretch=True), *(Heading(f"A longer heading {n}", str) for n in range(4))]
    table = Table("T", headings)
    qtbot.addWidget(table)
    table.set_rows(["one", "two"])
    table.resize(400, 200)
    table.show()
    assert table.columnWidth(0) >= 90
    table.resize(1400, 200)
    assert table.columnWidth(0) > 300, "with room it takes all of it"
    table.resize(400, 200)
    assert 90 <= table.columnWidth(0) <= 120
