"""Dialogs: one look, closed by Escape, in the middle of the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLayout, QVBoxLayout, QWidget

from sapo_desktop.gui.language import tr
from sapo_desktop.gui.theme import grid
from sapo_desktop.gui.widgets.buttons import Button, Kind
from sapo_desktop.gui.widgets.layout import row
from sapo_desktop.gui.widgets.text import Label


class Sheet(QDialog):
    """A dialog with a heading, parts below each other, and buttons at its foot."""

    def __init__(self, parent: QWidget, title: str, about: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(grid(3), grid(2.5), grid(3), grid(2.5))
        self._box.setSpacing(grid(1.5))
        self._box.addWidget(Label(title, "subtitle"))
        if about:
            self._box.addWidget(Label(about, "muted"))
        self.resize(min(720, max(480, parent.window().width() - grid(12))), 360)

    def add(self, *parts: QWidget | QLayout) -> None:
        for part in parts:
            if isinstance(part, QLayout):
                self._box.addLayout(part)
            else:
                self._box.addWidget(part)

    def add_buttons(self, *buttons: Button) -> None:
        self._box.addLayout(row(1, *buttons))


def confirm(parent: QWidget, title: str, about: str, action: str, *, kind: Kind = "primary") -> bool:
    """Ask before something that cannot be undone. The way back is the default."""
    sheet = Sheet(parent, title, about)
    back = Button(tr("Cancel"), sheet.reject)
    back.setDefault(True)
    sheet.add_buttons(back, Button(action, sheet.accept, kind=kind))
    sheet.resize(sheet.width(), sheet.sizeHint().height())
    back.setFocus()
    return sheet.exec() == QDialog.DialogCode.Accepted
