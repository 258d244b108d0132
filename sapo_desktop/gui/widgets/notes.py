"""Messages of a page about itself: empty, loading, trouble; and short messages that disappear by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.look import icons, theme
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.text import Label, restyle
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words.language import tr

BannerTone = Literal["plain", "accent", "warning", "danger", "silo"]
_ICONS = {"plain": "info", "accent": "check", "warning": "warning", "danger": "warning", "silo": "silo"}


class Picture(QLabel):
    """A decorative icon, in a colour of the theme."""

    def __init__(self, name: str, size: int = 20, colour: str = "muted") -> None:
        super().__init__()
        self._name, self._size, self._colour = name, size, colour
        self.setSizePolicy(self.sizePolicy().Policy.Fixed, self.sizePolicy().Policy.Fixed)
        self._draw()
        theme.looks().changed.connect(self._draw)

    def show_icon(self, name: str, colour: str) -> None:
        if (name, colour) != (self._name, self._colour):
            self._name, self._colour = name, colour
            self._draw()

    def _draw(self) -> None:
        colour = getattr(theme.current(), self._colour)
        self.setPixmap(icons.pixmap(self._name, theme.scaled(self._size), colour, self.devicePixelRatioF()))


class Empty(QWidget):
    """There is nothing here yet: why, and how to change that."""

    def __init__(
        self, icon: str, title: str, about: str, action: str = "", on_press: Callable[[], object] | None = None
    ) -> None:
        super().__init__()
        box = QVBoxLayout(self)
        box.setContentsMargins(grid(2), grid(3), grid(2), grid(3))
        box.setSpacing(grid(1))
        box.addStretch(1)
        self.title = Label(title, "subtitle")
        self.about = Label(about, "muted")
        for part in (Picture(icon, 36), self.title, self.about):
            part.setAlignment(Qt.AlignmentFlag.AlignCenter)
            box.addWidget(part, 0, Qt.AlignmentFlag.AlignHCenter if isinstance(part, Picture) else Qt.AlignmentFlag(0))
        if action:
            box.addSpacing(grid(1))
            box.addWidget(Button(action, on_press), 0, Qt.AlignmentFlag.AlignHCenter)
        box.addStretch(1)

    def say(self, title: str, about: str) -> None:
        self.title.setText(title)
        self.about.setText(about)


class Filled(QStackedWidget):
    """A part of a page, or why it is still empty."""

    def __init__(self, empty: Empty, part: QWidget) -> None:
        super().__init__()
        self.addWidget(empty)
        self.addWidget(part)

    def fill(self, filled: bool) -> None:
        """Show the part if it is `filled`."""
        self.setCurrentIndex(int(filled))


class Banner(QFrame):
    """A sentence that stays as long as it is true, with at most one action."""

    def __init__(
        self,
        text: str = "",
        tone: BannerTone = "plain",
        action: str = "",
        on_press: Callable[[], object] | None = None,
    ) -> None:
        super().__init__()
        self.setProperty("role", "banner")
        self.setProperty("tone", tone)
        self._picture = Picture(_ICONS[tone], 20, _colour(tone))
        self._text = Label(selectable=True)
        self.button = Button(action, on_press)
        self.button.setVisible(bool(action))
        box = QHBoxLayout(self)
        box.setContentsMargins(grid(1.5), grid(1), grid(1.5), grid(1))
        box.setSpacing(grid(1))
        box.addWidget(self._picture)
        box.addWidget(self._text, 1)
        box.addWidget(self.button)
        self.say(text)

    @property
    def text(self) -> str:
        """The current text."""
        return self._text.text()

    def say(self, text: str, tone: BannerTone | None = None) -> None:
        """Another text; an empty one hides the banner."""
        self._text.setText(text)
        self.setAccessibleName(one_line(text))
        self.setVisible(bool(text))
        if tone is not None and tone != self.property("tone"):
            self.setProperty("tone", tone)
            self._picture.show_icon(_ICONS[tone], _colour(tone))
            restyle(self)


class Toast(QFrame):
    """A short message at the bottom of the window, gone after a while; it takes no focus."""

    SECONDS = 6.0

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self.setProperty("role", "toast")
        self._text = Label("", selectable=False)
        self._close = IconButton("cross", tr("Close this message"), self.hide)
        self._close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        box = QHBoxLayout(self)
        box.setContentsMargins(grid(2), grid(1), grid(1), grid(1))
        box.addWidget(self._text, 1)
        box.addWidget(self._close)
        self._timer = timer(self, 0, self.hide, once=True)
        over.installEventFilter(self)
        self.hide()

    def say(self, text: str) -> None:
        """Show this text. A longer one stays longer."""
        self._text.setText(text)
        self.setAccessibleName(one_line(text))
        self._place()
        self.show()
        self.raise_()
        self._timer.start(round(1000 * (self.SECONDS + len(text) / 20)))

    @property
    def text(self) -> str:
        return self._text.text() if self.isVisible() else ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _place(self) -> None:
        over = self._over
        width = min(560, over.width() - grid(6))
        self.setFixedWidth(width)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        self.setFixedHeight(max(height, self.sizeHint().height()))
        self.move((over.width() - width) // 2, over.height() - self.height() - grid(3))


def chip(text: str, tone: Literal["", "accent", "danger", "warning", "silo"] = "") -> Label:
    """A word in a coloured pill."""
    made = Label(text, "chip", tone, wrap=False)
    made.setSizePolicy(made.sizePolicy().Policy.Maximum, made.sizePolicy().Policy.Fixed)
    return made


def _colour(tone: BannerTone) -> str:
    return "muted" if tone == "plain" else tone
