"""A stranger's text that is shown on request only."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.layout import row
from sapo_desktop.gui.widgets.text import Reading


class Folded(QWidget):
    """A button that unfolds the text below it; with `fold` False the text is visible at once, without a button."""

    def __init__(self, name: str, *, lines: int = 6) -> None:
        super().__init__()
        self.button = Button("", self._switch, icon="chevron-right")
        self.button.setCheckable(True)
        self.reading = Reading(name, lines=lines)
        self._show = self._hide = ""
        self._text = ""
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(grid(1))
        self.head = row(self.button, 1)
        """The place next to the button."""
        box.addLayout(self.head)
        box.setAlignment(self.head, Qt.AlignmentFlag.AlignTop)
        box.addWidget(self.reading, 1)
        self._fit()
        theme.looks().changed.connect(self._fit)

    def set_text(self, text: str, show: str, hide: str, *, fold: bool = True) -> None:
        """Another text, folded again. `show` and `hide`: the button's labels."""
        self._text, self._show, self._hide = text, show, hide
        self.button.setChecked(not fold)
        self.button.setVisible(fold)
        self._switch()

    @property
    def is_open(self) -> bool:
        return not self.reading.isHidden()

    def _fit(self) -> None:
        """Folded or not, it takes the same place: nothing below it moves."""
        self.setMinimumHeight(self.button.sizeHint().height() + grid(1) + self.reading.minimumHeight())

    def _switch(self) -> None:
        is_open = self.button.isChecked()
        self.button.set_text(self._hide if is_open else self._show)
        self.button.set_icon("chevron-down" if is_open else "chevron-right")
        # A hidden text is not laid out either, because it may be long.
        self.reading.set_text(self._text if is_open else "")
        self.reading.setVisible(is_open)
