"""This node's identity for others, whether it shares its answers, and the necessary consent."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.consent import IN_SILO
from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.peers.passphrase import PassphraseSheet
from sapo_desktop.gui.widgets.buttons import Button, Switch
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.forms import Copied
from sapo_desktop.gui.widgets.layout import Card, Flow, column, holding
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.sentences import in_words, what_is_published
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import IdentityIs
from sapo_desktop.worker.control.messages.requests import ChangeIdentity, GetIdentity, SetSettings


class MeCard(Card):
    """This node's key, where it is stored, and its address for others."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(tr("This node"), tr("Others know this node by its key. You need no name and no account."))
        self._view, self._bridge = view, bridge
        self._key = Copied(bridge, tr("My key"), tr("Copy my key"))
        self._address = Copied(bridge, tr("My address"), tr("Copy my address"))
        self._kept = Label("", "caption")
        self._unlock = Button(tr("Unlock"), lambda: self._with_passphrase("unlock"), icon="key")
        self._protect = Button(tr("Protect it with a passphrase"), lambda: self._with_passphrase("protect"), icon="key")
        self._listening = Label("", "caption")
        self._ways = holding(Flow(self._unlock, self._protect))
        self.inquiry = Inquiry(bridge, GetIdentity, self, self._show)
        self.add(self.inquiry.trouble, column(self._key, self._kept, spacing=0.25), self._ways)
        self.add(column(self._address, self._listening, spacing=0.25), 1)
        self._show()

    def refresh(self) -> None:
        """The swarm's state or the settings changed."""
        swarm = self._view.swarm
        held: IdentityIs | None = self.inquiry.reply
        if swarm is not None and swarm.key and (held is None or held.key != swarm.key):
            self.inquiry.ask()
        self._address.show_text(swarm.address if swarm is not None else "")
        self._listening.setText(_listening(self._view))
        self._listening.setVisible(bool(self._listening.text()))

    def _show(self) -> None:
        held: IdentityIs | None = self.inquiry.reply
        closed = held is not None and held.kept == "file" and not held.key
        self._key.show_text(held.key if held is not None else "")
        if held is None:
            self._kept.setText("")
        elif closed:
            self._kept.setText(tr("It is in a file protected by your passphrase. Unlock it to join the swarm."))
        else:
            self._kept.setText(peer_words.kept_words(held.kept))
        open_ended = held is not None and held.kept in ("", "session")
        self._unlock.setVisible(closed)
        self._protect.setVisible(open_ended)
        self._ways.setVisible(closed or open_ended)

    def _with_passphrase(self, action: str) -> None:
        new = action == "protect"
        about = (
            tr("This passphrase will protect the key's file. If you lose it, nobody can open the file again.")
            if new
            else tr("It unlocks the file with this node's key.")
        )
        sheet = PassphraseSheet(self, tr("This node's key"), about, lambda text: send(text), new=new)

        def send(text: str) -> None:
            request = ChangeIdentity(action="protect" if new else "unlock", passphrase=text)
            self._bridge.ask(request, done, failed, of=sheet)

        def done(reply: IdentityIs) -> None:
            sheet.accept()
            self.inquiry.ask()

        def failed(error: SapoError) -> None:
            sheet.trouble(in_words(error))

        sheet.open()


def _listening(view: View) -> str:
    if view.silo:
        return ""
    if view.swarm is not None and view.swarm.address:
        return tr("It accepts links: others can link to it.")
    return tr("This node links to others by itself. Others cannot start a link to it.")


class SharingCard(Card):
    """The switch, and its current state."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(tr("Sharing"))
        self._view, self._bridge = view, bridge
        self.switch = Switch(tr("Share this node's answers"))
        self.switch.clicked.connect(self._switched)
        self._words = Label("", "muted")
        self.read = Button(tr("What leaves this computer"), self._read, icon="info")
        self.add(self.switch, self._words, 1, self.read)

    def refresh(self) -> None:
        share = self._view.settings.share
        self.switch.show_state(share)
        self.switch.setEnabled(self._view.attached)
        if share:
            words = tr("Published in the public domain (CC0). This cannot be undone.")
            if self._view.silo:
                words += " " + catalogued(IN_SILO)
        elif self._view.silo:
            words = tr("Nothing is shared. In silo, this node learns from its own answers only.")
        else:
            words = tr("Nothing is shared. This node uses others' answers and learns from them.")
        self._words.setText(words)

    def _switched(self, on: bool) -> None:
        # The switch shows the current state, not the requested one.
        self.refresh()
        if on:
            ConsentSheet(self, self._share).open()
        else:
            self._bridge.ask(SetSettings(values={"share": "off"}, for_good=True), _quietly, of=self)

    def _share(self) -> None:
        self._bridge.ask(SetSettings(values={"share": "on"}, for_good=True), _quietly, of=self)

    def _read(self) -> None:
        ConsentSheet(self, None).open()


class ConsentSheet(Sheet):
    """Everything to read before giving consent; with `agreed` it can be given here."""

    def __init__(self, parent: QWidget, agreed: Callable[[], None] | None) -> None:
        super().__init__(parent, tr("What leaves this computer"))
        for text in (catalogued(IN_SILO), *what_is_published()):
            self.add(Label(text))
        if agreed is None:
            self.add_buttons(Button(tr("Close"), self.accept, kind="primary"))
            return
        self.accepted.connect(agreed)
        back = Button(tr("Cancel"), self.reject)
        agree = Button(tr("Publish answers from now on"), self.accept, kind="primary")
        self.add_buttons(back, agree, default=back)
        back.setFocus()


def _quietly(reply: object) -> None:
    """The changed settings are confirmation enough."""
