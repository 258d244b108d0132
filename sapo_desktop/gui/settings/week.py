"""The hours of a week as a grid: seven days by twenty-four hours, drawn on with the mouse or the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from sapo_desktop.core.schedule import DAY_HOURS, DAYS, WEEK_HOURS, Hours
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr

_ROW = 15
_MOVES = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: -DAY_HOURS,
    Qt.Key.Key_Down: DAY_HOURS,
}


class Week(QWidget):
    """See the module. Arrows move, Space switches the hour; a drag gives all that it passes the first one's new state.

    Signals:
        drawn: the hours, once the mouse is let go or a key was pressed.
    """

    drawn = Signal(frozenset)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._hours: set[int] = set()
        self._at = 0
        self._paints: bool | None = None
        """What a drag makes of the hours that it passes; None: there is none."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.looks().changed.connect(self.updateGeometry)
        self._say()

    def show_hours(self, hours: Hours) -> None:
        """Show these, unless one is just drawing."""
        if self._paints is None:
            self._hours = set(hours)
            self._say()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(240, self._row() * (len(DAYS) + 1))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(160, self.sizeHint().height())

    def cell(self, hour: int) -> QRectF:
        """Where an hour of the week is drawn."""
        day, of_day = divmod(hour, DAY_HOURS)
        left, wide = self._left(), (self.width() - self._left()) / DAY_HOURS
        return QRectF(left + of_day * wide, self._row() * (day + 1), wide, self._row())

    # -- mouse and keys --------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        hour = self._hour(event.position())
        if hour is not None and event.button() == Qt.MouseButton.LeftButton:
            self._paints = hour not in self._hours
            self._set(hour, self._paints)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        hour = self._hour(event.position())
        if hour is not None and self._paints is not None:
            self._set(hour, self._paints)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._paints is not None:
            self._paints = None
            self.drawn.emit(frozenset(self._hours))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = Qt.Key(event.key())
        if key in _MOVES:
            self._at = (self._at + _MOVES[key]) % WEEK_HOURS
            self._say()
        elif key == Qt.Key.Key_Space:
            self._set(self._at, self._at not in self._hours)
            self.drawn.emit(frozenset(self._hours))
        else:
            super().keyPressEvent(event)

    # -- what is seen ----------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.current()
        painter = QPainter(self)
        painter.setFont(theme.font("caption"))
        painter.setPen(QColor(colours.muted))
        for of_day in range(0, DAY_HOURS, 6):
            place = self.cell(of_day).translated(0, -self._row())
            painter.drawText(place.adjusted(0, 0, 30, 0), Qt.AlignmentFlag.AlignLeft, str(of_day))
        for day in range(len(DAYS)):
            place = QRectF(0, self._row() * (day + 1), self._left(), self._row())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, _day(day))
        for hour in range(WEEK_HOURS):
            colour = colours.accent if hour in self._hours else colours.sunken
            painter.fillRect(self.cell(hour).adjusted(0.5, 0.5, -0.5, -0.5), QColor(colour))
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.text), 2))
            painter.drawRect(self.cell(self._at).adjusted(1, 1, -1, -1))
        painter.end()

    def _set(self, hour: int, on: bool) -> None:
        self._at = hour
        (self._hours.add if on else self._hours.discard)(hour)
        self._say()

    def _say(self) -> None:
        """Draw anew, and put the hour under the mark into words."""
        day, of_day = divmod(self._at, DAY_HOURS)
        state = tr("on") if self._at in self._hours else tr("off")
        said = tr("{name}: {day}, {hour}, {state}")
        hour = numbers.count(of_day)
        self.setAccessibleName(said.format(name=self._name, day=_day(day, long=True), hour=hour, state=state))
        self.update()

    def _hour(self, at: QPointF) -> int | None:
        """The hour of the week at a place."""
        day = int(at.y() // self._row()) - 1
        of_day = int((at.x() - self._left()) * DAY_HOURS // max(1, self.width() - self._left()))
        return DAY_HOURS * day + of_day if 0 <= day < len(DAYS) and 0 <= of_day < DAY_HOURS else None

    def _row(self) -> int:
        return round(_ROW * theme.looks().text_percent / 100)

    def _left(self) -> float:
        """The width of the days' names."""
        metrics = QFontMetricsF(theme.font("caption"))
        return max(metrics.horizontalAdvance(_day(day)) for day in range(len(DAYS))) + 6


def _day(day: int, *, long: bool = False) -> str:
    form = QLocale.FormatType.LongFormat if long else QLocale.FormatType.ShortFormat
    return QLocale().standaloneDayName(day + 1, form)
