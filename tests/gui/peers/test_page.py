"""The Peers page: what it shows, what it asks of the worker, and how it answers errors and strangers."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import IdentityError, PassphraseNeeded, UsageError
from sapo_desktop.gui.peers import links as peers_links
from sapo_desktop.gui.peers import private as peers_private
from sapo_desktop.gui.peers.join import JoinSheet
from sapo_desktop.gui.peers.links import LinkSheet
from sapo_desktop.gui.peers.me import ConsentSheet
from sapo_desktop.gui.peers.page import PeersPage
from sapo_desktop.gui.peers.passphrase import PassphraseSheet
from sapo_desktop.gui.peers.private import AdmitSheet, InviteSheet
from sapo_desktop.gui.peers.refused import Refusal, refusals
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.states import swarm_sentence
from sapo_desktop.view.link import Lost
from sapo_desktop.worker.control.messages.events import SettingsChanged
from sapo_desktop.worker.control.messages.facts import GetUsage, Usage
from sapo_desktop.worker.control.messages.replies import IdentityIs, InviteIs, SettingsAre
from sapo_desktop.worker.control.messages.requests import (
    AdmitPeer,
    ChangeIdentity,
    CreateSwarm,
    GetIdentity,
    RefuseJoin,
    ResetSettings,
    SetSettings,
)
from sapo_desktop.worker.control.messages.swarm import JoinRequest, LinkInfo
from sapo_desktop.worker.membership.view import ONE_SOURCE
from tests.gui import scenes, staged_peers
from tests.gui.driving import PageScene, all_texts, cells, press, shown
from tests.gui.late import LateBridge
from tests.gui.stage import StageBridge


class Scene(PageScene):
    def __init__(self, qtbot: QtBot, bridge_kind: type[StageBridge] = StageBridge, **settings: object) -> None:
        self.view = scenes.a_view(scenes.swarm_curve(60), **({"silo": False} | settings))
        self.bridge = bridge_kind(self.view)
        staged_peers.stage(self.bridge)
        self.page = shown(qtbot, PeersPage(self.view, self.bridge, Actions(self.view, self.bridge)))

    def swarm(self, **changes: object) -> None:
        """Another look at the links."""
        assert self.view.swarm is not None
        self.bridge.changed.emit(self.view.take_swarm(msgspec.structs.replace(self.view.swarm, **changes)))


# -- links ----------------------------------------------------------------------------------------------------


@pytest.fixture
def scene(qtbot: QtBot) -> Scene:
    return Scene(qtbot)


def test_links_are_shown_with_direction_latency_groups_and_draws(scene: Scene) -> None:
    first, second, third = cells(scene.page._links.table)
    assert first[1:7] == ["by this node", "38 ms", "480", "350", "0", "50%"]
    assert (second[5], third[1]) == ("3", "by the peer")


def test_bandwidth_is_the_mean_since_it_was_linked(scene: Scene) -> None:
    link = msgspec.structs.replace(scenes.links(1)[0], seconds=3.0, bytes_in=6000, bytes_out=3000)
    scene.swarm(links=[link, msgspec.structs.replace(link, key="cd" * 32, seconds=0.0, bytes_in=1, bytes_out=0)])
    assert [row[7:9] for row in cells(scene.page._links.table)] == [["2.0 KB/s", "1.0 KB/s"], ["1 B/s", "0 B/s"]]
    said = all_texts(scene.page._overview)
    assert "2.0 KB/s" in said and "6.0 KB over these links" in said


def test_the_selected_peer_stays_selected_when_others_go(scene: Scene) -> None:
    table = scene.page._links.table
    table.selectRow(2)
    chosen = table.selected()[0].key
    assert scene.view.swarm is not None
    scene.swarm(links=scene.view.swarm.links[1:])
    assert [link.key for link in table.selected()] == [chosen]
    assert scene.page._links.block.isEnabled()


def test_two_links_to_one_peer_are_kept_apart(scene: Scene) -> None:
    above, _, link = scenes.links(3)
    twins = [link, msgspec.structs.replace(link, bytes_in=50)]
    scene.swarm(links=[above, *twins])
    table = scene.page._links.table
    table.selectRow(1)
    scene.swarm(links=twins)
    assert [chosen.bytes_in for chosen in table.selected()] == [link.bytes_in]
    assert scene.page._links.details.isEnabled() and scene.page._links.block.isEnabled()


def test_enter_on_a_row_shows_all_of_the_link(scene: Scene, qtbot: QtBot) -> None:
    table = scene.page._links.table
    table.setFocus()
    table.selectRow(1)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    said = all_texts(scene.sheet(LinkSheet))
    assert "This node made the link" in said and "two minutes" not in said and "round 701, reward 66%" in said
    assert "Refused from this peer" in said
    visit = msgspec.structs.replace(scenes.links(1)[0], visit=True, seconds=60)
    LinkSheet(scene.page, scene.view, scene.bridge, visit).open()
    said = all_texts(scene.page)
    assert "made the link 1 min 0 s ago" in said and "Every two minutes the newest of the peers" in said


def test_a_peer_is_blocked_only_after_a_question(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(qtbot, blocked="11" * 32)
    table = scene.page._links.table
    table.selectRow(0)
    key = table.selected()[0].key
    monkeypatch.setattr(peers_links, "confirm", lambda *args, **named: False)
    press(scene.page._links.block)
    assert scene.bridge.asked_for(SetSettings) == []
    monkeypatch.setattr(peers_links, "confirm", lambda *args, **named: True)
    press(scene.page._links.block)
    assert scene.bridge.asked_for(SetSettings) == [SetSettings(values={"blocked": f"{'11' * 32}, {key}"})]


def test_its_address_can_be_kept_where_it_is_not(scene: Scene) -> None:
    scene.page._links.table.selectRow(0)
    press(scene.page._links.details)
    sheet = scene.sheet(LinkSheet)
    press(sheet, "Save its address")
    kept = SetSettings(values={"peers": "wss://relay0.example:8765"}, for_good=True)
    assert scene.bridge.asked_for(SetSettings) == [kept]


def test_without_a_link_it_says_what_brings_one_and_that_nothing_was_refused(scene: Scene) -> None:
    scene.swarm(state="alone", links=[], refused={"invalid": {}, "unverifiable": {}, "ignored": {}})
    assert "No peer is linked" in all_texts(scene.page) and "Nothing was refused" in all_texts(scene.page)
    assert not scene.page._links.details.isVisible()


def test_thousands_of_links_are_no_burden(scene: Scene) -> None:
    scene.swarm(links=scenes.links(10_000))
    assert scene.page._links.table.model().rowCount() == 10_000


# -- warnings, refusals ---------------------------------------------------------------------------------------


def test_one_source_and_a_wrong_clock_are_said(scene: Scene) -> None:
    scene.swarm(one_source=True, clock_wrong=True, clock_offset=4000.0, warnings=[ONE_SOURCE])
    (clock,) = (banner.accessibleName() for banner in scene.page._notes if banner.isVisible())
    assert "1 h 6 min" in clock and "There is only one link" in scene.page._source.text, "each of them once"


def test_what_was_refused_is_explained(scene: Scene) -> None:
    rows = cells(scene.page._refused.table)
    assert [row[:2] for row in rows] == [["Invalid", "1"], ["Unverifiable", "3"], ["Ignored", "17"]]
    assert rows[0][2] == "The signature does not belong to the named author."
    assert "whose library has another version" in rows[1][2]


# -- who I am, sharing ----------------------------------------------------------------------------------------


def test_my_key_and_where_it_is_kept_or_why_nobody_knows(scene: Scene) -> None:
    assert "in this computer's keyring" in all_texts(scene.page._me)
    press(scene.page._me._key._button)
    assert QGuiApplication.clipboard().text() == staged_peers.KEY
    held = scene.bridge.replies[GetIdentity]
    scene.bridge.replies[GetIdentity] = UsageError("The keyring is locked.")
    scene.page._me.inquiry.ask()
    assert "The keyring is locked." in all_texts(scene.page._me)
    scene.bridge.replies[GetIdentity] = held
    press(scene.page._me.inquiry.trouble.button)
    assert "locked" not in all_texts(scene.page._me)


def test_a_closed_identity_is_opened_by_its_passphrase(scene: Scene, qtbot: QtBot) -> None:
    scene.bridge.replies[GetIdentity] = IdentityIs(key="", kept="file")
    scene.page._me.inquiry.ask()
    press(scene.page._me._unlock)
    sheet = scene.sheet(PassphraseSheet)
    scene.bridge.replies[ChangeIdentity] = UsageError("The passphrase does not open it.")
    qtbot.keyClicks(sheet._first, "wrong")
    qtbot.keyClick(sheet._first, Qt.Key.Key_Return)
    assert "does not open it" in all_texts(sheet) and sheet.isVisible()
    scene.bridge.replies[ChangeIdentity] = scene.bridge.replies[GetIdentity] = IdentityIs(key="ab" * 32, kept="file")
    qtbot.keyClicks(sheet._first, "right")  # what was there is selected, so this replaces it
    qtbot.keyClick(sheet._first, Qt.Key.Key_Return)
    assert scene.bridge.asked_for(ChangeIdentity)[-1] == ChangeIdentity(action="unlock", passphrase="right")
    assert not sheet.isVisible() and not scene.page._me._unlock.isVisible()


def test_sharing_takes_consent(scene: Scene, qtbot: QtBot) -> None:
    switch = scene.page._sharing.switch
    switch.setFocus()
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    sheet = scene.sheet(ConsentSheet)
    assert not switch.isChecked() and scene.bridge.asked_for(SetSettings) == []
    assert "cannot be withdrawn" in all_texts(sheet)
    qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    assert scene.bridge.asked_for(SetSettings) == []
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    scene.sheet(ConsentSheet).accept()
    assert scene.bridge.asked_for(SetSettings) == [SetSettings(values={"share": "on"}, for_good=True)]
    scene.settings(share=True)
    assert switch.isChecked()
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert scene.bridge.asked_for(SetSettings)[1:] == [SetSettings(values={"share": "off"}, for_good=True)]


# -- addresses ------------------------------------------------------------------------------------------------


def test_kept_addresses_are_tested_and_removed(qtbot: QtBot) -> None:
    scene = Scene(qtbot, peers="wss://a.example:1, wss://b.example:2")
    card = scene.page._addresses
    assert not card.test.isEnabled()
    card.table.selectRow(0)
    press(card.test)
    assert "answers there" in all_texts(card)
    press(card.remove)
    assert scene.bridge.asked_for(SetSettings) == [SetSettings(values={"peers": "wss://b.example:2"}, for_good=True)]
    scene.settings(silo=True)
    assert card.remove.isEnabled() and not card.test.isEnabled(), "in silo nobody is dialled"
    scene.settings(peers="")
    assert "None yet" in all_texts(card) and not card.test.isVisible()


def test_of_each_kept_address_it_is_said_what_happened_last(qtbot: QtBot) -> None:
    addresses = ["WSS://a.example:1/", "wss://b.example:2", "wss://c.example:3", "wss://d.example:4"]
    scene = Scene(qtbot, peers=", ".join(addresses))
    link = msgspec.structs.replace(scene.view.swarm.links[0], dialled="wss://a.example:1")
    refuses = "wss://b.example:2 answers but does not accept a link: it refuses this node's key."
    silent = {"wss://c.example:3": scenes.NOW - 60}
    swarm = msgspec.structs.replace(
        scene.view.swarm, links=[link], partings={"wss://b.example:2": refuses}, silent=silent
    )
    scene.page.refresh(scene.view.take_swarm(swarm))
    card = scene.page._addresses
    since = f"no answer since {numbers.clock(scenes.NOW - 60)}"
    assert [row[1] for row in cells(card.table)] == ["linked", "no link", since, "not answered yet"]
    card.table.selectRow(1)
    assert refuses in all_texts(card)
    card.table.selectRow(2)
    assert "wss://c.example:3 has not answered since" in all_texts(card) and refuses not in all_texts(card)
    press(card.test)
    scene.page.refresh(scene.view.take_swarm(swarm))
    assert "answers there" in all_texts(card), "the test's own word stays"
    scene.page.refresh(scene.view.take_swarm(msgspec.structs.replace(swarm, silent={})))
    assert "answers there" in all_texts(card), "even where the address is no longer silent, as after a test"
    card.table.selectRow(1)
    assert refuses in all_texts(card) and "answers there" not in all_texts(card)


def test_a_block_is_taken_back(qtbot: QtBot) -> None:
    scene = Scene(qtbot, blocked=f"{'11' * 32}, {'22' * 32}")
    card = scene.page._blocked
    card.table.selectRow(1)
    press(card.unblock)
    assert scene.bridge.asked_for(SetSettings)[0].values == {"blocked": "11" * 32}


# -- private swarms -------------------------------------------------------------------------------------------


def test_a_passphrase_founds_a_swarm(scene: Scene, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers_private, "confirm", lambda *args, **named: True)
    founded = scene.bridge.replies[CreateSwarm]
    refused = {None: PassphraseNeeded("There is no keyring here."), "short": IdentityError("At least 8 characters.")}
    scene.bridge.replies[CreateSwarm] = lambda request: refused.get(request.passphrase, founded)
    press(scene.page._private.found)
    sheet = scene.sheet(PassphraseSheet)
    assert "no keyring here" in all_texts(sheet)
    qtbot.keyClicks(sheet._first, "short")
    sheet._second.setText("short")
    press(sheet.ok)
    assert "At least" in all_texts(sheet), "the node says so, and the sheet stays"
    sheet._first.setText("long enough")
    press(sheet.ok)
    assert "The two passphrases differ" in all_texts(sheet)
    sheet._second.setText("long enough")
    press(sheet.ok)
    assert scene.bridge.asked_for(CreateSwarm)[-1].passphrase == "long enough"
    assert not sheet.isVisible()


def test_somebody_is_admitted_for_a_time(qtbot: QtBot) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)
    press(scene.page._private.admit)
    sheet = scene.sheet(AdmitSheet)
    assert not sheet.ok.isEnabled()
    qtbot.keyClicks(sheet._key, "EF" * 32)
    sheet._days.show_choice("30")
    press(sheet.ok)
    assert scene.bridge.asked_for(AdmitPeer) == [AdmitPeer(key="EF" * 32, days=30)]
    press(sheet.link.copy_link)
    assert QGuiApplication.clipboard().text().startswith("sapo://join?swarm=")


def test_an_error_that_is_not_about_the_passphrase_is_said_where_it_belongs(qtbot: QtBot) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)

    answers = {None: PassphraseNeeded("The admission key is closed."), "wrong": IdentityError("It is wrong.")}
    missing = UsageError("An address is missing.")
    scene.bridge.replies[AdmitPeer] = lambda request: answers.get(request.passphrase, missing)
    press(scene.page._private.admit)
    sheet = scene.sheet(AdmitSheet)
    sheet._key.setText("ef" * 32)
    press(sheet.ok)
    asked = scene.sheet(PassphraseSheet)
    asked._first.setText("wrong")
    press(asked.ok)
    assert "It is wrong." in all_texts(asked)
    asked._first.setText("right")
    press(asked.ok)
    assert not asked.isVisible() and "An address is missing." in all_texts(sheet)


def test_an_invite_that_cannot_be_made_says_why(qtbot: QtBot) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)
    scene.bridge.replies[peers_private.GetInvite] = UsageError("An invite needs an address to connect to.")
    press(scene.page._private.invite)
    sheet = scene.sheet(InviteSheet)
    assert "needs an address" in all_texts(sheet) and not sheet.link.copy_link.isEnabled()


def test_back_to_the_public_swarm(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)
    assert not scene.page._private.found.isVisible()
    monkeypatch.setattr(peers_private, "confirm", lambda *args, **named: True)
    press(scene.page._private.leave)
    assert scene.bridge.asked_for(ResetSettings) == [ResetSettings(keys=["swarm", "admission", "peers"])]
    scene.settings(swarm="")
    assert scene.page._private.found.isVisible() and not scene.page._private.leave.isVisible()


# -- silo, no node, late answers, strangers -------------------------------------------------------------------


def test_in_silo_it_says_what_would_be_here_and_leads_out(qtbot: QtBot) -> None:
    scene = Scene(qtbot, silo=True)
    assert "In silo there are no peers" in all_texts(scene.page)
    assert not scene.page._links.isVisible() and scene.page._answer.isVisible()
    press(scene.page._away, "Join others")
    assert "This leaves silo" in all_texts(scene.sheet(JoinSheet))
    assert scene.bridge.asked_for(SetSettings) == []


@pytest.mark.parametrize(
    ("ways", "said"),
    [(0, "no connection to another computer"), (2, "2 open connections to other computers"), (None, "")],
)
def test_silo_is_proved_by_what_the_system_counts(qtbot: QtBot, ways: int | None, said: str) -> None:
    scene = Scene(qtbot, silo=True)
    scene.bridge.replies[GetUsage] = Usage(ways_out=ways)
    scene.page.opened()
    scene.bridge.tell(SettingsChanged(now=SettingsAre(settings=scene.view.settings, changed=[], overridden=[])))
    assert said in all_texts(scene.page) and ("Counted by the system" in all_texts(scene.page)) == bool(said)


def test_without_a_node_nothing_can_be_pressed_in_vain(scene: Scene) -> None:
    scene.bridge.tell(Lost(reason="It was killed."))
    assert "It was killed." in all_texts(scene.page)
    assert swarm_sentence(scene.view) == "", "a node that is gone is linked to nobody"
    for button in (scene.page.add_peer, scene.page._answer.ask, scene.page._sharing.switch):
        assert not button.isEnabled()


def test_answers_that_come_after_the_page_was_closed_do_no_harm(qtbot: QtBot) -> None:
    scene = Scene(qtbot, LateBridge)
    assert isinstance(scene.bridge, LateBridge)
    scene.page.closed()
    scene.page.hide()
    scene.bridge.deliver()
    assert "in this computer's keyring" in scene.page._me._kept.text()


def test_the_graver_kind_comes_first_in_it_the_more_frequent_and_last_what_a_newer_worker_says() -> None:
    assert refusals(
        {
            "odd": {"strange": 1},
            "ignored": {"duplicate": 40, "too_old": 0},
            "invalid": {"malformed": 2, "bad_signature": 9},
            "unverifiable": {"other_question": 3},
        }
    ) == [
        Refusal("invalid", "bad_signature", 9),
        Refusal("invalid", "malformed", 2),
        Refusal("unverifiable", "other_question", 3),
        Refusal("ignored", "duplicate", 40),
        Refusal("odd", "strange", 1),
    ]


def test_that_there_is_one_source_can_be_put_away_and_other_words_come_again(scene: Scene) -> None:
    banner = scene.page._source
    scene.swarm(warnings=["One link only."])
    assert banner.text == "One link only." and banner.isVisible()
    press(banner.button)
    assert scene.sheet(JoinSheet)
    banner._put_away()
    scene.swarm(warnings=["One link only."])
    assert not banner.isVisible()
    scene.swarm(warnings=["80% came from one source."])
    assert banner.isVisible()


ANNA = JoinRequest(key="ab12" * 16, label="anna", seconds=180.0)


def test_who_wants_to_join_is_admitted_or_refused(qtbot: QtBot) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)
    assert "wants to join" not in all_texts(scene.page)
    scene.swarm(asking=[ANNA, JoinRequest(key="ef" * 32, label="", seconds=5.0)])
    said = all_texts(scene.page)
    assert "anna wants to join" in said and "Key ab12 ab12 ab12 ab12, waiting for 3 min" in said
    assert "Somebody wants to join" in said and "Compare the key" in said
    press(scene.page._asking, "Admit")
    sheet = scene.sheet(AdmitSheet)
    scene.bridge.replies[AdmitPeer] = InviteIs(link=staged_peers.LINK, waits=True)
    press(sheet, "Admit")
    assert scene.bridge.asked_for(AdmitPeer) == [AdmitPeer(key=ANNA.key)]
    assert "It joins by itself within two minutes" in all_texts(sheet)
    press(sheet, "Close")
    scene.swarm(asking=[JoinRequest(key="ef" * 32, label="", seconds=9.0)])
    assert "anna" not in all_texts(scene.page._asking)
    scene.bridge.replies[RefuseJoin] = UsageError("Nobody with this key asks to join.")
    press(scene.page._asking, "Refuse")
    assert scene.bridge.asked_for(RefuseJoin) == [RefuseJoin(key="ef" * 32)]
    assert "Nobody with this key asks to join." in all_texts(scene.page)
    scene.swarm(asking=[])
    assert not scene.page._asking.isVisible()


def test_own_computers_are_those_with_the_same_label_in_a_private_swarm(qtbot: QtBot) -> None:
    def labelled(label: str) -> list[LinkInfo]:
        first, *others = scenes.links()
        assert first.claim is not None
        return [msgspec.structs.replace(first, claim=msgspec.structs.replace(first.claim, label=label)), *others]

    scene = Scene(qtbot, swarm="cd" * 32, label="anna")
    scene.swarm(links=labelled("anna"))
    assert [row[1] for row in cells(scene.page._own.table)] == ["700"]
    scene.swarm(links=labelled("bert"))
    assert not scene.page._own.table.isVisible() and "give each the same label" in all_texts(scene.page._own)
    public = Scene(qtbot, label="anna")
    public.swarm(links=labelled("anna"))
    assert not public.page._own.isVisible(), "there anybody may have that label"
