"""The open links as a table, and all details of one link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec
from PySide6.QtWidgets import QWidget

from sapo_desktop.core.settings import listed, with_item
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.peers.refused import RefusedTable, refusals
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet, confirm
from sapo_desktop.gui.widgets.forms import Copied
from sapo_desktop.gui.widgets.layout import Card, Columns, Figure, Flow, holding
from sapo_desktop.gui.widgets.notes import Empty, Filled
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Elided, Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.requests import SetSettings
from sapo_desktop.worker.control.messages.swarm import LinkInfo


class LinkRow(LinkInfo, frozen=True, kw_only=True):
    """A link, numbered among those with the same key and address, since a peer may have dialled twice."""

    number: int


class LinksCard(Card):
    """The linked peers; a row opens its details."""

    def __init__(self, view: View, bridge: Bridge, add: Callable[[], object]) -> None:
        super().__init__(tr("Links"))
        self._view, self._bridge = view, bridge
        self.table = Table(tr("Links"), _headings(), rows_shown=5, same=_name)
        self.table.picked.connect(self._show)
        self.table.pointed.connect(self._choose)
        self.details = Button(tr("Details"), self._show_selected, icon="eye")
        self.block = Button(tr("Block"), self._block_selected, icon="block")
        self._alone = Empty(
            "peers",
            tr("No peer is linked"),
            tr("Training continues alone. Add a peer by its address, or follow an invite."),
            tr("Add a peer"),
            add,
        )
        self._stack = Filled(self._alone, self.table)
        self._buttons = holding(Flow(self.details, self.block))
        self.add(self._stack, self._buttons)
        self._choose()

    def show_links(self, links: list[LinkInfo]) -> None:
        before: Counter[tuple[str, str]] = Counter()
        rows = []
        for link in links:
            rows.append(LinkRow(**msgspec.structs.asdict(link), number=before[link.key, link.dialled]))
            before[link.key, link.dialled] += 1
        self.table.set_rows(rows)
        self._stack.fill(bool(links))
        self._buttons.setVisible(bool(links))

    def _choose(self) -> None:
        one = len(self.table.selected()) == 1
        self.details.setEnabled(one)
        self.block.setEnabled(one)

    def _show_selected(self) -> None:
        for link in self.table.selected()[:1]:
            self._show(link)

    def _show(self, link: LinkInfo) -> None:
        LinkSheet(self, self._view, self._bridge, link).open()

    def _block_selected(self) -> None:
        for link in self.table.selected()[:1]:
            block(self, self._view, self._bridge, link.key, self)


def _name(link: LinkRow) -> tuple[str, str, int]:
    return link.key, link.dialled, link.number


def _headings() -> list[Heading]:
    def refused(link: LinkInfo, *kinds: str) -> int:
        return sum(sum(link.refused.get(kind, {}).values()) for kind in kinds)

    def in_vain(link: LinkInfo) -> int:
        return refused(link, "invalid", "unverifiable")

    return [
        Heading(tr("Peer"), lambda link: peer_words.short_key(link.key)),
        Heading(
            tr("Opened"),
            peer_words.direction,
            icon=lambda link: ("out", "muted") if link.dialled else ("in", "muted"),
            about=tr("Who started the link"),
            spare=2,
        ),
        number(
            tr("Latency"),
            lambda link: link.latency_ms,
            peer_words.milliseconds,
            about=tr("Of the last request answered over this link"),
            spare=5,
        ),
        number(tr("Groups in"), lambda link: link.groups_in),
        number(tr("Out"), lambda link: link.groups_out, spare=3),
        Heading(
            tr("Refused"),
            lambda link: numbers.count(in_vain(link)),
            in_vain,
            right=True,
            about=tr("Groups that broke the rules or could not be checked"),
            icon=lambda link: ("warning", "danger") if refused(link, "invalid") else None,
            spare=1,
        ),
        number(
            tr("Share used"),
            lambda link: link.draw_share,
            numbers.percent,
            about=tr("Share of the recently used groups that came over this link"),
            spare=4,
        ),
        number(tr("Receiving"), incoming, peer_words.per_second, about=tr("The mean since the link was made"), spare=6),
        number(tr("Sending"), outgoing, peer_words.per_second, about=tr("The mean since the link was made"), spare=7),
        number(tr("Linked for"), lambda link: link.seconds, numbers.span, spare=8),
    ]


class LinkSheet(Sheet):
    """One link, as it was when the dialog opened."""

    def __init__(self, parent: QWidget, view: View, bridge: Bridge, link: LinkInfo) -> None:
        self._owner = parent
        super().__init__(parent, tr("Peer {key}").format(key=peer_words.short_key(link.key)), _way(link))
        key = Copied(bridge, tr("Its key"), tr("Copy the key"))
        key.show_text(link.key)
        address = Copied(bridge, tr("Its address"), tr("Copy the address"))
        address.show_text(link.dialled)
        self.add(key, address, Columns(*_figures(link), narrowest=150, most=4))
        rows = refusals(link.refused)
        if rows:
            refused = RefusedTable(rows_shown=min(5, len(rows)))
            refused.setFixedHeight(refused.minimumHeight())
            refused.set_rows(rows)
            self.add(Label(tr("Refused from this peer"), "strong"), refused)
        self.add(Label(tr("What the peer says about itself. This is not checked."), "strong"), *_claims(link))
        buttons = [Button(tr("Block"), lambda: self._block(view, bridge, link.key), kind="danger", icon="block")]
        if link.dialled and link.dialled not in listed(view.settings.peers):
            buttons.append(Button(tr("Save its address"), lambda: self._keep(view, bridge, link.dialled), icon="plus"))
        self.add_buttons(*buttons, Button(tr("Close"), self.accept, kind="primary"))

    def _block(self, view: View, bridge: Bridge, key: str) -> None:
        if block(self, view, bridge, key, self._owner):
            self.accept()

    def _keep(self, view: View, bridge: Bridge, address: str) -> None:
        peers = with_item(view.settings.peers, address)
        bridge.ask(SetSettings(values={"peers": peers}, for_good=True), of=self._owner)
        self.accept()


def block(parent: QWidget, view: View, bridge: Bridge, key: str, owner: QWidget) -> bool:
    """Ask, over `parent`, and block this key; returns whether it was blocked. `owner`: lives until the worker has
    answered."""
    about = tr(
        "This node closes the link, and neither accepts nor sends anything of this key. You can undo "
        "this under Blocked."
    )
    title = tr("Block peer {key}?").format(key=peer_words.short_key(key))
    if not confirm(parent, title, about, tr("Block"), kind="danger"):
        return False
    bridge.ask(SetSettings(values={"blocked": with_item(view.settings.blocked, key)}), of=owner)
    return True


def _way(link: LinkInfo) -> str:
    if link.visit:
        return tr(
            "This node made the link {span} ago. Every two minutes the newest of the peers that it found "
            "by itself is replaced if there are others, so nobody can hold all its links."
        ).format(span=numbers.span(link.seconds))
    if link.dialled:
        return tr("This node made the link. Linked for {span}.").format(span=numbers.span(link.seconds))
    return tr("The peer made the link. Linked for {span}.").format(span=numbers.span(link.seconds))


def incoming(link: LinkInfo) -> float:
    """Incoming bytes per second since it was linked."""
    return link.bytes_in / max(1.0, link.seconds)


def outgoing(link: LinkInfo) -> float:
    """Outgoing bytes per second since it was linked."""
    return link.bytes_out / max(1.0, link.seconds)


def _figures(link: LinkInfo) -> list[Figure]:
    return [
        Figure(tr("Latency"), peer_words.milliseconds(link.latency_ms)),
        Figure(tr("Groups in"), numbers.count(link.groups_in)),
        Figure(tr("Groups out"), numbers.count(link.groups_out)),
        Figure(tr("Share of the groups used here"), numbers.percent(link.draw_share)),
        Figure(tr("Received"), numbers.size(link.bytes_in), peer_words.per_second(incoming(link))),
        Figure(tr("Sent"), numbers.size(link.bytes_out), peer_words.per_second(outgoing(link))),
    ]


def _claims(link: LinkInfo) -> list[QWidget]:
    claim = link.claim
    program: list[QWidget] = [Elided(tr("Program: {name}").format(name=link.program or numbers.NOTHING))]
    if claim is None:
        return [*program, Label(tr("It has not reported its progress."), "caption")]
    used = tr("%n of this node's groups used", None, claim.used)
    said = tr("round {round}, reward {reward}").format(
        round=numbers.count(claim.round), reward=numbers.percent(claim.reward)
    )
    label = [Elided(tr("Label: {label}").format(label=claim.label))] if claim.label else []
    return [*program, *label, Label(f"{said}; {used}", "caption")]
