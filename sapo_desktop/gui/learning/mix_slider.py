"""How many of eight questions come with peers' answers: a slider with four stops, and a picture of what they mean."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from sapo_desktop.gui.look import theme

_KNOB, _ROUND = 9, 4
_SIDE, _BETWEEN = 22, 6


class Stops(QSlider):
    """A slider that rests at a few named stops only. Keys and pointer move it; the wheel scrolls the page."""

    def __init__(self, name: str, stops: Sequence[str]) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._stops = list(stops)
        self.setAccessibleName(name)
        self.setRange(0, len(stops) - 1)
        self.setPageStep(1)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.looks().changed.connect(self.updateGeometry)

    @property
    def stop(self) -> str:
        return self._stops[self.value()]

    def show_stop(self, stop: str) -> None:
        """Show what holds, without anybody being asked to change it."""
        if stop in self._stops:
            blocked = self.blockSignals(True)
            self.setValue(self._stops.index(stop))
            self.blockSignals(blocked)
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(240, 2 * _KNOB + 10 + QFontMetrics(theme.font("caption")).height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(160, self.sizeHint().height())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._go_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.isSliderDown():
            self._go_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.setSliderDown(False)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("caption"))
        self._paint_groove(painter)
        self._paint_names(painter)
        self._paint_knob(painter)
        painter.end()

    def _middle(self) -> float:
        return _KNOB + 4

    def _x(self, at: int) -> float:
        """Where a stop is; the outer names end with the slider."""
        margin = _KNOB + 6
        return margin + at * (self.width() - 2 * margin) / max(1, len(self._stops) - 1)

    def _go_to(self, x: float) -> None:
        self.setValue(min(range(len(self._stops)), key=lambda at: abs(self._x(at) - x)))

    def _tone(self) -> str:
        return theme.current().accent if self.isEnabled() else theme.current().edge

    def _paint_groove(self, painter: QPainter) -> None:
        colours = theme.current()
        y = self._middle()
        for first, last, colour in (
            (0, len(self._stops) - 1, colours.line),
            (0, self.value(), self._tone()),
        ):
            painter.setPen(QPen(QColor(colour), 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(self._x(first), y), QPointF(self._x(last), y))
        painter.setPen(QPen(QColor(colours.edge), 1.5))
        for at in range(len(self._stops)):
            painter.setBrush(QColor(self._tone() if at <= self.value() else colours.surface))
            painter.drawEllipse(QPointF(self._x(at), y), _ROUND, _ROUND)

    def _paint_names(self, painter: QPainter) -> None:
        colours = theme.current()
        top = 2 * _KNOB + 8
        for at, name in enumerate(self._stops):
            width = painter.fontMetrics().horizontalAdvance(name) + 4
            left = min(max(0.0, self._x(at) - width / 2), self.width() - width)
            painter.setPen(QColor(colours.text if at == self.value() and self.isEnabled() else colours.muted))
            painter.drawText(QRectF(left, top, width, self.height() - top), Qt.AlignmentFlag.AlignHCenter, name)

    def _paint_knob(self, painter: QPainter) -> None:
        colours = theme.current()
        centre = QPointF(self._x(self.value()), self._middle())
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, _KNOB + 3, _KNOB + 3)
        painter.setPen(QPen(QColor(colours.surface), 2))
        painter.setBrush(QColor(self._tone()))
        painter.drawEllipse(centre, _KNOB, _KNOB)


class MixPicture(QWidget):
    """Eight squares: filled ones with own answers, hatched ones with peers'."""

    def __init__(self) -> None:
        super().__init__()
        self._own, self._external = 8, 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_mix(self, own: int, external: int, words: str) -> None:
        """So many of either; `words` say it."""
        self.setAccessibleName(words)
        if (own, external) != (self._own, self._external):
            self._own, self._external = own, external
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(8 * _SIDE + 7 * _BETWEEN + 2, _SIDE + 2)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() is QEvent.Type.EnabledChange:
            self.update()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for at in range(self._own + self._external):
            square = QRectF(1 + at * (_SIDE + _BETWEEN), 1, _SIDE, _SIDE)
            own = at < self._own
            colour = QColor(colours.chart_me if own else colours.chart_swarm)
            if not self.isEnabled():
                colour = QColor(colours.edge)
            painter.setPen(QPen(colour, 1.5))
            painter.setBrush(QBrush(colour, Qt.BrushStyle.SolidPattern if own else Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(square, 4, 4)
        painter.end()
