"""Learning: how a round goes, whose answers are learned from, which tasks are practised, and every answer."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.records import RoundReport
from sapo_desktop.gui.actions import Actions
from sapo_desktop.gui.bridge import Asks
from sapo_desktop.gui.language import tr
from sapo_desktop.gui.level_moves import LevelMoves
from sapo_desktop.gui.pages.learning_answers import KeptAnswers
from sapo_desktop.gui.pages.learning_mix import MixCard, TreatmentCard
from sapo_desktop.gui.pages.learning_refused import RefusedGroups
from sapo_desktop.gui.pages.learning_round import GroupsCard, NowCard, RoundCard
from sapo_desktop.gui.pages.learning_tasks import PractisedCard
from sapo_desktop.gui.pages.page import Page
from sapo_desktop.gui.past_rounds import PAGE, PastRounds
from sapo_desktop.gui.timers import timer
from sapo_desktop.gui.viewmodel import ALL, Section, View
from sapo_desktop.gui.widgets.layout import Card, column, holding
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.tabs import Tabs
from sapo_desktop.worker.messages import GetHistory, History, ListTasks, Tasks

TICK_MS = 250
"""The round in hand is drawn anew four times a second at most."""
TASKS_SECONDS = 5.0
"""Between two looks at the tasks, while rounds pass."""


class LearningPage(Page):
    """Four parts, one of them in sight: rounds, mix, tasks, answers."""

    name = "learning"
    follows: ClassVar[frozenset[Section]] = frozenset(
        {"link", "state", "progress", "rounds", "curves", "settings", "answers"}
    )

    def __init__(self, view: View, bridge: Asks, actions: Actions) -> None:
        super().__init__(view, bridge, tr("Learning"))
        self._past = PastRounds()
        self._moves = LevelMoves()
        self._tasks_at = 0.0
        self._taken: RoundReport | None = None
        """The newest round of the view that is counted in the past."""
        self.round = RoundCard(view)
        self.groups = GroupsCard(view)
        self.now = NowCard(view)
        self.mix = MixCard(view, bridge)
        self.treatment = TreatmentCard(view, bridge)
        self.tasks = PractisedCard(view, bridge, lambda: self.wanted.emit("try"))
        self.kept = KeptAnswers(view, bridge)
        self.refused = RefusedGroups(view, bridge)
        self._alone = Banner(tr("In silo every answer is an own one. Leave silo to choose here."), "silo")
        self._parts: dict[str, QWidget] = {
            "rounds": _below(self.round, self.groups, self.now),
            "mix": _below(self._alone, self.mix, self.treatment),
            "tasks": self.tasks,
            "answers": self._answers_card(),
        }
        names = [("rounds", tr("Rounds")), ("mix", tr("Mix")), ("tasks", tr("Tasks")), ("answers", tr("Answers"))]
        self.tabs = Tabs(tr("Parts of this page"), names, "rounds")
        self.tabs.chosen.connect(self.show_part)
        self.add(self.tabs, *self._parts.values())
        self._tick = timer(self, TICK_MS, self._draw_round)
        self._stale = False
        self._opened = False
        self.show_part("rounds")

    def _answers_card(self) -> Card:
        card = Card()
        self.answer_tabs = Tabs(tr("Answers"), [("kept", tr("Learned from")), ("refused", tr("Refused"))], "kept")
        self.answer_tabs.chosen.connect(self.show_answers)
        self.refused.hide()
        card.setAccessibleName(tr("Answers"))
        card.add(self.answer_tabs, self.kept, self.refused)
        return card

    # -- parts -----------------------------------------------------------------------------------------------

    def show_part(self, name: str) -> None:
        """Another part of the page: rounds, mix, tasks or answers."""
        self.tabs.show_choice(name)
        for part, widget in self._parts.items():
            widget.setVisible(part == name)
        self.verticalScrollBar().setValue(0)
        if self._opened:
            self._open_part()

    def show_answers(self, which: str) -> None:
        """Answers that were learned from (`kept`), or groups that were `refused`."""
        self.answer_tabs.show_choice(which)
        self.kept.setVisible(which == "kept")
        self.refused.setVisible(which == "refused")
        if self._opened:
            self._open_part()

    def _open_part(self) -> None:
        """What is in sight is asked for and drawn."""
        match self.tabs.current:
            case "rounds":
                self._draw_round(anyway=True)
            case "mix":
                self._look_back()
            case "tasks":
                self._ask_tasks()
            case "answers":
                self._ask_tasks()
                (self.kept if self.answer_tabs.current == "kept" else self.refused).open()

    # -- the window's calls ----------------------------------------------------------------------------------

    def opened(self) -> None:
        self._opened = True
        self._tick.start()

    def closed(self) -> None:
        self._opened = False
        self._tick.stop()

    def refresh(self, changed: frozenset[Section]) -> None:
        if changed == ALL and self.view.attached:
            self._ask_history()
            self._ask_tasks()
        if changed & {"link", "state", "settings"}:
            self._show_settings()
        if "rounds" in changed:
            self._round_passed()
        if changed & {"link", "state", "rounds"}:
            self._draw_round(anyway=True)
        elif changed & {"progress", "answers"}:
            self._stale = True
        if changed == ALL and self._opened:
            self._open_part()

    def _show_settings(self) -> None:
        self._alone.setVisible(self.view.silo)
        self.mix.refresh()
        self.treatment.refresh()
        self.tasks.refresh()
        self.kept.refresh()
        self.refused.refresh()

    def _draw_round(self, *, anyway: bool = False) -> None:
        """The tick: what grows with time, where it is in sight."""
        if self.tabs.current != "rounds" or not (anyway or self._stale or self.view.at_work):
            return
        self._stale = False
        self.round.refresh()
        self.now.refresh()
        if anyway:
            self.groups.refresh()

    # -- the past --------------------------------------------------------------------------------------------

    def _ask_history(self) -> None:
        """The newest rounds, or those since the last look."""
        last = self.view.curves.last_round
        self._past.keep_until(last)
        after = max(self._past.last, last - PAGE, 0)
        self.bridge.ask(GetHistory(after=after, limit=PAGE), self._history_is, lambda error: None, of=self)

    def _history_is(self, reply: History) -> None:
        for report in reply.rounds:
            self._count(report)
        self._show_past()

    def _round_passed(self) -> None:
        """A round finished, or the view was filled anew."""
        newest = self.view.reports[-1] if self.view.reports else None
        # Before the first page came, rounds in between would be missing.
        if newest is not None and newest is not self._taken and len(self._past):
            self._count(newest)
            self._show_past()
        self.mix.refresh()
        self.kept.refresh()
        if self.view.clock() - self._tasks_at >= TASKS_SECONDS:
            self._ask_tasks()

    def _count(self, report: RoundReport) -> None:
        if report.round > self._past.last:
            self._moves.add(report.round, report.tasks)
        self._past.keep_until(report.round)
        self._past.add([report])
        self._taken = report

    def _show_past(self) -> None:
        self._look_back()
        self.tasks.show_moves(self._moves)

    def _look_back(self) -> None:
        if self.tabs.current == "mix":
            self.mix.look_back(self._past)
            self.treatment.look_back(self._past)

    # -- tasks -----------------------------------------------------------------------------------------------

    def _ask_tasks(self) -> None:
        if self.view.attached and self._opened:
            self._tasks_at = self.view.clock()
            self.bridge.ask(ListTasks(examples=False), self._tasks_are, self._tasks_failed, of=self)

    def _tasks_are(self, reply: Tasks) -> None:
        self.tasks.show_tasks(reply)
        titles = {item.family: item.title for item in reply.items}
        self.now.titles = titles
        self.kept.show_titles(titles)
        self.refused.show_titles(titles)

    def _tasks_failed(self, error: SapoError) -> None:
        self.tasks.show_failure(error)


def _below(*cards: QWidget) -> QWidget:
    return holding(column(*cards, spacing=2))
