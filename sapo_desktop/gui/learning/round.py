"""The round: where its time goes, what its groups were, and the latest answers."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.records import Phase
from sapo_desktop.gui.learning.round_phases import PARTS, Spent, Tally, mean_of, of_report, spent_so_far, tally
from sapo_desktop.gui.widgets.bars import StackedBar, Stretch, Swatch
from sapo_desktop.gui.widgets.layout import Card, Columns, Figure, column, holding, row
from sapo_desktop.gui.widgets.notes import Empty, Filled
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Elided, Label, set_tooltip
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import phase_meaning, verdict_icon, verdict_name
from sapo_desktop.gui.words.states import phase_words
from sapo_desktop.gui.words.titles import task_name
from sapo_desktop.view.completion import in_plain_signs, parted, without_tags
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import Answered

_ANSWERS_SHOWN = 6


class RoundCard(Card):
    """The current round, or the last one, above the mean of recent ones."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Time per round"))
        self._view = view
        self.now, self.mean = TimeBar(), TimeBar()
        self._cells = {phase: PhaseCell(phase) for phase in PARTS}
        self._words = Elided("", "caption")
        self._empty = Empty(
            "clock",
            tr("No round finished yet"),
            tr("While a round runs, its phases appear here: making questions, answering, scoring, learning."),
        )
        self._legend = Columns(*self._cells.values(), narrowest=115, most=6)
        chart = holding(column(self.now, self.mean, self._legend, self._words, spacing=2))
        self._stack = Filled(self._empty, chart)
        self.add(self._stack)

    def refresh(self) -> None:
        """Draw the current state."""
        mean = mean_of(self._view.reports)
        running = spent_so_far(self._view)
        self._stack.fill(mean is not None or running is not None)
        if mean is None and running is None:
            return
        now = running or of_report(self._view.reports[-1])
        # Both on one scale.
        longest = max(now.total, mean.total if mean else 0.0)
        self.now.show_time(_now_words(now), now, longest)
        self.mean.show_time(_mean_words(mean), mean, longest)
        self._explain(now, mean)
        phase = self._view.phase
        self._words.setVisible(running is not None)
        self._words.set_text(f"{phase_words(phase)}: {phase_meaning(phase)}")

    def _explain(self, now: Spent, mean: Spent | None) -> None:
        """The meaning of the colours, without phases that take no time."""
        before = [cell.isVisibleTo(self._legend) for cell in self._cells.values()]
        for phase, cell in self._cells.items():
            seconds = (mean or now).seconds.get(phase, 0.0)
            cell.show_time(seconds, seconds / mean.total if mean and mean.total else 0.0)
            cell.setVisible(seconds > 0 or now.seconds.get(phase, 0.0) > 0)
        if before != [cell.isVisibleTo(self._legend) for cell in self._cells.values()]:
            self._legend.arrange()


class TimeBar(QWidget):
    """A round's time: its name and duration, above a bar of its phases."""

    def __init__(self) -> None:
        super().__init__()
        self.name = Label("", "caption")
        self._total = Label("", "caption", wrap=False)
        self._bar = StackedBar()
        self.setLayout(column(row((self.name, 1), self._total), self._bar, spacing=0.25))

    def show_time(self, name: str, spent: Spent | None, longest: float) -> None:
        """`longest`: seconds of the whole width."""
        self.name.setText(name)
        self._total.setText(numbers.span(spent.total) if spent else "")
        seconds = spent.in_order() if spent else []
        words = ", ".join(f"{phase_words(phase)} {numbers.span(length)}" for phase, length in seconds)
        set_tooltip(self._bar, words)
        self._bar.show_parts(f"{name}: {words}", [Stretch(length / longest, phase) for phase, length in seconds])


class PhaseCell(QWidget):
    """One phase of the legend: its colour, its name, its mean; until a round is done, its time in the current one."""

    def __init__(self, phase: Phase) -> None:
        super().__init__()
        self._name = phase_words(phase)
        self._seconds = Label("", "strong", wrap=False)
        self._share = Label("", "caption", wrap=False)
        top = row(Swatch(phase), self._seconds, self._share, 1, spacing=0.75)
        self.setLayout(column(top, Label(self._name, "caption"), 1, spacing=0.25))
        set_tooltip(self, phase_meaning(phase))

    def show_time(self, seconds: float, share: float) -> None:
        """`share`: of the mean round; 0 if unknown."""
        self._seconds.setText(numbers.span(seconds))
        self._share.setText(numbers.percent(share) if share else "")
        self.setAccessibleName(f"{self._name}: {self._seconds.text()} {self._share.text()}".strip())


def _now_words(now: Spent) -> str:
    number = numbers.count(now.number)
    return (
        tr("Round {round}, the latest").format(round=number)
        if now.rounds
        else tr("Round {round}, now").format(round=number)
    )


def _mean_words(mean: Spent | None) -> str:
    if mean is None:
        return tr("Mean of the last rounds: available after the first round")
    return tr("Mean of the last %n round(s)", None, mean.rounds)


class GroupsCard(Card):
    """The groups of the last rounds."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("What a round learns from"), tr("A group is one question with its answers."))
        self._view = view
        self._seconds = Figure(tr("Time per round"))
        self._own = Figure(tr("Own groups"))
        self._external = Figure(tr("Peers' groups"))
        self._idle = Figure(tr("Taught nothing"))
        self._truncated = Figure(tr("Cut off"))
        figures = [self._seconds, self._own, self._external, self._idle, self._truncated]
        self.add(Columns(*figures, narrowest=150, most=5))

    def refresh(self) -> None:
        found, mean = tally(self._view.reports), mean_of(self._view.reports)
        if found is None or mean is None:
            for figure in (self._seconds, self._own, self._external, self._idle, self._truncated):
                figure.set(numbers.NOTHING, tr("not measured yet"))
            return
        self._seconds.set(numbers.span(mean.total), tr("mean of the last %n round(s)", None, mean.rounds))
        self._own.set(numbers.mean(found.own), tr("per round"))
        self._external.set(numbers.mean(found.external), self._external_words(found))
        self._idle.set(numbers.percent(found.idle), tr("of the groups: all answers were equally good"))
        limit = self._view.settings.max_tokens
        self._truncated.set(
            numbers.percent(found.truncated),
            tr("of own answers, at the limit of %n token(s)", None, limit)
            if limit
            else tr("of own answers: they reached this model's maximum length"),
        )

    def _external_words(self, found: Tally) -> str:
        if self._view.silo:
            return tr("none in silo")
        if found.wanted is None:
            return tr("per round")
        return tr("per round, of {wanted} requested").format(wanted=numbers.mean(found.wanted))


class NowCard(Card):
    """Own answers as they are scored."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Answered just now"), tr("This computer's own answers, as soon as they are scored."))
        self._view = view
        self.table = Table(tr("Answered just now"), self._headings(), rows_shown=_ANSWERS_SHOWN)
        self._empty = Empty("learning", tr("None yet"), tr("While a round runs, its answers appear here."))
        self._stack = Filled(self._empty, self.table)
        self.add(self._stack)

    def refresh(self) -> None:
        newest = list(self._view.answers)[-_ANSWERS_SHOWN:][::-1]
        self._stack.fill(bool(newest))
        if newest and newest != self.table.rows:
            self.table.set_rows(newest)

    def _headings(self) -> list[Heading]:
        def verdict(one: Answered) -> str:
            return "solved" if one.solved else "wrong"

        return [
            Heading(tr("Result"), lambda one: verdict_name(verdict(one)), icon=lambda one: verdict_icon(verdict(one))),
            Heading(tr("Task"), lambda one: task_name(one.task)),
            Heading(tr("Question"), lambda one: in_plain_signs(one.question), stretch=True),
            Heading(tr("Answer"), _answer, stretch=True),
        ]


def _answer(one: Answered) -> str:
    """Only the answer; if there is none, everything that was written."""
    return in_plain_signs(parted(one.completion).answer) or without_tags(one.completion)


class RoundsPart(QWidget):
    """The part of the page about rounds."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.round = RoundCard(view)
        self.groups = GroupsCard(view)
        self.now = NowCard(view)
        self.setLayout(column(self.round, self.groups, self.now, spacing=2))

    def refresh(self) -> None:
        """Everything."""
        self.groups.refresh()
        self.tick()

    def tick(self) -> None:
        """What grows with time."""
        self.round.refresh()
        self.now.refresh()
