"""Learning: how a round goes, whose answers are learned from, which tasks are practised, and every answer."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, TypeVar

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.records import RoundReport
from sapo_desktop.gui.learning.answers import KeptAnswers
from sapo_desktop.gui.learning.level_moves import LevelMoves
from sapo_desktop.gui.learning.mix import MixPart
from sapo_desktop.gui.learning.past_rounds import PAGE, PastRounds
from sapo_desktop.gui.learning.refused import RefusedGroups
from sapo_desktop.gui.learning.round import RoundsPart
from sapo_desktop.gui.learning.round_phases import MEAN_OF
from sapo_desktop.gui.learning.tasks import PractisedCard
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.buttons import Segments
from sapo_desktop.gui.widgets.layout import Card
from sapo_desktop.gui.widgets.tabs import Tabs
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.viewmodel import ALL, Section, View
from sapo_desktop.worker.control.messages.replies import History, Tasks
from sapo_desktop.worker.control.messages.requests import GetHistory, ListTasks

Part = TypeVar("Part", bound=QWidget)

TICK_MS = 250
"""The round in hand is drawn anew four times a second at most."""
TASKS_SECONDS = 5.0
"""Between two looks at the tasks, while rounds pass."""


class LearningPage(Page):
    """Four parts, one of them in sight; each is made when it is first looked at."""

    name = "learning"
    follows: ClassVar[frozenset[Section]] = frozenset(
        {"link", "state", "progress", "rounds", "curves", "settings", "answers"}
    )
    _parts: ClassVar[tuple[str, ...]] = ("rounds", "mix", "tasks", "answers")

    def __init__(self, view: View, bridge: Asks, actions: Actions) -> None:
        super().__init__(view, bridge, tr("Learning"))
        self._past = PastRounds()
        self._moves = LevelMoves()
        self._tasks: Tasks | None = None
        self._tasks_at = 0.0
        self._taken: RoundReport | None = None
        """The newest round of the view that is counted in the past."""
        self._made: dict[str, QWidget] = {}
        names = (tr("Rounds"), tr("Mix"), tr("Tasks"), tr("Answers"))
        self.tabs = Tabs(tr("Parts of this page"), list(zip(self._parts, names, strict=True)))
        self.tabs.chosen.connect(self.show_part)
        self.add(self.tabs)
        self._tick = timer(self, TICK_MS, self._draw_round)
        self._stale = False
        self._opened = False
        self.show_part("rounds")

    # -- parts -----------------------------------------------------------------------------------------------

    @cached_property
    def rounds(self) -> RoundsPart:
        return self._placed("rounds", RoundsPart(self.view))

    @cached_property
    def mix(self) -> MixPart:
        return self._placed("mix", MixPart(self.view, self.bridge, self._ask_earlier))

    @cached_property
    def tasks(self) -> PractisedCard:
        return self._placed("tasks", PractisedCard(self.view, self.bridge, lambda: self.wanted.emit("try")))

    @cached_property
    def answers(self) -> AnswersCard:
        return self._placed("answers", AnswersCard(self.view, self.bridge))

    def show_part(self, name: str) -> None:
        """Another part of the page: rounds, mix, tasks or answers."""
        part: QWidget = getattr(self, name)
        self.tabs.show_choice(name)
        for widget in self._made.values():
            widget.setVisible(widget is part)
        self.verticalScrollBar().setValue(0)
        if self._opened:
            self._open_part()

    def show_answers(self, which: str) -> None:
        """Answers that were learned from (`kept`), or groups that were `refused`."""
        self.show_part("answers")
        self.answers.show_answers(which)

    def _placed(self, name: str, part: Part) -> Part:
        self._made[name] = part
        self.add(part)
        return part

    def _open_part(self) -> None:
        """What is in sight is drawn, and what it lacks asked for."""
        match self.tabs.current:
            case "rounds":
                self._draw_round(anyway=True)
            case "mix":
                self.mix.refresh()
                self.mix.look_back(self._past)
            case "tasks":
                self.tasks.refresh()
                self.tasks.show_moves(self._moves)
                self._show_tasks()
                self._ask_tasks()
            case "answers":
                self._show_tasks()
                self.answers.open()

    # -- the window's calls ----------------------------------------------------------------------------------

    def opened(self) -> None:
        self._opened = True
        self._tick.start()

    def closed(self) -> None:
        self._opened = False
        self._tick.stop()

    def refresh(self, changed: frozenset[Section]) -> None:
        if changed == ALL:
            self._ask_history()
            self._ask_tasks()
            self._open_part()
        if changed & {"link", "state", "settings"}:
            self._show_settings()
        if "rounds" in changed:
            self._round_passed()
        if changed & {"link", "state", "rounds"}:
            self._draw_round(anyway=True)
        elif changed & {"progress", "answers"}:
            self._stale = True

    def _show_settings(self) -> None:
        match self.tabs.current:
            case "mix":
                self.mix.refresh()
            case "tasks":
                self.tasks.refresh()
            case "answers":
                self.answers.refresh()

    def _draw_round(self, *, anyway: bool = False) -> None:
        """The tick: what grows with time, where it is in sight."""
        if self.tabs.current != "rounds":
            return
        if anyway:
            self.rounds.refresh()
        elif self._stale or self.view.at_work:
            self.rounds.tick()
        self._stale = False

    # -- the past --------------------------------------------------------------------------------------------

    def _ask_history(self) -> None:
        """The newest rounds, or those since the last look."""
        if not self.view.attached:
            return
        last = self.view.curves.last_round
        self._past.keep_until(last)
        after = max(self._past.last, last - PAGE, 0)
        self.bridge.ask(GetHistory(after=after, limit=PAGE), self._history_is, lambda error: None, of=self)

    def _history_is(self, reply: History) -> None:
        for report in reply.rounds:
            self._count(report)
        self._show_past()
        if len(self.view.reports) < MEAN_OF:
            # A window that begins on this page has seen no round yet.
            self.view.take_history(reply.rounds[-2 * MEAN_OF :])
            self._draw_round(anyway=True)

    def _ask_earlier(self) -> None:
        """The page before those that are known."""
        after = max(0, self._past.first - 1 - PAGE)
        self.bridge.ask(GetHistory(after=after, limit=PAGE), self._earlier_are, of=self)

    def _earlier_are(self, reply: History) -> None:
        known = self._past.first
        self._past.add(report for report in reply.rounds if report.round < known)
        self._show_past()

    def _round_passed(self) -> None:
        """A round finished, or the view was filled anew."""
        newest = self.view.reports[-1] if self.view.reports else None
        # Before the first page came, rounds in between would be missing.
        if newest is not None and newest is not self._taken and len(self._past):
            self._count(newest)
            self._show_past()
        self._show_settings()
        if self.view.clock() - self._tasks_at >= TASKS_SECONDS:
            self._ask_tasks()

    def _count(self, report: RoundReport) -> None:
        if report.round > self._past.last:
            self._moves.add(report.round, report.tasks)
        self._past.keep_until(report.round)
        self._past.add([report])
        self._taken = report

    def _show_past(self) -> None:
        match self.tabs.current:
            case "mix":
                self.mix.look_back(self._past)
            case "tasks":
                self.tasks.show_moves(self._moves)

    # -- tasks -----------------------------------------------------------------------------------------------

    def _ask_tasks(self) -> None:
        if self.view.attached and (self._tasks is None or self.tabs.current == "tasks"):
            self._tasks_at = self.view.clock()
            self.bridge.ask(ListTasks(examples=False), self._tasks_are, self._tasks_failed, of=self)

    def _tasks_are(self, reply: Tasks) -> None:
        self._tasks = reply
        self._show_tasks()

    def _show_tasks(self) -> None:
        if self._tasks is not None and self.tabs.current == "tasks":
            self.tasks.show_tasks(self._tasks)

    def _tasks_failed(self, error: SapoError) -> None:
        if self.tabs.current == "tasks":
            self.tasks.show_failure(error)


class AnswersCard(Card):
    """The part of the page about single answers: those that were learned from, and groups that were refused."""

    def __init__(self, view: View, bridge: Asks) -> None:
        super().__init__()
        self.setAccessibleName(tr("Answers"))
        self.kept = KeptAnswers(view, bridge)
        self.refused = RefusedGroups(view, bridge)
        self.which = Segments(tr("Answers"), [("kept", tr("Learned from")), ("refused", tr("Refused"))], "kept")
        self.which.chosen.connect(self.show_answers)
        self.refused.hide()
        self.add(self.which, self.kept, self.refused)

    def show_answers(self, which: str) -> None:
        """Answers that were learned from (`kept`), or groups that were `refused`."""
        self.which.show_choice(which)
        self.kept.setVisible(which == "kept")
        self.refused.setVisible(which == "refused")
        self.open()

    def open(self) -> None:
        """It came into sight."""
        if self.which.current == "kept":
            self.kept.open()
        else:
            self.refused.open()

    def refresh(self) -> None:
        """The link changed, or a round passed."""
        self.kept.refresh()
        self.refused.refresh()
