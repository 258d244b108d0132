"""The end of the worker's log file, searched."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.log.notice_list import tail
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.layout import Card, Flow
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Elided, Label, Reading
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.worker.control.messages.facts import GetLog, LogIs

LINES = 2000


class FileCard(Card):
    """See the module."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._query = ""
        self._hits = 0
        self._at = 0
        self._path = Elided("", "muted", fixed=True)
        self._reload = Button(tr("Reload"), self.load, icon="refresh")
        self._copy = Button(tr("Copy all"), self._copy_all, icon="copy")
        self._previous = IconButton("chevron-up", tr("Previous hit"), self.previous)
        self._next = IconButton("chevron-down", tr("Next hit"), self.next)
        self._count = Label("", "caption", wrap=False)
        self._banner = Banner(tone="danger", action=tr("Try again"), on_press=self.load)
        self._text = Reading(tr("The end of the log file"), lines=22)
        do = Flow(self._reload, self._copy, self._previous, self._next, self._count)
        self.add(self._path, do, self._banner, (self._text, 1))
        self._show_count()

    def load(self) -> None:
        """Read the file anew, through the worker."""
        self._reload.setEnabled(False)
        if not self._text.toPlainText():
            self._text.set_text(tr("Loading the log"))
        self._bridge.ask(GetLog(lines=LINES), self._log_is, self._failed, of=self)

    def search(self, query: str) -> None:
        """Mark every place that has this."""
        self._query = query.strip()
        self._hits = self._text.mark(self._query)
        self._at = self._hits - 1  # the newest stands at the end
        self._show_hit()

    def next(self) -> None:
        self._step(1)

    def previous(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        if self._hits:
            self._at = (self._at + by) % self._hits
            self._show_hit()

    def _show_hit(self) -> None:
        if self._hits:
            self._text.show_mark(self._at)
        self._show_count()

    def _show_count(self) -> None:
        self._previous.setEnabled(self._hits > 1)
        self._next.setEnabled(self._hits > 1)
        if not self._query:
            self._count.setText("")
        elif not self._hits:
            self._count.setText(tr("Nothing found"))
        else:
            most = numbers.count(self._hits) + ("+" if self._hits >= Reading.MOST_MARKS else "")
            self._count.setText(tr("{at} of {number}").format(at=numbers.count(self._at + 1), number=most))

    def _log_is(self, reply: LogIs) -> None:
        self._reload.setEnabled(True)
        self._banner.say("")
        self._path.set_text(reply.path)
        self._text.set_text(tail(reply.lines, Reading.MOST) or tr("The log is empty."))
        self._text.to_end()
        self.search(self._query)

    def _failed(self, error: SapoError) -> None:
        self._reload.setEnabled(True)
        if not self._path.text():
            self._text.set_text("")
        self._banner.say(in_words(error), "danger")

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self._text.toPlainText())
        self._bridge.said.emit(tr("The log was copied. It may contain your folders and addresses."))
