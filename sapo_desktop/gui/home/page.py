"""Home: one button, one sentence, and whether it learns."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QToolButton, QWidget

from sapo_desktop.gui.home.cards import LearnedCard, MilestonesCard, NowCard, UpdateBanner
from sapo_desktop.gui.home.chart import ChartCard
from sapo_desktop.gui.home.next_model import NextModelCard
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.shell.actions import Actions, add_pauses
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.bars import Progress
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.dialog import confirm
from sapo_desktop.gui.widgets.layout import WIDE, Card, Columns, Figure, column, holding, keeping_place, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Elided, Label, for_button, set_tooltip
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import held_out_words, week_words
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
from sapo_desktop.view.curves import RECENT_ROUNDS
from sapo_desktop.view.learning import learning_sentence, time_sentence
from sapo_desktop.view.viewmodel import ALL, Section, View
from sapo_desktop.worker.control.messages.facts import GetUsage, Usage
from sapo_desktop.worker.control.messages.replies import Week
from sapo_desktop.worker.control.messages.requests import GetWeek, ResetSettings

_ICONS = {"pause": "pause", "wait": "clock", "try again": "refresh"}
_EMS, _EMS_OF_TROUBLE = 24, 44
"""Width of the words next to the large button: a reason is longer than a state."""
_USAGE_SECONDS = 30
"""Interval of the updates of the used energy."""
_WEEK_SECONDS = 20 * _USAGE_SECONDS
"""Interval of the updates of the last seven days, which need all their rounds."""


class HomePage(Page):
    """See the module."""

    name = "home"
    widest = WIDE
    follows: ClassVar[frozenset[Section]] = frozenset(
        {"link", "state", "progress", "curves", "rounds", "swarm", "settings", "updates", "models"}
    )

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__(view, bridge, "")
        self._hero = Hero(view, actions)
        self._counts = Counts(view)
        self._banner = Banner(tone="danger")
        self._banner.button.clicked.connect(self._fix)
        self._newer = UpdateBanner(view, bridge)
        self._next = NextModelCard(view, bridge)
        self._chart = ChartCard(view, bridge)
        self._learned = LearnedCard(view)
        self._milestones = MilestonesCard(view, bridge)
        self._now = NowCard(view)
        # Neither fits on a small screen; its latest answer is on Learning, too.
        self._next.offering.connect(lambda offered: self._now.setVisible(not offered))
        small = holding(column(self._learned, self._now, self._next, self._milestones, 1, spacing=0.75))
        cards = Columns(self._chart, small, narrowest=380, most=2, shares=(5, 3))
        self.add(self._hero, self._banner, self._newer, (cards, 1))
        self.fill()
        self._week = Label("", "caption")
        self._week.hide()
        self._hero.add(self._counts, column(self._week, Label(_what_for(), "caption"), spacing=0.5))
        self._seconds = 0
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
        if "link" in changed:
            self._ask_usage()
        if changed & {"link", "state", "swarm"}:
            self._warn()
        if changed & {"link", "settings", "curves"}:
            self._next.refresh()
        if "models" in changed:
            self._next.follow()
        if "updates" in changed:
            self._newer.refresh()
        if "curves" in changed:
            self._chart.refresh()
            self._learned.refresh()
        if changed & {"curves", "swarm"}:
            self._milestones.refresh()

    def _tick(self) -> None:
        """A second passed."""
        self._hero.tick()
        self._now.refresh()
        self._seconds += 1
        if self._seconds % _USAGE_SECONDS == 0:
            self._ask_usage()

    def _ask_usage(self) -> None:
        if self.view.attached:
            self.bridge.ask(GetUsage(), self._counts.show_usage, lambda error: None, of=self)
        if self.view.attached and self._seconds % _WEEK_SECONDS == 0:
            self.bridge.ask(GetWeek(), self._show_week, lambda error: None, of=self)

    def _show_week(self, week: Week) -> None:
        self._week.setText(week_words(week, self.view))
        self._week.setVisible(week.rounds > 0)

    def _warn(self) -> None:
        said, action = "", ""
        if self.view.remedy:
            said, action = {
                "file": (
                    tr("Fix the settings file, or continue with the defaults."),
                    tr("Use the defaults"),
                ),
                "model": (tr("It can start with another model."), tr("Choose another model")),
                "pack": (tr("It can start with the engine pack."), tr("Get the engine pack")),
                "settings": (tr("It can start with another setting."), tr("Open the settings")),
            }[self.view.remedy]
        elif self.view.face == "attention":
            said, action = tr("The log shows what happened."), tr("Open the log")
        self._banner.say(said, "danger")
        self._banner.button.set_text(action)
        self._banner.button.setVisible(bool(action))

    def _fix(self) -> None:
        """The banner's action."""
        if self.view.remedy != "file":
            self.wanted.emit({"": "log", "pack": "model"}.get(self.view.remedy, self.view.remedy))
        elif confirm(
            self,
            tr("Continue with the defaults?"),
            tr(
                "The settings file is renamed and stays in its folder. The node starts in silo, with the "
                "starter; what was learned stays."
            ),
            tr("Use the defaults"),
        ):
            self.bridge.ask(ResetSettings(keys=[]), of=self)


class Hero(Card):
    """The large button, the sentence next to it, and the progress of the round."""

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
        self._quit = menu.addAction(for_button(tr("Finish this round, then quit")))
        self._quit.triggered.connect(lambda _=False: actions.finish_and_quit())
        self._pauses.setMenu(menu)
        self._learns = Label("", "subtitle", lines=1)
        self._sentence = Label("", "strong", lines=1)
        self._time = Label("", "muted", lines=1)
        self._phase = Elided("", "caption")
        self._bar = Progress()
        self._bar.setFixedWidth(200)
        self._progress = holding(row(self._bar, (self._phase, 1), spacing=1.5))
        self._words = column(self._learns, self._sentence, self._time, self._progress, spacing=0.5)
        self._top = row(row(self._button, self._pauses, 1, spacing=0.5), (self._words, 1), spacing=3)
        self.add(self._top)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Button and words are side by side if a line of words fits."""
        self._arrange(event.size().width())
        super().resizeEvent(event)

    def _arrange(self, width: int) -> None:
        taken = self._button.sizeHint().width() + self._pauses.sizeHint().width()
        ems = _EMS_OF_TROUBLE if self._view.face == "attention" else _EMS
        wide = width > taken + ems * theme.pixels("body")
        self._top.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)

    def refresh(self) -> None:
        view = self._view
        action = view.main_action
        self._button.set_text(action_words(action, view.silo))
        hint = action_hint(action, view.silo)
        self._button.setAccessibleDescription(hint)
        set_tooltip(self._button, hint)
        self._button.set_icon(_ICONS.get(action, "play"))
        # If something must be fixed first, the button is in the banner below.
        self._button.set_calm(action == "pause" or bool(view.remedy))
        self._button.setEnabled(action != "wait")
        self._pauses.setVisible(action == "pause")
        for one in (self._finish, self._quit):
            one.setEnabled(view.state == "working")
        self._show_progress()
        self.tick()
        self._arrange(self.width())

    def tick(self) -> None:
        """A second passed."""
        view = self._view
        known = view.status is not None or len(view.curves) > 0
        self._learns.setText(in_words(learning_sentence(view)) if known else "")
        self._sentence.setText(timed_sentence(view))
        before = tr("as of the last run") if known and view.status is None else ""
        parts = [model_title(view.model_name), before, in_words(time_sentence(view))]
        self._time.setText(" · ".join(part for part in parts if part) if known else "")
        self._sentence.set_tone("danger" if self._view.face == "attention" else "")

    def _show_progress(self) -> None:
        """The progress; if it is unknown, that something is happening. The line always keeps its place."""
        view = self._view
        self._bar.setVisible(view.starts or view.at_work)
        known = view.at_work and view.total > 0
        self._bar.show_done(view.done, view.total if known else 0)
        of = f" {numbers.count(view.done)}/{numbers.count(view.total)}" if known else ""
        phase = f"{phase_words(view.phase)}{of}" if view.at_work else ""
        self._bar.setAccessibleName(phase or state_sentence(view))
        # The silo chip says everything.
        swarm = "" if view.silo or counts_peers(view) else swarm_sentence(view)
        self._phase.set_text(" · ".join(filter(None, (phase, in_words(view.busy), swarm))))


class Counts(QWidget):
    """Two large figures (what it can do, and its success next to its peers) and the small ones."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view
        self._held_out = Figure(tr("New questions solved"), lines=2)
        self._here = Figure(tr("Solved in training"), lines=2)
        self._peers = Figure(tr("Solved here vs by peers"), lines=2)
        set_tooltip(self._peers, tr("For the same kinds of question, at the same levels, in the same rounds."))
        self._rounds = Figure(tr("Rounds"), role="subtitle")
        self._answers = Figure(tr("Answers given"), role="subtitle")
        self._drawn = Figure(tr("You helped"), role="subtitle")
        self._energy = Figure(tr("Energy"), role="subtitle")
        self._figures = [
            *(self._held_out, self._here, self._peers),
            *(self._rounds, self._answers, self._drawn, self._energy),
        ]
        self._box = Columns(*self._figures, narrowest=140, most=6, shares=(3, 3, 2, 2, 2, 2))
        self._silo: bool | None = None
        self.setLayout(column(self._box))

    def refresh(self) -> None:
        view = self._view
        if view.silo != self._silo:
            self._silo = view.silo
            for figure in (self._peers, self._drawn):
                figure.setVisible(not view.silo)
            self._here.setVisible(view.silo)
            self._box.arrange()
        if view.status is None:
            for figure in self._figures:
                figure.set(numbers.NOTHING, tr("shown after the start"))
            if not len(view.curves):
                return
        now = view.held_out if view.held_out is not None else view.held_out_base
        self._held_out.set(numbers.percent(now), held_out_words(view))
        rounds = min(RECENT_ROUNDS, len(view.curves))
        self._here.set(
            numbers.percent(view.solved_now),
            tr("mean of the last %n round(s)", None, rounds) if rounds else tr("not measured yet"),
        )
        self._show_shares()
        self._rounds.set(numbers.count(len(view.curves)), tr("of this model"))
        if view.status is not None:
            self._answers.set(numbers.count(view.answers_given), tr("by all models here"))
            self._drawn.set(*peer_words.thanks(view.swarm))

    def _show_shares(self) -> None:
        shares = self._view.curves.shares()
        if shares is None:
            self._peers.set(numbers.NOTHING, tr("no peer measured in the last %n rounds", None, RECENT_ROUNDS))
            return
        self._peers.set(
            tr("{here} vs {peers}").format(here=numbers.percent(shares.mine), peers=numbers.percent(shares.others)),
            tr("median of %n peer(s), {interval}", None, shares.peers).format(
                interval=numbers.between(numbers.percent(shares.low), numbers.percent(shares.high))
            ),
        )

    def show_usage(self, usage: Usage) -> None:
        """The total use of energy."""
        kwh, price = usage.joules / 3.6e6, self._view.settings.price_per_kwh
        about = tr("cost {cost}").format(cost=numbers.number(price * kwh, 2)) if price else ""
        if not about:
            about = tr("measured") if usage.measured else tr("estimated")
        self._energy.set(numbers.energy(usage.joules), about)


def _what_for() -> str:
    return tr(
        "Your computer teaches a small language model to reason. "
        "In the swarm, computers learn from each other's answers."
    )
