"""Home: one button, one sentence, and whether it learns."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QProgressBar, QStackedWidget, QToolButton, QWidget

from sapo_desktop.gui.home.cards import AhaCard, LearnedCard, NowCard, UpdateBanner
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.shell.actions import Actions, add_pauses
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.bars import legend, show_done
from sapo_desktop.gui.widgets.buttons import Button, IconButton, Segments
from sapo_desktop.gui.widgets.charts import SMOOTHED_ROUNDS, CurveChart, LineSample, words_at
from sapo_desktop.gui.widgets.dialog import confirm
from sapo_desktop.gui.widgets.layout import WIDE, Card, Columns, Figure, Flow, column, holding, keeping_place, row
from sapo_desktop.gui.widgets.notes import Banner, Empty
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Elided, Label, for_button, set_tooltip
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import held_out_words
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.states import (
    action_hint,
    action_words,
    counts_peers,
    phase_words,
    state_sentence,
    swarm_sentence,
    timed_sentence,
)
from sapo_desktop.gui.words.titles import model_title
from sapo_desktop.view.learning import learning_sentence, time_sentence
from sapo_desktop.view.viewmodel import ALL, RECENT_ROUNDS, Section, View
from sapo_desktop.worker.control.messages.requests import ResetSettings

_ICONS = {"pause": "pause", "wait": "clock", "try again": "refresh"}
_TABLE_ROWS = 2000
_EMS, _EMS_OF_TROUBLE = 24, 44
"""Width of the words beside the large button: a reason is longer than a state."""
_LOWEST, _HIGHEST, _OF_THE_REST = 320, 640, 540
"""Height of the chart, and of all else that stands on Home in silo."""
_LOWEST_WORDS = 190
"""The least of what stands in its place before the first round."""
_SLOW_SECONDS = 60.0
"""From here on Home says what a round takes: on a busy computer nothing would seem to happen."""
_OF_THE_SWARM = range(3, 7)
"""Columns of the rounds' table that say nothing where no swarm was measured."""


class HomePage(Page):
    """See the module."""

    name = "home"
    widest = WIDE
    follows: ClassVar[frozenset[Section]] = frozenset(
        {"link", "state", "progress", "curves", "rounds", "swarm", "settings", "updates"}
    )

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__(view, bridge, "")
        self._hero = Hero(view, actions)
        self._counts = Counts(view)
        self._banner = Banner()
        self._banner.button.clicked.connect(self._mend)
        self._newer = UpdateBanner(view, bridge)
        self._chart = ChartCard(view)
        self._learned = LearnedCard(view)
        self._ahas = AhaCard(view, bridge)
        self._now = NowCard(view)
        beside = holding(column(self._learned, self._now, 1, spacing=2))
        self._of_peers = Columns(self._ahas)
        self.add(
            self._hero,
            self._banner,
            self._newer,
            Columns(self._chart, beside, narrowest=380, most=2, shares=(5, 3)),
            self._of_peers,
        )
        self._hero.add_counts(self._counts)
        self._clock = timer(self, 1000, self._tick)

    def opened(self) -> None:
        self._clock.start()

    def closed(self) -> None:
        self._clock.stop()

    def refresh(self, changed: frozenset[Section]) -> None:
        if changed & {"link", "state", "settings", "progress", "swarm", "rounds", "curves"}:
            self._hero.refresh()
        if changed == ALL:
            self._now.refresh()
        if changed & {"link", "rounds", "swarm"}:
            self._counts.refresh()
        if changed & {"link", "state", "swarm"}:
            self._warn()
        if "updates" in changed:
            self._newer.refresh()
        if "curves" in changed:
            self._chart.refresh()
            self._learned.refresh()
            self._ahas.refresh()
        if "settings" in changed:
            self._of_peers.setVisible(not self.view.silo)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._chart.fit(event.size().height())
        super().resizeEvent(event)

    def _tick(self) -> None:
        """A second passed."""
        self._hero.tick()
        self._now.refresh()

    def _warn(self) -> None:
        swarm = self.view.swarm
        said, action = "", ""
        if self.view.mend:
            said, action = {
                "file": (
                    tr("Mend the settings file, or go on with the default settings."),
                    tr("Use the defaults"),
                ),
                "model": (tr("With another model it can start."), tr("Choose another model")),
                "pack": (tr("With the engine pack it can start."), tr("Get what learns")),
                "settings": (tr("With another setting it can start."), tr("Open the settings")),
            }[self.view.mend]
        elif self.view.face == "attention":
            said, action = tr("The log says what happened."), tr("Open the log")
        elif not self.view.silo and swarm is not None and swarm.one_source:
            said = tr(
                "All that this node draws comes from one source: its view of the swarm may be made up. Add "
                "another peer."
            )
        self._banner.say(said, "danger" if action else "warning")
        self._banner.button.set_text(action)
        self._banner.button.setVisible(bool(action))

    def _mend(self) -> None:
        """What the banner offers."""
        if self.view.mend != "file":
            self.wanted.emit({"": "log", "pack": "model"}.get(self.view.mend, self.view.mend))
        elif confirm(
            self,
            tr("Go on with the defaults?"),
            tr(
                "The settings file gets another name and stays in its folder. The node begins in silo, with the "
                "starter; what was learned stays."
            ),
            tr("Use the defaults"),
        ):
            self.bridge.ask(ResetSettings(keys=[]), of=self)


class Hero(Card):
    """The large button, the sentence beside it, and how far the round is."""

    def __init__(self, view: View, actions: Actions) -> None:
        super().__init__()
        self._view = view
        self._button = Button("", actions.main, kind="big", icon="play")
        self._button.setMinimumWidth(220)
        self._pauses = keeping_place(IconButton("chevron-down", tr("Pause for a while")))
        self._pauses.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._pauses)
        menu.addAction(for_button(tr("Pause for"))).setEnabled(False)
        add_pauses(menu, actions)
        menu.addSeparator()
        self._finish = menu.addAction(for_button(tr("Finish this round, then pause")))
        self._finish.triggered.connect(lambda _=False: actions.finish())
        self._pauses.setMenu(menu)
        self._learns = Label("", "subtitle")
        self._sentence = Label("", "strong")
        self._time = Label("", "muted")
        self._busy = Label("", "muted")
        self._busy.hide()
        self._swarm = Label("", "muted")
        self._phase = Elided("", "caption")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setMaximumWidth(220)
        self._progress = keeping_place(holding(row(self._bar, self._phase, spacing=1.5)))
        self._words = column(
            self._learns, self._sentence, self._time, self._busy, self._swarm, self._progress, spacing=0.5
        )
        self._top = row(row(self._button, self._pauses, 1, spacing=0.5), (self._words, 1), spacing=3)
        self.add(self._top)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Button and words are side by side where a line of words has room."""
        self._arrange(event.size().width())
        super().resizeEvent(event)

    def _arrange(self, width: int) -> None:
        taken = self._button.sizeHint().width() + self._pauses.sizeHint().width()
        ems = _EMS_OF_TROUBLE if self._view.face == "attention" else _EMS
        wide = width > taken + ems * theme.pixels("body")
        self._top.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)

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
        # Where something has to be mended first, the banner below is what to press.
        self._button.set_calm(action == "pause" or bool(view.mend))
        self._button.setEnabled(action != "wait")
        self._busy.setText(in_words(view.busy))
        self._busy.setVisible(bool(view.busy))
        self._pauses.setVisible(action == "pause")
        self._finish.setEnabled(view.state == "working")
        # Of the silo the band over the page says all.
        swarm = "" if view.silo or counts_peers(view) else swarm_sentence(view)
        self._swarm.setText(swarm)
        self._swarm.setVisible(bool(swarm))
        self._show_progress()
        self.tick()
        self._arrange(self.width())

    def tick(self) -> None:
        """A second passed."""
        view = self._view
        self._learns.setText(in_words(learning_sentence(view)))
        self._learns.setVisible(view.status is not None)
        self._sentence.setText(timed_sentence(view))
        parts = [model_title(view.model_name), in_words(time_sentence(view))]
        self._time.setText(" · ".join(part for part in parts if part))
        self._time.setVisible(view.attached)
        self._sentence.set_tone("danger" if self._view.face == "attention" else "")

    def _show_progress(self) -> None:
        """How far it is; where that is not known, that something happens."""
        view = self._view
        self._progress.setVisible(view.starts or view.at_work)
        known = view.at_work and view.total > 0
        show_done(self._bar, view.done, view.total if known else 0)
        of = f" {numbers.count(view.done)}/{numbers.count(view.total)}" if known else ""
        self._phase.set_text(f"{phase_words(view.phase)}{of}" if view.at_work else "")
        self._bar.setAccessibleName(self._phase.text() or state_sentence(view))


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
        self._drawn = Figure(tr("Your answers helped"))
        self._figures = [self._held_out, self._reward, self._swarm, self._rounds, self._answers, self._drawn]
        self._box = Columns(*self._figures, narrowest=138, most=6)
        self._silo: bool | None = None
        self.setLayout(column(self._box))

    def refresh(self) -> None:
        view = self._view
        if view.silo != self._silo:
            self._silo = view.silo
            for figure in (self._swarm, self._drawn):
                figure.setVisible(not view.silo)
            self._box.arrange()
        if view.status is None:
            for figure in self._figures:
                figure.set(numbers.NOTHING, tr("known after the start"))
            return
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
            held_out_words(view),
        )
        last = view.reports[-1].seconds if view.reports else 0.0
        slow = tr("of this model; the last took {time}").format(time=numbers.span(last))
        self._rounds.set(numbers.count(len(view.curves)), slow if last >= _SLOW_SECONDS else tr("of this model"))
        self._answers.set(numbers.count(view.answers_given), tr("in finished rounds, by all models of this computer"))
        self._drawn.set(*peer_words.thanks(view.swarm))


class ChartCard(Card):
    """What the model can do, or my reward against the swarm's, over all history; the same as a table."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Does it learn?"))
        self._view = view
        self.chart = CurveChart(view.curves, tr("Chart of the held-out score, or of my reward and the swarm's"))
        self.shown = Segments(tr("Shown"), [("skill", tr("What it can do")), ("reward", tr("Reward"))], "skill")
        self.shown.chosen.connect(self._choose_kind)
        self._chosen = False
        self._range = Segments(tr("Rounds shown"), [("all", tr("All rounds")), ("500", "500"), ("100", "100")], "all")
        self._range.chosen.connect(self._show_range)
        self._as_table = IconButton("table", tr("Show as a table"), self._switch, checkable=True)
        self.corner.addWidget(self._range)
        self.corner.addWidget(self._as_table)
        self._words = Label("", "caption")
        # Two lines' room: what is pointed at changes its length, and nothing may move for it.
        self._words.setMinimumHeight(3 * theme.pixels("caption"))
        self._words.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._tables = {
            "skill": Table(tr("Held-out scores"), _score_headings(view), rows_shown=9),
            "reward": Table(tr("Rounds"), _headings(view), rows_shown=9),
        }
        self._empty = Empty(
            "learning",
            tr("No round finished yet"),
            tr("The first point appears after the first round: within a minute, later on a busy computer."),
        )
        self._unknown = Empty("learning", tr("Known after the start"), "")
        self._stack = QStackedWidget()
        parts: list[QWidget] = [self._empty, self._unknown, self.chart, *self._tables.values()]
        for part in parts:
            self._stack.addWidget(part)
        self._stack.setFixedHeight(_LOWEST)
        style = Qt.PenStyle
        mine = tr("my reward, mean of %n rounds", None, SMOOTHED_ROUNDS)
        self._swarm_legend = legend(LineSample("chart_swarm", style.DashLine), tr("the swarm's, with 95% interval"))
        self._legends = {
            "skill": [
                legend(
                    LineSample("chart_held_out", style.SolidLine, diamond=True),
                    tr("held-out score with 95% interval"),
                ),
                legend(LineSample("chart_base", style.DashDotLine), tr("the model as it came")),
            ],
            "reward": [legend(LineSample("chart_me", style.SolidLine), mine), self._swarm_legend],
        }
        lines = Flow(*(one for of_kind in self._legends.values() for one in of_kind), spacing=18)
        self._about = Label("", "caption")
        self.add(self.shown, lines, self._stack, self._words, self._about)
        set_tooltip(
            self._as_table, tr("The same numbers as a table, for the keyboard, a screen reader or the clipboard")
        )
        self.chart.row_pointed.connect(self._point)
        self._point(None)

    def refresh(self) -> None:
        if self._chosen:
            self._show_legends()
        else:
            self._show_kind("skill" if self._view.settings.validate_every else "reward")
        if not len(self._view.curves):
            self._stack.setCurrentWidget(self._unknown if self._view.status is None else self._empty)
            return
        self._switch()
        self.chart.follow()
        self._point(self.chart.row_under_pointer)

    def fit(self, page: int) -> None:
        """Take what height a page of so many pixels leaves beside the rest."""
        lowest = max(_LOWEST, theme.scaled(_LOWEST_WORDS))
        self._stack.setFixedHeight(max(lowest, min(theme.scaled(_HIGHEST), page - theme.scaled(_OF_THE_REST))))

    def _switch(self) -> None:
        if not len(self._view.curves):
            return
        if self._as_table.isChecked():
            shown, curves = self.shown.current, self._view.curves
            table = self._tables[shown]
            table.set_rows(_newest_rows(len(curves) if shown == "reward" else len(curves.held_out().rounds)))
            self._stack.setCurrentWidget(table)
        else:
            self._stack.setCurrentWidget(self.chart)

    def _choose_kind(self, which: str) -> None:
        self._chosen = True
        self._show_kind(which)

    def _show_kind(self, which: str) -> None:
        self.shown.show_choice(which)
        self.chart.show_skill(which == "skill")
        self._show_legends()
        self._switch()

    def _show_legends(self) -> None:
        now = self.shown.current
        for kind, legends in self._legends.items():
            for one in legends:
                one.setVisible(kind == now)
        measured = bool((self._view.curves.column("swarm_peers") > 0).any())
        self._swarm_legend.setVisible(now == "reward" and measured)
        for at in _OF_THE_SWARM:
            self._tables["reward"].setColumnHidden(at, not measured)
        self._about.setText(
            self._about_skill()
            if now == "skill"
            else tr("Questions are chosen that are solved now and then: the reward stays low while the model learns.")
        )
        self._about.setVisible(now == "skill" or self._view.settings.curriculum)

    def _about_skill(self) -> str:
        words = tr(
            "The share that it solves of questions it never trains on. The band is the margin of error of its gain."
        )
        since = self._view.curves.held_out().level_since(self._view.settings.validate_every)
        if since is not None:
            words += " " + tr(
                "The score has hardly risen since round {round}: this model may have learned what it can here. "
                "A larger one has room for more (page Model)."
            ).format(round=numbers.count(since))
        return words

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


def _score_headings(view: View) -> list[Heading]:
    def column(name: str, title: str, words: Callable[[float], str] = numbers.number) -> Heading:
        def value(at: int) -> float:
            return float(getattr(view.curves.held_out(), name)[at])

        return Heading(title, lambda at: words(value(at)), value, right=True)

    return [
        column("rounds", tr("Round"), lambda value: numbers.count(int(value))),
        column("scores", tr("Held-out score")),
        column("low", tr("from")),
        column("high", tr("to")),
    ]


def _newest_rows(count: int) -> list[int]:
    """The newest of so many rows, newest first: more than anybody reads."""
    return list(range(count - 1, max(-1, count - 1 - _TABLE_ROWS), -1))
