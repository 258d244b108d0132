"""Widgets that came with the Learning page: tabs, fold, columns that stay readable."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.widgets import table as table_module
from sapo_desktop.gui.widgets.buttons import Segments
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.gui.widgets.table import Heading, Table


def test_tabs_are_moved_by_arrow_keys(qtbot: QtBot) -> None:
    tabs = Segments("Parts", [("a", "One & two"), ("b", "Three")])
    qtbot.addWidget(tabs)
    tabs.show()
    assert tabs.current == "a" and tabs.buttons["a"].text() == "One && two"
    chosen: list[str] = []
    tabs.chosen.connect(chosen.append)
    tabs.buttons["a"].setFocus()
    qtbot.keyClick(tabs.buttons["a"], Qt.Key.Key_Right)
    qtbot.keyClick(tabs.buttons["b"], Qt.Key.Key_Space)
    assert tabs.current == "b" and chosen[-1] == "b"
    tabs.show_choice("a")
    assert tabs.current == "a" and chosen[-1] == "b", "showing is not choosing"


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


def test_a_column_that_takes_what_is_left_never_vanishes(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    headings = [Heading("Task", str, stretch=True), *(Heading(f"A longer heading {n}", str) for n in range(4))]
    table = Table("T", headings)
    qtbot.addWidget(table)
    table.set_rows(["one", "two"])
    table.resize(400, 200)
    table.show()
    assert table.columnWidth(0) >= 90
    table.resize(1400, 200)
    assert table.columnWidth(0) > 300, "with room it takes all of it"
    with monkeypatch.context() as drawing:
        drawing.setattr(QGuiApplication, "mouseButtons", lambda: Qt.MouseButton.LeftButton)
        before = table.columnWidth(0) + table.columnWidth(1)
        table.setColumnWidth(1, table.columnWidth(1) + 40)
    assert table.columnWidth(0) + table.columnWidth(1) == before and list(table._drawn) == [1], "as by hand"
    table.resize(400, 200)
    assert 90 <= table.columnWidth(0) <= 120


def test_spare_columns_are_left_out_before_a_table_scrolls_sideways(qtbot: QtBot) -> None:
    headings = [
        Heading("Task", str, stretch=True),
        *(Heading(f"A longer heading {n}", str, spare=max(0, n - 1)) for n in range(4)),
    ]
    table = Table("T", headings)
    qtbot.addWidget(table)
    table.set_rows(["one", "two"])
    for width, hidden in ((1400, []), (720, [4]), (550, [3, 4]), (1400, [])):
        table.resize(width, 200)
        table.show()
        assert [at for at in range(5) if table.isColumnHidden(at)] == hidden, width
        qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)


def test_words_give_way_where_columns_that_no_row_can_do_without_are_too_wide(qtbot: QtBot) -> None:
    headings = [
        Heading("Model", lambda row: "A name that is rather long"),
        Heading("State", lambda row: "Here"),
        Heading("Takes", lambda row: "1,234", right=True),
        Heading("Answer", str, stretch=True),
    ]
    table = Table("T", headings)
    qtbot.addWidget(table)
    table.set_rows(["one"])
    table.resize(900, 200)
    table.show()
    wanted = [table._wanted(at) for at in range(4)]
    table.resize(400, 200)
    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    assert table.columnWidth(0) < wanted[0] and table.columnWidth(2) == wanted[2], "words are cut, numbers are not"
    table.resize(900, 200)
    assert table.columnWidth(0) >= wanted[0], "and get it back"
    table.resize(100, 200)
    assert table.columnWidth(0) == table_module._least(table_module._SQUEEZED_LETTERS), (
        "what cannot be read is no column: there it scrolls"
    )


def test_spare_columns_are_left_out_too_where_wider_rows_come_later_or_a_column_was_drawn(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    headings = [
        Heading("A", str),
        Heading("B", lambda row: "b"),
        Heading("C", str, spare=2),
        Heading("D", str, spare=1),
    ]
    table = Table("T", headings)
    qtbot.addWidget(table)
    table.set_rows(["one"])
    table.resize(700, 200)
    table.show()
    assert not table.isColumnHidden(2)
    table.set_rows(["one", "wider than all that stood in these columns before"])
    assert table.isColumnHidden(2) and not table.isColumnHidden(0)
    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    monkeypatch.setattr(QGuiApplication, "mouseButtons", lambda: Qt.MouseButton.LeftButton)
    table.setColumnWidth(0, 420)
    monkeypatch.undo()
    table.resize(702, 200)
    assert table.columnWidth(0) == 420 and table.isColumnHidden(3)
    table.resize(1900, 200)
    assert table.columnWidth(0) == 420 and not table.isColumnHidden(2) and not table.isColumnHidden(3)
