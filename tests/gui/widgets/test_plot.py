"""A plot: numbers at its axes, moving the visible part, and painting."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.charts import CurveChart
from sapo_desktop.gui.widgets.layers import Band, Layer, Line, Scale
from sapo_desktop.gui.widgets.plot import ticks
from sapo_desktop.view.curves import Curves
from tests.gui.scenes import silo_curve, swarm_curve


def a_chart(qtbot: QtBot, rounds: int = 1000) -> CurveChart:
    curves = Curves()
    curves.load(swarm_curve(rounds))
    chart = CurveChart(curves, "A chart")
    qtbot.addWidget(chart)
    chart.resize(600, 300)
    chart.show()
    chart.show_all()
    return chart


@pytest.mark.parametrize(
    ("low", "high", "apart", "wanted"),
    [
        (0.62, 0.78, 0.03, [0.65, 0.70, 0.75]),
        (0.1, 0.5, 0.1, [0.1, 0.2, 0.3, 0.4, 0.5]),
        (-20, 1020, 160, [0, 200, 400, 600, 800, 1000]),
        (3.2, 8.1, 1, [4, 5, 6, 7, 8]),
    ],
)
def test_numbers_of_an_axis_are_round_and_have_room(low: float, high: float, apart: float, wanted: list[float]) -> None:
    assert ticks(low, high, apart) == pytest.approx(wanted)


@pytest.mark.parametrize("percent", [100, 200])
def test_no_number_is_cut_off_or_painted_over_another_however_large_the_text(qtbot: QtBot, percent: int) -> None:
    theme.wear(theme.DARK, percent)
    chart = a_chart(qtbot, 123_456)
    for low, high in ((0, 123_456), (100_000, 100_400)):
        chart.show_between(low, high)
        numbers = chart.numbers(chart.scale())
        assert len(numbers) >= 4
        for number in numbers:
            assert QRectF(chart.rect()).contains(number.place), number
            assert not [other for other in numbers if other is not number and number.place.intersects(other.place)]


def test_it_is_zoomed_and_moved_by_keys(qtbot: QtBot) -> None:
    chart = a_chart(qtbot)
    whole = chart.shown
    qtbot.keyClick(chart, Qt.Key.Key_Plus)
    near = chart.shown
    assert near[1] - near[0] == pytest.approx((whole[1] - whole[0]) / 1.5)
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert chart.shown[0] > near[0] and chart.shown[1] - chart.shown[0] == pytest.approx(near[1] - near[0])
    for _ in range(40):
        qtbot.keyClick(chart, Qt.Key.Key_Plus)
    assert chart.shown[1] - chart.shown[0] == pytest.approx(5), "no nearer than that"
    for _ in range(40):
        qtbot.keyClick(chart, Qt.Key.Key_Minus)
    assert chart.shown == chart.limits
    qtbot.keyClick(chart, Qt.Key.Key_Home)
    assert chart.shown == pytest.approx(whole)


def test_what_was_grabbed_stays_below_the_pointer(qtbot: QtBot) -> None:
    chart = a_chart(qtbot)
    chart.show_between(200, 400)
    grabbed = chart.scale().value_at(300)
    QTest.mousePress(chart, Qt.MouseButton.LeftButton, pos=QPoint(300, 100))
    QTest.mouseMove(chart, QPoint(360, 120))
    assert chart.scale().value_at(360) == pytest.approx(grabbed)
    QTest.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=QPoint(360, 120))
    kept = chart.shown
    QTest.mouseMove(chart, QPoint(420, 120))
    assert chart.shown == kept


def test_the_wheel_is_the_page_s_and_zooms_with_ctrl_alone_where_the_pointer_is(qtbot: QtBot) -> None:
    chart = a_chart(qtbot)
    at = QPointF(400, 100)

    def is_taken(modifiers: Qt.KeyboardModifier) -> bool:
        """Whether the chart keeps a turn of the wheel for itself."""
        there, phase = QPointF(chart.mapToGlobal(at.toPoint())), Qt.ScrollPhase.NoScrollPhase
        turn = QWheelEvent(at, there, QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, modifiers, phase, False)
        QApplication.sendEvent(chart, turn)
        return turn.isAccepted()

    whole, round_there = chart.shown, chart.scale().value_at(at.x())
    assert not is_taken(Qt.KeyboardModifier.NoModifier) and chart.shown == whole
    assert is_taken(Qt.KeyboardModifier.ControlModifier)
    assert chart.shown[1] - chart.shown[0] < 0.8 * (whole[1] - whole[0])
    assert chart.scale().value_at(at.x()) == pytest.approx(round_there)


def test_new_rounds_come_into_sight_unless_the_user_looks_elsewhere(qtbot: QtBot) -> None:
    chart = a_chart(qtbot, 900)
    more = swarm_curve(901)
    for low, high, follows in ((-10, 910, True), (700, 898, True), (100, 300, False)):
        chart._curves.load(swarm_curve(900))
        chart.show_all()
        chart.go(low, high)
        before = chart.shown
        chart._curves.load(more)
        chart.follow()
        qtbot.waitUntil(lambda: not chart._stale)
        assert (chart.shown != before) == follows, (low, high)


def test_what_is_pointed_at_is_the_nearest_round(qtbot: QtBot) -> None:
    chart = a_chart(qtbot)
    rows: list[int | None] = []
    chart.row_pointed.connect(rows.append)
    QTest.mouseMove(chart, QPoint(300, 100))
    wanted = chart.scale().value_at(300)
    assert rows[-1] is not None and abs(chart._curves.column("round")[rows[-1]] - wanted) <= 0.5
    QTest.mouseMove(chart, QPoint(300, 296))
    assert rows[-1] is None and chart.cross is None, "below the axis is no round"


def painted(layer: Layer) -> QImage:
    picture = QImage(100, 100, QImage.Format.Format_RGB32)
    picture.fill(QColor("white"))
    painter = QPainter(picture)
    layer.paint(painter, Scale(QRectF(0, 0, 100, 100), (0, 10), (0, 1)), smooth=False)
    painter.end()
    return picture


def is_painted(picture: QImage, x: int, y: int) -> bool:
    return picture.pixelColor(x, y) != QColor("white")


def test_a_line_and_a_band_have_gaps_where_nothing_is_known() -> None:
    x = np.arange(11, dtype=float)
    y = np.where((x > 3) & (x < 7), np.nan, 0.5)
    line = painted(Line(x, y, "chart_me", width=3))
    assert is_painted(line, 20, 50) and not is_painted(line, 50, 50) and is_painted(line, 80, 50)
    band = painted(Band(x, y - 0.1, y + 0.1, "chart_me", alpha=255))
    assert is_painted(band, 20, 45) and not is_painted(band, 50, 45) and is_painted(band, 80, 45)
    assert not is_painted(band, 20, 20)


def test_marks_that_would_touch_are_left_out_but_for_the_newest(qtbot: QtBot) -> None:
    few, many = np.linspace(1, 9, 5), np.linspace(1, 9, 50)
    above = 47  # of the line, within a mark
    apart = painted(Line(few, np.full(5, 0.5), "chart_me", width=1, mark="diamond"))
    assert all(is_painted(apart, round(10 * x), above) for x in few)
    close = painted(Line(many, np.full(50, 0.5), "chart_me", width=1, mark="diamond"))
    assert is_painted(close, 90, above) and not is_painted(close, 50, above)


def test_a_chart_of_real_rounds_is_painted(qtbot: QtBot) -> None:
    chart = a_chart(qtbot)
    chart._curves.load(silo_curve())
    chart.show_all()
    colours = theme.current()
    picture = chart.grab().toImage()
    seen = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert {colours.surface, colours.chart_held_out, colours.chart_base, colours.line} <= seen
