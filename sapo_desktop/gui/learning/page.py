"""Learning: how a round works, whose answers are learned from, which tasks are practised, and every answer."""

from __future__ import annotations

from functools import cached_property, partial
from typing import ClassVar, TypeVar

from PySide6.QtWidgets import QButtonGroup, QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.learning.answers import KeptAnswers
from sapo_desktop.gui.learning.round import RoundsPart
from sapo_desktop.gui.learning.tasks import PractisedCard
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import change
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.buttons import ChoiceCard, Segments
from sapo_desktop.gui.widgets.layout import WIDE, Card, column
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import MIXES, WEIGHTINGS, mix_meaning, mix_name, weighting_meaning, weighting_name
from sapo_desktop.view.viewmodel import ALL, Section, View
from sapo_desktop.worker.control.messages.replies import Tasks
from sapo_desktop.worker.control.messages.requests import ListTasks

Part = TypeVar("Part", bound=QWidget)

TICK_MS = 250
"""The current round is drawn at most four times a second."""
TASKS_SECONDS = 5.0
"""Interval of updates of the tasks while rounds pass."""


class LearningPage(Page):
    """Four parts, of which one is visible; each is created when first visited."""

    name = "learning"
    widest = WIDE
    follows: ClassVar[frozenset[Section]] = frozenset(
        {"link", "state", "progress", "rounds", "curves", "settings", "answers"}
    )
    _parts: ClassVar[tuple[str, ...]] = ("rounds", "mix", "tasks", "answers")

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__(view, bridge, tr("Learning"))
        self._tasks: Tasks | None = None
        self._tasks_at = 0.0
        self._made: dict[str, QWidget] = {}
        names = (tr("Rounds"), tr("Mix"), tr("Tasks"), tr("Answers"))
        self.tabs = Segments(tr("Sections of this page"), list(zip(self._parts, names, strict=True)))
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
        return self._placed("mix", MixPart(self.view, self.bridge))

    @cached_property
    def tasks(self) -> PractisedCard:
        part = PractisedCard(self.view, self.bridge, lambda family: self.wanted.emit(f"try/{family}"))
        part.own.changed.connect(self._ask_tasks)
        return self._placed("tasks", part)

    @cached_property
    def answers(self) -> KeptAnswers:
        return self._placed("answers", KeptAnswers(self.view, self.bridge))

    def show_part(self, name: str) -> None:
        """Switch to another part of the page: rounds, mix, tasks or answers."""
        part: QWidget = getattr(self, name)
        self.tabs.show_choice(name)
        for widget in self._made.values():
            widget.setVisible(widget is part)
        self.verticalScrollBar().setValue(0)
        if self._opened:
            self._open_part()

    def _placed(self, name: str, part: Part) -> Part:
        self._made[name] = part
        self.add(part)
        return part

    def _open_part(self) -> None:
        """Draw the visible part, and request what it lacks."""
        match self.tabs.current:
            case "rounds":
                self._draw_round(anyway=True)
            case "mix":
                self.mix.refresh()
            case "tasks":
                self.tasks.refresh()
                self._show_tasks()
                self._ask_tasks()
            case "answers":
                self.answers.open()

    # -- called by the window ----------------------------------------------------------------------------------

    def opened(self) -> None:
        self._opened = True
        self._tick.start()

    def closed(self) -> None:
        self._opened = False
        self._tick.stop()

    def refresh(self, changed: frozenset[Section]) -> None:
        if changed == ALL:
            self._ask_tasks()
            self._open_part()
        elif changed & {"link", "state"} and self.tabs.current == "tasks" and self.tasks.own.awaits_node:
            self._ask_tasks()  # a node that was rebuilt to load them only reports its state
        elif "rounds" in changed and self.view.clock() - self._tasks_at >= TASKS_SECONDS:
            self._ask_tasks()
        if changed & {"link", "state", "settings", "rounds"}:
            self._show_settings()
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
        """The tick: what grows with time, if it is visible."""
        if self.tabs.current != "rounds":
            return
        if anyway:
            self.rounds.refresh()
        elif self._stale or self.view.at_work:
            self.rounds.tick()
        self._stale = False

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


# Own and peers' answers: how many of each, and how peers' are weighted.


class MixPart(QWidget):
    """The part of the page about whose answers are learned from."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self.alone = Banner(
            tr("In silo the model learns from its own answers only. This setting applies in the swarm."), "silo"
        )
        self.banner = Banner()
        self.mix = Segments(tr("Mix of own and peers' answers"), [(one, mix_name(one)) for one in MIXES])
        self.mix.chosen.connect(partial(self._set, "mix"))
        self._meaning = Label("")
        mix = Card(tr("Mix"), tr("Of eight questions in a step: own ones / those from peers."))
        mix.add(self.mix, self._meaning)
        group = QButtonGroup(self)
        self.weightings: dict[str, ChoiceCard] = {}
        for name in WEIGHTINGS:
            self.weightings[name] = ChoiceCard(group, weighting_name(name), weighting_meaning(name))
            self.weightings[name].chosen.connect(partial(self._set, "weighting", name))
        weighting = Card(tr("Weighting"), tr("How much peers' answers count. Each one is scored here first."))
        weighting.add(column(*self.weightings.values()))
        self.setLayout(column(self.alone, self.banner, mix, weighting, spacing=2))

    def refresh(self) -> None:
        """Show the current state."""
        view = self._view
        self.alone.setVisible(view.attached and view.silo)
        for part in (self.mix, *self.weightings.values()):
            part.setEnabled(view.attached and not view.silo)
        self.mix.show_choice(view.settings.mix)
        words = mix_meaning(view.settings.mix, view.reports[-1].mix if view.reports and not view.silo else "")
        self._meaning.setText(tr("In the swarm: {meaning}").format(meaning=words) if view.silo else words)
        self.weightings[view.settings.weighting].radio.setChecked(True)

    def _set(self, key: str, value: str) -> None:
        if value != getattr(self._view.settings, key):
            change(self._bridge, key, value, of=self, banner=self.banner, undo=self.refresh)
