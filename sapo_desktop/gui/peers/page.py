"""Peers: the linked nodes, the traffic between them, and whom this node admits."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from PySide6.QtCore import Qt

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.peers.answer import AnswerCard
from sapo_desktop.gui.peers.asking import AskingCard, OwnCard
from sapo_desktop.gui.peers.join import JoinSheet
from sapo_desktop.gui.peers.links import LinksCard, incoming, outgoing
from sapo_desktop.gui.peers.lists import AddressesCard, BlockedCard
from sapo_desktop.gui.peers.me import MeCard, SharingCard
from sapo_desktop.gui.peers.private import PrivateCard
from sapo_desktop.gui.peers.refused import RefusedCard
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.layout import WIDE, Card, Columns, Figure
from sapo_desktop.gui.widgets.notes import Banner, Empty
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.states import state_sentence, swarm_sentence
from sapo_desktop.view.viewmodel import Section, View
from sapo_desktop.worker.control.messages.facts import GetUsage, Usage
from sapo_desktop.worker.control.messages.swarm import SwarmInfo

_MOST_NOTES = 4
_LOOK_MS = 5000
"""Interval of the counts of connections while the page is open."""


class PeersPage(Page):
    """See the module."""

    name = "peers"
    widest = WIDE
    follows: ClassVar[frozenset[Section]] = frozenset({"link", "state", "swarm", "settings"})

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__(view, bridge, tr("Peers"))
        self.add_peer = Button(tr("Add a peer"), self._add, kind="primary", icon="plus")
        self.corner.addWidget(self.add_peer)
        self._notes = [Banner() for _ in range(_MOST_NOTES)]
        self._source = SourceBanner(view, self._add)
        self._away = AwayCard(bridge, self._add)
        self._overview = OverviewCard(view)
        self._asking = AskingCard(bridge)
        self._own = OwnCard(view)
        self._links = LinksCard(view, bridge, self._add)
        self._refused = RefusedCard()
        self._me = MeCard(view, bridge)
        self._sharing = SharingCard(view, bridge)
        self._private = PrivateCard(view, bridge)
        self._addresses = AddressesCard(view, bridge, self._add)
        self._blocked = BlockedCard(view, bridge)
        self._answer = AnswerCard(view, bridge)
        self._looking = timer(self, _LOOK_MS, self._away.look)
        self.add(
            *self._notes,
            self._source,
            self._away,
            self._asking,
            self._overview,
            self._links,
            self._own,
            self._refused,
            Columns(self._me, self._sharing, narrowest=360, most=2),
            Columns(self._addresses, self._blocked, narrowest=360, most=2),
            Columns(self._private, self._answer, narrowest=360, most=2),
        )

    def opened(self) -> None:
        self._looking.start()

    def closed(self) -> None:
        self._looking.stop()

    def refresh(self, changed: frozenset[Section]) -> None:
        if changed & {"link", "state", "swarm", "settings"}:
            self._show_parts()
            self._show_notes()
        if changed & {"link", "swarm", "settings"}:
            self._show_links()
        if changed & {"link", "settings"}:
            self.add_peer.setVisible(not self.view.silo)  # in silo the card below asks to join
            self.add_peer.setEnabled(self.view.attached)
            for card in (self._sharing, self._private, self._blocked, self._answer):
                card.refresh()
        if changed & {"link", "swarm", "settings"}:
            self._me.refresh()
            self._addresses.refresh()
        if changed & {"link", "settings"} and self.view.attached:
            self._me.inquiry.ask()  # founding or entering a swarm may have created an identity

    def _show_parts(self) -> None:
        """In silo, and without a node, it says what would be here."""
        here = self.view.attached and not self.view.silo
        self._away.setVisible(not here)
        self._away.refresh(self.view)
        self._away.look()
        for card in (self._overview, self._links, self._refused):
            card.setVisible(here)
        if not here:
            self._asking.show_requests([])
            self._own.hide()
        self._overview.refresh()

    def _show_links(self) -> None:
        swarm = self.view.swarm
        if swarm is None:
            return
        self._links.show_links(swarm.links)
        self._asking.show_requests(swarm.asking)
        self._own.show_links(swarm.links)
        self._overview.show_swarm(swarm)
        self._refused.show_swarm(swarm)

    def _show_notes(self) -> None:
        texts = _notes(self.view)[:_MOST_NOTES]
        for at, banner in enumerate(self._notes):
            banner.say(texts[at] if at < len(texts) else "", "warning")
        self._source.refresh()

    def _add(self) -> None:
        if self.view.attached:
            JoinSheet(self, self.view, self.bridge).open()


def _notes(view: View) -> list[str]:
    """What a person should know, the most important first; the swarm's own words come from strangers and are made
    plain."""
    swarm = view.swarm
    if swarm is None or view.silo or not view.attached:
        return []
    said = []
    if view.swarm_state == "failed":
        said.append(swarm_sentence(view))
    if swarm.clock_wrong:
        said.append(
            tr("The peers' clocks differ from this computer's by {span}. Check this computer's clock.").format(
                span=numbers.span(abs(swarm.clock_offset))
            )
        )
    if view.parted and view.peers:
        said.append(in_words(view.parted))
    said += [one_line(in_words(text)) for text in swarm.notices]
    return list(dict.fromkeys(said))


class SourceBanner(Banner):
    """Most of what is drawn comes from one source. A person with only one source can dismiss the message; a
    different one appears again."""

    def __init__(self, view: View, add: Callable[[], object]) -> None:
        super().__init__(action=tr("Add another peer"), on_press=add)
        self._view = view
        box = self.layout()
        assert box is not None
        box.addWidget(IconButton("cross", tr("Do not show this again"), self._put_away))

    def refresh(self) -> None:
        """Show the view's current state."""
        swarm = self._view.swarm
        here = swarm is not None and self._view.attached and not self._view.silo
        said = " ".join(one_line(in_words(text)) for text in swarm.warnings) if swarm is not None and here else ""
        self.say("" if _without_numbers(said) in self._view.quiet else said, "warning")

    def _put_away(self) -> None:
        self._view.quiet.add(_without_numbers(self.text))
        self.refresh()


def _without_numbers(text: str) -> str:
    """A changed share does not make it a new warning."""
    return "".join(letter for letter in text if not letter.isdigit())


class AwayCard(Card):
    """In silo: what would be here, and how to leave silo. Without a node: why there is nothing."""

    def __init__(self, bridge: Bridge, join: Callable[[], object]) -> None:
        super().__init__()
        self._proof = Label("", "strong")
        self._proof.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._inquiry = Inquiry(bridge, GetUsage, self, self._prove)
        self._silo = Empty(
            "silo",
            tr("In silo there are no peers"),
            tr(
                "No network is used at all. Outside of silo, this node takes others' answers, checks each "
                "one and learns from them. It publishes its own answers only if you switch on sharing."
            ),
            tr("Join others"),
            join,
        )
        self._gone = Empty("peers", tr("No node, no peers"), "")
        self.add(self._silo, self._proof, self._inquiry.trouble, self._gone)

    def look(self) -> None:
        """Let the system count again."""
        if self._silo.isVisibleTo(self):
            self._inquiry.ask()

    def _prove(self) -> None:
        usage: Usage | None = self._inquiry.reply
        if usage is None or usage.ways_out is None:
            self._proof.setText("")
        elif usage.ways_out:
            self._proof.setText(
                tr("Counted by the system: %n open connection(s) to other computers", None, usage.ways_out)
            )
        else:
            self._proof.setText(tr("Counted by the system: no connection to another computer, no port open to one"))

    def refresh(self, view: View) -> None:
        self._proof.setVisible(view.attached and view.silo)
        self._silo.setVisible(view.attached and view.silo)
        self._gone.setVisible(not view.attached)
        if not view.attached:
            self._gone.about.setText(state_sentence(view))


class OverviewCard(Card):
    """The swarm's state in one sentence and a few numbers."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view
        self._sentence = Label("", "subtitle")
        self._shared = Figure(tr("Groups shared"))
        self._drawn = Figure(tr("Groups used"))
        self._pool = Figure(tr("In the pool"))
        self._used = Figure(tr("You helped"))
        self._incoming = Figure(tr("Receiving"))
        self._outgoing = Figure(tr("Sending"))
        figures = (self._drawn, self._shared, self._used, self._pool, self._incoming, self._outgoing)
        self.add(self._sentence, Columns(*figures, narrowest=138, most=6))

    def refresh(self) -> None:
        """The state changed, which has events between two updates."""
        self._sentence.setText(swarm_sentence(self._view))
        self._sentence.set_tone("danger" if self._view.swarm_state == "failed" else "")

    def show_swarm(self, swarm: SwarmInfo) -> None:
        self._shared.set(
            numbers.count(swarm.published),
            tr("of this node's own") if swarm.sharing else tr("sharing is off"),
        )
        self._drawn.set(
            numbers.count(swarm.drawn), tr("{count} suitable for training").format(count=numbers.count(swarm.taken))
        )
        self._pool.set(numbers.count(swarm.pool), tr("others' groups, ready to use"))
        self._used.set(*peer_words.thanks(swarm))
        for figure, rate, total in (
            (self._incoming, sum(map(incoming, swarm.links)), sum(link.bytes_in for link in swarm.links)),
            (self._outgoing, sum(map(outgoing, swarm.links)), sum(link.bytes_out for link in swarm.links)),
        ):
            figure.set(peer_words.per_second(rate), tr("{size} over these links").format(size=numbers.size(total)))
