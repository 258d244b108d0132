"""Input fields: lines, numbers, a choice from a list, a text of several lines.

The wheel scrolls the page and never changes a value under the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLocale, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QIcon, QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit, QPlainTextEdit

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.look import icons, theme
from sapo_desktop.gui.widgets.timers import timer

_LINES = 3
"""Visible lines of a multi-line text."""


class Line(QLineEdit):
    """One line of text. `taken`: the input is finished, by Enter, by leaving the field, or by a pause."""

    taken = Signal(str)
    PAUSE_MS = 1200
    """Pause without a key; a shorter one would try half an address."""

    def __init__(self, name: str, text: str = "", hint: str = "") -> None:
        super().__init__(text)
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self._known = text
        self._pause = timer(self, self.PAUSE_MS, self._take, once=True)
        self.textEdited.connect(lambda _: self._pause.start())
        self.editingFinished.connect(self._take)

    def show_text(self, text: str) -> None:
        """Show the current value; while the field has the focus, wait until it is left."""
        self._known = text
        if not self.hasFocus() and self.text() != text:
            self.setText(text)
            self.setCursorPosition(0)

    def _take(self) -> None:
        self._pause.stop()
        if self.isModified():
            self.setModified(False)
            if self.text() != self._known:
                self._known = self.text()
                self.taken.emit(self.text())
        elif not self.hasFocus() and self.text() != self._known:
            self.setText(self._known)


class SearchLine(QLineEdit):
    """A search. Escape empties it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(name)
        self.setClearButtonEnabled(True)
        self._lens = self.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self._paint_lens()
        theme.looks().changed.connect(self._paint_lens)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)

    def _paint_lens(self) -> None:
        self._lens.setIcon(icons.icon("search", 16, theme.current().muted))


class Choice(QComboBox):
    """One of many. `chosen`: the value that the user chose."""

    chosen = Signal(str)

    def __init__(self, name: str, choices: Sequence[tuple[str, str]] = ()) -> None:
        """`choices`: value and text of each."""
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.set_choices(choices)
        self.activated.connect(lambda at: self.chosen.emit(self.itemData(at)))

    def set_choices(self, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        """Replace the choices; the selection stays if it is among them and `current` is not."""
        wanted = current or self.current
        self.clear()
        for value, text in choices:
            self.addItem(one_line(text, 100), value)
        self.show_choice(wanted)

    @property
    def current(self) -> str:
        return str(self.currentData() or "")

    def show_choice(self, value: str) -> None:
        """Show the current value without triggering a change."""
        at = self.findData(value)
        if at >= 0 and at != self.currentIndex():
            self.setCurrentIndex(at)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        event.ignore()


class Number(QDoubleSpinBox):
    """A whole number, or one with up to three digits after the point, without trailing zeros. `taken`: by an arrow,
    by Enter, or by leaving the field."""

    taken = Signal(str)

    def __init__(self, name: str, low: float, high: float, step: float, *, whole: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.lineEdit().setAccessibleName(name)
        self.lineEdit().setTextMargins(8, 0, 0, 0)  # the style sheet's padding does not reach it
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setDecimals(0 if whole else 3)
        self.setRange(low, high)
        self.setSingleStep(step)
        self.setGroupSeparatorShown(whole)
        self.valueChanged.connect(lambda value: self.taken.emit(f"{value:.0f}" if whole else f"{value:g}"))

    def show_number(self, value: float) -> None:
        """Show the current value, unless the user is typing."""
        is_written = self.hasFocus() and self.lineEdit().isModified()
        if abs(value - self.value()) >= 0.0005 and not is_written:
            with QSignalBlocker(self):
                self.setValue(value)

    def textFromValue(self, value: float) -> str:  # noqa: N802
        text = super().textFromValue(value)
        point = QLocale().decimalPoint()
        return text.rstrip("0").removesuffix(point) if self.decimals() and point in text else text

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        event.ignore()


class Writing(QPlainTextEdit):
    """A text of several lines. Tab leaves it; Ctrl-Enter is `sent`."""

    sent = Signal()

    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self.setTabChangesFocus(True)
        self._fit()
        theme.looks().changed.connect(self._fit)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and held:
            self.sent.emit()
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        height = QFontMetrics(theme.font("body")).lineSpacing() * _LINES + 28
        self.setFixedHeight(height)
