"""Own and peers' answers: how many of each, and how peers' are weighed."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QButtonGroup, QWidget

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import change
from sapo_desktop.gui.widgets.buttons import ChoiceCard, Segments
from sapo_desktop.gui.widgets.layout import Card, column
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import MIXES, WEIGHTINGS, mix_meaning, weighting_meaning, weighting_name
from sapo_desktop.view.viewmodel import View


class MixPart(QWidget):
    """The part of the page about whose answers are learned from."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self.alone = Banner(
            tr("In silo the model learns from its own answers only. This setting applies in the swarm."), "silo"
        )
        self.banner = Banner()
        self.mix = Segments(tr("Mix of own and peers' answers"), [(name, name) for name in MIXES])
        self.mix.chosen.connect(partial(self._set, "mix"))
        self._meaning = Label("")
        mix = Card(tr("Mix"), tr("Of eight questions in a step: own ones / those from peers."))
        mix.add(self.mix, self._meaning)
        group = QButtonGroup(self)
        self.weightings: dict[str, ChoiceCard] = {}
        for name in WEIGHTINGS:
            self.weightings[name] = ChoiceCard(group, weighting_name(name), weighting_meaning(name))
            self.weightings[name].chosen.connect(partial(self._set, "weighting", name))
        weighting = Card(tr("Weighting"), tr("How much peers' answers count. Each one is scored here first."))
        weighting.add(column(*self.weightings.values()))
        self.setLayout(column(self.alone, self.banner, mix, weighting, spacing=2))

    def refresh(self) -> None:
        """Show what holds."""
        view = self._view
        self.alone.setVisible(view.attached and view.silo)
        for part in (self.mix, *self.weightings.values()):
            part.setEnabled(view.attached and not view.silo)
        self.mix.show_choice(view.settings.mix)
        words = mix_meaning(view.settings.mix)
        self._meaning.setText(tr("In the swarm: {meaning}").format(meaning=words) if view.silo else words)
        self.weightings[view.settings.weighting].radio.setChecked(True)

    def _set(self, key: str, value: str) -> None:
        if value != getattr(self._view.settings, key):
            change(self._bridge, key, value, of=self, banner=self.banner, undo=self.refresh)
