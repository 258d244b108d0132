"""Joining others in one dialog: an address, an invite or the local network; who sees what; then the progress."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QButtonGroup, QWidget

from sapo_desktop.core.consent import SEEN_IN_SHORT
from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.network.invite import SCHEME, Invite
from sapo_desktop.core.settings import Settings, listed, with_item, without_item
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.peers.me import ConsentSheet
from sapo_desktop.gui.peers.passphrase import with_passphrase
from sapo_desktop.gui.peers.under_way import Goal, UnderWay
from sapo_desktop.gui.settings.groups import as_typed
from sapo_desktop.gui.widgets.buttons import Button, ChoiceCard, Segments
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.forms import labelled, line
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.sentences import in_words, what_is_published
from sapo_desktop.system.network import home_addresses
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.requests import JoinSwarm, SetSettings

_LISTEN = "0.0.0.0:8765"
_BY_INVITE = ("swarm", "admission", "peers", "invited")
"""The settings that the worker changes when an invite is followed."""


class JoinSheet(Sheet):
    """Asks which swarm to join and on what terms, and stays open until the node is linked, or says why it is not."""

    def __init__(self, parent: QWidget, view: View, bridge: Bridge, text: str = "") -> None:
        """`text`: as in `look_at`."""
        super().__init__(parent, tr("Join others") if view.silo else tr("Add a peer"))
        self._view, self._bridge = view, bridge
        leaving = Banner(
            tr("This leaves silo and uses the network from then on. To go back, switch Silo on at the left.")
        )
        leaving.say(leaving.accessibleName() if view.silo else "", "silo")
        ways = [
            ("address", tr("By a link or address")),
            ("lan", tr("On your network")),
            ("host", tr("Let others join you")),
        ]
        self._way = Segments(tr("How"), ways)
        self._way.chosen.connect(lambda _: self._chosen())
        self._field = line("wss://relay.example:8765#KEY")
        self._field.textChanged.connect(lambda _: self._chosen())
        self._said = Banner()
        self._terms = Terms(share=view.settings.share)
        self._terms.learn.chosen.connect(self._chosen)
        self._terms.share.chosen.connect(self._chosen)
        nobody = tr(
            "There is no public swarm yet. Join friends by a link or QR code, find nodes on your network, or let "
            "others join this computer."
        )
        about = tr("Friends who run a node or relay send you its address, or an invite that begins with sapo://.")
        self._asked = holding(labelled(tr("Address or invite link"), self._field, about))
        self._questions = holding(
            column(
                leaving,
                Label(nobody),
                self._way,
                self._asked,
                self._said,
                self._terms,
                spacing=1.5,
            )
        )
        self._under_way = UnderWay(view, bridge)
        self._under_way.ended.connect(self._ended)
        self._under_way.hide()
        self.add(self._questions, self._under_way)
        self.again = Button(tr("Try again"), self._try_again)
        self.back = Button(tr("Back"), self._undo)
        self.cancel = Button(tr("Cancel"), self.reject)
        self.ok = Button("", self._join, kind="primary")
        self.add_buttons(self.again, self.back, self.cancel, self.ok)
        self._sending = False
        self._before: dict[str, str] = {}
        """The settings that joining changed, with their previous values."""
        self._field.setText(text)
        self._ask_again()

    # -- the questions ---------------------------------------------------------------------------------------

    @property
    def link(self) -> str:
        """The address or invite as typed."""
        return self._field.text().strip().strip("'\"")

    @property
    def _by_address(self) -> bool:
        return self._way.current == "address"

    @property
    def _is_invite(self) -> bool:
        return self._by_address and self.link.lower().startswith(SCHEME)

    @property
    def asks(self) -> bool:
        """Whether it shows its questions, and no answer is being sent."""
        return not self._sending and not self._questions.isHidden()

    def look_at(self, text: str) -> None:
        """Ask about a link that somebody else typed or sent."""
        self._way.show_choice("address")
        self._field.setText(text)
        self._chosen()
        self.raise_()
        self.activateWindow()

    def _ask_again(self) -> None:
        self._under_way.stop()
        self._under_way.hide()
        self._questions.show()
        self._sending = False
        for button, shown in ((self.again, False), (self.back, False), (self.cancel, True), (self.ok, True)):
            button.setVisible(shown)
        self.cancel.set_text(tr("Cancel"))
        self.ok.setDefault(True)
        self._chosen()
        self._field.setFocus()

    def _chosen(self) -> None:
        """The input changed: show its meaning."""
        self._field.setEnabled(self._by_address)
        self.ok.setEnabled(not self._sending and (not self._by_address or bool(self.link)))
        warning = peer_words.invite_warning(self.link) if self._is_invite else ""
        self._asked.setVisible(self._by_address)
        said = peer_words.about_invite(self.link) if self._is_invite else ""
        self._said.say(f"{said} {warning}".strip(), "danger" if warning else "plain")
        self._terms.explain(self._nearby())
        if warning:
            self.ok.set_text(tr("Continue anyway"))
        elif self._terms.publishes:
            self.ok.set_text(tr("Join, and publish answers from now on"))
        elif self._way.current == "host":
            self.ok.set_text(tr("Let others join"))
        else:
            self.ok.set_text(tr("Join"))

    def _nearby(self) -> str:
        match self._way.current:
            case "lan":
                return tr("The computers on this local network see that a node is here.")
            case "host":
                if not (address := _opened(self._view.settings)["announce"]):
                    return tr("This computer is on no local network. Enter its address in the settings, as announced.")
                return tr(
                    "Others reach this computer at {address}. Friends outside your network need your router to "
                    "forward this port, and the router's address from you."
                ).format(address=address)
        return ""

    def _given_up(self) -> None:
        self._sending = False
        self._chosen()

    def _refused(self, error: SapoError) -> None:
        self._given_up()
        self._said.say(in_words(error), "danger")

    # -- joining ---------------------------------------------------------------------------------------------

    def _join(self) -> None:
        self._sending = True
        self._chosen()
        if self._is_invite:
            self._follow(self.link)
        else:
            way = self._way.current
            goal = Goal((self.link,) if self._by_address else (), lan=way == "lan", host=way == "host")
            self._set(self._values, goal, self._held(self._values))

    @property
    def _values(self) -> dict[str, str]:
        """The settings that joining changes."""
        settings, values = self._view.settings, self._terms_values
        if self._way.current == "lan":
            return values | {"lan": "on"}
        if self._way.current == "host":
            return values | _opened(settings)
        if self._is_invite:
            return values
        values["peers"] = with_item(settings.peers, self.link)
        if self.link in listed(settings.invited):  # typed now, even if an invite named it before
            values["invited"] = without_item(settings.invited, self.link)
        return values

    @property
    def _terms_values(self) -> dict[str, str]:
        return {"silo": "off", "share": "on" if self._terms.shares else "off"}

    def _follow(self, link: str) -> None:
        """First follow the invite: if it is refused, a node in silo stays there."""
        try:
            invite = Invite.parse(link)
        except UsageError as error:
            self._refused(error)
            return
        values, before = self._values, self._held((*self._values, *_BY_INVITE))
        note = tr("Send this node's key to the swarm's founder, who can then admit it.") if not invite.admission else ""
        goal = Goal(invite.peers, swarm=invite.swarm, note=note)
        with_passphrase(
            self,
            self._bridge,
            # The nearby addresses were displayed, and the button said so.
            lambda given: JoinSwarm(link=link, passphrase=given, nearby=bool(invite.nearby)),
            lambda reply: self._set(values, goal, before),
            self._refused,
            given_up=self._given_up,
        )

    def _held(self, keys: Iterable[str]) -> dict[str, str]:
        """The current values of these settings."""
        return {key: as_typed(getattr(self._view.settings, key)) for key in keys}

    def _set(self, values: dict[str, str], goal: Goal, before: dict[str, str]) -> None:
        def kept(reply: Ok) -> None:
            self._before = before
            self._begin(goal)

        self._bridge.ask(SetSettings(values=values, for_good=True), kept, self._refused, of=self)

    def _begin(self, goal: Goal) -> None:
        self._said.say("")
        self._questions.hide()
        self._under_way.show()
        self.ok.hide()
        self.again.hide()
        self.back.show()
        self.cancel.set_text(tr("Continue in the background"))
        self.cancel.setFocus()
        self._under_way.follow(goal)

    def _undo(self) -> None:
        """Return to the questions, and restore silo, swarm, addresses and sharing."""
        self._ask_again()
        back = SetSettings(values=self._before, for_good=True)
        self._bridge.ask(back, lambda reply: None, self._refused, of=self)

    def _try_again(self) -> None:
        goal = self._under_way.goal
        if goal is None:
            return
        if self._view.silo:  # switched on during joining
            leave = SetSettings(values={"silo": "off"}, for_good=True)
            self._bridge.ask(leave, lambda reply: self._begin(goal), self._failed, of=self)
        else:
            self._begin(goal)

    def _failed(self, error: SapoError) -> None:
        """The retry is not possible."""
        self._ask_again()
        self._refused(error)

    def _ended(self, linked: bool) -> None:
        self.again.setVisible(not linked)
        self.back.setVisible(not linked)
        self.cancel.set_text(tr("Done") if linked else tr("Close"))
        (self.cancel if linked else self.again).setFocus()


def _opened(settings: Settings) -> dict[str, str]:
    """The settings of a node that others can dial, and find at its address in the local network."""
    listen = settings.listen or _LISTEN
    host = next(iter(home_addresses()), "")
    found = f"wss://{host}:{listen.rpartition(':')[2]}" if host else ""
    return {"listen": listen, "announce": settings.announce or found}


class Terms(QWidget):
    """Share or only learn, and who sees what in each case. Sharing begins only after its terms were displayed."""

    def __init__(self, *, share: bool) -> None:
        super().__init__()
        self._shared = share
        group = QButtonGroup(self)
        self.learn = ChoiceCard(group, tr("Only learn"), tr("The answers of your model stay on this computer."))
        self.share = ChoiceCard(group, tr("Share too"), tr("Others learn from the answers of your model."))
        (self.share if share else self.learn).radio.setChecked(True)
        self._lines = [Label("") for _ in range(4)]
        who = Card(tr("Who can see what"), role="well")
        who.add(*self._lines, holding(row(Button(tr("Read it all"), self._read, kind="inline", icon="info"), 1)))
        self._published = Card(tr("What is published"), role="well")
        self._published.add(*(Label(text) for text in what_is_published()))
        self.setLayout(column(self.learn, self.share, who, self._published, spacing=1))

    @property
    def shares(self) -> bool:
        return self.share.radio.isChecked()

    @property
    def publishes(self) -> bool:
        """Whether sharing would begin with this choice."""
        return self.shares and not self._shared

    def _read(self) -> None:
        ConsentSheet(self, None).open()

    def explain(self, nearby: str) -> None:
        """Explain the choice. `nearby`: what this way of joining reveals or opens."""
        self._published.setVisible(self.publishes)
        texts = (
            catalogued(SEEN_IN_SHORT),
            tr("Other computers' answers arrive as text. Each is scored here before your model learns from it."),
            tr("Your model's answers are published under this computer's key. This cannot be undone.")
            if self.shares
            else tr("Nothing that your model writes leaves this computer."),
        )
        for label, text in zip(self._lines, (*texts, nearby), strict=True):
            label.setText(f"• {text}")
            label.setVisible(bool(text))
