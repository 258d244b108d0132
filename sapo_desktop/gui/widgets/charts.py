"""Charts of the rounds that draw only what the eye can distinguish, at most four times a second.

`CurveChart` shows what the model can do, or its success in training next to its peers, over the whole history;
`SmallChart` shows one task at a glance.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.layers import Band, Layer, Level, Line, Scale, Shade
from sapo_desktop.gui.widgets.plot import Plot
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.curves import RECENT_ROUNDS, Column, Curves, Means, smoothed

REDRAW_MS = 250
FAINT = 60
"""Alpha of the line of single rounds."""
_SAMPLE = QSize(28, 14)
_PADDING = 0.015
"""Share of the shown range, on either side."""
_FOLLOW = 0.05
"""A view follows the newest round if its right edge is within this share of its width."""


class CurveChart(Plot):
    """Over the rounds, either the held-out score with its interval and the base's (`skill`), or the share solved in
    training, here and by the median peer with its interval.

    Signals:
        row_pointed: the row of the history under the pointer, or None.
    """

    row_pointed = Signal(object)

    def __init__(self, curves: Curves, name: str) -> None:
        super().__init__(name, tr("Share solved"), tr("Round"))
        self._curves = curves
        self._all = True
        """Whether everything is shown, whatever is added."""
        self._skill = True
        self._stale = True
        self._kept_means: dict[tuple[str, int], Means] = {}
        self._means_of = -1
        self._timer = timer(self, REDRAW_MS, self._redraw_if_stale, once=True)
        self.moved.connect(self._keep_choice)
        self.pointed.connect(self._point_at)

    def follow(self) -> None:
        """The curves have grown: draw them soon, if they are visible."""
        self._stale = True
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: Any) -> None:  # noqa: N802
        super().showEvent(event)
        self._redraw_if_stale()

    def show_skill(self, on: bool) -> None:
        """Show what the model can do, or else its success in training."""
        self._skill = on
        self.redraw()

    def show_all(self) -> None:
        self._all = True
        self._arrange()

    def show_last(self, rounds: int) -> None:
        """The newest rounds, and those to come."""
        self._all = False
        last = max(self._curves.last_round, rounds)
        self._set_limits()
        self.show_between(last - (1 + _PADDING) * rounds, last + _PADDING * rounds)

    def _redraw_if_stale(self) -> None:
        if self._stale and self.isVisible():
            self._stale = False
            self._arrange()

    def _set_limits(self) -> int:
        """Returns the newest round."""
        first = self._curves.first_round
        last = max(first + 10, self._curves.last_round)
        # Room at the left for the mark of the first point, which is at the model's beginning.
        self.limits = (first - 0.02 * (last - first), last + 0.02 * (last - first) + 5)
        return last

    def _arrange(self) -> None:
        """Keep everything visible, or the newest round at the right edge, if that was so before."""
        low, high = self.shown
        last = self._set_limits()
        if self._all:
            first = self._curves.first_round
            edge = _PADDING * (last - first)
            self.show_between(first - edge, last + edge)
        elif last > high >= last - _FOLLOW * (high - low) - 1:
            self.show_between(low + last - high, last)
        else:
            self.redraw()

    def _keep_choice(self) -> None:
        low, high = self.shown
        self._all = low <= self._curves.first_round + 0.5 and high >= self._curves.last_round

    @property
    def row_under_pointer(self) -> int | None:
        """The row of the round under the pointer, however many came since."""
        return self._row_at(self.cross)

    def _row_at(self, wanted: float | None) -> int | None:
        rounds = self._curves.column("round")
        return None if wanted is None or not len(rounds) else int(np.abs(rounds - wanted).argmin())

    def _point_at(self, wanted: float | None) -> None:
        at = self._row_at(wanted)
        self.cross = None if at is None else float(self._curves.column("round")[at])
        self.update()
        self.row_pointed.emit(at)

    # -- drawing ---------------------------------------------------------------------------------------------

    def collect(self, low: float, high: float) -> tuple[list[Layer], tuple[float, float]]:
        layers, values = self._scores(low, high) if self._skill else self._training(low, high)
        return layers, height_for(values)

    def _training(self, low: float, high: float) -> tuple[list[Layer], Column]:
        """Layers, and the values to show."""
        x = self._curves.column("round")
        # A point for every other pixel: the eye sees no more, and thick smooth lines are the main cost.
        buckets = max(100, self.width() // 2)
        names = ("alone", "swarm_mine", "swarm_reward", "swarm_low", "swarm_high")
        rounds = self._means("alone").glimpse(low, high, buckets)[0]
        alone, mine, swarm, least, most = (self._means(name).glimpse(low, high, buckets)[1] for name in names)
        seen = [alone, mine, swarm, least, most]
        layers: list[Layer] = []
        if played_in_both(self._curves):
            layers.append(Shade(rounds, self._means("silo", 1).glimpse(low, high, buckets)[1] > 0.5, "silo", alpha=30))
        layers.append(Band(rounds, least, most, "chart_swarm", alpha=45))
        # If rounds are closer than pixels, their noise would be a meaningless block of colour.
        if int(np.searchsorted(x, high) - np.searchsorted(x, low)) <= 2 * buckets:
            each = self._means("each", 1).glimpse(low, high, 2 * buckets)
            layers.append(Line(*each, "chart_me", width=1, alpha=FAINT))
            seen.append(each[1])
        ends = [self._means(name).values[-1:] for name in ("swarm_mine", "alone")]
        layers += [
            Line(rounds, swarm, "chart_swarm", width=2.2, dashed=True),
            Line(rounds, alone, "chart_me"),
            Line(rounds, mine, "chart_me"),
            # A line of one point is invisible, and a new user waits for the first round.
            Line(x[-1:], np.where(np.isnan(ends[0]), ends[1], ends[0]), "chart_me", mark="dot"),
        ]
        return layers, np.concatenate(seen)

    def _means(self, name: str, window: int = RECENT_ROUNDS) -> Means:
        """The column's means over so many rounds; computed once for each state of the history."""
        if self._means_of != self._curves.revision:
            self._means_of = self._curves.revision
            self._kept_means.clear()
        if (name, window) not in self._kept_means:
            column = smoothed(self._column(name), window)
            self._kept_means[name, window] = Means(self._curves.column("round"), column)
        return self._kept_means[name, window]

    def _column(self, name: str) -> Column:
        """A column of the history; `each`: the one compared with peers, otherwise everything solved; `alone`: only the
        latter."""
        mine, solved = self._curves.column("swarm_mine"), self._curves.column("solved")
        match name:
            case "each":
                return np.where(np.isnan(mine), solved, mine)
            case "alone":
                return np.where(np.isnan(mine), solved, np.nan)
        return self._curves.column(name)

    def _scores(self, low: float, high: float) -> tuple[list[Layer], Column]:
        """Layers, and the values to show."""
        found = self._curves.held_out()
        begin = max(0, int(np.searchsorted(found.rounds, low)) - 1)
        end = int(np.searchsorted(found.rounds, high, side="right")) + 1
        # A long history has thousands of scores: only as many as the eye can distinguish are drawn, including the
        # newest.
        step = -(-(min(end, len(found.rounds)) - begin) // max(100, self.width() // 4)) or 1
        of = slice(min(end, len(found.rounds)) - 1, begin - 1 if begin else None, -step)
        rounds, scores, lows, highs = (
            values[of][::-1] for values in (found.rounds, found.scores, found.low, found.high)
        )
        layers: list[Layer] = [Band(rounds, lows, highs, "chart_held_out", alpha=40)]
        if found.base is not None:
            layers.append(Level(found.base, "chart_base"))
        layers.append(Line(rounds, scores, "chart_held_out", mark="diamond"))
        return layers, np.concatenate([scores, lows, highs])


def height_for(values: Column) -> tuple[float, float]:
    """The range of the y axis, in twentieths: the values with a margin, at least a fifth."""
    known = values[~np.isnan(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()) - 0.06, float(known.max()) + 0.06
    if high - low < 0.2:
        low, high = (low + high) / 2 - 0.1, (low + high) / 2 + 0.1
    return max(0.0, np.floor(20 * low) / 20), min(1.02, np.ceil(20 * high) / 20)


def played_in_both(curves: Curves) -> bool:
    """Whether some rounds were played in silo and others in the swarm."""
    silo = curves.column("silo")
    return bool((silo == 1).any() and (silo == 0).any())


def words_at(curves: Curves, at: int) -> str:
    """The chart's content at one row of the history, in words."""
    number, measured = curves.column("round")[at], not np.isnan(curves.column("swarm_mine")[at])
    parts = [tr("Round {round}").format(round=numbers.count(int(number)))]
    if measured and (shares := curves.shares(at)) is not None:
        parts += [
            tr("solved here: {share}").format(share=numbers.percent(shares.mine)),
            tr("median of %n peer(s): {share} ({low} to {high})", None, shares.peers).format(
                share=numbers.percent(shares.others),
                low=numbers.percent(shares.low),
                high=numbers.percent(shares.high),
            ),
        ]
    else:
        solved = smoothed(curves.column("solved")[max(0, at + 1 - RECENT_ROUNDS) : at + 1], RECENT_ROUNDS)[-1]
        parts.append(tr("solved in training: {share}").format(share=numbers.percent(float(solved))))
    found = curves.held_out()
    until = int(np.searchsorted(found.rounds, number, side="right"))
    if until:
        score, scored = float(found.scores[until - 1]), int(found.rounds[until - 1])
        parts.append(
            tr("held-out: {value} (round {round})").format(value=numbers.percent(score), round=numbers.count(scored))
        )
    return " · ".join(parts)


class SmallChart(QWidget):
    """The share solved of one task, round by round: a line without axes, 0 below and 1 above."""

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
            mean = smoothed(np.array(self._values, dtype=np.float64), max(1, min(10, len(self._values) // 4)))
            line = Line(np.arange(len(mean), dtype=np.float64), mean, "chart_me", width=2, mark="dot")
            line.paint(painter, Scale(frame, (0, max(1, len(mean) - 1)), (0, 1)), smooth=True)
        painter.end()


class LineSample(QWidget):
    """A line as it is drawn: its colour and dashes differ. `look`: with a mark, thin, or the colour of an area."""

    def __init__(
        self, colour: str, style: Qt.PenStyle, look: Literal["plain", "diamond", "faint", "area"] = "plain"
    ) -> None:
        super().__init__()
        self._colour, self._style, self._look = colour, style, look
        self._fit()
        theme.looks().changed.connect(self._fit)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self.width() / _SAMPLE.width(), self.height() / _SAMPLE.height())
        colour = QColor(theme.current().colour(self._colour))
        middle = _SAMPLE.height() / 2
        if self._look == "area":
            colour.setAlpha(60)
            painter.fillRect(QRectF(2, 1, _SAMPLE.width() - 4, _SAMPLE.height() - 2), colour)
        else:
            if self._look == "faint":
                colour.setAlpha(2 * FAINT)
            painter.setPen(QPen(colour, 1.2 if self._look == "faint" else 2.4, self._style))
            painter.drawLine(QPointF(2, middle), QPointF(_SAMPLE.width() - 2, middle))
        if self._look == "diamond":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            corners = ((14, middle - 5), (18, middle), (14, middle + 5), (10, middle))
            painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        painter.end()

    def _fit(self) -> None:
        self.setFixedSize(theme.scaled(_SAMPLE.width()), theme.scaled(_SAMPLE.height()))
