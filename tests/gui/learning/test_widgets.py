"""Widgets that came with the Learning page: tabs, split, fold, stops, bars of phases, columns that stay readable."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.learning.mix_slider import Stops
from sapo_desktop.gui.learning.phase_bars import Bar, PhaseBars, readable_on
from sapo_desktop.gui.learning.round_phases import Spent
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


def test_the_wheel_does_not_move_a_slider(qtbot: QtBot) -> None:
    stops = Stops("Mix", ["8/0", "6/2", "4/4"])
    qtbot.addWidget(stops)
    stops.show()
    wheel = QWheelEvent(
        QPointF(9, 9), QPointF(9, 9), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(stops, wheel)
    assert stops.stop == "8/0"
    stops.show_stop("4/4")
    assert stops.stop == "4/4"
    qtbot.keyClick(stops, Qt.Key.Key_Home)
    assert stops.stop == "8/0"


def test_a_phase_is_found_where_it_is_drawn(qtbot: QtBot) -> None:
    bars = PhaseBars()
    qtbot.addWidget(bars)
    bars.resize(400, bars.sizeHint().height())
    bars.show_bars([
        Bar("now", Spent(3, 0, {"questions": 1.0, "generate": 1.0})),
        Bar("mean", Spent(2, 2, {"questions": 1.0, "generate": 2.0, "train": 1.0})),
    ])  # fmt: skip
    (upper, _), (lower, _) = bars._lines()
    assert bars.phase_at(QPointF(50, upper + 2)) == "questions"
    assert bars.phase_at(QPointF(150, upper + 2)) == "generate"
    assert bars.phase_at(QPointF(300, upper + 2)) is None, "the round is not there yet"
    assert bars.phase_at(QPointF(399, lower + 2)) == "train"
    assert bars.phase_at(QPointF(50, 1)) is None
    bars.grab()  # it paints


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK])
def test_words_in_bars_can_be_read(colours: theme.Theme) -> None:
    def luminance(colour: QColor) -> float:
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    for name in colours.chart_phases:
        low, high = sorted((luminance(QColor(name)), luminance(readable_on(QColor(name)))))
        assert (high + 0.05) / (low + 0.05) >= 4.5


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
