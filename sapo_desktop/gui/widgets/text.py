"""Texts. Every label of the window is made here, so that strangers' text is never interpreted as markup.

Qt guesses: a label, a tooltip or a message box with `<b>` shows bold, loads images, opens links. Labels here are always
plain text, tooltips are escaped, and the desktop's notifications get no angle brackets.
"""

from __future__ import annotations

import html
import re
from typing import Literal

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QSizePolicy, QTextEdit, QWidget

from sapo_desktop.core.plain_text import clean, one_line
from sapo_desktop.gui.look import theme

Role = Literal["body", "caption", "muted", "strong", "subtitle", "title", "display", "chip"]
Tone = Literal["", "accent", "danger", "warning", "silo"]
_LONGEST_WORD = 64
"""A key in hex; longer words are broken at line ends."""
_LONG_WORD = re.compile(rf"[^\s/-]{{{_LONGEST_WORD}}}(?=[^\s/-])")


class Label(QLabel):
    """A text that wraps. It is always plain, and can be selected if `selectable`.

    `lines`: this many keep their place for shorter texts, so that nothing moves when it grows.
    """

    def __init__(
        self,
        text: str = "",
        role: Role = "body",
        tone: Tone = "",
        *,
        wrap: bool = True,
        selectable: bool = False,
        lines: int = 0,
    ) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        self.setProperty("role", role)
        self.setProperty("tone", tone)
        if selectable:
            self.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self._lines = lines
        if lines:
            self._keep_lines()
            theme.looks().changed.connect(self._keep_lines)
        self._plain = ""
        self.setText(text)

    MOST = 4000
    """Characters shown; longer texts belong in a `Reading`."""

    def setText(self, text: str) -> None:  # noqa: N802
        self._plain = clean(text[: self.MOST])
        super().setText(_breakable(self._plain) if self.wordWrap() else self._plain)

    def text(self) -> str:
        """The given text, made plain; the drawn one may have invisible breaks."""
        return self._plain

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """A long word does not make the page wider."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), 16 * theme.pixels("body")), hint.height()) if self.wordWrap() else hint

    def set_tone(self, tone: Tone) -> None:
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            restyle(self)

    def _keep_lines(self) -> None:
        self.ensurePolished()  # otherwise it is measured in another font
        shown = super().text()
        super().setText("\n".join(["x"] * self._lines))
        self.setMinimumHeight(self.heightForWidth(theme.scaled(100)))
        super().setText(shown)


class Title(Label):
    """A strong label of one line, which wraps only if there is no room."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "strong")

    def sizeHint(self) -> QSize:  # noqa: N802
        # Qt would wrap such a text at any width it likes.
        self.ensurePolished()  # otherwise it is measured in another font, and cut until the next update
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 2, metrics.height())


class Elided(QWidget):
    """One line of a stranger's text, cut at the end with an ellipsis; the tooltip has the whole text."""

    def __init__(self, text: str = "", role: Role = "body", *, fixed: bool = False) -> None:
        super().__init__()
        self._role = role
        self._fixed = fixed
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    def set_text(self, text: str) -> None:
        self._text = one_line(text)
        self.setAccessibleName(self._text)
        set_tooltip(self, self._text)
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        return self._text

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(self._font())
        return QSize(min(240, metrics.horizontalAdvance(self._text) + 2), metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(40, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setFont(self._font())
        colour = theme.current().muted if self._role in ("muted", "caption") else theme.current().text
        painter.setPen(colour)
        shown = painter.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.end()

    def _font(self) -> QFont:
        role = self._role if self._role in theme.SCALE else "body"
        return theme.fixed_font(role) if self._fixed else theme.font(role)


class Reading(QPlainTextEdit):
    """A longer text to read, select and copy: an answer, a question, a message as it is sent."""

    MOST = 100_000
    """Characters shown; more than a person reads and less than what slows a widget down."""
    MOST_MARKS = 1000

    def __init__(self, name: str, text: str = "", *, lines: int = 6) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("role", "reading")
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._lines = lines
        self._found: list[QTextCursor] = []
        self.set_text(text)
        self._fit()
        theme.looks().changed.connect(self._fit)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), self.minimumHeight())

    def set_text(self, text: str) -> None:
        plain = clean(text[: self.MOST])
        if plain != self.toPlainText():
            self._found.clear()
            self.setExtraSelections([])
            self.setPlainText(plain)

    def to_end(self) -> None:
        """Scroll to its end."""
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def mark(self, query: str) -> int:
        """Mark every occurrence of `query`, regardless of case; returns how many, at most MOST_MARKS."""
        self._found.clear()
        found = self.document().find(query) if query else QTextCursor()
        while not found.isNull() and len(self._found) < self.MOST_MARKS:
            self._found.append(found)
            found = self.document().find(query, found)
        self.setExtraSelections([_marked(place) for place in self._found])
        return len(self._found)

    def show_mark(self, at: int) -> None:
        """Scroll to one of them, and select it."""
        self.setTextCursor(self._found[at])
        self.centerCursor()

    def _fit(self) -> None:
        self.setFont(theme.fixed_font())
        height = QFontMetrics(theme.fixed_font()).lineSpacing() * self._lines + 24
        self.setMinimumHeight(height)


def _marked(place: QTextCursor) -> QTextEdit.ExtraSelection:
    """The colours of a match."""
    mark = QTextEdit.ExtraSelection()
    mark.cursor = place
    mark.format.setBackground(QColor(theme.current().warning_soft))
    mark.format.setForeground(QColor(theme.current().warning))
    return mark


def set_tooltip(widget: QWidget, text: str) -> None:
    """A tooltip with exactly this text. A screen reader, which would read its markup, gets the text."""
    if widget.accessibleDescription() in ("", widget.property("tooltip")):
        widget.setAccessibleDescription(clean(text[:4000]))
        widget.setProperty("tooltip", widget.accessibleDescription())
    widget.setToolTip(as_tooltip(text))


def as_tooltip(text: str) -> str:
    """`text` in a form that Qt shows unchanged: an escaped text is rich text without markup."""
    plain = clean(text[:4000])
    return f"<span style='white-space:pre-wrap'>{html.escape(plain)}</span>" if plain else ""


def for_button(text: str) -> str:
    """On a button, tab or menu an ampersand would mark a key."""
    return one_line(text, 120).replace("&", "&&")


def for_notification(text: str) -> str:
    """Some desktops interpret markup in notifications, others show it: none is left."""
    return one_line(text).replace("<", "‹").replace(">", "›")


def _breakable(text: str) -> str:
    """`text` with break points in words that are too long for a line."""
    return _LONG_WORD.sub("\\g<0>\u200b", text) if len(text) > _LONGEST_WORD else text


def restyle(widget: QWidget) -> None:
    """Apply the style for a changed property."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()
