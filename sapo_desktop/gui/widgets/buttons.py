"""Controls to press: buttons, a switch, a choice of a few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFrame,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sapo_desktop.gui.look import icons, theme
from sapo_desktop.gui.widgets.layout import Flow
from sapo_desktop.gui.widgets.text import Label, for_button, restyle, set_tooltip

Kind = Literal["plain", "primary", "quiet", "inline", "danger", "big", "nav", "chip"]
"""`inline`: a quiet one in a column of words, aligned with its left edge. `chip`: silo, coloured while on."""


class Button(QPushButton):
    """A button with a text, and optionally an icon in the colour of its text."""

    def __init__(
        self, text: str, on_press: Callable[[], object] | None = None, *, kind: Kind = "plain", icon: str = ""
    ) -> None:
        super().__init__(for_button(text))
        self._icon = icon
        self.setProperty("kind", kind)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        if on_press is not None:
            self.clicked.connect(lambda: on_press())
        self._paint_icon()
        self.toggled.connect(self._paint_icon)
        theme.looks().changed.connect(self._paint_icon)

    def set_text(self, text: str) -> None:
        self.setText(for_button(text))

    def set_icon(self, name: str) -> None:
        if name != self._icon:
            self._icon = name
            self._paint_icon()

    def set_calm(self, calm: bool) -> None:
        """Make a big button less prominent."""
        value = "true" if calm else "false"
        if self.property("calm") != value:
            self.setProperty("calm", value)
            restyle(self)
            self._paint_icon()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() is QEvent.Type.EnabledChange:
            self._paint_icon()
        super().changeEvent(event)

    def _paint_icon(self, *_: object) -> None:
        if not self._icon:
            return
        colours = theme.current()
        kind = self.property("kind")
        filled = kind == "primary" or (kind == "big" and self.property("calm") != "true")
        colour = colours.on_accent if filled else colours.danger if kind == "danger" else colours.text
        if in_silo := kind == "chip" and self.isChecked():
            colour = colours.on_silo
        # Qt derives a disabled icon from the normal one: from a white one, an invisible one.
        side = theme.pixels("subtitle") + (6 if kind == "big" else 2)
        self.setIcon(icons.icon(self._icon, side, colour if self.isEnabled() or in_silo else colours.edge))
        self.setIconSize(QSize(side, side))


class IconButton(QToolButton):
    """A button with only an icon; its name is for screen readers and the tooltip."""

    def __init__(
        self, icon: str, name: str, on_press: Callable[[], object] | None = None, *, checkable: bool = False
    ) -> None:
        super().__init__()
        self._icon = icon
        self.setProperty("kind", "quiet")
        self.setAccessibleName(name)
        set_tooltip(self, name)
        self.setCheckable(checkable)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        if on_press is not None:
            self.clicked.connect(lambda: on_press())
        self._paint_icon()
        theme.looks().changed.connect(self._paint_icon)

    def _paint_icon(self, *_: object) -> None:
        side = theme.pixels("subtitle") + 2
        self.setIcon(icons.icon(self._icon, side, theme.current().text))
        self.setIconSize(QSize(side, side))


class Switch(QCheckBox):
    """On or off, effective at once. `tone`: the colour of on."""

    def __init__(self, text: str, *, tone: Literal["accent", "silo"] = "accent") -> None:
        super().__init__(for_button(text))
        self._tone = tone
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_state(self, on: bool) -> None:
        """Show the current state without triggering a change: `clicked` comes from a person only."""
        self.setChecked(on)

    def sizeHint(self) -> QSize:  # noqa: N802
        width = self.fontMetrics().horizontalAdvance(self.text()) + (10 if self.text() else 0)
        return QSize(width + _track().width() + 10, max(28, self.fontMetrics().height() + 8))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def hitButton(self, point: object) -> bool:  # noqa: N802
        return True

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.current()
        on = colours.silo if self._tone == "silo" else colours.accent
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(_track()).translated(3, (self.height() - _track().height()) / 2)
        round_end = track.height() / 2
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), round_end + 2, round_end + 2)
        filled = on if self.isChecked() else colours.surface
        frame = on if self.isChecked() else colours.edge
        if not self.isEnabled():
            filled = frame = colours.line
        painter.setPen(QPen(QColor(frame), 1.5))
        painter.setBrush(QColor(filled))
        painter.drawRoundedRect(track, round_end, round_end)
        knob_on = colours.on_silo if self._tone == "silo" else colours.on_accent
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(knob_on if self.isChecked() and self.isEnabled() else colours.edge))
        middle = track.right() - round_end if self.isChecked() else track.left() + round_end
        painter.drawEllipse(QPointF(middle, track.center().y()), 0.65 * round_end, 0.65 * round_end)
        if self.text():
            painter.setPen(QColor(colours.text if self.isEnabled() else colours.edge))
            painter.setFont(self.font())
            room = self.rect().adjusted(_track().width() + 13, 0, 0, 0)
            painter.drawText(
                room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text().replace("&&", "&")
            )
        painter.end()


def _track() -> QRect:
    """The size of a switch, which grows with the text next to it."""
    return QRect(0, 0, theme.scaled(36), theme.scaled(20))


class Segments(QWidget):
    """One of a few, side by side, continued in the next line if there is no room. Arrow keys move the choice."""

    chosen = Signal(str)

    def __init__(self, name: str, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        """`choices`: value and text of each."""
        super().__init__()
        self.setAccessibleName(name)
        self.buttons: dict[str, Button] = {}
        self._group = QButtonGroup(self)
        flow = Flow(spacing=4)
        for value, text in choices:
            button = Button(text, partial(self.chosen.emit, value), kind="quiet")
            button.setCheckable(True)
            button.setAutoExclusive(True)  # otherwise screen readers call it a check box
            button.setAccessibleName(f"{name}: {text}")
            self._group.addButton(button)
            flow.addWidget(button)
            self.buttons[value] = button
        flow.setContentsMargins(0, 0, 0, 0)
        self.setLayout(flow)
        self.show_choice(current or choices[0][0])

    @property
    def current(self) -> str:
        return next((value for value, button in self.buttons.items() if button.isChecked()), "")

    def show_choice(self, value: str) -> None:
        """Show the current value without triggering a change; none if it is not among them."""
        self._group.setExclusive(value in self.buttons)
        for name, button in self.buttons.items():
            button.setChecked(name == value)

    def hint(self, value: str, text: str) -> None:
        set_tooltip(self.buttons[value], text)


class ChoiceCard(QFrame):
    """One of several, with a sentence: a radio button in a frame that is clickable as a whole.

    Signals:
        chosen: it became the selected one.
    """

    chosen = Signal()

    def __init__(self, group: QButtonGroup, title: str, about: str) -> None:
        super().__init__()
        self.setProperty("role", "choice")
        self.setProperty("chosen", "false")
        self.radio = QRadioButton(for_button(title))
        self.radio.setAccessibleDescription(about)
        font = self.radio.font()
        font.setWeight(QFont.Weight.DemiBold)
        self.radio.setFont(font)
        group.addButton(self.radio)
        self.radio.toggled.connect(self._toggled)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 8, 14, 10)
        box.setSpacing(0)
        box.addWidget(self.radio)
        words = Label(about, "muted")
        words.setContentsMargins(theme.scaled(20) + 14, 0, 0, 0)
        box.addWidget(words)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.radio.setChecked(True)
        self.radio.setFocus()
        super().mousePressEvent(event)

    def _toggled(self, on: bool) -> None:
        self.setProperty("chosen", "true" if on else "false")
        restyle(self)
        if on:
            self.chosen.emit()
