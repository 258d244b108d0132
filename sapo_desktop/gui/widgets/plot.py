"""A plot over the rounds: axes with numbers, a grid, and a range chosen by mouse and keys.

Drawn by our own code: a plotting library took memory and time per frame that our few lines do not need.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.layers import Layer, Scale
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers

SETTLE_MS = 150
"""Time after the last move until edges are drawn with antialiasing again."""
LEAST_ROUNDS = 5.0
_LINES_APART = 2.5
"""Distance of the numbers of the y axis, in lines of text."""
_NOTCH = 0.75
"""The remaining share of the width after one notch of the wheel (120 of Qt's units)."""


class Number(NamedTuple):
    """One number of an axis: its place, and the line to it."""

    text: str
    place: QRectF
    line: tuple[QPointF, QPointF]


class Plot(QWidget):
    """Shows `layers()` between two rounds. Ctrl with the wheel and keys + and - zoom, drag and arrow keys move, Home
    shows everything.

    Signals:
        moved: the user chose the visible range.
        pointed: the round under the pointer (float), or None.
    """

    moved = Signal()
    pointed = Signal(object)

    def __init__(self, name: str, up: str, across: str) -> None:
        """`up`, `across`: titles of the axes. Values are shares."""
        super().__init__()
        self._up, self._across = up, across
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing behind it is painted first
        self.shown = (0.0, 10.0)
        """The lowest and highest visible round."""
        self.limits = (0.0, 10.0)
        """Nothing beyond these can be shown."""
        self.cross: float | None = None
        """The round marked by a vertical line."""
        self._height = (0.0, 1.0)
        self._grabbed: float | None = None
        self._layers: Sequence[Layer] | None = None
        self._settle = timer(self, SETTLE_MS, self.update, once=True)
        theme.looks().changed.connect(self.update)

    # -- for subclasses --------------------------------------------------------------------------------------

    @abstractmethod
    def collect(self, low: float, high: float) -> tuple[list[Layer], tuple[float, float]]:
        """What is drawn between two rounds, back to front, and the range of the y axis."""

    @abstractmethod
    def show_all(self) -> None:
        """From the first round to the newest."""

    def layers(self) -> Sequence[Layer]:
        """The current drawing."""
        if self._layers is None:
            self._layers, self._height = self.collect(*self.shown)
        return self._layers

    def redraw(self) -> None:
        """The content changed."""
        self._layers = None
        self.update()

    def show_between(self, low: float, high: float) -> None:
        """Show this range, as closely as the limits allow."""
        least, most = self.limits
        wide = min(max(high - low, LEAST_ROUNDS), most - least)
        low = min(max((low + high - wide) / 2, least), most - wide)
        self.shown = (low, low + wide)
        self.redraw()

    # -- by hand ---------------------------------------------------------------------------------------------

    def go(self, low: float, high: float) -> None:
        """The user wants to see these rounds."""
        self.show_between(low, high)
        self._settle.start()
        self.moved.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """The wheel alone scrolls the page."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        low, high = self.shown
        at = min(max(self.scale().value_at(event.position().x()), low), high)
        left = _NOTCH ** (event.angleDelta().y() / 120)
        self.go(at - (at - low) * left, at + (high - at) * left)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        low, high = self.shown
        middle, half = (low + high) / 2, (high - low) / 2
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.go(middle - half / 1.5, middle + half / 1.5)
            case Qt.Key.Key_Minus:
                self.go(middle - half * 1.5, middle + half * 1.5)
            case Qt.Key.Key_Left:
                self.go(low - half / 4, high - half / 4)
            case Qt.Key.Key_Right:
                self.go(low + half / 4, high + half / 4)
            case Qt.Key.Key_Home:
                self.show_all()
            case _:
                super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() is Qt.MouseButton.LeftButton:
            self._grabbed = self.scale().value_at(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() is Qt.MouseButton.LeftButton:
            self._grabbed = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        scale = self.scale()
        if self._grabbed is not None:  # the grabbed point stays below the pointer
            by = self._grabbed - scale.value_at(event.position().x())
            self.go(self.shown[0] + by, self.shown[1] + by)
        inside = scale.frame.contains(event.position())
        self.pointed.emit(scale.value_at(event.position().x()) if inside else None)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        self.pointed.emit(None)
        super().leaveEvent(event)

    # -- painting --------------------------------------------------------------------------------------------

    def scale(self) -> Scale:
        """The scale of the current range."""
        self.layers()  # they decide the height
        metrics = QFontMetrics(theme.font("caption"))
        left = max(44, metrics.horizontalAdvance("100% ") + 12, metrics.horizontalAdvance(self._across) + 12)
        frame = QRectF(self.rect()).adjusted(
            left, math.ceil(1.75 * metrics.height()), -2, -(1.5 * metrics.height() + 2)
        )
        return Scale(frame, self.shown, self._height)

    def resizeEvent(self, event: QEvent) -> None:  # noqa: N802
        self._layers = None  # a wider chart has room for more points

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours, scale = theme.current(), self.scale()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.surface))
        self._paint_axes(painter, scale)
        painter.save()
        painter.setClipRect(scale.frame)
        if self.cross is not None:
            at = scale.point(self.cross, scale.y[0]).x()
            painter.setPen(QPen(QColor(colours.edge), 1))
            painter.drawLine(QPointF(at, scale.frame.top()), QPointF(at, scale.frame.bottom()))
        for layer in self.layers():
            # Antialiasing costs half a frame, so it is off while somebody drags or zooms.
            layer.paint(painter, scale, smooth=not self._settle.isActive())
        painter.restore()
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_axes(self, painter: QPainter, scale: Scale) -> None:
        colours, frame = theme.current(), scale.frame
        painter.setFont(theme.font("caption"))
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawLine(frame.bottomLeft(), frame.bottomRight())
        found = self.numbers(scale)
        for number in found:
            painter.drawLine(*number.line)
        painter.setPen(QColor(colours.muted))
        for number in found:
            painter.drawText(number.place, Qt.AlignmentFlag.AlignCenter, number.text)
        high = painter.fontMetrics().height()
        painter.drawText(QPointF(0, painter.fontMetrics().ascent()), self._up)
        painter.drawText(QPointF(0, frame.bottom() + high / 2 + 1 + painter.fontMetrics().ascent()), self._across)

    def numbers(self, scale: Scale) -> list[Number]:
        """The numbers at the axes."""
        frame, metrics = scale.frame, QFontMetrics(theme.font("caption"))
        high = metrics.height()
        found = []
        for value in ticks(*scale.y, max(0.01, _LINES_APART * high * (scale.y[1] - scale.y[0]) / frame.height())):
            text, at = numbers.percent(round(value, 6)), round(scale.point(scale.x[0], value).y())
            wide = metrics.horizontalAdvance(text)
            place = QRectF(frame.left() - 8 - wide, at - high / 2, wide, high)
            found.append(Number(text, place, (QPointF(frame.left(), at), QPointF(frame.right(), at))))
        room = metrics.horizontalAdvance(numbers.count(int(scale.x[1]))) + 2 * high
        for value in ticks(*scale.x, max(1.0, room * (scale.x[1] - scale.x[0]) / frame.width())):
            text, at = numbers.count(round(value)), round(scale.point(value, scale.y[0]).x())
            wide = metrics.horizontalAdvance(text)
            place = QRectF(min(at - wide / 2, self.width() - wide), frame.bottom() + high / 2 + 1, wide, high)
            if value >= 0:
                found.append(Number(text, place, (QPointF(at, frame.bottom()), QPointF(at, frame.bottom() + 4))))
        return found


def ticks(low: float, high: float, apart: float) -> list[float]:
    """Round numbers from `low` to `high` with a minimum distance: multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(apart))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= apart * (1 - 1e-9))
    # A small tolerance: 0.1 + 0.2 is more than 0.3.
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
