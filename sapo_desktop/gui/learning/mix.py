"""Own and peers' answers: how many of each, how peers' are weighed, and what either did on this computer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QButtonGroup, QWidget

from sapo_desktop.gui.home.comparison import FEWEST_ROUNDS
from sapo_desktop.gui.learning.mix_slider import MixPicture, Stops
from sapo_desktop.gui.learning.past_rounds import MIXES, PastRounds, Under, mix_of
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.link.changing import change
from sapo_desktop.gui.widgets.buttons import Button, ChoiceCard, Switch
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.split import Split
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import (
    TREATMENTS,
    mix_meaning,
    mix_words,
    treatment_meaning,
    treatment_name,
)
from sapo_desktop.view.viewmodel import View

ADAPTIVE = "adaptive"
SETTLED_MS = 500
"""After the last move of the slider; keys pass several stops on their way."""


class LookBack:
    """A table of what was played under each choice, with what it can say and what not."""

    def __init__(self, table: Table, further: Callable[[], object]) -> None:
        self.table = table
        self.words = Label("", "caption")
        self.further = Button(tr("Count earlier rounds too"), further, kind="quiet")
        self.further.hide()
        self.part = holding(
            column(Label(tr("What it did here"), "strong"), table, self.words, self.further, 1, spacing=1)
        )

    def show(self, rows: Sequence[Under], rounds: int, *, earlier: bool) -> None:
        """Other rows. `rounds`: of how many in all; `earlier`: whether there are some before these."""
        self.further.setVisible(earlier)
        if list(rows) != self.table.rows:
            self.table.set_rows(list(rows))
        if not rounds:
            self.words.setText(tr("No round was looked at yet."))
            return
        looked = tr("In the newest %n round(s).", None, rounds)
        few = tr("From %n rounds on there is a number here.", None, FEWEST_ROUNDS)
        fair = tr("They were played at different times, so this is no experiment.")
        self.words.setText(f"{looked} {few} {fair}")


def _headings(first: Heading) -> list[Heading]:
    return [
        first,
        Heading(tr("Rounds"), lambda one: numbers.count(one.side.rounds), lambda one: one.side.rounds, right=True),
        Heading(
            tr("Reward"),
            lambda one: numbers.number(one.side.reward),
            lambda one: one.side.reward,
            right=True,
            about=tr("The mean of these rounds"),
        ),
        Heading(
            tr("In 100"),
            lambda one: numbers.signed(one.side.gain),
            lambda one: one.side.gain,
            right=True,
            about=tr("How much the reward rose in 100 such rounds"),
        ),
    ]


def _from_peers() -> Heading:
    return Heading(
        tr("From peers"),
        lambda one: numbers.percent(one.external),
        lambda one: one.external,
        right=True,
        about=tr("Share of the groups that came from peers; where they have too few, own ones fill up"),
    )


class MixCard(Card):
    """The slider between own and peers' answers."""

    def __init__(self, view: View, bridge: Asks, further: Callable[[], object]) -> None:
        super().__init__(tr("Mix"), tr("Of eight questions, how many are learned from with whose answers."))
        self._view, self._bridge = view, bridge
        self.banner = Banner()
        self.banner.hide()
        self.picture = MixPicture()
        self.slider = Stops(tr("Mix of own and peers' answers"), MIXES)
        self.slider.valueChanged.connect(self._moved)
        self._meaning = Label("")
        self.adaptive = Switch(tr("Adaptive"))
        self.adaptive.clicked.connect(self._adapt)
        about = Label(
            tr(
                "The held-out score decides: the rounds between two scores are played with one of the four mixes, and "
                "those under which it rose come more often."
            ),
            "muted",
        )
        self.adaptive.setAccessibleDescription(about.text())
        ends = row(Label(tr("own"), "caption", wrap=False), 1, Label(tr("peers'"), "caption", wrap=False))
        choosing = column(
            self.picture, column(self.slider, ends, spacing=0), self._meaning, self.adaptive, about, 1, spacing=1.5
        )
        mixes = Heading(tr("Mix"), lambda one: one.name, lambda one: one.name)
        table = Table(tr("Rounds by mix"), [*_headings(mixes), _from_peers()], rows_shown=len(MIXES))
        self.back = LookBack(table, further)
        self.add(self.banner, Split(holding(choosing), self.back.part, narrowest=720, shares=(4, 5), gap=4))
        self._settling = timer(self, SETTLED_MS, self.commit, once=True)

    def refresh(self) -> None:
        """Show what holds; a slider that is being moved stays where it is."""
        view = self._view
        is_open = view.attached and not view.silo
        adaptive = view.settings.mix == ADAPTIVE
        self.adaptive.show_state(adaptive)
        for part in (self.slider, self.picture):
            part.setEnabled(is_open and not adaptive)
        self.adaptive.setEnabled(is_open)
        if not self._settling.isActive() and not self.slider.isSliderDown():
            self.slider.show_stop(self.in_force)
        self._say()

    @property
    def in_force(self) -> str:
        """The fixed mix that rounds are played with; with `adaptive` that of the last one."""
        if self._view.silo:
            return "8/0"
        if self._view.settings.mix != ADAPTIVE:
            return self._view.settings.mix
        last = self._view.reports[-1] if self._view.reports else None
        played = mix_of(last.mix) if last is not None and not last.silo else ""
        return played if played in MIXES else "4/4"

    def look_back(self, past: PastRounds) -> None:
        self.back.show(past.by_mix(), len(past), earlier=past.first > 1)

    def commit(self) -> None:
        """Make the slider's stop the setting."""
        if self.slider.isSliderDown():
            self._settling.start()
        elif self.slider.isEnabled() and self.slider.stop != self._view.settings.mix:
            self._set(self.slider.stop)

    def _moved(self) -> None:
        self._say()
        self._settling.start()

    def _adapt(self, on: bool) -> None:
        self._settling.stop()
        self._set(ADAPTIVE if on else self.in_force)

    def _set(self, mix: str) -> None:
        change(self._bridge, "mix", mix, of=self, banner=self.banner, undo=self.refresh)

    def _say(self) -> None:
        own, _, external = self.slider.stop.partition("/")
        words = mix_words(int(own), int(external))
        self.picture.show_mix(int(own), int(external), words)
        self.slider.setAccessibleDescription(words)
        meaning = mix_meaning(self.slider.stop)
        if self._view.settings.mix == ADAPTIVE and not self._view.silo:
            meaning = self._adaptive_words()
        self._meaning.setText(meaning)

    def _adaptive_words(self) -> str:
        if not self._view.settings.validate_every:
            return tr("No held-out score is taken (validate_every is 0), so rounds are played 4/4.")
        return tr("Now {mix}").format(mix=self.in_force)


class TreatmentCard(Card):
    """How peers' answers are weighed."""

    def __init__(self, view: View, bridge: Asks, further: Callable[[], object]) -> None:
        super().__init__(
            tr("Treatment"),
            tr("What peers' answers weigh. Every one of them is marked here first."),
        )
        self._view, self._bridge = view, bridge
        self.banner = Banner()
        self.banner.hide()
        self._group = QButtonGroup(self)
        self.choices: dict[str, ChoiceCard] = {}
        for name in TREATMENTS:
            choice = ChoiceCard(self._group, treatment_name(name), treatment_meaning(name))
            choice.chosen.connect(partial(self._set, name))
            self.choices[name] = choice
        treatments = Heading(tr("Treatment"), lambda one: treatment_name(one.name), stretch=True)
        table = Table(tr("Rounds by treatment"), _headings(treatments), rows_shown=len(TREATMENTS))
        self.back = LookBack(table, further)
        choosing = holding(column(*self.choices.values(), 1, spacing=1))
        self.add(self.banner, Split(choosing, self.back.part, narrowest=720, shares=(4, 5), gap=4))

    def refresh(self) -> None:
        is_open = self._view.attached and not self._view.silo
        for name, choice in self.choices.items():
            choice.setEnabled(is_open)
            if name == self._view.settings.treatment:
                choice.radio.setChecked(True)

    def look_back(self, past: PastRounds) -> None:
        self.back.show(past.by_treatment(TREATMENTS), len(past), earlier=past.first > 1)

    def _set(self, name: str) -> None:
        if name != self._view.settings.treatment:
            change(self._bridge, "treatment", name, of=self, banner=self.banner, undo=self.refresh)


class MixPart(QWidget):
    """The part of the page about whose answers are learned from. `further`: asks for earlier rounds."""

    def __init__(self, view: View, bridge: Asks, further: Callable[[], object]) -> None:
        super().__init__()
        self._view = view
        self.alone = Banner(tr("In silo every answer is an own one. Leave silo to choose here."), "silo")
        self.mix = MixCard(view, bridge, further)
        self.treatment = TreatmentCard(view, bridge, further)
        self.setLayout(column(self.alone, self.mix, self.treatment, spacing=2))

    def refresh(self) -> None:
        """What holds."""
        self.alone.setVisible(self._view.attached and self._view.silo)
        self.mix.refresh()
        self.treatment.refresh()

    def look_back(self, past: PastRounds) -> None:
        """What was played."""
        self.mix.look_back(past)
        self.treatment.look_back(past)
