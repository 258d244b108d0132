"""Bars of several parts beside each other, and what their colours mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.look import theme

_HEIGHT = 20


@dataclass(frozen=True)
class Stretch:
    """One part of a bar: its share of the whole width, and a colour of the theme. `hatched`: kept free."""

    share: float
    colour: str
    hatched: bool = False


class StackedBar(QWidget):
    """Parts from left to right, on a track; a mark where a limit is. Its name says all of it in words."""

    def __init__(self, name: str, parts: Sequence[Stretch], limit: float = 1.0) -> None:
        """`limit`: where the mark is, as a share of the width."""
        super().__init__()
        self._parts, self._limit = list(parts), limit
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.looks().changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(240, _HEIGHT)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(80, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(0, 3, self.width(), _HEIGHT - 6)
        clip = QPainterPath()
        clip.addRoundedRect(whole, 4, 4)
        painter.setClipPath(clip)
        painter.fillRect(whole, QColor(colours.sunken))
        left = 0.0
        for part in self._parts:
            width = part.share * whole.width()
            if width >= 0.5:
                _fill(painter, QRectF(left, whole.top(), max(1.0, width - 1), whole.height()), part)
            left += width
        painter.setClipping(False)
        if self._limit < 0.999:
            x = round(self._limit * whole.width())
            painter.setPen(QPen(QColor(colours.text), 2))
            painter.drawLine(QPointF(x, 0), QPointF(x, _HEIGHT))
        painter.end()


class Swatch(QWidget):
    """What a colour of a bar is."""

    def __init__(self, text: str, colour: str, *, hatched: bool = False) -> None:
        super().__init__()
        self._text = text
        self._part = Stretch(1.0, colour, hatched)
        self.setAccessibleName(one_line(text, 1000))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.looks().changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(22 + metrics.horizontalAdvance(self._text), max(18, metrics.height() + 4))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _fill(painter, QRectF(1, (self.height() - 12) / 2, 12, 12), self._part)
        painter.setPen(QColor(theme.current().muted))
        painter.drawText(self.rect().adjusted(20, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._text)
        painter.end()


def _fill(painter: QPainter, rect: QRectF, part: Stretch) -> None:
    colour = QColor(getattr(theme.current(), part.colour))
    if not part.hatched:
        painter.fillRect(rect, colour)
        return
    painter.fillRect(rect, QBrush(colour, Qt.BrushStyle.BDiagPattern))
    painter.setPen(QPen(colour, 1))
    painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
