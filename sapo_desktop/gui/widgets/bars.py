"""Bars of several adjacent parts, and the meaning of their colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.layout import holding, row
from sapo_desktop.gui.widgets.text import Label

_HEIGHT, _SWATCH = 20, 12


def show_done(bar: QProgressBar, done: int, total: int) -> None:
    """The progress. While it is 0 or unknown, an animation: never empty."""
    known = 0 < done <= total
    bar.setRange(0, total if known else 0)
    bar.setValue(done if known else 0)


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
