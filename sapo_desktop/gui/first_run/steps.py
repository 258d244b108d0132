"""The steps of the first run, one widget each; their answers, and the resulting settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QVBoxLayout, QWidget

from sapo_desktop.core.consent import IN_SHORT
from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.peers.me import ConsentSheet
from sapo_desktop.gui.widgets.buttons import Button, ChoiceCard, Switch
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.gui.widgets.layout import Card, column, row
from sapo_desktop.gui.widgets.notes import Picture
from sapo_desktop.gui.widgets.text import Elided, Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import model_title
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.asking import EnvelopePreview, PreviewEnvelope
from sapo_desktop.worker.control.messages.models import FitIs, GetFit


@dataclass
class Choices:
    """A new user's choices; the defaults are the gentle ones."""

    threads: int = 0
    """The setting's value; 0 is half of the cores."""
    on_battery: bool = False
    """Whether to continue on battery."""
    give_way: bool = True
    """Whether to use low priority."""
    away: bool = False
    """Whether to compute only while nobody uses the computer."""
    at_login: bool = False
    """Start in the tray at login."""
    others: bool = False
    """Whether to ask next which swarm to join, and on what terms (gui/peers/join.py)."""

    def settings(self) -> dict[str, str]:
        """The values for SetSettings. In silo: joining others is a separate question with its own terms."""
        values = {
            "threads": str(self.threads),
            "low_priority": "on" if self.give_way else "off",
            "on_battery": "continue" if self.on_battery else "pause",
            "silo": "on",
            "share": "off",
        }
        # Only what was chosen: not every computer supports these, and an installer may have set the second.
        values |= {"when_in_use": "pause"} if self.away else {}
        return values | ({"start_at_login": "on"} if self.at_login else {})


class Step(QWidget):
    """One step. `changed`: a choice was made."""

    changed = Signal()

    def __init__(self, title: str, about: str) -> None:
        super().__init__()
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(0, 0, 0, 0)
        self.box.setSpacing(grid(2))
        self.box.addWidget(Label(title, "title"))
        self.box.addWidget(Label(about, "muted"))

    def opened(self) -> None:
        """It became visible, or the node was reached meanwhile."""

    def focus_first(self) -> bool:
        """Focus the first choice; False if there is none."""
        return False


class WelcomeStep(Step):
    """What the program is."""

    def __init__(self) -> None:
        super().__init__(
            tr("Let this computer learn to reason"),
            tr(
                "A small language model answers questions, a program scores the answers, and the model "
                "learns from the scores. You can then use the model here. In a swarm, you also see whether models "
                "that share answers learn faster."
            ),
        )
        self.box.insertWidget(0, Picture("sapo", 96))
        self.box.setSpacing(grid(3))
        for icon, title, text in (
            (
                "home",
                tr("It runs here"),
                tr("Model, questions and scores all stay on this computer. There is no account."),
            ),
            (
                "peers",
                tr("It can learn with others"),
                tr("Computers share answers as text, never models or files, and each one checks every answer itself."),
            ),
            ("pause", tr("You are in charge"), tr("Pause at any time. Your other programs go first.")),
        ):
            words = column(Label(title, "strong"), Label(text, "muted"), spacing=0.25)
            self.box.addLayout(row(Picture(icon, 32, "accent"), (words, 1), spacing=2))
        self.box.addStretch(1)


class LeavesStep(Step):
    """What leaves the computer: an example message, and who can see what."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(
            tr("What leaves this computer"),
            tr(
                "The app starts in silo, without any network: nothing leaves this computer. What you see "
                "below applies only if you join others later."
            ),
        )
        self._view, self._bridge = view, bridge
        self._asked = False
        self._message = Folded(tr("A message as it would be sent"), lines=9)
        self._show_message(tr("Preparing the message ..."))
        self._who = Card(tr("Who can see what"), role="well")
        self._who.add(*(Label(f"• {catalogued(text)}") for text in IN_SHORT))
        self._all = Button(tr("Read it all"), self._read, icon="info")
        self._message.head.insertWidget(0, self._all)
        self.box.addWidget(self._who)
        self.box.addWidget(self._message, 1)

    def _read(self) -> None:
        ConsentSheet(self, None).open()

    def opened(self) -> None:
        if self._view.attached and not self._asked:
            self._asked = True
            self._bridge.ask(PreviewEnvelope(), self._show, self._failed, of=self)

    def _show(self, reply: EnvelopePreview) -> None:
        note = (
            tr("A real message of {size}. Nothing was sent.")
            if reply.signed
            else tr("A real message of {size}, signed with a key that was thrown away. Nothing was sent.")
        )
        self._show_message(f"{note.format(size=numbers.size(reply.bytes))}\n\n{reply.text}")

    def _failed(self, error: SapoError) -> None:
        self._asked = False
        self._show_message(tr("The message cannot be shown: {reason}").format(reason=in_words(error)))

    def _show_message(self, text: str) -> None:
        self._message.set_text(text, tr("Show an example message"), tr("Hide the message"))


class GentleStep(Step):
    """How much of the computer it may use."""

    def __init__(self, choices: Choices, cores: int, folder: str) -> None:
        super().__init__(
            tr("How gentle should it be?"),
            tr("This computer has %n core(s). You can change all of this at any time.", None, cores),
        )
        group = QButtonGroup(self)
        self._radios: list[QRadioButton] = []
        ways = (
            (max(1, cores // 4), tr("Barely there"), tr("a quarter of the cores")),
            (0, tr("Gentle"), tr("half the cores")),
            (max(1, cores - 1), tr("Full speed"), tr("all cores but one")),
        )
        offered = [way for way in ways if way[0] != max(1, cores // 2)]  # half has its own number
        if len(offered) == 1:  # a single option is no question
            self.box.addWidget(Label(tr("It uses one core."), "strong"))
            offered.clear()
        for threads, title, text in offered:
            choice = ChoiceCard(group, title, text)
            choice.radio.setChecked(threads == choices.threads)
            choice.chosen.connect(partial(setattr, choices, "threads", threads))
            self._radios.append(choice.radio)
            self.box.addWidget(choice)
        way = Switch(tr("Let every other program go first"))
        way.setChecked(choices.give_way)
        way.toggled.connect(lambda on: setattr(choices, "give_way", on))
        battery = Switch(tr("Pause on battery"))
        battery.setChecked(not choices.on_battery)
        battery.toggled.connect(lambda on: setattr(choices, "on_battery", not on))
        away = Switch(tr("Only while I am away"))
        away.setChecked(choices.away)
        away.toggled.connect(lambda on: setattr(choices, "away", on))
        login = Switch(tr("Start at login, in the tray"))
        login.setChecked(choices.at_login)
        login.toggled.connect(lambda on: setattr(choices, "at_login", on))
        self.box.addSpacing(grid(1))
        for switch in (way, battery, away, login):
            self.box.addWidget(switch)
        self.box.addStretch(1)
        self.box.addWidget(Elided(tr("All data is stored in {folder}.").format(folder=folder), "caption"))

    def focus_first(self) -> bool:
        chosen = next((radio for radio in self._radios if radio.isChecked()), None)
        if chosen is not None:
            chosen.setFocus()
        return chosen is not None


class TogetherStep(Step):
    """Silo or swarm, and the model that fits."""

    def __init__(self, choices: Choices, view: View, bridge: Bridge) -> None:
        super().__init__(tr("Alone or with others?"), tr("You can switch later, within a second."))
        self._choices, self._view, self._bridge = choices, view, bridge
        self._asked = False
        group = QButtonGroup(self)
        silo = ChoiceCard(group, tr("Silo"), tr("Alone. No network at all."))
        others = tr(
            "Learn from other computers' answers too. There is no public swarm yet, so you join friends, "
            "or nodes on your local network. The next step asks whom you join and what you share."
        )
        swarm = ChoiceCard(group, tr("Swarm"), others)
        self._silo, self._swarm = silo.radio, swarm.radio
        for choice, together in ((silo, False), (swarm, True)):
            choice.radio.setChecked(choices.others == together)
            self.box.addWidget(choice)
        self._swarm.toggled.connect(self._choose_others)
        self._model = Label(tr("The model that comes with the app is ready at once."), "muted")
        self.box.addLayout(row(Picture("model", 20), (self._model, 1), spacing=1))
        self.box.addStretch(1)

    def opened(self) -> None:
        if self._view.attached and not self._asked:
            self._asked = True
            self._bridge.ask(GetFit(), self._fit, lambda error: None, of=self)

    def focus_first(self) -> bool:
        (self._swarm if self._choices.others else self._silo).setFocus()
        return True

    def _fit(self, reply: FitIs) -> None:
        way = reply.fit.chosen
        ready = tr("The model that comes with the app is ready at once.")
        if way.model == "starter":
            more = tr("It needs {size} of memory, and a round takes about {span}.").format(
                size=numbers.size(way.estimate), span=numbers.span(way.round_seconds)
            )
        else:
            more = tr(
                "{model} can learn on this computer too ({size} of memory, about {span} a round). Leave silo "
                "to download it on the page Model."
            ).format(
                model=model_title(way.model), size=numbers.size(way.estimate), span=numbers.span(way.round_seconds)
            )
        self._model.setText(f"{ready} {more}")

    def _choose_others(self, on: bool) -> None:
        self._choices.others = on
        self.changed.emit()
