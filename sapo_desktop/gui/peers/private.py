"""Private swarms: found one, admit others, invite, follow a link, and return to the public one."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.peers.join import JoinSheet
from sapo_desktop.gui.peers.link_box import LinkBox
from sapo_desktop.gui.peers.passphrase import with_passphrase
from sapo_desktop.gui.widgets.buttons import Button, Segments
from sapo_desktop.gui.widgets.dialog import Sheet, confirm
from sapo_desktop.gui.widgets.forms import Copied, labelled, line
from sapo_desktop.gui.widgets.layout import Card, Flow, holding
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import InviteIs
from sapo_desktop.worker.control.messages.requests import AdmitPeer, CreateSwarm, GetInvite, ResetSettings


class PrivateCard(Card):
    """The node's swarm, and the ways in and out."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(tr("Private swarm"))
        self._view, self._bridge = view, bridge
        self._words = Label("", "muted")
        self._swarm = Copied(bridge, tr("The swarm's key"), tr("Copy the swarm's key"))
        self._trouble = Banner(tone="danger")
        self.found = Button(tr("Create one"), self._found, icon="plus")
        self.follow = Button(tr("Follow an invite"), self._follow, icon="link")
        self.admit = Button(tr("Admit someone"), lambda: AdmitSheet(self, bridge).open(), icon="key")
        self.invite = Button(tr("Make an invite"), lambda: InviteSheet(self, bridge).open(), icon="send")
        self.leave = Button(tr("Back to the public swarm"), self._leave, icon="out")
        buttons = holding(Flow(self.found, self.follow, self.admit, self.invite, self.leave))
        self.add(self._words, self._swarm, self._trouble, 1, buttons)

    def refresh(self) -> None:
        swarm = self._view.settings.swarm
        self._swarm.show_text(swarm)
        self._words.setText(
            tr("This node talks only to the members of one private swarm, and learns from nobody else.")
            if swarm
            else tr(
                "For people who know each other: members talk only to each other. Without one, this node "
                "joins the public swarm when you leave silo."
            )
        )
        for button, shown in (
            (self.found, not swarm),
            (self.admit, bool(swarm)),
            (self.invite, bool(swarm)),
            (self.leave, bool(swarm)),
        ):
            button.setVisible(shown)
            button.setEnabled(self._view.attached)
        self.follow.setEnabled(self._view.attached)

    def _follow(self) -> None:
        JoinSheet(self, self._view, self._bridge).open()

    def _found(self) -> None:
        about = tr(
            "This node will then talk only to nodes that you admit. Its saved addresses are deleted. You "
            "can go back to the public swarm at any time."
        )
        if confirm(self, tr("Create a private swarm?"), about, tr("Create it")):
            with_passphrase(
                self,
                self._bridge,
                lambda given: CreateSwarm(passphrase=given),
                self._founded,
                self._failed,
                new=True,
            )

    def _founded(self, reply: Ok) -> None:
        self._trouble.say("")
        self._bridge.said.emit(tr("This node is in its own private swarm. Admit others by their keys."))

    def _leave(self) -> None:
        about = tr("The addresses of the private swarm are deleted. To come back, follow an invite.")
        if confirm(self, tr("Go back to the public swarm?"), about, tr("Go back")):
            request = ResetSettings(keys=["swarm", "admission", "peers"])
            self._bridge.ask(request, lambda reply: self._trouble.say(""), self._failed, of=self)

    def _failed(self, error: SapoError) -> None:
        self._trouble.say(in_words(error))


class InviteSheet(Sheet):
    """The link to this swarm, which by itself admits nobody."""

    def __init__(self, parent: QWidget, bridge: Bridge) -> None:
        super().__init__(
            parent,
            tr("Invite to this swarm"),
            tr(
                "This link leads to the swarm but does not open it. It shows a key to the person who follows "
                "it, and the founder admits that key."
            ),
        )
        self.link = LinkBox(bridge)
        self.add(self.link)
        self.add_buttons(Button(tr("Close"), self.accept, kind="primary"))
        bridge.ask(GetInvite(), self.link.show_link, self.link.fail, of=self)


class AdmitSheet(Sheet):
    """A link that admits one key."""

    def __init__(self, parent: QWidget, bridge: Bridge, key: str = "") -> None:
        """`key`: of a newcomer that asks; empty: it is typed."""
        super().__init__(
            parent,
            tr("Admit someone"),
            tr(
                "Only the founder can admit others. The link admits one key; it is no secret and is useless "
                "to anyone else."
            ),
        )
        self._bridge = bridge
        self._key = line(longest=200)
        self._key.textChanged.connect(self._typed)
        spans = [("0", tr("Forever")), ("7", tr("A week")), ("30", tr("A month")), ("365", tr("A year"))]
        self._days = Segments(tr("Valid for"), spans, "0")
        self.link = LinkBox(bridge)
        self.link.hide()
        self.ok = Button(tr("Admit") if key else tr("Make the link"), self._admit, kind="primary")
        self._done = Banner()
        self.add(
            labelled(tr("Key"), self._key, tr("64 characters. The newcomer finds it on the Peers page.")),
            labelled(tr("Valid for"), self._days, tr("An admission cannot be withdrawn before it ends.")),
            self._done,
            self.link,
        )
        self.add_buttons(Button(tr("Close"), self.reject), self.ok)
        self._key.setText(key)
        self._key.setReadOnly(bool(key))
        self._typed()
        (self.ok if key else self._key).setFocus()

    def _typed(self) -> None:
        self.ok.setEnabled(bool(self._key.text().strip()))

    def _admit(self) -> None:
        key, days = self._key.text().strip(), int(self._days.current)
        self.link.show()
        with_passphrase(
            self,
            self._bridge,
            lambda given: AdmitPeer(key=key, days=days, passphrase=given),
            self._admitted,
            self.link.fail,
        )

    def _admitted(self, reply: InviteIs) -> None:
        self.link.show_link(reply)
        if reply.waits:
            self._done.say(
                tr("Admitted. It joins by itself within two minutes. If it does not, send it this link."), "accent"
            )
