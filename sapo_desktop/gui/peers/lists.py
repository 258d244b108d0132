"""Addresses that this node keeps links to, keys that it has nothing to do with, and the dialog that adds a peer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.network.invite import PREFIX, Invite
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.settings import listed, with_item, without_item
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.peers.passphrase import with_passphrase
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.forms import copy_text, labelled, line
from sapo_desktop.gui.widgets.layout import Card, Flow, holding
from sapo_desktop.gui.widgets.notes import Banner, Empty, Filled
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.words import invites as invite_words
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import PeerAnswered
from sapo_desktop.worker.control.messages.requests import JoinSwarm, SetSettings, TestPeer


class ListCard(Card):
    """A setting that is a list, with what can be done to one item of it."""

    def __init__(self, title: str, about: str, empty: Empty, heading: Heading) -> None:
        super().__init__(title, about)
        self.table = Table(title, [heading], rows_shown=3, same=lambda item: item)
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
        """Buttons below the list. `for_one`: those that act on the item that is selected."""
        self._for_one = list(for_one)
        self.add(holding(Flow(*always, *for_one)))
        self._choose()

    @property
    def chosen(self) -> str:
        """The one that is selected; of several or none, nothing."""
        selected = self.table.selected()
        return selected[0] if len(selected) == 1 else ""

    def _choose(self) -> None:
        for button in self._for_one:
            button.setEnabled(bool(self.chosen))


class AddressesCard(ListCard):
    """The setting `peers`."""

    def __init__(self, view: View, bridge: Asks, add: Callable[[], object]) -> None:
        super().__init__(
            tr("Kept addresses"),
            tr("This node keeps links to these, besides those that it finds."),
            Empty("link", tr("None yet"), tr("An address is like wss://relay.example:8765")),
            Heading(tr("Address"), str, stretch=True),
        )
        self._view, self._bridge = view, bridge
        self._result = Banner()
        self.add_button = Button(tr("Add a peer"), add, icon="plus")
        self.test = Button(tr("Test"), self._test, icon="link")
        self.remove = Button(tr("Remove"), self._remove, icon="trash")
        self.add(self._result)
        self.add_actions(self.add_button, for_one=[self.test, self.remove])

    def refresh(self) -> None:
        self.show_items(listed(self._view.settings.peers))

    def _test(self) -> None:
        if self.chosen:
            dial(self, self._bridge, self.chosen, self._result)

    def _remove(self) -> None:
        if self.chosen:
            value = without_item(self._view.settings.peers, self.chosen)
            self._bridge.ask(SetSettings(values={"peers": value}), lambda reply: None, of=self)
            self._result.say("")


class BlockedCard(ListCard):
    """The setting `blocked`."""

    def __init__(self, view: View, bridge: Asks) -> None:
        super().__init__(
            tr("Blocked"),
            tr("This node has nothing to do with these keys."),
            Empty("block", tr("Nobody is blocked"), tr("A peer is blocked from the list of links.")),
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


class AddSheet(Sheet):
    """An address to keep, or an invite link to follow."""

    def __init__(self, parent: QWidget, view: View, bridge: Asks) -> None:
        super().__init__(
            parent,
            tr("Add a peer"),
            tr("An address that somebody runs a node or relay at, or an invite link of a private swarm."),
        )
        self._view, self._bridge = view, bridge
        self._field = line("wss://relay.example:8765#KEY")
        self._field.textChanged.connect(self._typed)
        self._said = Banner()
        self.test = Button(tr("Test the connection"), self._test, icon="link")
        self.ok = Button(tr("Add"), self._add, kind="primary")
        about = tr("With #KEY at its end only that node is accepted there. An invite begins with sapo://")
        self.add(labelled(tr("Address or invite link"), self._field, about), self._said)
        self.add_buttons(self.test, Button(tr("Cancel"), self.reject), self.ok)
        self._typed()
        self._field.setFocus()

    @property
    def _text(self) -> str:
        return self._field.text().strip().strip("'\"")

    def _typed(self) -> None:
        invite = self._text.startswith(PREFIX)
        self.test.setEnabled(bool(self._text) and not invite)
        self.ok.setEnabled(bool(self._text))
        warning = invite_words.warning(self._text) if invite else ""
        self.ok.set_text(tr("Go there all the same") if warning else tr("Go there") if invite else tr("Add"))
        said = _of_invite(self._text) if invite else ""
        self._said.say(f"{said} {warning}".strip(), "danger" if warning else "plain")

    def _test(self) -> None:
        dial(self, self._bridge, self._text, self._said)

    def _add(self) -> None:
        if not self._text:
            return
        if self._text.startswith(PREFIX):
            self._join(self._text)
        else:
            settings = self._view.settings
            values = {"peers": with_item(settings.peers, self._text)}
            if self._text in listed(settings.invited):  # typed now, whoever named it before
                values["invited"] = without_item(settings.invited, self._text)
            self._bridge.ask(SetSettings(values=values), lambda reply: self.accept(), self._refused, of=self)

    def _join(self, link: str) -> None:
        try:
            invite = Invite.parse(link)
        except UsageError as error:
            self._refused(error)
            return
        self.ok.setEnabled(False)
        with_passphrase(
            self,
            self._bridge,
            # What is nearby stood there to be read, and the button said so.
            lambda given: JoinSwarm(link=link, passphrase=given, nearby=bool(invite.nearby)),
            lambda reply: self._joined(invite),
            self._refused,
        )

    def _joined(self, invite: Invite) -> None:
        said = tr("This node goes to the private swarm {key}.").format(key=peer_words.short_key(invite.swarm))
        if not invite.admission:
            said += " " + tr("Tell its founder the key of this node, so that it is let in.")
        self._bridge.said.emit(said)
        self.accept()

    def _refused(self, error: SapoError) -> None:
        self.ok.setEnabled(True)
        self._said.say(in_words(error), "danger")


def dial(owner: QWidget, bridge: Asks, address: str, told: Banner) -> None:
    """Dial an address once, and tell who answers there."""

    def answered(reply: PeerAnswered) -> None:
        text = tr("{program} answers there in {latency}, with key {key}").format(
            program=one_line(reply.program, 60) or tr("A node"),
            latency=peer_words.milliseconds(reply.milliseconds),
            key=peer_words.short_key(reply.key),
        )
        told.say(text, "accent")

    def failed(error: SapoError) -> None:
        told.say(in_words(error), "danger")

    told.say(tr("Dialling {address}").format(address=one_line(address, 120)), "plain")
    bridge.ask(TestPeer(address=address), answered, failed, of=owner)


def _of_invite(link: str) -> str:
    """What a link leads to, before it is followed."""
    try:
        invite = Invite.parse(link)
    except UsageError as error:
        return in_words(error)
    where = tr("It leads to the private swarm {key}, by %n address(es).", None, len(invite.peers)).format(
        key=peer_words.short_key(invite.swarm)
    )
    admits = (
        tr("It admits one key; this node's, if it was made for it.")
        if invite.admission
        else tr("It admits nobody: its founder has to admit this node's key.")
    )
    gives_up = tr("Addresses of the swarm that this node is in now are given up.")
    return f"{where} {admits} {gives_up}"
