"""Who asks to join the private swarm that was founded here, and the person's answer; and the person's own computers."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.peers.private import AdmitSheet
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.requests import RefuseJoin
from sapo_desktop.worker.control.messages.swarm import JoinRequest, LinkInfo


class AskingCard(Card):
    """One line for each newcomer; not there while nobody asks."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(
            tr("Requests to join"),
            tr("A name can be made up. Compare the key with the person before you admit it to your private swarm."),
        )
        self._bridge = bridge
        self._trouble = Banner(tone="danger")
        self._lines: dict[str, tuple[QWidget, Label]] = {}
        self._places = column(spacing=1)
        self.add(self._trouble, self._places)
        self.hide()

    def show_requests(self, asking: list[JoinRequest]) -> None:
        for key in self._lines.keys() - {one.key for one in asking}:
            line, _ = self._lines.pop(key)
            line.hide()
            line.deleteLater()
        for one in asking:
            if one.key not in self._lines:
                self._add(one)
            since = tr("Key {key}, waiting for {span}").format(
                key=peer_words.comparable(one.key), span=numbers.span(one.seconds)
            )
            self._lines[one.key][1].setText(since)
        self.setVisible(bool(asking))

    def _add(self, one: JoinRequest) -> None:
        name = one_line(one.label, 64) or tr("Somebody")
        about = Label("", "caption")
        admit = Button(tr("Admit"), lambda: AdmitSheet(self, self._bridge, one.key).open(), icon="check")
        refuse = Button(tr("Refuse"), lambda: self._refuse(one.key), icon="block")
        for button in (admit, refuse):
            button.setAccessibleDescription(name)
        words = column(Label(tr("{name} wants to join").format(name=name), "strong"), about, spacing=0.25)
        line = holding(row((words, 1), admit, refuse, spacing=1))
        self._lines[one.key] = line, about
        self._places.addWidget(line)

    def _refuse(self, key: str) -> None:
        self._bridge.ask(RefuseJoin(key=key), lambda reply: self._trouble.say(""), self._failed, of=self)

    def _failed(self, error: SapoError) -> None:
        self._trouble.say(in_words(error))


class OwnCard(Card):
    """Computers of the private swarm that have this one's label; not there in the public swarm, where labels can be
    anybody's."""

    def __init__(self, view: View) -> None:
        super().__init__(
            tr("Your computers"), tr("Members of this private swarm with the same label, as they report themselves.")
        )
        self._view = view
        self._hint = Label(
            tr("To list your computers here, give each the same label in the settings, and let them share."), "muted"
        )
        self.table = Table(tr("Your computers"), _headings(), rows_shown=3, same=lambda one: one.key)
        self.add(self._hint, self.table)
        self.hide()

    def show_links(self, links: list[LinkInfo]) -> None:
        label = self._view.settings.label
        own = [one for one in links if label and one.claim is not None and one.claim.label == label]
        self.table.set_rows(list({one.key: one for one in own}.values()))
        self.table.setVisible(bool(own))
        self._hint.setVisible(not own)
        self.setVisible(bool(self._view.settings.swarm) and self._view.attached and not self._view.silo)


def _headings() -> list[Heading]:
    return [
        Heading(tr("Computer"), lambda link: peer_words.short_key(link.key), stretch=True),
        number(tr("Round"), lambda link: link.claim.round),
        number(tr("Reward"), lambda link: link.claim.reward, numbers.percent),
        number(tr("Linked for"), lambda link: link.seconds, numbers.span),
    ]
