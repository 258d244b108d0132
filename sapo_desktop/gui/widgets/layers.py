"""The content of a plot within its axes: lines, bands and a level, each drawn from columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from sapo_desktop.gui.look import theme
from sapo_desktop.view.curves import Column

_ON, _PERIOD = 4, 6
"""Pattern of a dashed line, in points: Qt's own dashes cost ten times as much as the line."""
_DIAMOND = ((0.0, -5.0), (4.0, 0.0), (0.0, 5.0), (-4.0, 0.0))
_DOT = 4.0
_MARKS_APART = 10.0
"""Pixels."""


@dataclass(frozen=True)
class Scale:
    """From values to pixels: `x` and `y` are the lowest and highest value of a frame."""

    frame: QRectF
    x: tuple[float, float]
    y: tuple[float, float]

    def points(self, x: Column, y: Column) -> list[QPointF]:
        """The pixels of the values; NaN stays NaN."""
        across = self.frame.left() + (x - self.x[0]) * (self.frame.width() / (self.x[1] - self.x[0]))
        up = self.frame.bottom() - (y - self.y[0]) * (self.frame.height() / (self.y[1] - self.y[0]))
        return list(map(QPointF, across.tolist(), up.tolist()))

    def point(self, x: float, y: float) -> QPointF:
        """The pixel of one value."""
        return self.points(np.array([x]), np.array([y]))[0]

    def value_at(self, across: float) -> float:
        """The x of a pixel."""
        return self.x[0] + (across - self.frame.left()) * (self.x[1] - self.x[0]) / self.frame.width()


class Layer(Protocol):
    """One thing to draw."""

    def paint(self, painter: QPainter, scale: Scale, *, smooth: bool) -> None:
        """`smooth`: with antialiasing, which costs more than everything else."""


@dataclass(frozen=True)
class Line:
    """Points in the order of their `x`, joined if both are known.

    `colour`: of the theme; `alpha`: 0 to 255. A line with marks has no NaN.
    """

    x: Column
    y: Column
    colour: str
    width: float = 2.4
    alpha: int = 255
    dashed: bool = False
    mark: Literal["", "diamond", "dot"] = ""

    def paint(self, painter: QPainter, scale: Scale, *, smooth: bool) -> None:
        if not len(self.x):
            return
        colour = _coloured(self.colour, self.alpha)
        points = scale.points(self.x, self.y)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, smooth and self.width > 1)
        # Thicker next to larger text.
        painter.setPen(QPen(colour, self.width * theme.looks().text_percent / 100 if self.width > 1 else self.width))
        for begin, end in _stretches(self._joined()):
            painter.drawPolyline(QPolygonF(points[begin : end + 1]))
        if self.mark:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, smooth)
            self._paint_marks(painter, points, colour)

    def _joined(self) -> npt.NDArray[np.bool_]:
        """Which points are joined to the next one."""
        known = ~np.isnan(self.y)
        joined = known[:-1] & known[1:]
        return joined & (np.arange(len(joined)) % _PERIOD < _ON) if self.dashed else joined

    def _paint_marks(self, painter: QPainter, points: Sequence[QPointF], colour: QColor) -> None:
        painter.setPen(QPen(QColor(theme.current().surface), 1))
        painter.setBrush(colour)
        # Marks that touch hide the line and cost more than it; then only the newest has one.
        apart = (points[-1].x() - points[0].x()) / len(points) >= _MARKS_APART
        for point in points if apart else points[-1:]:
            if self.mark == "dot":
                painter.drawEllipse(point, _DOT, _DOT)
            else:
                painter.drawPolygon(QPolygonF([QPointF(point.x() + x, point.y() + y) for x, y in _DIAMOND]))
        painter.setBrush(Qt.BrushStyle.NoBrush)


@dataclass(frozen=True)
class Band:
    """The area between two lines, if both are known."""

    x: Column
    low: Column
    high: Column
    colour: str
    alpha: int

    def paint(self, painter: QPainter, scale: Scale, *, smooth: bool) -> None:
        if not len(self.x):
            return
        there, back = scale.points(self.x, self.low), scale.points(self.x, self.high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)  # the edge of a wash is hardly visible
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_coloured(self.colour, self.alpha))
        for begin, end in _stretches(~(np.isnan(self.low) | np.isnan(self.high))):
            painter.drawPolygon(QPolygonF(there[begin:end] + back[begin:end][::-1]))
        painter.setBrush(Qt.BrushStyle.NoBrush)


@dataclass(frozen=True)
class Shade:
    """The whole height, wherever `holds` is True."""

    x: Column
    holds: npt.NDArray[np.bool_]
    colour: str
    alpha: int

    def paint(self, painter: QPainter, scale: Scale, *, smooth: bool) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        colour = _coloured(self.colour, self.alpha)
        for begin, end in _stretches(self.holds):
            left, right = (scale.point(float(self.x[at]) + by, 0).x() for at, by in ((begin, -0.5), (end - 1, 0.5)))
            painter.fillRect(QRectF(left, scale.frame.top(), right - left, scale.frame.height()), colour)


@dataclass(frozen=True)
class Level:
    """One value for all x."""

    y: float
    colour: str

    def paint(self, painter: QPainter, scale: Scale, *, smooth: bool) -> None:
        at = scale.point(scale.x[0], self.y).y()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(_coloured(self.colour), 1, Qt.PenStyle.DashDotLine))
        painter.drawLine(QPointF(scale.frame.left(), at), QPointF(scale.frame.right(), at))


def _coloured(name: str, alpha: int = 255) -> QColor:
    colour = QColor(theme.current().colour(name))
    colour.setAlpha(alpha)
    return colour


def _stretches(holds: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The ranges (end exclusive) in which it is True without a gap."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8)))
    return [(begin, end) for begin, end in edges.reshape(-1, 2).tolist()]
