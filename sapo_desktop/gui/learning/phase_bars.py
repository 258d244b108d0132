"""A round's phases as bars of time: the round in hand above the mean of the last ones, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from sapo_desktop.core.records import Phase
from sapo_desktop.gui.learning.round_phases import Spent
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.states import phase_words
from sapo_desktop.view.viewmodel import PHASES

_GAP, _BETWEEN, _ROUNDING = 4, 14, 6
_INSIDE = 8
"""Room at either side of a word in a bar."""


class Bar(NamedTuple):
    """One line: what it is, and its phases; None where there is nothing yet."""

    name: str
    spent: Spent | None


class PhaseBars(QWidget):
    """Bars below each other. `pointed`: the phase under the pointer, or None."""

    pointed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._bars: list[Bar] = []
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.looks().changed.connect(self.updateGeometry)

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Draw these; nothing where nothing changed."""
        if list(bars) != self._bars:
            many = len(bars) != len(self._bars)
            self._bars = list(bars)
            if many:
                self.updateGeometry()
            self.update()

    @property
    def bars(self) -> list[Bar]:
        return self._bars

    def sizeHint(self) -> QSize:  # noqa: N802
        lines = max(2, len(self._bars))
        return QSize(300, lines * (self._caption() + _GAP + self._bar()) + (lines - 1) * _BETWEEN)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(120, self.sizeHint().height())

    def phase_at(self, point: QPointF) -> Phase | None:
        """The phase that is drawn there."""
        for top, bar in self._lines():
            if bar.spent is not None and top <= point.y() <= top + self._bar():
                for phase, begin, end in bar.spent.ends():
                    if begin * self._scale() <= point.x() < end * self._scale():
                        return phase
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.pointed.emit(self.phase_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        self.pointed.emit(None)
        super().leaveEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("caption"))
        for top, bar in self._lines():
            self._paint_caption(painter, top, bar)
            self._paint_bar(painter, top, bar)
        painter.end()

    def _lines(self) -> list[tuple[float, Bar]]:
        """Where each bar's upper edge is."""
        step = self._caption() + _GAP + self._bar() + _BETWEEN
        return [(at * step + self._caption() + _GAP, bar) for at, bar in enumerate(self._bars)]

    def _caption(self) -> int:
        return QFontMetrics(theme.font("caption")).height()

    def _bar(self) -> int:
        return self._caption() + 12

    def _scale(self) -> float:
        """Pixels a second."""
        longest = max((bar.spent.total for bar in self._bars if bar.spent is not None), default=0.0)
        return self.width() / longest if longest > 0 else 0.0

    def _paint_caption(self, painter: QPainter, top: float, bar: Bar) -> None:
        line = QRectF(0, top - _GAP - self._caption(), self.width(), self._caption())
        painter.setPen(QColor(theme.current().muted))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, bar.name)
        if bar.spent is not None:
            total = numbers.span(bar.spent.total)
            painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, total)

    def _paint_bar(self, painter: QPainter, top: float, bar: Bar) -> None:
        colours = theme.current()
        groove = QPainterPath()
        groove.addRoundedRect(QRectF(0, top, self.width(), self._bar()), _ROUNDING, _ROUNDING)
        painter.fillPath(groove, QColor(colours.sunken))
        if bar.spent is None:
            return
        painter.setClipPath(groove)
        for phase, begin, end in bar.spent.ends():
            # A hair between two phases tells them apart also where colours do not.
            piece = QRectF(begin * self._scale(), top, max(1.0, (end - begin) * self._scale() - 1), self._bar())
            colour = QColor(phase_colour(phase))
            painter.fillRect(piece, colour)
            self._paint_words(painter, piece, phase, end - begin, colour)
        painter.setClipping(False)

    def _paint_words(self, painter: QPainter, piece: QRectF, phase: Phase, seconds: float, behind: QColor) -> None:
        """The most that there is room for: name and seconds, the name, nothing."""
        name = phase_words(phase)
        for text in (f"{name} {numbers.span(seconds)}", name):
            if painter.fontMetrics().horizontalAdvance(text) + 2 * _INSIDE <= piece.width():
                painter.setPen(readable_on(behind))
                painter.drawText(piece, Qt.AlignmentFlag.AlignCenter, text)
                return


class Swatch(QWidget):
    """A small square in a phase's colour."""

    def __init__(self, phase: Phase) -> None:
        super().__init__()
        self._phase = phase
        self.setFixedSize(12, 12)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(phase_colour(self._phase)))
        painter.drawRoundedRect(QRectF(self.rect()), 3, 3)
        painter.end()


def phase_colour(phase: Phase) -> str:
    return theme.current().chart_phases[PHASES.index(phase)]


def readable_on(colour: QColor) -> QColor:
    """Black or white, whichever stands out more."""

    def light(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    luminance = 0.2126 * light(colour.redF()) + 0.7152 * light(colour.greenF()) + 0.0722 * light(colour.blueF())
    # Where the contrast with both is the same (WCAG's formula).
    return QColor("#000000" if luminance > 0.179 else "#ffffff")
