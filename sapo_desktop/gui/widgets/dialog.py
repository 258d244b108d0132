"""Dialogs: one look, closed by Escape, centred on the window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLayout, QVBoxLayout, QWidget

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.screen import WholeFrames
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.buttons import Button, Kind
from sapo_desktop.gui.widgets.layout import row, scrolling
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words.language import tr

_OF_SCREEN = 0.9
_WIDEST = 720


class Sheet(QDialog):
    """A dialog with a heading, parts below each other, and buttons at the bottom.

    It is as high as its parts need, and grows with them; at the screen's limit they scroll, and the buttons stay.
    """

    def __init__(self, parent: QWidget, title: str, about: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        WholeFrames(self)
        self.finished.connect(self.deleteLater)  # otherwise its parent would keep every dialog
        whole = self._whole = QVBoxLayout(self)
        whole.setContentsMargins(grid(3), grid(2.5), grid(3), grid(2.5))
        whole.setSpacing(grid(1.5))
        whole.addWidget(Label(title, "subtitle"))
        self._inner = QWidget()
        self._inner.setProperty("role", "page")
        self._box = QVBoxLayout(self._inner)
        # Room for the focus frame, which would be cut off at the edge.
        self._box.setContentsMargins(2, 2, 2, 2)
        self._box.setSpacing(grid(1.5))
        self._scroll = scrolling(self._inner)
        self._inner.installEventFilter(self)
        whole.addWidget(self._scroll, 1)
        self._foot = QVBoxLayout()
        whole.addLayout(self._foot)
        if about:
            self._box.addWidget(Label(about, "muted"))
        self.resize(min(theme.scaled(_WIDEST), max(480, parent.window().width() - grid(12))), 200)

    def add(self, *parts: QWidget | QLayout) -> None:
        for part in parts:
            if isinstance(part, QLayout):
                self._box.addLayout(part)
            else:
                self._box.addWidget(part)

    def add_buttons(self, *buttons: Button, default: Button | None = None) -> None:
        """At the bottom. Enter presses `default`, otherwise the last one."""
        self._foot.addLayout(row(1, *buttons))
        (default or buttons[-1]).setDefault(True)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        self._fit()
        super().showEvent(event)

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.LayoutRequest and self.isVisible():
            self._fit()
        return False

    def _fit(self) -> None:
        """Make it as high as the parts need, never lower than before, so that nothing moves away from the pointer."""
        self.ensurePolished()
        margins = self._whole.contentsMargins()
        width = self.width() - margins.left() - margins.right()
        self._box.activate()
        parts = self._box.heightForWidth(width) if self._box.hasHeightForWidth() else self._box.sizeHint().height()
        rest = self._whole.totalHeightForWidth(self.width()) - self._scroll.sizeHint().height()
        most = round(_OF_SCREEN * self.screen().availableGeometry().height())
        height = min(most, rest + parts + 2)
        # The old scroll bar narrows the words, which then need the scroll bar.
        policy = Qt.ScrollBarPolicy
        scrolls = rest + parts + 2 > most
        self._scroll.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if scrolls else policy.ScrollBarAlwaysOff)
        if height > self.height() or not self.isVisible():
            self.resize(self.width(), height)


def confirm(parent: QWidget, title: str, about: str, action: str, *, kind: Kind = "primary") -> bool:
    """Ask before an action that cannot be undone. Cancelling is the default."""
    sheet = Sheet(parent, title, about)
    back = Button(tr("Cancel"), sheet.reject)
    sheet.add_buttons(back, Button(action, sheet.accept, kind=kind), default=back)
    back.setFocus()
    agreed: list[bool] = []
    sheet.accepted.connect(lambda: agreed.append(True))
    sheet.exec()  # returns no if the dialog was deleted before the loop ended, as on a busy computer
    return bool(agreed)
