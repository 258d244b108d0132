"""Bars: of progress, and of several adjacent parts with the meaning of their colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.layout import holding, row
from sapo_desktop.gui.widgets.text import Label

_HEIGHT, _SWATCH, _THIN = 20, 12, 8


class Progress(QProgressBar):
    """How far something is; stripes while that is 0 or unknown. It never moves by itself, as Qt's own would: words
    next to it say what happens."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)
        self.setRange(0, 0)
        theme.looks().changed.connect(self.updateGeometry)

    def show_done(self, done: int, total: int) -> None:
        """So much of the total."""
        known = 0 < done <= total
        self.setRange(0, total if known else 0)
        self.setValue(done if known else 0)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(240, theme.scaled(_THIN))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(80, theme.scaled(_THIN))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole, known = QRectF(self.rect()), self.maximum() > 0
        clip = QPainterPath()
        clip.addRoundedRect(whole, 4, 4)
        painter.setClipPath(clip)
        painter.fillRect(whole, QColor(colours.sunken if known else colours.accent_soft))
        if known:
            whole.setWidth(whole.width() * self.value() / self.maximum())
        stripes = Qt.BrushStyle.SolidPattern if known else Qt.BrushStyle.BDiagPattern
        painter.fillRect(whole, QBrush(QColor(colours.accent), stripes))
        painter.end()


@dataclass(frozen=True)
class Stretch:
    """One part of a bar: its share of the width, and a colour of the theme."""

    share: float
    colour: str


class StackedBar(QWidget):
    """Parts from left to right, on a track. Its accessible name says everything in words."""

    def __init__(self, name: str = "", parts: Sequence[Stretch] = ()) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.looks().changed.connect(self.updateGeometry)
        self.show_parts(name, parts)

    def show_parts(self, name: str, parts: Sequence[Stretch]) -> None:
        """Draw these; `name` says the same in words."""
        self._parts = list(parts)
        self.setAccessibleName(name)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(240, theme.scaled(_HEIGHT))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(80, theme.scaled(_HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(0, 3, self.width(), self.height() - 6)
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
        painter.end()


class Swatch(QWidget):
    """A small square in a colour of a bar."""

    def __init__(self, colour: str) -> None:
        super().__init__()
        self._part = Stretch(1.0, colour)
        self._fit()
        theme.looks().changed.connect(self._fit)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        _fill(painter, QRectF(self.rect()), self._part)
        painter.end()

    def _fit(self) -> None:
        self.setFixedSize(theme.scaled(_SWATCH), theme.scaled(_SWATCH))


def legend(sample: QWidget, text: str) -> QWidget:
    """The meaning of a colour or a line."""
    return holding(row(sample, Label(text, "caption", wrap=False), spacing=0.75))


def _fill(painter: QPainter, rect: QRectF, part: Stretch) -> None:
    painter.fillRect(rect, QColor(theme.current().colour(part.colour)))
