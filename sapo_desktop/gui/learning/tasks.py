"""The tasks: which are practised, at which levels, how they go, and the curriculum that moves them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtWidgets import QStackedWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.learning import task_choice
from sapo_desktop.gui.learning.family import FamilyPane
from sapo_desktop.gui.learning.level_moves import LevelMove, LevelMoves
from sapo_desktop.gui.learning.task_choice import FamilyRow, Task
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.link.changing import change
from sapo_desktop.gui.widgets.buttons import Button, Switch
from sapo_desktop.gui.widgets.layout import Card, column
from sapo_desktop.gui.widgets.notes import Banner, Empty
from sapo_desktop.gui.widgets.split import Split
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import levels_words, move_words
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import TaskInfo, Tasks


class TaskLine(NamedTuple):
    """A family with the last move of its level."""

    family: FamilyRow
    move: LevelMove | None


class PractisedCard(Card):
    """All families; the picked one beside them. `try_out`: leads to where one tries a question."""

    def __init__(self, view: View, bridge: Asks, try_out: Callable[[], object]) -> None:
        super().__init__(
            tr("Tasks"), tr("Every question is made up by a program and marked by one. Pick a task to change it.")
        )
        self._view, self._bridge = view, bridge
        self._items: list[TaskInfo] = []
        self._wish: str | None = None
        """What was set and does not hold yet."""
        self._moves = LevelMoves()
        self.banner = Banner()
        self.banner.hide()
        self.curriculum = Switch(tr("Curriculum"))
        self.curriculum.clicked.connect(self._set_curriculum)
        self._about = Label("", "muted")
        self.waiting = Banner(tone="warning")
        self.waiting.hide()
        self.everything = Button(tr("Practise all"), lambda: self._choose(self._all()), icon="check")
        self.everything.hide()
        self.corner.addWidget(self.everything)
        self.table = Table(tr("Tasks"), _headings(), rows_shown=13, same=lambda line: line.family.family)
        self.table.pointed.connect(self._show_picked)
        self.pane = FamilyPane(view, try_out)
        self.pane.family_switched.connect(self._switch_family)
        self.pane.level_switched.connect(self._switch_level)
        self._empty = Empty("learning", tr("One moment"), tr("The node is asked for its tasks."))
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(Split(self.table, self.pane, narrowest=740, shares=(3, 2)))
        self._stack.setMinimumHeight(self.table.minimumHeight())
        self.add(self.banner, column(self.curriculum, self._about, spacing=0.5), self.waiting, self._stack)

    # -- what holds ------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Settings changed, or the link."""
        if self._wish == self._view.settings.tasks:
            self._wish = None
        on = self._view.settings.curriculum
        self.curriculum.show_state(on)
        self._about.setText(
            tr("Moves each task up a level above 70% solved and down below 20%.")
            if on
            else tr("Off: each task stays at the second of its levels.")
        )
        self.curriculum.setAccessibleDescription(self._about.text())
        for part in (self.curriculum, self.everything):
            part.setEnabled(self._view.attached)
        self._say_waiting()
        self._draw()

    def show_tasks(self, reply: Tasks) -> None:
        """The worker's list."""
        self.banner.say("")
        self._items = list(reply.items)
        self._draw()

    def show_failure(self, error: SapoError) -> None:
        """The list did not come."""
        if not self._items:
            self._empty.title.setText(tr("The tasks could not be read"))
            self._empty.about.setText(tr("They are asked for again when this page is opened."))
        self.banner.say(in_words(error), "danger")

    def show_moves(self, moves: LevelMoves) -> None:
        self._moves = moves
        self._draw()

    @property
    def chosen(self) -> frozenset[Task]:
        """What may be practised: as it was set last, also where that does not hold yet."""
        text = self._view.settings.tasks if self._wish is None else self._wish
        return task_choice.chosen_tasks(self._catalogue, text)

    @property
    def _catalogue(self) -> dict[str, list[str]]:
        return task_choice.catalogue_of(self._items)

    def _all(self) -> frozenset[Task]:
        return task_choice.chosen_tasks(self._catalogue, "all")

    # -- drawing ---------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        if not self._items:
            self._stack.setCurrentIndex(0)
            if not self._view.attached:
                self._empty.title.setText(tr("Nothing to show"))
                self._empty.about.setText(tr("The tasks stand here when the node runs."))
            return
        rows = task_choice.family_rows(self._items, self.chosen)
        lines = [TaskLine(one, self._moves.last(one.family)) for one in rows]
        first = self._stack.currentIndex() == 0
        self._stack.setCurrentIndex(1)
        if lines != self.table.rows:
            self.table.set_rows(lines)
        if first:
            self.table.select([lines[0].family.family])
        self.everything.setVisible(self.chosen != self._all())
        self._show_picked()

    def _show_picked(self) -> None:
        picked = self.table.selected()
        # The last task stays: with none there is nothing to learn.
        line: TaskLine | None = picked[0] if picked else None
        self.pane.show_family(line.family if line else None, line.move if line else None, can_end=self._can_end)

    def _can_end(self, family: str, level: str | None) -> bool:
        """Whether something is left without this family, or without this level of it."""
        gone = {task for task in self.chosen if task[0] == family and level in (None, task[1])}
        return bool(self.chosen - gone)

    def _say_waiting(self) -> None:
        settings = self._view.settings_are
        if self._wish is not None or (settings is not None and "tasks" in settings.waiting):
            self.waiting.say(tr("Another choice of tasks is saved. It holds once the round in hand is done."))
        else:
            self.waiting.say("")

    # -- changing --------------------------------------------------------------------------------------------

    def _switch_family(self, family: str, on: bool) -> None:
        self._choose(task_choice.with_family(self._catalogue, self.chosen, family, on))

    def _switch_level(self, family: str, level: str, on: bool) -> None:
        self._choose(task_choice.with_level(self.chosen, family, level, on))

    def _choose(self, chosen: frozenset[Task]) -> None:
        text = task_choice.written(self._catalogue, chosen)
        before = self._wish
        if not text:
            self._draw()
            return
        self._wish = text if text != self._view.settings.tasks else None

        def undo() -> None:
            self._wish = before
            self._draw()

        change(self._bridge, "tasks", text, of=self, banner=self.banner, undo=undo, taken=self.refresh)
        self._draw()

    def _set_curriculum(self, on: bool) -> None:
        change(
            self._bridge, "curriculum", "true" if on else "false", of=self, banner=self.banner, undo=self.refresh
        )  # fmt: skip


def _headings() -> list[Heading]:
    def state(line: TaskLine) -> str:
        if not line.family.chosen:
            return tr("off")
        return levels_words(line.family.training) if line.family.training else tr("on")

    return [
        Heading(tr("Task"), lambda line: line.family.title, stretch=True),
        Heading(tr("Practised"), state, about=tr("The levels that rounds ask for now")),
        Heading(
            tr("Solved"),
            lambda line: numbers.percent(line.family.solved),
            lambda line: line.family.solved,
            right=True,
            about=tr("Share of own answers in the newest rounds"),
        ),
        Heading(
            tr("Last move"),
            lambda line: move_words(line.move),
            lambda line: line.move.round if line.move else None,
            about=tr("When its level changed, in the newest 1000 rounds"),
        ),
    ]
