"""Log: the node's notices, its log file, and a file for a bug report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.log.notice_list import tail
from sapo_desktop.gui.log.notices import NoticesCard
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.buttons import Button, IconButton, Segments
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.fields import SearchLine
from sapo_desktop.gui.widgets.files import ask_save_path
from sapo_desktop.gui.widgets.layout import WIDE, Card, Flow
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Elided, Label, Reading
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.system.diagnosis import save_report
from sapo_desktop.view.viewmodel import Section, View
from sapo_desktop.worker.control.messages.facts import Diagnose, Diagnosis, GetLog, LogIs


class ReportSheet(Sheet):
    """The text as it would be saved, what it contains and what not, and a button to save it."""

    def __init__(self, parent: QWidget, text: str, suggestion: str) -> None:
        super().__init__(parent, tr("Diagnostics file"), tr("This is the whole file. Nothing is sent."))
        self._text, self._suggestion = text, suggestion
        self._banner = Banner(tr("Private data is removed by rules. Look through the text before you share it."))
        self._banner.say(self._banner.text, "warning")
        left_out = tr("Left out: names, addresses, keys, tokens, invites, folders, and texts that you entered.")
        self.add(Reading(tr("Diagnostics file"), text, lines=14), Label(left_out, "caption"), self._banner)
        self._save = Button(tr("Save"), self._ask, kind="primary", icon="download")
        copy = Button(tr("Copy"), lambda: QGuiApplication.clipboard().setText(text), icon="copy")
        self.add_buttons(copy, Button(tr("Close"), self.reject), self._save)

    def _ask(self) -> None:
        if to := ask_save_path(self, tr("Diagnostics file"), self._suggestion, tr("Text") + " (*.txt)"):
            try:
                save_report(Path(to), self._text)
            except SapoError as error:
                self._banner.say(in_words(error), "danger")
            else:
                self._banner.say(tr("Saved to {path}. Nothing was sent.").format(path=to), "accent")
                self._banner.button.set_text(tr("Open the folder"))
                self._banner.button.show()
                self._banner.button.clicked.connect(
                    lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(to).parent)))
                )


class LogPage(Page):
    """See the module."""

    name = "log"
    widest = WIDE
    follows: ClassVar[frozenset[Section]] = frozenset({"link", "notices"})

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__(view, bridge, tr("Log"), tr("What the node reported, and the log file of its work."))
        self._in_sight = False
        self._loaded_of: object = None
        self._diagnose = Button(tr("Diagnostics file"), self._ask_for_file, icon="download")
        self.corner.addWidget(self._diagnose)
        self._tabs = Segments(tr("What to show"), [("notices", tr("Notices")), ("file", tr("Log file"))], "notices")
        self._tabs.chosen.connect(self._switch)
        self._search = SearchLine(tr("Search the log"))
        self._search.textChanged.connect(self._find)
        self._search.returnPressed.connect(self._next)
        self._banner = Banner(tone="danger")
        self._notices = NoticesCard(view, bridge)
        self._file = FileCard(bridge)
        self._file.hide()
        self.add(Flow(self._tabs), self._search, self._banner, (self._notices, 1), (self._file, 1))
        self.fill()
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._focus_search)
        QShortcut(QKeySequence(Qt.Key.Key_F3), self, self._file.next)
        QShortcut(QKeySequence(Qt.Modifier.SHIFT | Qt.Key.Key_F3), self, self._file.previous)

    def opened(self) -> None:
        self._in_sight = True
        self._loaded_of = None

    def closed(self) -> None:
        self._in_sight = False

    def refresh(self, changed: frozenset[Section]) -> None:
        if "link" in changed:
            self._diagnose.setEnabled(self.view.attached)
            self._load()
        if changed & self.follows:
            self._notices.refresh()

    def _load(self) -> None:
        """Ask each time the page is opened, and for each new worker."""
        if not self._in_sight or self.view.link is self._loaded_of:
            return
        self._loaded_of = self.view.link
        self._notices.load()  # without a node, too: they say why there is none
        if self.view.attached and self._tabs.current == "file":
            self._file.load()

    def _switch(self, tab: str) -> None:
        self._notices.setVisible(tab == "notices")
        self._file.setVisible(tab == "file")
        self._find(self._search.text())
        if tab == "file":
            self._file.load()

    def _find(self, query: str) -> None:
        if self._tabs.current == "file":
            self._file.search(query)
        else:
            self._notices.search(query)

    def _next(self) -> None:
        if self._tabs.current == "file":
            self._file.previous()

    def _focus_search(self) -> None:
        self._search.setFocus()
        self._search.selectAll()

    def _ask_for_file(self) -> None:
        self._diagnose.setEnabled(False)
        self._banner.say("")
        self.bridge.ask(Diagnose(), self._show_report, self._failed, of=self)

    def _show_report(self, reply: Diagnosis) -> None:
        self._diagnose.setEnabled(self.view.attached)
        day = time.strftime("%Y-%m-%d", time.localtime(self.view.clock()))
        ReportSheet(self, reply.text, f"sapo-diagnostics-{day}.txt").open()

    def _failed(self, error: SapoError) -> None:
        self._diagnose.setEnabled(self.view.attached)
        self._banner.say(in_words(error), "danger")


# The end of the worker's log file, searched.


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
        """Read the file again, through the worker."""
        self._reload.setEnabled(False)
        if not self._text.toPlainText():
            self._text.set_text(tr("Loading the log"))
        self._bridge.ask(GetLog(lines=LINES), self._log_is, self._failed, of=self)

    def search(self, query: str) -> None:
        """Mark every match."""
        self._query = query.strip()
        self._hits = self._text.mark(self._query)
        self._at = self._hits - 1  # the newest is at the end
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
