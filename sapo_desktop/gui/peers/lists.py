"""Addresses whose links this node keeps, and blocked keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.settings import listed, without_item
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.forms import copy_text
from sapo_desktop.gui.widgets.layout import Card, Flow, holding
from sapo_desktop.gui.widgets.notes import Banner, Empty, Filled
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import set_tooltip
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.peers import AddressSeen
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import PeerAnswered
from sapo_desktop.worker.control.messages.requests import SetSettings, TestPeer


class ListCard(Card):
    """A setting that is a list, with actions on one item."""

    def __init__(self, title: str, about: str, empty: Empty, *headings: Heading) -> None:
        super().__init__(title, about)
        self.table = Table(title, headings, rows_shown=3, same=lambda item: item)
        self.table.pointed.connect(self._choose)
        self._for_one: list[Button] = []
        self._stack = Filled(empty, self.table)
        self.add(self._stack)
        self._items: list[str] | None = None

    def show_items(self, items: list[str]) -> None:
        if items != self._items:
            self._items = items
            self.table.set_rows(items)
            self._stack.fill(bool(items))
            for button in self._for_one:
                button.setVisible(bool(items))
            self._choose()

    def add_actions(self, *always: Button, for_one: Sequence[Button]) -> None:
        """Buttons below the list. `for_one`: those that act on the selected item."""
        self._for_one = list(for_one)
        self.add(holding(Flow(*always, *for_one)))
        self._choose()

    @property
    def chosen(self) -> str:
        """The selected item; empty if several or none are selected."""
        selected = self.table.selected()
        return selected[0] if len(selected) == 1 else ""

    def _choose(self) -> None:
        for button in self._for_one:
            button.setEnabled(bool(self.chosen))


class AddressesCard(ListCard):
    """The setting `peers`."""

    def __init__(self, view: View, bridge: Bridge, add: Callable[[], object]) -> None:
        super().__init__(
            tr("Saved addresses"),
            tr("This node stays linked to these, in addition to the peers that it finds."),
            Empty("link", tr("None yet"), tr("An address looks like wss://relay.example:8765")),
            Heading(tr("Address"), str, stretch=True),
            Heading(tr("State"), self._last, icon=self._last_icon),
        )
        self._view, self._bridge = view, bridge
        self._last_seen: tuple[str, ...] = ()
        self._explained = ("", "")
        """The address that the sentence below the list is about, and that sentence."""
        self._result = Banner()
        self.add_button = Button(tr("Add a peer"), add, icon="plus")
        self.test = Button(tr("Test"), self._test, icon="link")
        self.remove = Button(tr("Remove"), self._remove, icon="trash")
        self.add(self._result)
        self.add_actions(self.add_button, for_one=[self.test, self.remove])

    def refresh(self) -> None:
        items = listed(self._view.settings.peers)
        self.show_items(items)
        seen = tuple(self._last(item) for item in items)
        if seen != self._last_seen:
            self._last_seen = seen
            self.table.set_rows(items)
        self._choose()

    def _seen(self, address: str) -> AddressSeen:
        view = self._view
        return peer_words.seen(address, view.swarm if view.attached and not view.silo else None, view.clock())

    def _last(self, address: str) -> str:
        return self._seen(address).words

    def _last_icon(self, address: str) -> tuple[str, str] | None:
        return self._seen(address).icon

    def _choose(self) -> None:
        super()._choose()
        why = self._seen(self.chosen).why if self.chosen else ""
        if (self.chosen, why) != (before := self._explained):
            self._explained = (self.chosen, why)
            if self.chosen != before[0] or self._result.text == before[1]:  # otherwise it is the result of a test there
                self._result.say(why, "warning")
        if self._view.silo:
            self.test.setEnabled(False)
        set_tooltip(self.test, tr("In silo this node links to nobody.") if self._view.silo else "")

    def _test(self) -> None:
        if self.chosen:
            dial(self, self._bridge, self.chosen, self._result)

    def _remove(self) -> None:
        if self.chosen:
            value = without_item(self._view.settings.peers, self.chosen)
            self._bridge.ask(SetSettings(values={"peers": value}, for_good=True), lambda reply: None, of=self)
            self._result.say("")


class BlockedCard(ListCard):
    """The setting `blocked`."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(
            tr("Blocked"),
            tr("This node does not link to these keys or learn from them."),
            Empty("block", tr("Nobody is blocked"), tr("You can block a peer in the list of links.")),
            Heading(tr("Key"), str, stretch=True),
        )
        self._view, self._bridge = view, bridge
        self.unblock = Button(tr("Unblock"), self._unblock, icon="check")
        self.copy_key = Button(tr("Copy the key"), lambda: copy_text(bridge, self.chosen), icon="copy")
        self.add_actions(for_one=[self.unblock, self.copy_key])

    def refresh(self) -> None:
        self.show_items(listed(self._view.settings.blocked))

    def _unblock(self) -> None:
        if self.chosen:
            value = without_item(self._view.settings.blocked, self.chosen)
            self._bridge.ask(SetSettings(values={"blocked": value}), lambda reply: None, of=self)


def dial(owner: QWidget, bridge: Bridge, address: str, banner: Banner) -> None:
    """Dial an address once, and report who answers there."""

    def answered(reply: PeerAnswered) -> None:
        text = tr("{program} answers there in {latency}, with key {key}").format(
            program=one_line(reply.program, 60) or tr("A node"),
            latency=peer_words.milliseconds(reply.milliseconds),
            key=peer_words.short_key(reply.key),
        )
        banner.say(text, "accent")

    def failed(error: SapoError) -> None:
        banner.say(in_words(error), "danger")

    banner.say(tr("Connecting to {address}").format(address=one_line(address, 120)), "plain")
    bridge.ask(TestPeer(address=address), answered, failed, of=owner)
