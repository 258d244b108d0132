"""Charts: pyqtgraph's plots in our colours, given only what the eye can tell apart, at most four times a second.

A plot's items are made once and given new data (making them anew leaks). `CurveChart` shows what the model can do, or
its reward against the swarm's, over all history; `SmallChart` is one task at a glance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QLocale, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QGraphicsPathItem, QSizePolicy, QWidget

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.curves import Column, Curves, Means, smoothed

_LINES = ("reward", "swarm_reward", "swarm_low", "swarm_high")
REDRAW_MS = 250
SETTLE_MS = 150
SMOOTHED_ROUNDS = 20
_FOLLOW = 0.05
"""A view follows the newest round when its right edge is as close to it as this share of its width."""


class Band(QGraphicsPathItem):
    """The area between two lines, in one colour."""

    def __init__(self) -> None:
        super().__init__()
        self.setPen(QPen(Qt.PenStyle.NoPen))

    def show_between(self, x: Column, low: Column, high: Column) -> None:
        """Where both are known."""
        known = ~(np.isnan(low) | np.isnan(high))
        path = QPainterPath()
        edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
        for begin, end in edges.reshape(-1, 2):
            there = zip(x[begin:end], low[begin:end], strict=True)
            back = zip(x[begin:end][::-1], high[begin:end][::-1], strict=True)
            path.addPolygon(QPolygonF([QPointF(a, b) for a, b in (*there, *back)]))
        self.setPath(path)

    def dataBounds(self, axis: int, frac: float = 1.0, orthoRange: object = None) -> tuple[None, None]:  # noqa: N802
        """For pyqtgraph: it never asks for room."""
        return None, None


class Axis(pg.AxisItem):  # type: ignore[misc]
    """Ticks as the window's language writes numbers."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: N802
        point = QLocale().decimalPoint()
        return [text.replace(".", point) for text in super().tickStrings(values, scale, spacing)]


class CurveChart(pg.PlotWidget):  # type: ignore[misc]
    """Over the rounds either the held-out score with its interval and the base's (`skill`), or my reward and the
    swarm's with its interval.

    Ctrl with the wheel and keys + and - zoom the rounds, drag and arrow keys move, Home shows everything. `pointed`:
    the round under the pointer, or None.
    """

    pointed = Signal(object)

    def __init__(self, curves: Curves, name: str) -> None:
        super().__init__(axisItems={side: Axis(side) for side in ("left", "bottom")})
        self._curves = curves
        self.setAccessibleName(name)
        self.viewport().setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._all = True
        """Whether everything is shown, whatever is added."""
        self._skill = True
        self._height = (0.0, 1.0)
        self._stale = False
        self._arranging = False
        plot = self.getPlotItem()
        plot.setMenuEnabled(False)
        plot.hideButtons()
        plot.setMouseEnabled(x=True, y=False)
        plot.setLimits(yMin=-0.05, yMax=1.05, minXRange=5)
        plot.setYRange(0, 1, padding=0)
        self._kept_means: dict[tuple[str, int], Means] = {}
        self._means_of = -1
        self._band, self._sure = Band(), Band()
        self._raw = pg.PlotCurveItem(connect="finite", antialias=False)
        self._swarm = pg.PlotCurveItem(connect="finite", antialias=True)
        self._mine = pg.PlotCurveItem(connect="finite", antialias=True)
        self._newest = pg.ScatterPlotItem(size=8)
        self._scores = pg.PlotDataItem(connect="finite", symbol="d", antialias=True)
        self._base = pg.InfiniteLine(angle=0, movable=False)
        self._cross = pg.InfiniteLine(angle=90, movable=False)
        for item in (
            self._band,
            self._sure,
            self._raw,
            self._swarm,
            self._mine,
            self._base,
            self._scores,
            self._newest,
            self._cross,
        ):
            plot.addItem(item)
        self._cross.hide()
        self.show_skill(True)
        plot.getViewBox().sigXRangeChanged.connect(self._moved)
        self.scene().sigMouseMoved.connect(self._point_at)
        self._settle = timer(self, SETTLE_MS, lambda: self._smooth_lines(True), once=True)
        self._timer = timer(self, REDRAW_MS, self._redraw_if_stale, once=True)
        theme.looks().changed.connect(self.wear)
        self.wear()

    # -- data ------------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """The curves have grown: draw them soon, if anybody sees them."""
        self._stale = True
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: Any) -> None:  # noqa: N802
        super().showEvent(event)
        self._redraw_if_stale()

    def show_skill(self, on: bool) -> None:
        """What the model can do, or else what it is rewarded."""
        self._skill = on
        for item in (self._sure, self._scores, self._base):
            item.setVisible(on)
        for item in (self._band, self._raw, self._swarm, self._mine, self._newest):
            item.setVisible(not on)
        self.follow()

    def show_all(self) -> None:
        """From the first round to the newest."""
        self._all = True
        self._arrange()
        self._draw()

    def show_last(self, rounds: int) -> None:
        """The newest rounds, and those to come."""
        self._all = False
        last = max(self._curves.last_round, rounds)
        self._set_range(last - rounds, last)
        self._draw()

    def _redraw_if_stale(self) -> None:
        if self._stale and self.isVisible():
            self._stale = False
            self._arrange()
            self._draw()

    def _arrange(self) -> None:
        """Keep everything in sight, or the newest round at the right edge, where that is how it was."""
        last = max(10, self._curves.last_round)
        low, high = self.getPlotItem().viewRange()[0]
        # Room at the left for the whole mark of the first point, which stands at 0.
        self.getPlotItem().setLimits(xMin=-0.02 * last, xMax=1.02 * last + 5)
        if self._all:
            self._set_range(0, last)
        elif last > high >= last - _FOLLOW * (high - low) - 1:
            self._set_range(low + last - high, last, padding=0)

    def _set_range(self, low: float, high: float, padding: float = 0.015) -> None:
        self._arranging = True
        self.getPlotItem().setXRange(low, high, padding=padding)
        self._arranging = False

    def _draw(self) -> None:
        low, high = self.getPlotItem().viewRange()[0]
        height = height_for(self._draw_scores(low, high) if self._skill else self._draw_lines(low, high))
        # The axis would be laid out anew, though its twentieths seldom change.
        if height != self._height:
            self._height = height
            self.getPlotItem().setYRange(*height, padding=0)

    def _draw_lines(self, low: float, high: float) -> Column:
        """Returns the values that are shown."""
        x = self._curves.column("round")
        # A point for every other pixel: the eye sees no more, and thick smooth lines are what drawing costs.
        buckets = max(100, self.width() // 2)
        seen = {name: self._means(name).glimpse(low, high, buckets) for name in _LINES}
        self._mine.setData(*seen["reward"])
        rounds, swarm = seen["swarm_reward"]
        self._swarm.setData(rounds, swarm, connect=_dashes(swarm))
        self._band.show_between(rounds, seen["swarm_low"][1], seen["swarm_high"][1])
        # Where rounds lie closer than pixels their noise is a block of colour that tells nothing.
        in_sight = int(np.searchsorted(x, high) - np.searchsorted(x, low))
        self._raw.setVisible(in_sight <= 2 * buckets)
        if in_sight <= 2 * buckets:
            self._raw.setData(*self._means("reward", 1).glimpse(low, high, buckets))
        # A line of one point is nothing to see, and the first round is what a newcomer waits for.
        newest = len(x) and low <= x[-1] <= high
        self._newest.setData(x[-1:], self._means("reward").values[-1:]) if newest else self._newest.clear()
        return np.concatenate([means for _, means in seen.values()])

    def _means(self, name: str, window: int = SMOOTHED_ROUNDS) -> Means:
        """Of the column, smoothed over so many rounds; computed once for each state of the history."""
        if self._means_of != self._curves.revision:
            self._means_of = self._curves.revision
            self._kept_means.clear()
        if (name, window) not in self._kept_means:
            column = smoothed(self._curves.column(name), window)
            self._kept_means[name, window] = Means(self._curves.column("round"), column)
        return self._kept_means[name, window]

    def _draw_scores(self, low: float, high: float) -> Column:
        """Returns the values that are shown."""
        found = self._curves.held_out()
        self._base.setVisible(found.base is not None)
        if found.base is not None:
            self._base.setValue(found.base)
        begin = max(0, int(np.searchsorted(found.rounds, low)) - 1)
        end = int(np.searchsorted(found.rounds, high, side="right")) + 1
        # A long history has thousands of scores: so many as the eye can tell apart are drawn, the newest among them.
        step = -(-(min(end, len(found.rounds)) - begin) // max(100, self.width() // 4)) or 1
        of = slice(min(end, len(found.rounds)) - 1, begin - 1 if begin else None, -step)
        rounds, scores, lows, highs = (
            values[of][::-1] for values in (found.rounds, found.scores, found.low, found.high)
        )
        self._scores.setData(rounds, scores)
        self._sure.show_between(rounds, lows, highs)
        return np.concatenate([scores, lows, highs])

    # -- looks -----------------------------------------------------------------------------------------------

    def wear(self) -> None:
        """Take the theme's colours."""
        colours = theme.current()
        self.setBackground(colours.surface)
        for side in ("left", "bottom"):
            axis = self.getPlotItem().getAxis(side)
            axis.setPen(pg.mkPen(colours.line))
            axis.setTextPen(pg.mkPen(colours.muted))
            # No line more than is read: each one is drawn in every frame.
            axis.setStyle(tickFont=theme.font("caption"), tickLength=-4, maxTickLevel=1 if side == "left" else 0)
        # A number that finds no room is not drawn at all.
        metrics = QFontMetrics(theme.font("caption"))
        self.getPlotItem().getAxis("left").setWidth(max(44, metrics.horizontalAdvance("0.00 ") + 12))
        self.getPlotItem().getAxis("bottom").setHeight(metrics.height() + 8)
        self.getPlotItem().showGrid(x=False, y=True, alpha=0.18)
        faint = QColor(colours.chart_me)
        faint.setAlpha(60)
        wash = QColor(colours.chart_swarm)
        wash.setAlpha(45)
        self._raw.setPen(pg.mkPen(faint, width=1))
        self._mine.setPen(pg.mkPen(colours.chart_me, width=2.4))
        self._swarm.setPen(pg.mkPen(colours.chart_swarm, width=2.2))
        self._band.setBrush(wash)
        self._newest.setBrush(pg.mkBrush(colours.chart_me))
        self._newest.setPen(pg.mkPen(colours.surface))
        sure = QColor(colours.chart_held_out)
        sure.setAlpha(40)
        self._sure.setBrush(sure)
        self._scores.setPen(pg.mkPen(colours.chart_held_out, width=2.4))
        self._scores.setSymbolBrush(pg.mkBrush(colours.chart_held_out))
        self._scores.setSymbolPen(pg.mkPen(colours.surface))
        self._scores.setSymbolSize(7)
        self._base.setPen(pg.mkPen(colours.chart_base, width=1, style=Qt.PenStyle.DashDotLine))
        self._cross.setPen(pg.mkPen(colours.edge, width=1))

    # -- pointing and moving ---------------------------------------------------------------------------------

    def _moved(self) -> None:
        if not self._arranging:
            low, high = self.getPlotItem().viewRange()[0]
            self._all = low <= 0.5 and high >= self._curves.last_round
            self._smooth_lines(False)
            self._settle.start()
            self._draw()

    def _smooth_lines(self, on: bool) -> None:
        """Smooth edges cost half a frame: while somebody drags or zooms there are none."""
        for item in (self._mine, self._swarm):
            item.opts["antialias"] = on
            item.update()

    def _point_at(self, position: QPointF) -> None:
        box = self.getPlotItem().getViewBox()
        inside = box.sceneBoundingRect().contains(position) and len(self._curves)
        self._cross.setVisible(bool(inside))
        if not inside:
            self.pointed.emit(None)
            return
        rounds = self._curves.column("round")
        wanted = box.mapSceneToView(position).x()
        at = int(np.clip(np.searchsorted(rounds, wanted), 0, len(rounds) - 1))
        if at and wanted - rounds[at - 1] < rounds[at] - wanted:
            at -= 1
        self._cross.setValue(rounds[at])
        self.pointed.emit(at)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        self._cross.hide()
        self.pointed.emit(None)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """The wheel alone is the page's, which scrolls."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        low, high = self.getPlotItem().viewRange()[0]
        middle, half = (low + high) / 2, (high - low) / 2
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self._go(middle - half / 1.5, middle + half / 1.5)
            case Qt.Key.Key_Minus:
                self._go(middle - half * 1.5, middle + half * 1.5)
            case Qt.Key.Key_Left:
                self._go(low - half / 4, high - half / 4)
            case Qt.Key.Key_Right:
                self._go(low + half / 4, high + half / 4)
            case Qt.Key.Key_Home:
                self.show_all()
            case _:
                super().keyPressEvent(event)

    def _go(self, low: float, high: float) -> None:
        self.getPlotItem().setXRange(low, high, padding=0)


def _dashes(values: Column) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Which points are joined to the next one, so that a line looks dashed: Qt's own dashes cost ten times the line."""
    on = np.arange(len(values)) % 6 < 4
    known = ~np.isnan(values)
    known[:-1] &= known[1:]
    return (on & known).astype(np.int32)


def height_for(values: Column) -> tuple[float, float]:
    """From where to where the y axis goes, in twentieths: the values with room above and below, a fifth at least."""
    known = values[~np.isnan(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()) - 0.06, float(known.max()) + 0.06
    if high - low < 0.2:
        low, high = (low + high) / 2 - 0.1, (low + high) / 2 + 0.1
    return max(0.0, np.floor(20 * low) / 20), min(1.02, np.ceil(20 * high) / 20)


def words_at(curves: Curves, at: int) -> str:
    """What the chart shows of one row of the history, in words."""
    value = {name: curves.column(name)[at] for name in ("round", "reward", "swarm_reward", "swarm_low", "swarm_high")}
    parts = [
        tr("Round {round}").format(round=numbers.count(int(value["round"]))),
        tr("my reward {value}").format(value=numbers.number(value["reward"])),
    ]
    if not np.isnan(value["swarm_reward"]):
        parts.append(
            tr(
                "swarm {value} ({low} to {high}), measured on %n peer(s)", None, int(curves.column("swarm_peers")[at])
            ).format(
                value=numbers.number(value["swarm_reward"]),
                low=numbers.number(value["swarm_low"]),
                high=numbers.number(value["swarm_high"]),
            )
        )
    until = [point for point in curves.evals if point.which == "validation" and point.round <= value["round"]]
    score = max(until, key=lambda point: point.round, default=None)
    if score is not None:
        parts.append(
            tr("held-out {value} (round {round})").format(
                value=numbers.number(score.score), round=numbers.count(score.round)
            )
        )
    return " · ".join(parts)


class SmallChart(QWidget):
    """How much of one task was solved, round by round: a line without axes, 0 below and 1 above."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._values: list[float] = []
        self.setMinimumHeight(44)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(140, 44)

    def show_values(self, values: list[float]) -> None:
        """Shares from 0 to 1, oldest first."""
        if values != self._values:
            self._values = values
            last = numbers.percent(values[-1]) if values else numbers.NOTHING
            self.setAccessibleName(tr("{task}: last round {share}").format(task=self._name, share=last))
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(1, 4, -4, -4)
        painter.setPen(QPen(QColor(colours.line), 1))
        for y in (frame.top(), frame.bottom()):
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
        if self._values:
            self._paint_line(painter, frame)
        painter.end()

    def _paint_line(self, painter: QPainter, frame: QRectF) -> None:
        colours = theme.current()
        mean = smoothed(np.array(self._values, dtype=np.float64), max(1, min(10, len(self._values) // 4)))
        step = frame.width() / max(1, len(mean) - 1)
        points = [QPointF(frame.left() + at * step, frame.bottom() - y * frame.height()) for at, y in enumerate(mean)]
        line = QPainterPath(points[0])
        for point in points[1:]:
            line.lineTo(point)
        painter.setPen(QPen(QColor(colours.chart_me), 2))
        painter.drawPath(line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.chart_me))
        painter.drawEllipse(points[-1], 3, 3)


class LineSample(QWidget):
    """A line as it is drawn: colour and dashes both tell. `diamond`: with a mark on it."""

    def __init__(self, colour: str, style: Qt.PenStyle, *, diamond: bool = False) -> None:
        super().__init__()
        self._colour, self._style, self._diamond = colour, style, diamond
        self.setFixedSize(28, 14)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() / 2
        colour = QColor(theme.current().colour(self._colour))
        painter.setPen(QPen(colour, 2.4, self._style))
        painter.drawLine(QPointF(2, middle), QPointF(26, middle))
        if self._diamond:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            corners = ((14, middle - 5), (18, middle), (14, middle + 5), (10, middle))
            painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        painter.end()
