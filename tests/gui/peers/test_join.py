"""Joining: the questions, the requests to the worker, and the steps until the node is linked."""

from typing import Any

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import PassphraseNeeded, UsageError
from sapo_desktop.core.network.invite import Invite
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.gui.peers import join, under_way
from sapo_desktop.gui.peers.join import JoinSheet
from sapo_desktop.gui.peers.page import PeersPage
from sapo_desktop.gui.peers.passphrase import PassphraseSheet
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.view.link import Lost
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import SettingsChanged
from sapo_desktop.worker.control.messages.replies import PeerAnswered, SettingsAre, SwarmIs
from sapo_desktop.worker.control.messages.requests import GetSwarm, JoinSwarm, SetSettings
from sapo_desktop.worker.control.messages.requests import TestPeer as DialPeer
from sapo_desktop.worker.control.messages.swarm import SwarmInfo
from sapo_desktop.worker.membership import private
from tests.gui import scenes, staged_peers
from tests.gui.driving import all_texts, press, shown
from tests.gui.scenes import NOW
from tests.gui.stage import StageBridge

ADDRESS = "wss://b.example:2"
JOINING = SwarmInfo(
    state="joining", reason=sentence("Joining the swarm: {done} of {count} tasks compared", done=16, count=19)
)
ALONE = SwarmInfo(state="alone", reason="No peer is linked.")


class Scene:
    """The dialog, opened from the page of a node in silo (or not), with what the worker says of the swarm."""

    def __init__(self, qtbot: QtBot, text: str = "", **settings: object) -> None:
        self.view = scenes.a_view(**({"silo": True} | settings))
        self.bridge = StageBridge(self.view)
        staged_peers.stage(self.bridge)
        self.says(JOINING)
        page = shown(qtbot, PeersPage(self.view, self.bridge, Actions(self.view, self.bridge)))
        press(page._away, "Join others") if self.view.silo else press(page.add_peer)
        self.sheet = next(found for found in page.findChildren(JoinSheet) if found.isVisible())
        qtbot.keyClicks(self.sheet._field, text)

    def says(self, info: SwarmInfo) -> None:
        self.bridge.replies[GetSwarm] = SwarmIs(info=info)

    def linked(self, **changes: object) -> None:
        link = msgspec.structs.replace(scenes.links(1)[0], **changes)
        self.says(msgspec.structs.replace(scenes.swarm_info(), links=[link]))

    def settings(self, now: Settings) -> None:
        self.bridge.tell(SettingsChanged(now=SettingsAre(settings=now, changed=[], overridden=[])))

    def look(self) -> None:
        """A second passes."""
        self.sheet._under_way._look()

    @property
    def said(self) -> str:
        return all_texts(self.sheet)

    def asked(self, kind: type[Any]) -> list[Any]:
        return self.bridge.asked_for(kind)


def test_an_address_is_joined_in_one_act(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS, peers="wss://a.example:1")
    assert "This leaves silo" in scene.said and "see its internet address" in scene.said
    before = scene.sheet.geometry()
    press(scene.sheet.ok)
    assert scene.sheet.geometry() == before, "nothing moves up under the pointer"
    values = {"silo": "off", "share": "off", "peers": f"wss://a.example:1, {ADDRESS}"}
    assert scene.asked(SetSettings) == [SetSettings(values=values, for_good=True)]
    assert scene.sheet.isVisible() and "16 of 19 tasks compared" in scene.said
    assert (scene.sheet._under_way._bar.value(), scene.sheet._under_way._bar.maximum()) == (16, 19)
    scene.linked(dialled=ADDRESS)
    scene.look()
    assert "Linked" in scene.said and scene.sheet.cancel.text() == "Done"
    press(scene.sheet.cancel)
    assert not scene.sheet.isVisible()


def test_why_nobody_answers_is_said_and_back_undoes_what_joining_changed(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS, peers="wss://a.example:1")
    before = SetSettings(values={"silo": "on", "share": "off", "peers": "wss://a.example:1"}, for_good=True)
    press(scene.sheet.ok)
    press(scene.sheet.back)
    assert scene.asked(SetSettings)[-1] == before, "while it is under way"
    assert scene.sheet._field.isVisible() and scene.sheet._field.text() == ADDRESS
    scene.says(ALONE)
    scene.bridge.replies[DialPeer] = UsageError("Nobody answers at wss://b.example:2.")
    press(scene.sheet.ok)
    assert "Nobody answers" in scene.said and "out of silo" in scene.said
    press(scene.sheet.again)
    assert len(scene.asked(DialPeer)) == 2
    press(scene.sheet.back)
    assert scene.asked(SetSettings).count(before) == 2, "and after it failed"


def test_this_computer_is_opened_to_others_and_says_where(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "home_addresses", lambda: ["192.168.1.7"])
    scene = Scene(qtbot)
    scene.sheet._way.buttons["host"].click()
    assert "wss://192.168.1.7:8765" in scene.said and not scene.sheet._field.isVisible()
    press(scene.sheet, "Let others join")
    opened = {"silo": "off", "share": "off", "listen": "0.0.0.0:8765", "announce": "wss://192.168.1.7:8765"}
    assert scene.asked(SetSettings) == [SetSettings(values=opened, for_good=True)]
    assert "16 of 19 tasks compared" in scene.said
    scene.says(msgspec.structs.replace(ALONE, address="wss://192.168.1.7:8765#" + "ab" * 32))
    scene.look()
    box = scene.sheet._under_way._own
    assert "wss://192.168.1.7:8765#abab" in scene.said and box.code.isVisible() and box.copy_link.isEnabled()
    assert scene.sheet.cancel.text() == "Done"


@pytest.mark.parametrize(
    ("link", "said"), [("sapo://connect?swarm=1", "update this program"), ("sapo://join?swarm=12", "64 hex digits")]
)
def test_an_invite_that_cannot_be_read_is_not_sent(qtbot: QtBot, link: str, said: str) -> None:
    scene = Scene(qtbot, link)
    assert "An invite link looks like" in scene.said
    press(scene.sheet.ok)
    assert said in scene.said and scene.sheet._field.isVisible() and not scene.asked(JoinSwarm)


def test_who_answers_is_waited_for_until_it_is_linked(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS.upper())
    scene.says(ALONE)
    press(scene.sheet.ok)
    assert "It answers in 38 ms" in scene.said
    scene.look()
    assert len(scene.asked(DialPeer)) == 1
    scene.linked(dialled="wss://other.example:3")
    scene.look()
    assert "It answers" in scene.said, "another link is not the one that was asked for"
    scene.linked(key="12" * 32)
    scene.look()
    assert scene.sheet.cancel.text() == "Done"


def test_a_peer_that_refuses_this_nodes_key_is_not_waited_for(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS.upper())
    scene.bridge.replies[DialPeer] = PeerAnswered("12" * 32, "sapo-desktop 0.4.0", 38.2, address=ADDRESS)
    elsewhere = {"wss://a.example:1": "Another one refuses this node's key."}
    alone = msgspec.structs.replace(ALONE, parted=elsewhere["wss://a.example:1"])
    scene.says(msgspec.structs.replace(alone, partings=elsewhere))
    press(scene.sheet.ok)
    scene.look()
    assert "It answers in 38 ms" in scene.said, "another peer's word is none of the one that was asked for"
    scene.says(msgspec.structs.replace(alone, partings=elsewhere | {ADDRESS: "It refuses this node's key."}))
    scene.look()
    assert "It refuses this node's key." in scene.said and scene.sheet.again.isVisible()


def test_what_keeps_it_from_joining_is_said(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS)
    scene.says(SwarmInfo(state="failed", reason="The swarm cannot be joined: no key. Training goes on alone."))
    press(scene.sheet.ok)
    assert "no key" in scene.said and scene.sheet.again.isVisible()


def test_silo_switched_on_meanwhile_ends_the_wait_and_trying_again_leaves_it(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS)
    press(scene.sheet.ok)
    scene.says(scenes.swarm_info(silo=True))
    for _ in range(3):
        assert "Silo was switched on" not in scene.said, "it may be about to leave it"
        scene.look()
    assert "Silo was switched on" in scene.said
    scene.linked(dialled=ADDRESS)
    press(scene.sheet.again)
    assert scene.asked(SetSettings)[-1] == SetSettings(values={"silo": "off"}, for_good=True)
    assert scene.sheet.cancel.text() == "Done"


def test_a_metered_link_is_no_silo_that_somebody_switched_on(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS, silo=False)
    scene.says(SwarmInfo(state="silo", reason="Out of the swarm: the connection is metered."))
    press(scene.sheet.ok)
    for _ in range(5):
        scene.look()
    assert "Silo was switched on" not in scene.said and "the connection is metered" in scene.said
    scene.linked(dialled=ADDRESS)
    scene.look()
    assert scene.sheet.cancel.text() == "Done"


def test_a_node_that_dies_meanwhile_is_said_and_waited_for(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS)
    press(scene.sheet.ok)
    scene.bridge.tell(Lost(reason="It was killed."))
    scene.look()
    assert "It was killed." in scene.said


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("wss://b.example", SetSettings, "The port is missing."),
        (staged_peers.LINK, JoinSwarm, "The admission has ended."),
    ],
)
def test_what_the_worker_refuses_is_said_where_it_was_typed(qtbot: QtBot, text: str, kind: type, said: str) -> None:
    scene = Scene(qtbot, text)
    scene.bridge.replies[kind] = UsageError(said)
    press(scene.sheet.ok)
    assert said in scene.said and scene.sheet._field.isVisible() and scene.sheet.ok.isEnabled()
    assert {type(one) for one in scene.bridge.asked} & {SetSettings, JoinSwarm} == {kind}, "nothing else is changed"


def test_sharing_shows_its_terms_first_and_the_button_says_it(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS)
    assert "This cannot be undone" not in scene.said
    scene.sheet._terms.share.radio.click()
    assert "This cannot be undone" in scene.said
    assert scene.sheet.ok.text() == "Join, and publish answers from now on"
    press(scene.sheet.ok)
    assert scene.asked(SetSettings)[0].values["share"] == "on"


def test_who_shares_already_is_not_asked_again(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS, silo=False, share=True)
    assert scene.sheet._terms.shares and scene.sheet.ok.text() == "Join"
    assert "leaves silo" not in scene.said


def test_the_local_network_is_looked_through(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_way, "_LAN_LOOKS", 2)
    scene = Scene(qtbot)
    assert not scene.sheet.ok.isEnabled()
    scene.sheet._way.buttons["lan"].click()
    press(scene.sheet.ok)
    assert scene.asked(SetSettings)[0].values == {"silo": "off", "share": "off", "lan": "on"}
    scene.says(ALONE)
    scene.look()
    assert "Looking for nodes on this network" in scene.said and not scene.asked(DialPeer)
    scene.look()
    assert "No other node was found" in scene.said


def test_an_invite_is_explained_and_followed_before_silo_is_left(qtbot: QtBot) -> None:
    scene = Scene(qtbot, f"'{staged_peers.LINK}'")
    assert "private swarm cdcdcdcd" in scene.said
    press(scene.sheet.ok)
    assert scene.asked(JoinSwarm) == [JoinSwarm(link=staged_peers.LINK)]
    assert scene.asked(SetSettings) == [SetSettings(values={"silo": "off", "share": "off"}, for_good=True)]
    assert "Send this node's key to the swarm's founder" in scene.said
    scene.linked(dialled="wss://home.example:8765")
    scene.look()
    assert scene.sheet.cancel.text() != "Done", "that link was of the public swarm"


def test_back_undoes_what_an_invite_changed_too(qtbot: QtBot) -> None:
    before = Settings(silo=True, swarm="12" * 32, admission="34" * 72, peers=ADDRESS, invited="wss://a.example:1")
    held = ("swarm", "admission", "peers", "invited")
    scene = Scene(qtbot, staged_peers.LINK, **{key: getattr(before, key) for key in held})
    changes = private.joined(before, Invite.parse(staged_peers.LINK), b"", NOW)
    assert held == tuple(changes)
    after = settings_file.apply(before, changes | {"silo": "off"})

    def follow(request: JoinSwarm) -> Ok:
        scene.settings(after)
        return Ok()

    scene.bridge.replies[JoinSwarm] = follow
    press(scene.sheet.ok)
    press(scene.sheet.back)
    assert settings_file.apply(after, scene.asked(SetSettings)[-1].values) == before


def test_a_person_who_gives_up_at_the_passphrase_can_join_again(qtbot: QtBot) -> None:
    scene = Scene(qtbot, staged_peers.LINK)
    scene.bridge.replies[JoinSwarm] = PassphraseNeeded("The key is in a file that a passphrase closes.")
    press(scene.sheet.ok)
    (asks,) = scene.sheet.findChildren(PassphraseSheet)
    press(asks, "Cancel")
    assert scene.sheet.ok.isEnabled() and scene.asked(SetSettings) == []


def test_nothing_is_joined_twice(qtbot: QtBot) -> None:
    scene = Scene(qtbot, ADDRESS)
    scene.bridge.replies[SetSettings] = lambda request: time_passes(scene)
    press(scene.sheet.ok)
    assert scene.sheet._under_way.isVisible() and len(scene.asked(SetSettings)) == 1


def time_passes(scene: Scene) -> Ok:
    """Somebody types on before the node has answered."""
    assert not scene.sheet.asks
    scene.sheet._field.setText(ADDRESS + "0")
    assert not scene.sheet.ok.isEnabled()
    return Ok()


def test_an_invite_that_leads_nearby_says_so_before_it_is_followed(qtbot: QtBot) -> None:
    link = staged_peers.LINK.replace("home.example", "169.254.169.254")
    scene = Scene(qtbot, link)
    assert "169.254.169.254" in scene.said and scene.sheet.ok.text() == "Continue anyway"
    press(scene.sheet.ok)
    assert scene.asked(JoinSwarm) == [JoinSwarm(link=link, nearby=True)]
