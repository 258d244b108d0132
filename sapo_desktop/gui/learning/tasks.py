"""The tasks: which are practised, at which levels, their recent results, and the curriculum that chooses among them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.learning import task_choice
from sapo_desktop.gui.learning.own_tasks import OwnTasks
from sapo_desktop.gui.learning.task_choice import FamilyRow
from sapo_desktop.gui.link.bridge import Bridge, Call
from sapo_desktop.gui.link.inquiry import change
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.buttons import Button, Switch
from sapo_desktop.gui.widgets.charts import SmallChart
from sapo_desktop.gui.widgets.layout import Card, Columns, column, holding, row, rule
from sapo_desktop.gui.widgets.notes import Banner, Empty, Filled, chip
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Label, set_tooltip
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import levels_words
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import level_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import TaskInfo, Tasks

CanEnd = Callable[[str, str | None], bool]
"""Whether a family, or one level of it, may be switched off."""
TryOut = Callable[[str], object]
"""Opens the page on which one tries a question of a family."""


class FamilyPane(Card):
    """The selected family.

    Signals:
        family_switched: family, on.
        level_switched: family, level, on.
    """

    family_switched = Signal(str, bool)
    level_switched = Signal(str, str, bool)

    def __init__(self, view: View, try_out: TryOut) -> None:
        super().__init__(role="well")
        self.body.setContentsMargins(grid(2), grid(1.5), grid(2), grid(2))
        self._view = view
        self._try_out = try_out
        self._shown: FamilyRow | None = None
        self.title = Label("", "subtitle")
        self.switch = Switch(tr("Practise this task"))
        self.switch.clicked.connect(self._switched)
        self._lines: list[LevelLine] = []
        self._levels = QVBoxLayout()
        self._levels.setSpacing(8)
        self._of_the_paper = Label(tr("The level “paper” has the questions of SAPO's paper."), "caption")
        self._trend = Label("", "caption")
        self._chart = SmallChart(tr("Share solved, round by round"))
        self._last = Label(tr("The last task stays on. Without any task there is nothing to learn."), "caption")
        self._try = Button(tr("Try a question"), self._try_question, icon="try")
        self._nothing = Label(tr("Choose a task to see its levels."), "muted")
        self._parts = holding(
            column(
                self.title,
                self.switch,
                self._levels,
                Label(tr("Questions get longer from easy to hard."), "caption"),
                self._of_the_paper,
                self._last,
                column(self._trend, self._chart, spacing=0.5),
                self._try,
                spacing=1.5,
            )
        )
        self.add(self._nothing, self._parts, 1)
        self.show_family(None, can_end=lambda family, level: True)

    def show_family(self, shown: FamilyRow | None, *, can_end: CanEnd) -> None:
        """Show another family, or the same with new numbers."""
        self._nothing.setVisible(shown is None)
        self._parts.setVisible(shown is not None)
        if shown is None:
            self._shown = None
            return
        if self._shown is None or [level.level for level in self._shown.levels] != [one.level for one in shown.levels]:
            self._make_lines([level.level for level in shown.levels])
        self._shown = shown
        self._of_the_paper.setVisible(any(level.level == "paper" for level in shown.levels))
        self.title.setText(shown.title)
        attached = self._view.attached
        self.switch.show_state(shown.chosen)
        self.switch.setEnabled(attached and (not shown.chosen or can_end(shown.family, None)))
        for line, level in zip(self._lines, shown.levels, strict=True):
            chosen = level.level in shown.chosen_levels
            line.show_level(level, chosen, enabled=attached and (not chosen or can_end(shown.family, level.level)))
        self._last.setVisible(attached and shown.chosen and not can_end(shown.family, None))
        self._show_trend(shown)

    def _make_lines(self, levels: list[str]) -> None:
        while (item := self._levels.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self._lines = [LevelLine(level) for level in levels]
        for line in self._lines:
            line.switched.connect(self._level_switched)
            self._levels.addWidget(line)

    def _show_trend(self, shown: FamilyRow) -> None:
        """The level that is asked most, over the newest rounds."""
        levels = shown.training or tuple(level.level for level in shown.levels if level.answers)
        track = self._view.tasks.get(f"{shown.family}/{levels[-1]}") if levels else None
        for part in (self._trend, self._chart):
            part.setVisible(track is not None)
        if track is not None:
            self._trend.setText(
                tr("Share solved at {level}, in the latest rounds").format(level=level_name(levels[-1]))
            )
            self._chart.show_values(list(track.values()))

    def _switched(self, on: bool) -> None:
        if self._shown is not None:
            self.family_switched.emit(self._shown.family, on)

    def _try_question(self) -> None:
        if self._shown is not None:
            self._try_out(self._shown.family)

    def _level_switched(self, level: str, on: bool) -> None:
        if self._shown is not None:
            self.level_switched.emit(self._shown.family, level, on)


class LevelLine(QWidget):
    """One level: on or off, whether rounds currently use it, and its share solved.

    Signals:
        switched: the level, on.
    """

    switched = Signal(str, bool)

    def __init__(self, level: str) -> None:
        super().__init__()
        self.switch = Switch(level_name(level))
        self.switch.clicked.connect(lambda on: self.switched.emit(level, on))
        self._now = chip(tr("now"), "accent")
        set_tooltip(self._now, tr("Rounds ask for this level now"))
        self._solved = Label("", "caption", wrap=False)
        self.setLayout(row(self.switch, self._now, 1, self._solved, spacing=1))

    def show_level(self, shown: TaskInfo, chosen: bool, *, enabled: bool) -> None:
        self.switch.show_state(chosen)
        self.switch.setEnabled(enabled)
        self._now.setVisible(shown.training)
        solved = (
            tr("{share} of %n", None, shown.answers).format(share=numbers.percent(shown.solved))
            if shown.answers
            else numbers.NOTHING
        )
        self._solved.setText(solved)
        config = ", ".join(f"{name} {value}" for name, value in shown.config.items())
        set_tooltip(self, config)
        self.switch.setAccessibleDescription(f"{solved}. {config}")


class PractisedCard(Card):
    """All families, with the selected one next to them."""

    def __init__(self, view: View, bridge: Bridge, try_out: TryOut) -> None:
        super().__init__(
            tr("Tasks"), tr("A program makes every question and scores every answer. Choose a task to change it.")
        )
        self._view, self._bridge = view, bridge
        self._items: list[TaskInfo] = []
        self._wish: str | None = None
        self._asking: Call | None = None
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
        self._empty = Empty("learning", tr("One moment"), tr("Asking the node for its tasks."))
        self._stack = Filled(self._empty, Columns(self.table, self.pane, narrowest=370, most=2, shares=(3, 2)))
        self._stack.setMinimumHeight(self.table.minimumHeight())
        self.own = OwnTasks(view, bridge)
        switch = column(self.curriculum, self._about, spacing=0.5)
        self.add(self.banner, switch, self.waiting, self._stack, rule(), self.own)

    # -- current state ----------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Settings changed, or the link."""
        if self._asking is None or self._asking.done():
            self._wish = None
        on = self._view.settings.curriculum
        self.curriculum.show_state(on)
        self._about.setText(
            tr(
                "Asks at levels where some answers are right and some wrong, and repeats such questions. "
                "Only these teach something."
            )
            if on
            else tr("Off: each task stays at its middle level, or at the nearest chosen one.")
        )
        self.curriculum.setAccessibleDescription(self._about.text())
        for part in (self.curriculum, self.everything):
            part.setEnabled(self._view.attached)
        self.own.refresh()
        self._say_waiting()
        self._draw()

    def show_tasks(self, reply: Tasks) -> None:
        """The worker's list."""
        self.banner.say("")
        self._items = list(reply.items)
        self.own.show_tasks(reply)
        self._draw()

    def show_failure(self, error: SapoError) -> None:
        """The list could not be loaded."""
        if not self._items:
            self._empty.say(tr("The tasks could not be read"), tr("The app asks again when you open this page."))
        self.banner.say(in_words(error), "danger")

    @property
    def chosen(self) -> frozenset[str]:
        """What may be practised: the last setting, even if it does not apply yet or is being sent."""
        return task_choice.chosen_tasks(self._catalogue, self._wish or self._view.wanted.tasks)

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
                self._empty.say(tr("Nothing to show"), tr("The tasks appear here while the node runs."))
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
        # The last task stays: without one there is nothing to learn.
        self.pane.show_family(picked[0] if picked else None, can_end=self._can_end)

    def _can_end(self, family: str, level: str | None) -> bool:
        """Whether something is left without this family or level."""
        return any(task != f"{family}/{level}" if level else task.partition("/")[0] != family for task in self.chosen)

    def _say_waiting(self) -> None:
        settings = self._view.settings_are
        if settings is not None and "tasks" in settings.waiting:
            self.waiting.say(tr("Another choice of tasks is saved. It takes effect after the current round."))
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
        if text:
            self._wish = text
            self._asking = change(self._bridge, "tasks", text, of=self, banner=self.banner, undo=self._undo)
        self._draw()

    def _undo(self) -> None:
        self._wish = None
        self._draw()

    def _set_curriculum(self, on: bool) -> None:
        change(
            self._bridge, "curriculum", "true" if on else "false", of=self, banner=self.banner, undo=self.refresh
        )  # fmt: skip


def _by_level(row: FamilyRow) -> str:
    """`79% · 62%`: up to the last level that was asked."""
    shares = [numbers.percent(level.solved) for level in row.levels]
    while len(shares) > 1 and shares[-1] == numbers.NOTHING:
        shares.pop()
    return " · ".join(shares)


def _headings() -> list[Heading]:
    def state(row: FamilyRow) -> str:
        if not row.chosen:
            return tr("off")
        return levels_words(row.training) if row.training else tr("rarely")

    return [
        Heading(tr("Task"), lambda row: row.title, stretch=True),
        Heading(
            tr("Practised"),
            state,
            about=tr(
                "The levels that rounds ask for now. Rarely: all or none of the answers are right, so the "
                "level teaches nothing."
            ),
        ),
        number(
            tr("Solved"), lambda row: row.solved, numbers.percent, about=tr("Share of own answers in the latest rounds")
        ),
        Heading(
            tr("By level"),
            _by_level,
            about=tr("Share solved at each level, from easy to hard"),
            right=True,
            spare=1,
        ),
    ]
