"""On a desktop without a tray, as GNOME is: where a closed window goes, said before it goes there."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.words.language import tr

QUIT_KEYS = "Ctrl+Q"
"""Cmd+Q on a Mac, as Qt reads it."""


class AwaySheet(Sheet):
    """Minimise (accepted), quit, or stay (rejected).

    Signals:
        quit_wanted: the program is to end.
    """

    quit_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        keys = QKeySequence(QUIT_KEYS).toString(QKeySequence.SequenceFormat.NativeText)
        about = tr(
            "This desktop has no tray. The window is minimised, and the node goes on. You have it back from the list "
            "of windows, or by starting SAPO Desktop again; {keys} quits."
        )
        super().__init__(parent, tr("Where the window goes"), about.format(keys=keys))
        self.quit_button = Button(tr("Quit"), self._quit)
        self.go_on = Button(tr("Go on, minimised"), self.accept, kind="primary")
        self.add_buttons(self.quit_button, Button(tr("Cancel"), self.reject), self.go_on)

    def _quit(self) -> None:
        self.reject()
        self.quit_wanted.emit()
