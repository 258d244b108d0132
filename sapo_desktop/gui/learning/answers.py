"""Stored answers of this node, peers and persons: pages with filters, newest first; for one the question, the text,
why it got its score, and how it was used in training."""

from __future__ import annotations

from pathlib import Path

import msgspec

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.fields import Choice, SearchLine
from sapo_desktop.gui.widgets.files import ask_save_path
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.gui.widgets.layout import Card, Columns, Flow, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner, Empty, Filled, Picture
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Elided, Label, Reading, set_tooltip
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import (
    VERDICTS,
    effect_words,
    text_words,
    verdict_icon,
    verdict_meaning,
    verdict_name,
    who_words,
)
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import families, task_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Exported
from sapo_desktop.worker.control.messages.rollouts import (
    ExportRollouts,
    GetRollouts,
    Rollout,
    RolloutFilter,
    Rollouts,
)

NEWEST = GetRollouts(limit=200, newest_first=True)
"""The first page, unfiltered."""
MOST = 10_000
"""Answers shown at once; filters and the export reach older ones."""


class AnswerPane(Card):
    """The selected answer. A peer's text is shown on request."""

    def __init__(self) -> None:
        super().__init__(role="well")
        self.body.setContentsMargins(grid(2), grid(1.5), grid(2), grid(2))
        self._shown: int | None = None
        self._nothing = Label(tr("Choose an answer to read it."), "muted")
        self.title = Label("", "subtitle")
        self._icon = Picture("check", 18)
        self._mark = Label("", "strong", wrap=False)
        self._where = Elided("", "caption")
        self.words = Label("")
        self._effect = Label("", "muted")
        self.question = Reading(tr("Question"), lines=4)
        self._length = Label("", "caption")
        self.answer = Folded(tr("Answer"), lines=9)
        why = column(
            self.title,
            row(self._icon, self._mark, self._where, spacing=1),
            column(self.words, self._effect, spacing=0.5),
            column(Label(tr("Question"), "caption"), self.question, spacing=0.5),
            spacing=1.5,
        )
        text = holding(column(self._length, self.answer, spacing=0.5))
        self._parts = Columns(holding(why), text, narrowest=270, most=2)
        self.add(self._nothing, self._parts)
        self.show_answer(None)

    def show_answer(self, shown: Rollout | None) -> None:
        """Show another answer; the same one stays unfolded."""
        self._nothing.setVisible(shown is None)
        self._parts.setVisible(shown is not None)
        if shown is None:
            self._shown = None
            return
        self.title.setText(task_name(shown.task))
        if shown.id == self._shown:
            return
        self._shown = shown.id
        self._icon.show_icon(*verdict_icon(shown.verdict))
        self._mark.setText(verdict_name(shown.verdict))
        self._where.set_text(tr("round {round}, {who}").format(round=numbers.count(shown.round), who=who_words(shown)))
        self.words.setText(verdict_meaning(shown))
        self._effect.setText(effect_words(shown))
        self.question.set_text(shown.question)
        self._length.setText(tr("Answer, %n character(s)", None, len(shown.completion)))
        self.answer.set_text(
            shown.completion,
            tr("Show the peer's text"),
            tr("Hide the peer's text"),
            fold=bool(shown.author),
        )


SEARCH_MS = 350
"""After the last key."""
_NEAR_THE_END = 3
"""Distance from the last row at which the next page is requested."""


class KeptAnswers(Card):
    """The browser of answers that were learned from: filters, a list, the selected one, and the export."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self.setAccessibleName(tr("Answers"))
        self._view, self._bridge = view, bridge
        self._first = NEWEST
        """The first page under the last chosen filters."""
        self._asked: GetRollouts | None = None
        """The requested page; a reply to an earlier request is ignored."""
        self._items: list[Rollout] = []
        self._loaded = False
        """Whether the first page is there."""
        self._loaded_at = 0
        self.banner = Banner(tone="danger", action=tr("Try again"), on_press=self.load)
        self._make_filters()
        self.table = Table(tr("Answers"), self._headings(), rows_shown=8, same=lambda one: one.id)
        self.table.pointed.connect(self._show_picked)
        self.table.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.pane = AnswerPane()
        self._empty = Empty("learning", tr("One moment"), tr("Loading the answers."))
        self.more = Button(tr("Show earlier ones"), self.load_more, icon="chevron-down")
        self.more.hide()
        self._count = Label("", "caption")
        self._stack = Filled(
            self._empty, holding(column(self.table, row(self.more, (self._count, 1)), self.pane, spacing=1.5))
        )
        self.add(self.banner, self._tools, self._stack)

    def _make_filters(self) -> None:
        origins = [
            ("", tr("Anyone")),
            ("own", tr("Own")),
            ("peer", tr("Peers'")),
            ("human", tr("People's")),
        ]
        marks = [("", tr("Any result")), *((one, verdict_name(one)) for one in VERDICTS)]
        self.task = Choice(tr("Task"), [("", tr("Any task")), *families()])
        self.task.setMinimumContentsLength(12)  # the first one in either language
        self.origin = Choice(tr("From"), origins)
        self.verdict = Choice(tr("Result"), marks)
        for short in (self.origin, self.verdict):
            short.setSizeAdjustPolicy(Choice.SizeAdjustPolicy.AdjustToContents)
        self.search = SearchLine(tr("Search in questions and answers"))
        self.search.setMinimumWidth(300)
        self._typing = timer(self, SEARCH_MS, self.load, once=True)
        for choice in (self.task, self.origin, self.verdict):
            choice.chosen.connect(lambda _: self.load())
        self.search.textChanged.connect(lambda _: self._typing.start())
        self.search.returnPressed.connect(self.load)
        self.fresh = Button(tr("Show new ones"), self.load, icon="refresh")
        self.fresh.hide()
        self.export = Button(tr("Export"), self._export, icon="upload")
        set_tooltip(
            self.export, tr("Writes every answer that matches the filters to a file, one JSON object per line.")
        )
        self._tools = holding(Flow(self.task, self.origin, self.verdict, self.search, self.export, self.fresh))

    def _headings(self) -> list[Heading]:
        return [
            Heading(tr("Round"), lambda one: numbers.count(one.round), lambda one: one.id, right=True, spare=2),
            Heading(tr("Task"), lambda one: task_name(one.task), stretch=True),
            Heading(tr("From"), who_words, spare=1),
            Heading(tr("Result"), lambda one: verdict_name(one.verdict), icon=lambda one: verdict_icon(one.verdict)),
            Heading(tr("Answer"), text_words, stretch=True),
        ]

    # -- called by the page ------------------------------------------------------------------------------------

    def open(self) -> None:
        """It became visible."""
        if not self._loaded and self._asked is None:
            self.load()
        self.refresh()

    def refresh(self) -> None:
        """A round passed, or the link changed."""
        self._allow_export()
        is_new = self._loaded and self._view.curves.last_round > self._loaded_at
        self.fresh.setVisible(is_new and self._view.attached)

    # -- reading ---------------------------------------------------------------------------------------------

    def load(self) -> None:
        """The newest answers under the current filters."""
        self._typing.stop()
        self._first = msgspec.structs.replace(
            NEWEST,
            task=self.task.current,
            origin=self.origin.current,
            verdict=self.verdict.current,
            search=self.search.text().strip(),
        )
        self._loaded_at = self._view.curves.last_round
        self._ask(self._first)
        self.refresh()

    def load_more(self) -> None:
        """The page after the last one."""
        if not self.more.isHidden() and self._asked is None:
            self._ask(msgspec.structs.replace(self._first, before=self._items[-1].id))

    def _ask(self, request: GetRollouts) -> None:
        self._asked = request
        self._bridge.ask(
            request,
            lambda reply: self._page_is(request, reply),
            lambda error: self._page_failed(request, error),
            of=self,
        )

    def _page_is(self, request: GetRollouts, reply: Rollouts) -> None:
        if request is not self._asked:
            return
        self._asked, self._loaded = None, True
        begun = request.before is None
        self._items = [*([] if begun else self._items), *reply.items]
        self.banner.say("")
        self.table.set_rows(self._items)
        if begun:
            self.table.scrollToTop()
            self.table.select([one.id for one in self._items[:1]])
        self._stack.fill(bool(self._items))
        self._say_empty()
        self.more.setVisible(reply.more and bool(reply.items) and len(self._items) < MOST)
        self._count.setText(tr("%n answer(s), newest first", None, len(self._items)))
        self._allow_export()
        self._show_picked()

    def _page_failed(self, request: GetRollouts, error: SapoError) -> None:
        if request is not self._asked:
            return
        self._asked = None
        self.banner.say(tr("The answers could not be loaded: {reason}").format(reason=in_words(error)), "danger")
        if not self._loaded:
            self._empty.say(tr("Nothing to show"), tr("The answers appear here while the node runs."))

    def _scrolled(self, value: int) -> None:
        end = self.table.verticalScrollBar().maximum()
        if end > 0 and value >= end - _NEAR_THE_END:
            self.load_more()

    # -- showing ---------------------------------------------------------------------------------------------

    def _show_picked(self) -> None:
        picked: list[Rollout] = self.table.selected()
        self.pane.show_answer(picked[0] if picked else None)

    def _say_empty(self) -> None:
        if self._first != NEWEST:
            self._empty.say(
                tr("No answer matches the filters"), tr("Choose any task, any result and anyone to see all.")
            )
        else:
            self._empty.say(
                tr("No answers yet"), tr("Every answer used for training appears here, from the first round on.")
            )

    # -- export ----------------------------------------------------------------------------------------------

    def _export(self) -> None:
        kinds = tr("JSON, one answer per line") + " (*.jsonl);;" + tr("All files") + " (*)"
        to = ask_save_path(self, tr("Export answers"), "answers.jsonl", kinds)
        if not to:
            return
        self.export.setEnabled(False)
        self.export.set_text(tr("Exporting"))
        # Everything that passes the filters, including what is not shown.
        filters = {name: getattr(self._first, name) for name in RolloutFilter.__struct_fields__}
        # The dialog asked about an existing file; one that appears meanwhile is not overwritten.
        request = ExportRollouts(**filters, to=to, replace=Path(to).exists())
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
        self.export.setEnabled(self._view.attached and bool(self._items))
