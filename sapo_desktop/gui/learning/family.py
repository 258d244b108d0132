"""One kind of task: on or off, its levels one by one, how it went lately."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sapo_desktop.gui.learning.task_choice import FamilyRow, LevelRow
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.buttons import Button, Switch
from sapo_desktop.gui.widgets.charts import SmallChart
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import chip
from sapo_desktop.gui.widgets.text import Label, set_tooltip
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.tasks import level_name
from sapo_desktop.view.viewmodel import View

CanEnd = Callable[[str, str | None], bool]
"""Whether a family, or one level of it, may be switched off."""


class FamilyPane(Card):
    """The picked family.

    Signals:
        family_switched: family, on.
        level_switched: family, level, on.
    """

    family_switched = Signal(str, bool)
    level_switched = Signal(str, str, bool)

    def __init__(self, view: View, try_out: Callable[[], object]) -> None:
        super().__init__(role="well")
        self.body.setContentsMargins(grid(2), grid(1.5), grid(2), grid(2))
        self._view = view
        self._shown: FamilyRow | None = None
        self.title = Label("", "subtitle")
        self.switch = Switch(tr("Practise this task"))
        self.switch.clicked.connect(self._switched)
        self._lines: list[LevelLine] = []
        self._levels = QVBoxLayout()
        self._levels.setSpacing(8)
        self._trend = Label("", "caption")
        self._chart = SmallChart(tr("Share solved, round by round"))
        self._last = Label(tr("The last task stays on: with none there is nothing to learn."), "caption")
        self._try = Button(tr("Try a question"), try_out, icon="try")
        self._nothing = Label(tr("Pick a task to see its levels."), "muted")
        self._parts = holding(
            column(
                self.title,
                self.switch,
                self._levels,
                Label(tr("From easy to hard questions get longer; paper has those of SAPO's paper."), "caption"),
                self._last,
                column(self._trend, self._chart, spacing=0.5),
                self._try,
                spacing=1.5,
            )
        )
        self.add(self._nothing, self._parts, 1)
        self.show_family(None, can_end=lambda family, level: True)

    def show_family(self, shown: FamilyRow | None, *, can_end: CanEnd) -> None:
        """Another family, or the same with other numbers."""
        self._nothing.setVisible(shown is None)
        self._parts.setVisible(shown is not None)
        if shown is None:
            self._shown = None
            return
        if self._shown is None or [level.level for level in self._shown.levels] != [one.level for one in shown.levels]:
            self._make_lines([level.level for level in shown.levels])
        self._shown = shown
        self.title.setText(shown.title)
        attached = self._view.attached
        self.switch.show_state(shown.chosen)
        self.switch.setEnabled(attached and (not shown.chosen or can_end(shown.family, None)))
        for line, level in zip(self._lines, shown.levels, strict=True):
            line.show_level(level, enabled=attached and (not level.chosen or can_end(shown.family, level.level)))
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
        """The level that is asked most, as the newest rounds went."""
        levels = shown.training or tuple(level.level for level in shown.levels if level.answers)
        track = self._view.tasks.get(f"{shown.family}/{levels[-1]}") if levels else None
        for part in (self._trend, self._chart):
            part.setVisible(track is not None)
        if track is not None:
            self._trend.setText(
                tr("Share solved at {level}, in the newest rounds").format(level=level_name(levels[-1]))
            )
            self._chart.show_values([share for _, share, _ in track.shares])

    def _switched(self, on: bool) -> None:
        if self._shown is not None:
            self.family_switched.emit(self._shown.family, on)

    def _level_switched(self, level: str, on: bool) -> None:
        if self._shown is not None:
            self.level_switched.emit(self._shown.family, level, on)


class LevelLine(QWidget):
    """One level: on or off, whether rounds ask for it now, how much of it was solved.

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

    def show_level(self, shown: LevelRow, *, enabled: bool) -> None:
        self.switch.show_state(shown.chosen)
        self.switch.setEnabled(enabled)
        self._now.setVisible(shown.training)
        solved = (
            tr("{share} of %n", None, shown.answers).format(share=numbers.percent(shown.solved))
            if shown.answers
            else numbers.NOTHING
        )
        self._solved.setText(solved)
        config = ", ".join(f"{name} {value}" for name, value in shown.config)
        set_tooltip(self, config)
        self.switch.setAccessibleDescription(f"{solved}. {config}")
