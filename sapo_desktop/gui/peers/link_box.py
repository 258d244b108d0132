"""A link or address for others, to copy or to scan as a QR code."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from segno import DataOverflowError, make_qr

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.forms import copy_text
from sapo_desktop.gui.widgets.layout import column, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Reading
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.worker.control.messages.replies import InviteIs

_MODULE = 4
"""Pixels of one square at 100%: a phone reads it from an arm's length."""
_QUIET = 4
"""Empty squares around the code, as its standard requires."""


class LinkBox(QWidget):
    """A link to copy or scan, or why there is none."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._trouble = Banner(tone="danger")
        self._text = Reading(tr("Link"), "", lines=4)
        self.copy_link = Button(tr("Copy the link"), lambda: copy_text(bridge, self._text.toPlainText()), icon="copy")
        self.code = QrCode()
        self._show("")
        self.setLayout(column(self._trouble, row(self.code, (column(self._text, self.copy_link), 1), spacing=2)))

    def show_link(self, reply: InviteIs) -> None:
        self.show_text(reply.link)

    def show_text(self, text: str) -> None:
        self._trouble.say("")
        self._show(text)

    def fail(self, error: SapoError) -> None:
        self._trouble.say(in_words(error))
        self._show("")

    def _show(self, text: str) -> None:
        self._text.set_text(text)
        self.copy_link.setEnabled(bool(text))
        self.code.show_text(text)


class QrCode(QWidget):
    """A text as a QR code, dark on white in every theme; hidden if there is no text, or it is too long."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[bytearray, ...] = ()
        """For each square, whether it is dark."""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("QR code of the link"))

    def show_text(self, text: str) -> None:
        try:
            self.rows = tuple(make_qr(text, error="l").matrix) if text else ()
        except DataOverflowError:  # it can still be copied
            self.rows = ()
        self.setVisible(bool(self.rows))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        side = (len(self.rows) + 2 * _QUIET) * theme.scaled(_MODULE)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        square = theme.scaled(_MODULE)
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor("white"))
        for y, squares in enumerate(self.rows):
            for x, dark in enumerate(squares):
                if dark:
                    where = QRectF((x + _QUIET) * square, (y + _QUIET) * square, square, square)
                    painter.fillRect(where, QColor("black"))
        painter.end()
