"""The progress of joining, as the worker reports it, until the node is linked or it is clear why not."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.sentences import Sentence, Text
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.peers.link_box import LinkBox
from sapo_desktop.gui.widgets.bars import Progress
from sapo_desktop.gui.widgets.layout import column
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.states import state_sentence
from sapo_desktop.view.plain import plain
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import PeerAnswered, SwarmIs
from sapo_desktop.worker.control.messages.requests import GetSwarm, TestPeer
from sapo_desktop.worker.control.messages.swarm import LinkInfo, SwarmInfo

LOOK_MS = 1000
_LAN_LOOKS = 30
"""After so many checks without a link, stop waiting for a node of the local network."""


_SILO_LOOKS = 2
"""Number of checks that may still find the node in silo, which it is about to leave."""


@dataclass(frozen=True)
class Goal:
    """What to link to: any of `addresses`, or with `lan` any node found on the local network. With `host`, others
    should reach this node, and it reports its address.

    `swarm`: the private one that the node must be in; `note`: what else a person must do.
    """

    addresses: tuple[str, ...] = ()
    swarm: str = ""
    lan: bool = False
    host: bool = False
    note: str = ""


class UnderWay(QWidget):
    """See the module.

    Signals:
        ended: whether the node is linked.
    """

    ended = Signal(bool)

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self.goal: Goal | None = None
        self._step = Label("", "subtitle")
        self._bar = Progress()
        self._note = Label("", "muted")
        self._result = Banner()
        self._own = LinkBox(bridge)
        self._own.hide()
        self.setLayout(column(self._step, self._bar, self._result, self._own, self._note, 1, spacing=1.5))
        self._timer = timer(self, LOOK_MS, self._look)
        self._left: list[str] = []
        """Addresses that were not dialled yet."""
        self._dialling = self._asking = False
        self._key = self._answers_at = ""
        """Key of the peer that answered, and its address in canonical form."""
        self._looks = self._in_silo = 0

    def follow(self, goal: Goal) -> None:
        """Start: the settings were changed accordingly."""
        self.goal, self._left = goal, list(goal.addresses)
        self._dialling = self._asking = False
        self._key, self._answers_at = "", ""
        self._looks = self._in_silo = 0
        self._result.say("")
        self._own.hide()
        self._note.setText(goal.note)
        self._note.setVisible(bool(goal.note))
        self._bar.show()
        self._say(tr("Connecting"))
        self._timer.start()
        self._look()

    def stop(self) -> None:
        """Stop checking. The node continues what was started."""
        self._timer.stop()

    # -- the worker's reports ----------------------------------------------------------------------------------

    def _look(self) -> None:
        if not self._view.attached:
            self._asking = self._dialling = False
            self._say(state_sentence(self._view))
        elif not self._asking:
            self._asking = True
            self._bridge.ask(GetSwarm(), self._seen, self._not_seen, of=self)

    def _not_seen(self, error: SapoError) -> None:
        self._asking = False
        self._say(in_words(error))

    def _seen(self, reply: SwarmIs) -> None:
        self._asking = False
        goal, info = self.goal, reply.info
        if goal is None or not self._timer.isActive():
            return
        # A node that stays out by itself, as on a metered connection, is not in silo: it says why.
        self._in_silo = self._in_silo + 1 if info.state == "silo" and self._view.silo else 0
        if self._in_silo > _SILO_LOOKS:
            self._end(tr("Silo was switched on. “Try again” leaves it, “Back” keeps everything as it was."))
        elif info.state == "failed":
            self._end(in_words(plain(info.reason)))
        elif info.state in ("silo", "joining") or info.swarm != (goal.swarm or info.swarm):
            self._say(in_words(plain(info.reason)), *_how_far(info.reason))
        elif goal.host:
            self._reached(info.address)
        elif (link := self._wanted(goal, info)) is not None:
            self._linked(link)
        elif self._key and (parted := info.partings.get(self._answers_at)):
            self._end(f"{in_words(plain(parted))} {_goes_on_trying()}")
        elif goal.lan:
            self._wait_for_neighbours()
        elif not self._dialling and not self._key:
            self._dial()

    def _wanted(self, goal: Goal, info: SwarmInfo) -> LinkInfo | None:
        """The requested link, if it is open."""
        for link in info.links:
            if goal.lan or (self._key and link.key == self._key) or link.dialled in goal.addresses:
                return link
        return None

    def _wait_for_neighbours(self) -> None:
        self._looks += 1
        if self._looks < _LAN_LOOKS:
            self._say(tr("Looking for nodes on this network"))
            return
        self._end(
            tr(
                "No other node was found on this network so far. This one keeps looking, and can be found. "
                "Choose the local network on the other computer too."
            )
        )

    # -- dialling --------------------------------------------------------------------------------------------

    def _dial(self) -> None:
        """Ask who is there, because the node's own dialling does not say why it fails."""
        address = self._left.pop(0)
        self._dialling = True
        self._say(tr("Connecting to {address}").format(address=one_line(address.partition("#")[0], 100)))
        self._bridge.ask(TestPeer(address=address), self._answered, self._silent, of=self)

    def _answered(self, reply: PeerAnswered) -> None:
        self._dialling, self._key, self._answers_at = False, reply.key, reply.address
        if self._timer.isActive():
            self._say(
                tr("It answers in {latency}. Connecting").format(latency=peer_words.milliseconds(reply.milliseconds))
            )

    def _silent(self, error: SapoError) -> None:
        self._dialling = False
        if self._timer.isActive() and not self._left:
            self._end(f"{in_words(error)} {_goes_on_trying()}")

    # -- display -----------------------------------------------------------------------------------------------

    def _say(self, text: str, done: int = 0, count: int = 0) -> None:
        self._step.setText(text)
        self._bar.show_done(done, count)
        self._bar.setAccessibleName(text)

    def _linked(self, link: LinkInfo) -> None:
        self.stop()
        self._bar.hide()
        self._step.setText(tr("Linked"))
        who = tr("{program}, key {key}").format(
            program=one_line(link.program, 60) or tr("A node"), key=peer_words.short_key(link.key)
        )
        learns = tr("This computer now learns from others' answers too.")
        self._result.say(f"{who}. {learns}", "accent")
        self._note.hide()
        self.ended.emit(True)

    def _reached(self, address: str) -> None:
        """Others can link to this node, once it reports its address."""
        if not address:
            self._say(tr("Opening this computer to others"))
            return
        self.stop()
        self._bar.hide()
        self._step.setText(tr("Others can join this computer"))
        self._result.say(
            tr("Send this link to a friend, or show the code. They enter it in this same place."), "accent"
        )
        self._own.show_text(address)
        self._own.show()
        self.ended.emit(True)

    def _end(self, why: str) -> None:
        self.stop()
        self._bar.hide()
        self._step.setText(tr("Not linked yet"))
        self._result.say(why, "warning")
        self.ended.emit(False)


def _goes_on_trying() -> str:
    return tr("This node keeps trying, out of silo. Back undoes that, and leaves everything as before.")


def _how_far(reason: Text) -> tuple[int, int]:
    """Done and total, if the sentence has them."""
    if not isinstance(reason, Sentence):
        return (0, 0)
    done, count = reason.values.get("done"), reason.values.get("count")
    return (done, count) if isinstance(done, int) and isinstance(count, int) else (0, 0)
