"""Parts of dialogs with input."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.buttons import IconButton
from sapo_desktop.gui.widgets.layout import column, row
from sapo_desktop.gui.widgets.text import Elided, Label
from sapo_desktop.gui.words.language import tr


def labelled(name: str, field: QWidget, about: str = "") -> QVBoxLayout:
    """A field with its name above it, and an explanation below."""
    label = Label(name, "strong")
    label.setBuddy(field)
    field.setAccessibleName(name)
    box = column(label, field, spacing=0.5)
    if about:
        box.addWidget(Label(about, "caption"))
        field.setAccessibleDescription(about)
    return box


def line(placeholder: str = "", *, secret: bool = False, longest: int = 4000) -> QLineEdit:
    """A field of one line; with `secret`, the input is hidden."""
    made = QLineEdit()
    made.setPlaceholderText(placeholder)
    made.setMaxLength(longest)
    if secret:
        made.setEchoMode(QLineEdit.EchoMode.Password)
    return made


def copy_text(bridge: Bridge, text: str) -> None:
    """Copy a text to the clipboard, and confirm it."""
    QGuiApplication.clipboard().setText(text)
    bridge.said.emit(tr("Copied."))


class Copied(QWidget):
    """One line of a key or address, with a button that copies all of it."""

    def __init__(self, bridge: Bridge, name: str, hint: str) -> None:
        super().__init__()
        self._text = Elided("", fixed=True)
        self._button = IconButton("copy", hint, lambda: copy_text(bridge, self._text.text()))
        line = row(self._text, self._button, spacing=0.5)
        self.setLayout(column(Label(name, "caption"), line, spacing=0))

    def show_text(self, text: str) -> None:
        """Another text; an empty one cannot be copied."""
        if text != self._text.text():
            self._text.set_text(text)
        self.setVisible(bool(text))
