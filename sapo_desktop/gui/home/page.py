"""Home: one button, one sentence, and whether it learns."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QProgressBar, QStackedWidget, QWidget

from sapo_desktop.gui.home.aha import AhaCard
from sapo_desktop.gui.home.comparison import FEWEST_ROUNDS, Side, compare
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.buttons import Button, IconButton, Segments
from sapo_desktop.gui.widgets.charts import SMOOTHED_ROUNDS, CurveChart, Legend, SmallChart, words_at
from sapo_desktop.gui.widgets.layout import Card, Columns, Figure, Flow, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner, Empty
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Elided, Label, set_tooltip
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.states import action_hint, action_words, phase_words, state_sentence, swarm_sentence
from sapo_desktop.gui.words.tasks import task_name
from sapo_desktop.view.link import LinkChange
from sapo_desktop.view.viewmodel import RECENT_ROUNDS, Section, TaskTrack, View
from sapo_desktop.worker.control.messages.replies import History
from sapo_desktop.worker.control.messages.requests import GetHistory

_ICONS = {"pause": "pause", "wait": "clock", "try again": "refresh"}
_TABLE_ROWS = 2000


class HomePage(Page):
    """See the module."""

    name = "home"
    follows: ClassVar[frozenset[Section]] = frozenset(
        {"link", "state", "progress", "curves", "rounds", "swarm", "settings"}
    )

    def __init__(self, view: View, bridge: Asks, actions: Actions) -> None:
        super().__init__(view, bridge, "")
        self._hero = Hero(view, actions)
        self._counts = Counts(view)
        self._banner = Banner()
        self._banner.button.clicked.connect(lambda: self.wanted.emit("log"))
        self._chart = ChartCard(view)
        self._compare = CompareCard(view)
        self._ahas = AhaCard(view, bridge)
        self._tasks = TasksCard(view)
        self.add(
            self._hero,
            self._banner,
            self._chart,
            Columns(self._ahas, self._compare, narrowest=400, most=2),
            self._tasks,
        )
        self._hero.add_counts(self._counts)
        self._asked_of: LinkChange | None = None
        self._clock = timer(self, 1000, self._hero.tick)

    def opened(self) -> None:
        self._clock.start()

    def closed(self) -> None:
        self._clock.stop()

    def refresh(self, changed: frozenset[Section]) -> None:
        if changed & {"link", "state", "settings", "progress", "swarm"}:
            self._hero.refresh()
        if changed & {"link", "rounds", "swarm"}:
            self._counts.refresh()
        if changed & {"link", "state", "swarm"}:
            self._warn()
        if "curves" in changed:
            self._chart.refresh()
            self._compare.refresh()
        if "rounds" in changed:
            self._tasks.refresh()
        if "curves" in changed:
            self._ahas.refresh()
        if self.view.attached and self.view.link is not self._asked_of:
            self._asked_of = self.view.link  # once for each node that the window meets
            self._ask_history()

    def _ask_history(self) -> None:
        after = max(0, self.view.curves.last_round - 60)
        self.bridge.ask(GetHistory(after=after), self._history_is, lambda error: None, of=self)

    def _history_is(self, reply: History) -> None:
        self.view.take_history(reply.rounds)
        self._tasks.refresh()

    def _warn(self) -> None:
        swarm = self.view.swarm
        if self.view.face == "attention":
            self._banner.say(tr("What happened stands in the log."), "danger")
            self._banner.button.set_text(tr("Open the log"))
            self._banner.button.show()
        elif not self.view.silo and swarm is not None and swarm.one_source:
            self._banner.say(
                tr("All that this node draws comes from one source: its view of the swarm may be made up."), "warning"
            )
            self._banner.button.hide()
        else:
            self._banner.say("")


class Hero(Card):
    """The large button, the sentence beside it, and how far the round is."""

    def __init__(self, view: View, actions: Actions) -> None:
        super().__init__()
        self._view = view
        self._button = Button("", actions.main, kind="big", icon="play")
        self._button.setMinimumWidth(220)
        self._sentence = Label("", "subtitle")
        self._swarm = Label("", "muted")
        self._phase = Elided("", "caption")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setMaximumWidth(220)
        self._progress = holding(row(self._bar, self._phase, spacing=1.5))
        keep = self._progress.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self._progress.setSizePolicy(keep)
        self._words = column(self._sentence, self._swarm, self._progress, spacing=0.5)
        self._top = row(self._button, spacing=3)
        self._top.addLayout(self._words, 1)
        self.add(self._top)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Button and words are side by side where a line of words has room."""
        wide = event.size().width() > self._button.sizeHint().width() + 24 * theme.pixels("body")
        self._top.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)
        super().resizeEvent(event)

    def add_counts(self, counts: QWidget) -> None:
        self.add(counts)

    def refresh(self) -> None:
        view = self._view
        action = view.main_action
        self._button.set_text(action_words(action, view.silo))
        hint = action_hint(action, view.silo)
        self._button.setAccessibleDescription(hint)
        set_tooltip(self._button, hint)
        self._button.set_icon(_ICONS.get(action, "play"))
        self._button.set_calm(action == "pause")
        self._button.setEnabled(action != "wait")
        self._swarm.setText(swarm_sentence(view))
        self._swarm.set_tone("silo" if view.silo else "")
        self._show_progress()
        self.tick()

    def tick(self) -> None:
        """A second passed."""
        sentence = state_sentence(self._view)
        if self._view.pause_left:
            sentence = f"{sentence} ({numbers.countdown(self._view.pause_left)})"
        self._sentence.setText(sentence)
        self._sentence.set_tone("danger" if self._view.face == "attention" else "")

    def _show_progress(self) -> None:
        view = self._view
        busy = view.at_work and view.phase != "waiting"
        self._progress.setVisible(busy)
        if busy:
            self._bar.setRange(0, max(1, view.total))
            self._bar.setValue(view.done)
            of = f" {numbers.count(view.done)}/{numbers.count(view.total)}" if view.total else ""
            self._phase.set_text(f"{phase_words(view.phase)}{of}")
            self._bar.setAccessibleName(self._phase.text())


class Counts(QWidget):
    """Rounds, answers given, how often peers drew mine."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view
        self._reward = Figure(tr("My reward"))
        self._swarm = Figure(tr("The swarm's reward"))
        self._held_out = Figure(tr("Held-out score"))
        self._rounds = Figure(tr("Rounds"))
        self._answers = Figure(tr("Answers given"))
        self._drawn = Figure(tr("Drawn by peers"))
        figures = [self._reward, self._swarm, self._held_out, self._rounds, self._answers, self._drawn]
        self._box = Columns(*figures, narrowest=138, most=6)
        self._silo: bool | None = None
        self.setLayout(column(self._box))

    def refresh(self) -> None:
        view = self._view
        if view.silo != self._silo:
            self._silo = view.silo
            for figure in (self._swarm, self._drawn):
                figure.setVisible(not view.silo)
            self._box.arrange()
        rounds = min(RECENT_ROUNDS, len(view.curves))
        self._reward.set(
            numbers.number(view.reward_now),
            tr("mean of the last %n round(s)", None, rounds) if rounds else tr("not measured yet"),
        )
        swarm = view.swarm_reward
        if swarm is None:
            self._swarm.set(numbers.NOTHING, tr("not measured yet"))
        else:
            self._swarm.set(
                numbers.number(swarm.value),
                tr("{low} to {high}, measured on %n peer(s)", None, swarm.peers).format(
                    low=numbers.number(swarm.low), high=numbers.number(swarm.high)
                ),
            )
        base = view.held_out_base
        self._held_out.set(
            numbers.number(view.held_out if view.held_out is not None else base),
            tr("{gain} since the start").format(gain=numbers.signed(view.held_out - base))
            if view.held_out is not None and base is not None
            else tr("of the model as it came")
            if base is not None
            else tr("not measured yet"),
        )
        self._rounds.set(numbers.count(len(view.curves)), tr("on this computer"))
        self._answers.set(numbers.count(view.answers_given), tr("by this computer's model"))
        used = view.swarm.used_total if view.swarm else 0
        self._drawn.set(numbers.count(used), tr("of my groups; their claim"))


class ChartCard(Card):
    """My reward against the swarm's, and the held-out score, over all history; the same as a table."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Does it learn?"))
        self._view = view
        self.chart = CurveChart(view.curves, tr("Chart of my reward, the swarm's and the held-out score"))
        self._range = Segments(tr("Rounds shown"), [("all", tr("All")), ("500", "500"), ("100", "100")], "all")
        self._range.chosen.connect(self._show_range)
        self._as_table = IconButton("table", tr("Show as a table"), self._switch, checkable=True)
        self.corner.addWidget(self._range)
        self.corner.addWidget(self._as_table)
        self._words = Label("", "caption")
        # Two lines' room: what is pointed at changes its length, and nothing may move for it.
        self._words.setMinimumHeight(3 * theme.pixels("caption"))
        self._words.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._table = Table(tr("Rounds"), _headings(view), rows_shown=9)
        self._empty = Empty(
            "learning",
            tr("No round yet"),
            tr("The first point appears here when the first round is done, within a minute or so."),
        )
        self._stack = QStackedWidget()
        for part in (self._empty, self.chart, self._table):
            self._stack.addWidget(part)
        self._stack.setFixedHeight(320)
        self._swarm_legend = Legend(tr("the swarm's, with its 95% interval"), "chart_swarm", Qt.PenStyle.DashLine)
        legend = Flow(
            Legend(tr("my reward, mean of %n rounds", None, SMOOTHED_ROUNDS), "chart_me", Qt.PenStyle.SolidLine),
            self._swarm_legend,
            Legend(tr("held-out score"), "chart_held_out", Qt.PenStyle.DotLine, "diamond"),
            Legend(tr("the model as it came"), "chart_base", Qt.PenStyle.DashDotLine),
            spacing=18,
        )
        self._harder = Label(
            tr(
                "Questions get harder as they are solved, so the reward may fall while the model learns. "
                "The held-out score keeps its questions."
            ),
            "caption",
        )
        self.add(legend, self._stack, self._words, self._harder)
        set_tooltip(
            self._as_table, tr("The same numbers as a table, for the keyboard, a screen reader or the clipboard")
        )
        self.chart.pointed.connect(self._point)
        self._point(None)

    def refresh(self) -> None:
        if not len(self._view.curves):
            self._stack.setCurrentWidget(self._empty)
            return
        self._switch()
        self._harder.setVisible(self._view.settings.curriculum)
        self._swarm_legend.setVisible(bool((self._view.curves.column("swarm_peers") > 0).any()))
        self.chart.follow()
        self._point(None)

    def _switch(self) -> None:
        if not len(self._view.curves):
            return
        if self._as_table.isChecked():
            self._table.set_rows(_newest_rows(self._view))
            self._stack.setCurrentWidget(self._table)
        else:
            self._stack.setCurrentWidget(self.chart)

    def _show_range(self, which: str) -> None:
        if which == "all":
            self.chart.show_all()
        else:
            self.chart.show_last(int(which))

    def _point(self, at: int | None) -> None:
        curves = self._view.curves
        if not len(curves):
            self._words.setText("")
        else:
            self._words.setText(words_at(curves, len(curves) - 1 if at is None else min(at, len(curves) - 1)))


def _headings(view: View) -> list[Heading]:
    def value(name: str, digits: int = 3) -> Heading:
        titles = {
            "reward": tr("My reward"),
            "solved": tr("Solved"),
            "swarm_reward": tr("Swarm's reward"),
            "swarm_low": tr("from"),
            "swarm_high": tr("to"),
        }
        column = view.curves.column
        return Heading(
            titles[name],
            lambda at: numbers.number(float(column(name)[at]), digits),
            lambda at: float(column(name)[at]),
            right=True,
        )

    def peers(at: int) -> str:
        found = view.curves.column("swarm_peers")[at]
        return numbers.NOTHING if found != found else numbers.count(int(found))

    def where(at: int) -> str:
        silo = view.curves.column("silo")[at]
        return numbers.NOTHING if silo != silo else tr("silo") if silo else tr("swarm")

    return [
        Heading(tr("Round"), lambda at: numbers.count(int(view.curves.column("round")[at])), lambda at: at, right=True),
        *(value(name) for name in ("reward", "solved", "swarm_reward", "swarm_low", "swarm_high")),
        Heading(tr("Peers"), peers, right=True),
        Heading(tr("Played in"), where),
    ]


def _newest_rows(view: View) -> list[int]:
    """The newest rows of the history, newest first: more than anybody reads."""
    count = len(view.curves)
    return list(range(count - 1, max(-1, count - 1 - _TABLE_ROWS), -1))


class CompareCard(Card):
    """Silo against swarm, named for what it is."""

    def __init__(self, view: View) -> None:
        super().__init__(
            tr("Alone and with the swarm"),
            tr(
                "A look back at this computer's own rounds. They were played at different times, "
                "so this is no experiment."
            ),
        )
        self._view = view
        self._silo = Figure(tr("Rounds in silo"))
        self._swarm = Figure(tr("Rounds with the swarm"))
        self.add(Columns(self._silo, self._swarm, narrowest=160, most=2), 1)

    def refresh(self) -> None:
        both = compare(self._view.curves)
        self._silo.set(numbers.count(both.silo.rounds), _side_words(both.silo))
        self._swarm.set(numbers.count(both.swarm.rounds), _side_words(both.swarm))


def _side_words(side: Side) -> str:
    if side.reward is None:
        return tr("From %n rounds on there is a number here.", None, FEWEST_ROUNDS)
    reward = tr("mean reward {reward}").format(reward=numbers.number(side.reward))
    if side.gain is None:
        return reward
    return tr("{reward}, {gain} in 100 rounds").format(reward=reward, gain=numbers.signed(side.gain))


class TasksCard(Card):
    """One small chart for each task that is trained on."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Task by task"), tr("Share of own answers that solved the question, in the newest rounds."))
        self._view = view
        self._cells: dict[str, TaskCell] = {}
        self._columns = Columns(narrowest=210, most=5)
        self._as_table = IconButton("table", tr("Show as a table"), self._switch, checkable=True)
        self.corner.addWidget(self._as_table)
        self._table = Table(tr("Tasks"), _task_headings(), rows_shown=8)
        self._table.hide()
        self._empty = Empty("chart", tr("Nothing marked yet"), tr("Each task gets its own small chart here."))
        self.add(self._columns, self._table, self._empty)

    def _switch(self) -> None:
        self._table.setVisible(self._as_table.isChecked())
        self._columns.setVisible(not self._as_table.isChecked())
        self.refresh()

    def refresh(self) -> None:
        names = sorted(self._view.tasks)
        self._empty.setVisible(not names)
        if self._as_table.isChecked():
            self._table.set_rows([(name, self._view.tasks[name]) for name in names])
            return
        if names != list(self._cells):
            self._cells = {name: TaskCell(name) for name in names}
            self._columns.set_cards(list(self._cells.values()))
        for name, cell in self._cells.items():
            cell.show_track(self._view.tasks[name])


def _task_headings() -> list[Heading]:
    """Of rows of a task's name and its track."""
    return [
        Heading(tr("Task"), lambda row: row[0], stretch=True),
        Heading(tr("Solved of late"), lambda row: numbers.percent(row[1].now), lambda row: row[1].now, right=True),
        Heading(
            tr("In its last round"),
            lambda row: numbers.percent(row[1].shares[-1][1]),
            lambda row: row[1].shares[-1][1],
            right=True,
        ),
        Heading(
            tr("Last round"),
            lambda row: numbers.count(row[1].shares[-1][0]),
            lambda row: row[1].shares[-1][0],
            right=True,
        ),
    ]


class TaskCell(QWidget):
    """Name, share now, line."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._share = Label("", "caption", wrap=False)
        self._chart = SmallChart(task_name(name))
        self.setLayout(column(row(Elided(task_name(name), "caption"), self._share), self._chart, spacing=0.25))
        self.setMinimumHeight(theme.pixels("body") + 44 + grid(1))

    def show_track(self, track: TaskTrack) -> None:
        self._share.setText(numbers.percent(track.now))
        self._chart.show_values([share for _, share, _ in track.shares])
