"""The tasks: which are practised, at which levels, how they go, and the curriculum that chooses among them."""

from __future__ import annotations

from collections.abc import Callable

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.learning import task_choice
from sapo_desktop.gui.learning.family import FamilyPane
from sapo_desktop.gui.learning.task_choice import FamilyRow
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.link.changing import change
from sapo_desktop.gui.widgets.buttons import Button, Switch
from sapo_desktop.gui.widgets.layout import Card, Columns, column
from sapo_desktop.gui.widgets.notes import Banner, Empty, Filled
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import levels_words
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import TaskInfo, Tasks


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
        self.banner = Banner()
        self.curriculum = Switch(tr("Curriculum"))
        self.curriculum.clicked.connect(self._set_curriculum)
        self._about = Label("", "muted")
        self.waiting = Banner(tone="warning")
        self.everything = Button(tr("Practise all"), lambda: self._choose(self._all()), icon="check")
        self.everything.hide()
        self.corner.addWidget(self.everything)
        self.table = Table(tr("Tasks"), _headings(), rows_shown=13, same=lambda row: row.family)
        self.table.pointed.connect(self._show_picked)
        self.pane = FamilyPane(view, try_out)
        self.pane.family_switched.connect(self._switch_family)
        self.pane.level_switched.connect(self._switch_level)
        self._empty = Empty("learning", tr("One moment"), tr("The node is asked for its tasks."))
        self._stack = Filled(self._empty, Columns(self.table, self.pane, narrowest=370, most=2, shares=(3, 2)))
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
            tr(
                "Asks each task at the levels that are solved now and then, and such questions again: "
                "the rest teaches nothing."
            )
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
            self._empty.say(tr("The tasks could not be read"), tr("They are asked for again when this page is opened."))
        self.banner.say(in_words(error), "danger")

    @property
    def chosen(self) -> frozenset[str]:
        """What may be practised: as it was set last, also where that does not hold yet."""
        text = self._view.settings.tasks if self._wish is None else self._wish
        return task_choice.chosen_tasks(self._catalogue, text)

    @property
    def _catalogue(self) -> dict[str, list[str]]:
        return task_choice.catalogue_of(self._items)

    def _all(self) -> frozenset[str]:
        return task_choice.chosen_tasks(self._catalogue, "all")

    # -- drawing ---------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        if not self._items:
            self._stack.fill(False)
            if not self._view.attached:
                self._empty.say(tr("Nothing to show"), tr("The tasks stand here when the node runs."))
            return
        rows = task_choice.family_rows(self._items, self.chosen)
        first = self._stack.currentIndex() == 0
        self._stack.fill(True)
        if rows != self.table.rows:
            self.table.set_rows(rows)
        if first:
            self.table.select([rows[0].family])
        self.everything.setVisible(self.chosen != self._all())
        self._show_picked()

    def _show_picked(self) -> None:
        picked: list[FamilyRow] = self.table.selected()
        # The last task stays: with none there is nothing to learn.
        self.pane.show_family(picked[0] if picked else None, can_end=self._can_end)

    def _can_end(self, family: str, level: str | None) -> bool:
        """Whether something is left without this family, or without this level of it."""
        return any(task != f"{family}/{level}" if level else task.partition("/")[0] != family for task in self.chosen)

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
        task = {f"{family}/{level}"}
        self._choose(self.chosen | task if on else self.chosen - task)

    def _choose(self, chosen: frozenset[str]) -> None:
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
    def state(row: FamilyRow) -> str:
        if not row.chosen:
            return tr("off")
        return levels_words(row.training) if row.training else tr("seldom")

    return [
        Heading(tr("Task"), lambda row: row.title, stretch=True),
        Heading(
            tr("Practised"),
            state,
            about=tr("The levels that rounds ask for now; seldom: all or nothing is solved, so it teaches nothing"),
        ),
        number(
            tr("Solved"), lambda row: row.solved, numbers.percent, about=tr("Share of own answers in the newest rounds")
        ),
        Heading(
            tr("By level"),
            lambda row: " · ".join(numbers.percent(level.solved) for level in row.levels),
            about=tr("Share solved at each of its levels, from easy to hard"),
            right=True,
        ),
    ]
