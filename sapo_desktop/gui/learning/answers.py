"""Kept answers: own ones, peers' and persons', with their marks and what learning did with them."""

from __future__ import annotations

from pathlib import Path

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.learning.answer import AnswerPane
from sapo_desktop.gui.learning.answer_pages import AnswerPages, Filter
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.fields import Choice, SearchLine
from sapo_desktop.gui.widgets.files import ask_save_path
from sapo_desktop.gui.widgets.layout import Card, Flow, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner, Empty, Filled
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Label, set_tooltip
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import VERDICTS, text_words, verdict_icon, verdict_name, who_words
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.tasks import families, task_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import Exported
from sapo_desktop.worker.control.messages.rollouts import GetRollouts, Rollout, Rollouts

SEARCH_MS = 350
"""After the last key."""
_NEAR_THE_END = 3
"""Rows before the last one, at which the next page is asked for."""


class KeptAnswers(Card):
    """The browser of answers that were learned from: filters, a list, the picked one, and the export."""

    def __init__(self, view: View, bridge: Asks) -> None:
        super().__init__()
        self.setAccessibleName(tr("Answers"))
        self._view, self._bridge = view, bridge
        self.pages = AnswerPages()
        self._loaded_at = 0
        self.banner = Banner(tone="danger", action=tr("Try again"), on_press=self.load)
        self._make_filters()
        self.table = Table(tr("Answers"), self._headings(), rows_shown=8, same=lambda one: one.id)
        self.table.pointed.connect(self._show_picked)
        self.table.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.pane = AnswerPane()
        self._empty = Empty("learning", tr("One moment"), tr("The answers are being read."))
        self.more = Button(tr("Show earlier ones"), self.load_more, icon="chevron-down")
        self._count = Label("", "caption")
        self._stack = Filled(
            self._empty, holding(column(self.table, row(self.more, (self._count, 1)), self.pane, spacing=1.5))
        )
        self.add(self.banner, self._tools, self._stack)

    def _make_filters(self) -> None:
        origins = [
            ("", tr("Anybody")),
            ("own", tr("Own")),
            ("peer", tr("Peers'")),
            ("human", tr("Persons'")),
        ]
        marks = [("", tr("Any mark")), *((one, verdict_name(one)) for one in VERDICTS)]
        self.task = Choice(tr("Task"), [("", tr("Any task")), *families()])
        self.origin = Choice(tr("Whose"), origins)
        self.verdict = Choice(tr("Mark"), marks)
        self.search = SearchLine(tr("Search in questions and answers"))
        self.search.setMinimumWidth(240)
        self._typing = timer(self, SEARCH_MS, self.load, once=True)
        for choice in (self.task, self.origin, self.verdict):
            choice.chosen.connect(lambda _: self.load())
        self.search.textChanged.connect(lambda _: self._typing.start())
        self.search.returnPressed.connect(self.load)
        self.fresh = Button(tr("Show new ones"), self.load, icon="refresh")
        self.fresh.hide()
        self.export = Button(tr("Export"), self._export, icon="upload")
        set_tooltip(self.export, tr("Writes everything that passes the filters to a file, a JSON object a line."))
        self._tools = holding(Flow(self.task, self.origin, self.verdict, self.search, self.export, self.fresh))

    def _headings(self) -> list[Heading]:
        return [
            Heading(tr("Round"), lambda one: numbers.count(one.round), lambda one: one.id, right=True),
            Heading(tr("Task"), lambda one: task_name(one.task), stretch=True),
            Heading(tr("From"), who_words),
            Heading(tr("Mark"), lambda one: verdict_name(one.verdict), icon=lambda one: verdict_icon(one.verdict)),
            Heading(tr("Answer"), text_words, stretch=True),
        ]

    # -- from the page ---------------------------------------------------------------------------------------

    def open(self) -> None:
        """It came into sight."""
        if not self.pages.loaded and not self.pages.waiting:
            self.load()
        self.refresh()

    def refresh(self) -> None:
        """A round passed, or the link changed."""
        self._allow_export()
        is_new = self.pages.loaded and self._view.curves.last_round > self._loaded_at
        self.fresh.setVisible(is_new and self._view.attached)

    # -- reading ---------------------------------------------------------------------------------------------

    def load(self) -> None:
        """The newest answers under the filters as they stand."""
        self._typing.stop()
        wanted = Filter(
            task=self.task.current,
            origin=self.origin.current,
            verdict=self.verdict.current,
            search=self.search.text().strip(),
        )
        self._loaded_at = self._view.curves.last_round
        self._ask(self.pages.begin(wanted))
        self.refresh()

    def load_more(self) -> None:
        """The page after the last one."""
        request = self.pages.further()
        if request is not None:
            self._ask(request)

    def _ask(self, request: GetRollouts) -> None:
        self._bridge.ask(
            request,
            lambda reply: self._page_is(request, reply),
            lambda error: self._page_failed(request, error),
            of=self,
        )

    def _page_is(self, request: GetRollouts, reply: Rollouts) -> None:
        if not self.pages.take(request, reply):
            return
        self.banner.say("")
        begun = request.before is None
        self.table.set_rows(self.pages.items)
        if begun:
            self.table.scrollToTop()
            self.table.select([one.id for one in self.pages.items[:1]])
        self._stack.fill(bool(self.pages.items))
        self._say_empty()
        self._say_count()
        self._allow_export()
        self._show_picked()

    def _page_failed(self, request: GetRollouts, error: SapoError) -> None:
        if not self.pages.gave_up(request):
            return
        self.banner.say(tr("The answers could not be read: {reason}").format(reason=in_words(error)), "danger")
        if not self.pages.loaded:
            self._empty.say(tr("Nothing to show"), tr("The answers stand here when the node runs."))

    def _scrolled(self, value: int) -> None:
        end = self.table.verticalScrollBar().maximum()
        if end > 0 and value >= end - _NEAR_THE_END:
            self.load_more()

    # -- showing ---------------------------------------------------------------------------------------------

    def _show_picked(self) -> None:
        picked: list[Rollout] = self.table.selected()
        self.pane.show_answer(picked[0] if picked else None)

    def _say_empty(self) -> None:
        if self.pages.filter.any:
            self._empty.say(tr("None passes the filters"), tr("Choose any task, any mark and anybody to see all."))
        else:
            self._empty.say(
                tr("No answers yet"), tr("Every answer that is learned from stands here, from the first round on.")
            )

    def _say_count(self) -> None:
        self.more.setVisible(self.pages.more)
        self._count.setText(tr("%n answer(s), newest first", None, len(self.pages.items)))

    # -- export ----------------------------------------------------------------------------------------------

    def _export(self) -> None:
        kinds = tr("JSON, an answer a line") + " (*.jsonl);;" + tr("All files") + " (*)"
        to = ask_save_path(self, tr("Export answers"), "answers.jsonl", kinds)
        if not to:
            return
        self.export.setEnabled(False)
        self.export.set_text(tr("Exporting"))
        # The dialog asked about a file that is there; one that comes meanwhile is not written over.
        request = self.pages.export(to, replace=Path(to).exists())
        self._bridge.ask(request, self._exported, self._export_failed, of=self)

    def _exported(self, reply: Exported) -> None:
        self._export_done()
        path = str(Path(reply.folder, *reply.files[:1]))
        self._bridge.said.emit(tr("Exported to {path}").format(path=path))

    def _export_failed(self, error: SapoError) -> None:
        self._export_done()
        self._bridge.trouble.emit(tr("Nothing was exported: {reason}").format(reason=in_words(error)))

    def _export_done(self) -> None:
        self.export.set_text(tr("Export"))
        self._allow_export()

    def _allow_export(self) -> None:
        self.export.setEnabled(self._view.attached and bool(self.pages.items))
