"""The node's notices with their level, filtered, searched, copied."""

from __future__ import annotations

import msgspec
from PySide6.QtGui import QGuiApplication

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.log import notice_list as notices
from sapo_desktop.gui.log.notice_list import SEVERITY
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.buttons import Button, Segments
from sapo_desktop.gui.widgets.layout import Card, Flow, column, holding
from sapo_desktop.gui.widgets.notes import Empty
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Label, Reading
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.plain import many_lines, plain
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.facts import GetNotices, Notice, Notices

_ICONS = {"info": ("info", "muted"), "warning": ("warning", "warning"), "error": ("error", "danger")}


class NoticesCard(Card):
    """See the module."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view = view
        self._bridge = bridge
        self._kept: list[Notice] = []
        self._items: list[Notice] = []
        self._query = ""
        self._drawn: list[Notice] = []
        self._least = Segments(
            tr("Levels shown"),
            [("info", tr("All")), ("warning", tr("Warnings")), ("error", tr("Errors"))],
            "info",
        )
        self._least.hint("warning", tr("Warnings and errors"))
        self._least.chosen.connect(lambda _: self._draw())
        self._count = Label("", "caption", wrap=False)
        self._copy_all = Button(tr("Copy all"), self._copy_shown, icon="copy")
        self._table = Table(
            tr("Notices"),
            [
                Heading(
                    tr("Level"),
                    lambda item: level_word(item.level),
                    lambda item: SEVERITY.get(item.level, 2),
                    icon=lambda item: _ICONS.get(item.level, _ICONS["error"]),
                ),
                Heading(tr("Time"), lambda item: numbers.day_and_clock(item.time), lambda item: item.time, spare=1),
                Heading(tr("Notice"), lambda item: str(item.text), stretch=True),
            ],
            rows_shown=9,
            same=lambda item: item,
        )
        self._table.pointed.connect(self._read)
        self._whole = Reading(tr("The full notice"), lines=4)
        self._empty = Empty("check", "", "")
        self._full = holding(column((self._table, 1), self._whole, spacing=1))
        self.add(Flow(self._least, self._copy_all, self._count, spacing=12), (self._full, 1), self._empty)
        self._fit()
        theme.looks().changed.connect(self._fit)
        self._draw()
        self._read()

    def load(self) -> None:
        """Request those from before this window attached."""
        self._bridge.ask(GetNotices(), self._notices_are, lambda error: None, of=self)

    def refresh(self) -> None:
        """New ones may have arrived."""
        items = [_in_words(item) for item in notices.merged(self._kept, self._view.notices)]
        if items != self._items:
            self._items = items
            self._draw()

    def search(self, query: str) -> None:
        self._query = query
        self._draw()

    def _notices_are(self, reply: Notices) -> None:
        # Those of an ended worker stay, because they explain why.
        self._kept = notices.merged(self._kept, (plain(item, many_lines) for item in reply.items))
        self.refresh()

    def _draw(self) -> None:
        found = notices.matching(self._items, self._least.current, self._query)[::-1]
        if found != self._drawn:
            self._drawn = found
            self._table.set_rows(found)
        self._count.setText(tr("%n notice(s)", None, len(found)))
        self._copy_all.setEnabled(bool(found))
        self._full.setVisible(bool(found))
        self._empty.setVisible(not found)
        if self._items and not found:
            self._empty.say(tr("Nothing found"), tr("No notice of this level contains these words."))
        elif not found:
            self._empty.say(
                tr("Nothing to report"), tr("Problems, and changes the node makes by itself, are listed here.")
            )

    def _fit(self) -> None:
        # With large text in a small window, the notice would not fit next to the others.
        self._table.horizontalHeader().setMinimumSectionSize(round(6.5 * theme.pixels("body")))

    def _read(self) -> None:
        chosen = self._table.selected()
        oldest_first = sorted(chosen, key=lambda item: item.time)
        self._whole.set_text(notices.as_text(oldest_first) or tr("Choose a line to read it in full."))

    def _copy_shown(self) -> None:
        QGuiApplication.clipboard().setText(notices.as_text(self._drawn[::-1]))
        self._bridge.said.emit(tr("%n notice(s) copied.", None, len(self._drawn)))


def _in_words(item: Notice) -> Notice:
    return msgspec.structs.replace(item, text=in_words(item.text))


def level_word(level: str) -> str:
    """A level as a word."""
    return {"info": tr("Information"), "warning": tr("Warning")}.get(level, tr("Error"))
