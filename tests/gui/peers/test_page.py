"""The Peers page: what it shows, what it asks of the worker, and how it answers errors and strangers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import IdentityError, InSilo, PassphraseNeeded, UsageError
from sapo_desktop.gui.peers import links as peers_links
from sapo_desktop.gui.peers import private as peers_private
from sapo_desktop.gui.peers.links import LinkSheet
from sapo_desktop.gui.peers.lists import AddSheet
from sapo_desktop.gui.peers.me import ConsentSheet
from sapo_desktop.gui.peers.page import PeersPage
from sapo_desktop.gui.peers.passphrase import SHORTEST, PassphraseSheet
from sapo_desktop.gui.peers.private import AdmitSheet, InviteSheet
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.system.identity import SHORTEST_PASSPHRASE
from sapo_desktop.view.link import Lost
from sapo_desktop.view.viewmodel import ALL
from sapo_desktop.worker.control.messages.replies import IdentityIs, SettingsAre
from sapo_desktop.worker.control.messages.requests import (
    AdmitPeer,
    ChangeIdentity,
    CreateSwarm,
    GetIdentity,
    JoinSwarm,
    ResetSettings,
    SetSettings,
    SetSilo,
)
from sapo_desktop.worker.control.messages.requests import TestPeer as DialPeer
from tests.gui import scenes, staged_peers
from tests.gui.late import LateBridge
from tests.gui.stage import StageBridge

HOSTILE = "<b>bold</b><img src='file:///etc/passwd'>\u202egnp.exe\x1b[31m" + "x" * 65536


class Scene:
    """A page, shown, with the bridge it asks."""

    def __init__(self, qtbot: QtBot, bridge_kind: type[StageBridge] = StageBridge, **settings: object) -> None:
        self.view = scenes.a_view(scenes.swarm_curve(60), **({"silo": False} | settings))
        self.bridge = bridge_kind(self.view)
        staged_peers.stage(self.bridge)
        self.page = PeersPage(self.view, self.bridge, Actions(self.view, self.bridge))
        qtbot.addWidget(self.page)
        self.page.resize(940, 880)
        self.page.show()
        self.page.opened()
        self.page.refresh(ALL)
        self.bridge.changed.connect(lambda changed: self.page.refresh(changed & self.page.follows))

    def swarm(self, **changes: object) -> None:
        """Another look at the links, three seconds later."""
        now = self.view.clock()
        self.view.clock = lambda: now + 3
        assert self.view.swarm is not None
        self.bridge.changed.emit(self.view.take_swarm(msgspec.structs.replace(self.view.swarm, **changes)))

    def settings(self, **changes: object) -> None:
        held = msgspec.structs.replace(self.view.settings, **changes)
        are = SettingsAre(settings=held, changed=[], overridden=[])
        self.bridge.changed.emit(self.view.take_settings(are))

    def sheet(self, kind: type[Any]) -> Any:
        """The dialog that is open."""
        return next(found for found in self.page.findChildren(kind) if found.isVisible())


def texts(widget: Any) -> str:
    """Everything that labels in sight say."""
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


def press(qtbot: QtBot, button: Any) -> None:
    QCoreApplication.processEvents()  # what was shown just now has its place only then
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def cells(table: Any) -> list[list[str]]:
    model = table.model()
    return [[model.index(y, x).data() for x in range(model.columnCount())] for y in range(model.rowCount())]


# -- links ----------------------------------------------------------------------------------------------------


def test_links_are_shown_with_direction_latency_groups_and_draws(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    first, second, third = cells(scene.page._links.table)
    assert first[1:7] == ["I dialled", "38 ms", "480", "350", "0", "50%"]
    assert (second[5], third[1]) == ("3", "it dialled")
    assert first[7] == "–"  # one look tells no speed


def test_bandwidth_is_what_was_counted_between_two_looks(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    assert scene.view.swarm is not None
    links = [
        msgspec.structs.replace(link, bytes_in=link.bytes_in + 6000, bytes_out=link.bytes_out + 3000)
        for link in scene.view.swarm.links
    ]
    scene.swarm(links=links)
    assert cells(scene.page._links.table)[0][7:9] == ["2.0 KB/s", "1.0 KB/s"]
    assert "6.0 KB/s" in texts(scene.page._overview) and "3.0 KB/s" in texts(scene.page._overview)


def test_the_selected_peer_stays_selected_when_others_go(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    table = scene.page._links.table
    table.selectRow(2)
    chosen = table.selected()[0].link.key
    assert scene.view.swarm is not None
    scene.swarm(links=scene.view.swarm.links[1:])
    assert [row.link.key for row in table.selected()] == [chosen]
    assert scene.page._links.block.isEnabled()


def test_enter_on_a_row_shows_all_of_the_link(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    table = scene.page._links.table
    table.setFocus()
    table.selectRow(1)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    said = texts(scene.sheet(LinkSheet))
    assert "This node dialled it" in said and "round 701, reward 0.660" in said
    assert "Not taken from it" in said


def test_a_peer_is_blocked_only_after_a_question(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(qtbot, blocked="11" * 32)
    table = scene.page._links.table
    table.selectRow(0)
    key = table.selected()[0].link.key
    monkeypatch.setattr(peers_links, "confirm", lambda *args, **named: False)
    press(qtbot, scene.page._links.block)
    assert scene.bridge.asked_for(SetSettings) == []
    monkeypatch.setattr(peers_links, "confirm", lambda *args, **named: True)
    press(qtbot, scene.page._links.block)
    assert scene.bridge.asked_for(SetSettings) == [SetSettings(values={"blocked": f"{'11' * 32}, {key}"})]


def test_its_address_can_be_kept_where_it_is_not(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.page._links.table.selectRow(0)
    press(qtbot, scene.page._links.details)
    sheet = scene.sheet(LinkSheet)
    keep = next(button for button in sheet.findChildren(peers_links.Button) if button.text() == "Keep its address")
    press(qtbot, keep)
    assert scene.bridge.asked_for(SetSettings)[0].values == {"peers": "wss://relay0.example:8765"}


def test_without_a_link_it_says_what_brings_one(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.swarm(state="alone", links=[])
    assert "No peer is linked" in texts(scene.page)
    assert not scene.page._links.details.isVisible()


def test_thousands_of_links_are_no_burden(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.swarm(links=scenes.links(10_000))
    assert scene.page._links.table.model().rowCount() == 10_000


# -- warnings, refusals ---------------------------------------------------------------------------------------


def test_one_source_and_a_wrong_clock_are_said(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.swarm(one_source=True, clock_wrong=True, clock_offset=4000.0, warnings=["Most came over one link."])
    said = texts(scene.page)
    assert "comes from one source" in said and "1 h 6 min" in said and "Most came over one link." in said


def test_what_was_refused_is_explained(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    rows = cells(scene.page._refused.table)
    assert [row[:2] for row in rows] == [["Invalid", "1"], ["Unverifiable", "3"], ["Ignored", "17"]]
    assert rows[0][2] == "The signature does not belong to the named author."
    scene.page._refused.table.selectRow(1)
    assert "its library has another version" in texts(scene.page._refused)


def test_nothing_refused_is_said_too(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.swarm(refused={"invalid": {}, "unverifiable": {}, "ignored": {}})
    assert "Nothing was refused" in texts(scene.page)


# -- who I am, sharing ----------------------------------------------------------------------------------------


def test_my_key_and_where_it_is_kept(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    assert "in this computer's keyring" in texts(scene.page._me)
    press(qtbot, scene.page._me._key._button)
    assert QGuiApplication.clipboard().text() == staged_peers.KEY


def test_a_closed_identity_is_opened_by_its_passphrase(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.bridge.replies[GetIdentity] = IdentityIs(key="", kept="file")
    scene.page._me.ask()
    press(qtbot, scene.page._me._unlock)
    sheet = scene.sheet(PassphraseSheet)
    scene.bridge.replies[ChangeIdentity] = UsageError("The passphrase does not open it.")
    qtbot.keyClicks(sheet._first, "wrong")
    qtbot.keyClick(sheet._first, Qt.Key.Key_Return)
    assert "does not open it" in texts(sheet) and sheet.isVisible()
    scene.bridge.replies[ChangeIdentity] = scene.bridge.replies[GetIdentity] = IdentityIs(key="ab" * 32, kept="file")
    qtbot.keyClicks(sheet._first, "right")  # what was there is selected, so this replaces it
    qtbot.keyClick(sheet._first, Qt.Key.Key_Return)
    assert scene.bridge.asked_for(ChangeIdentity)[-1] == ChangeIdentity(action="unlock", passphrase="right")
    assert not sheet.isVisible() and not scene.page._me._unlock.isVisible()


def test_a_failed_look_at_the_identity_can_be_tried_again(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.bridge.replies[GetIdentity] = UsageError("The keyring is locked.")
    scene.page._me.ask()
    assert "The keyring is locked." in texts(scene.page._me)
    scene.bridge.replies[GetIdentity] = IdentityIs(key="ab" * 32, kept="keyring")
    press(qtbot, scene.page._me._trouble.button)
    assert "locked" not in texts(scene.page._me)


def test_sharing_takes_consent(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    switch = scene.page._sharing.switch
    switch.setFocus()
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    sheet = scene.sheet(ConsentSheet)
    assert not switch.isChecked() and scene.bridge.asked_for(SetSettings) == []
    assert "cannot be called back" in texts(sheet)
    qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    assert scene.bridge.asked_for(SetSettings) == []
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    scene.sheet(ConsentSheet).accept()
    assert scene.bridge.asked_for(SetSettings) == [SetSettings(values={"share": "on"})]
    scene.settings(share=True)
    assert switch.isChecked()


def test_sharing_ends_at_once(qtbot: QtBot) -> None:
    scene = Scene(qtbot, share=True)
    qtbot.keyClick(scene.page._sharing.switch, Qt.Key.Key_Space)
    assert scene.bridge.asked_for(SetSettings) == [SetSettings(values={"share": "off"})]


# -- addresses ------------------------------------------------------------------------------------------------


def add_sheet(scene: Scene, qtbot: QtBot, text: str) -> AddSheet:
    press(qtbot, scene.page.add_peer)
    sheet: AddSheet = scene.sheet(AddSheet)
    qtbot.keyClicks(sheet._field, text)
    return sheet


def test_an_address_is_added_to_those_that_are_kept(qtbot: QtBot) -> None:
    scene = Scene(qtbot, peers="wss://a.example:1")
    sheet = add_sheet(scene, qtbot, "wss://b.example:2")
    qtbot.keyClick(sheet._field, Qt.Key.Key_Return)
    assert scene.bridge.asked_for(SetSettings)[0].values == {"peers": "wss://a.example:1, wss://b.example:2"}
    assert not sheet.isVisible()


def test_what_the_worker_refuses_is_said_where_it_was_typed(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.bridge.replies[SetSettings] = UsageError("The port is missing.")
    sheet = add_sheet(scene, qtbot, "wss://b.example")
    qtbot.keyClick(sheet._field, Qt.Key.Key_Return)
    assert "The port is missing." in texts(sheet) and sheet.isVisible()


def test_a_connection_is_tested_before_it_is_kept(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    sheet = add_sheet(scene, qtbot, "wss://b.example:2")
    press(qtbot, sheet.test)
    assert scene.bridge.asked_for(DialPeer) == [DialPeer(address="wss://b.example:2")]
    assert "sapo-desktop 0.4.0 answers there in 38 ms" in texts(sheet)
    scene.bridge.replies[DialPeer] = InSilo("Only a node in the swarm can dial a peer.")
    press(qtbot, sheet.test)
    assert "Only a node in the swarm" in texts(sheet)


def test_an_invite_is_explained_and_followed(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    sheet = add_sheet(scene, qtbot, f"'{staged_peers.LINK}'")
    assert "private swarm cdcdcdcd" in texts(sheet) and not sheet.test.isEnabled()
    press(qtbot, sheet.ok)
    assert scene.bridge.asked_for(JoinSwarm) == [JoinSwarm(link=staged_peers.LINK)]
    assert not sheet.isVisible()


def test_an_invite_that_leads_nearby_says_so_before_it_is_followed(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    link = staged_peers.LINK.replace("home.example", "169.254.169.254")
    sheet = add_sheet(scene, qtbot, link)
    assert "169.254.169.254" in texts(sheet) and sheet.ok.text() == "Go there all the same"
    press(qtbot, sheet.ok)
    assert scene.bridge.asked_for(JoinSwarm) == [JoinSwarm(link=link, nearby=True)]


def test_a_broken_invite_is_not_sent(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    sheet = add_sheet(scene, qtbot, "sapo://join?swarm=12")
    press(qtbot, sheet.ok)
    assert scene.bridge.asked_for(JoinSwarm) == [] and "64 hex digits" in texts(sheet)


def test_kept_addresses_are_tested_and_removed(qtbot: QtBot) -> None:
    scene = Scene(qtbot, peers="wss://a.example:1, wss://b.example:2")
    card = scene.page._addresses
    assert not card.test.isEnabled()
    card.table.selectRow(0)
    press(qtbot, card.test)
    assert "answers there" in texts(card)
    press(qtbot, card.remove)
    assert scene.bridge.asked_for(SetSettings)[0].values == {"peers": "wss://b.example:2"}
    scene.settings(peers="")
    assert "None yet" in texts(card) and not card.test.isVisible()


def test_a_block_is_taken_back(qtbot: QtBot) -> None:
    scene = Scene(qtbot, blocked=f"{'11' * 32}, {'22' * 32}")
    card = scene.page._blocked
    card.table.selectRow(1)
    press(qtbot, card.unblock)
    assert scene.bridge.asked_for(SetSettings)[0].values == {"blocked": "11" * 32}


# -- private swarms -------------------------------------------------------------------------------------------


def test_a_swarm_is_founded_with_a_passphrase_where_one_is_needed(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SHORTEST == SHORTEST_PASSPHRASE
    scene = Scene(qtbot)
    monkeypatch.setattr(peers_private, "confirm", lambda *args, **named: True)
    founded = scene.bridge.replies[CreateSwarm]

    def found(request: CreateSwarm) -> Any:
        return PassphraseNeeded("There is no keyring here.") if request.passphrase is None else founded

    scene.bridge.replies[CreateSwarm] = found
    press(qtbot, scene.page._private.found)
    sheet = scene.sheet(PassphraseSheet)
    assert "no keyring here" in texts(sheet)
    qtbot.keyClicks(sheet._first, "short")
    press(qtbot, sheet.ok)
    assert "at least" in texts(sheet)
    sheet._first.setText("long enough")
    press(qtbot, sheet.ok)
    assert "The two differ" in texts(sheet)
    sheet._second.setText("long enough")
    press(qtbot, sheet.ok)
    assert scene.bridge.asked_for(CreateSwarm)[-1].passphrase == "long enough"
    assert not sheet.isVisible()


def test_somebody_is_admitted_for_a_time(qtbot: QtBot) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)
    press(qtbot, scene.page._private.admit)
    sheet = scene.sheet(AdmitSheet)
    assert not sheet.ok.isEnabled()
    qtbot.keyClicks(sheet._key, "EF" * 32)
    sheet._days.show_choice("30")
    press(qtbot, sheet.ok)
    assert scene.bridge.asked_for(AdmitPeer) == [AdmitPeer(key="EF" * 32, days=30)]
    press(qtbot, sheet.link.copy_link)
    assert QGuiApplication.clipboard().text().startswith("sapo://join?swarm=")


def test_an_error_that_is_not_about_the_passphrase_is_said_where_it_belongs(qtbot: QtBot) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)

    def admit(request: AdmitPeer) -> Any:
        if request.passphrase is None:
            return PassphraseNeeded("The admission key is closed.")
        return IdentityError("It is wrong.") if request.passphrase == "wrong" else UsageError("An address is missing.")

    scene.bridge.replies[AdmitPeer] = admit
    press(qtbot, scene.page._private.admit)
    sheet = scene.sheet(AdmitSheet)
    sheet._key.setText("ef" * 32)
    press(qtbot, sheet.ok)
    asked = scene.sheet(PassphraseSheet)
    asked._first.setText("wrong")
    press(qtbot, asked.ok)
    assert "It is wrong." in texts(asked)
    asked._first.setText("right")
    press(qtbot, asked.ok)
    assert not asked.isVisible() and "An address is missing." in texts(sheet)


def test_an_invite_that_cannot_be_made_says_why(qtbot: QtBot) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)
    scene.bridge.replies[peers_private.GetInvite] = UsageError("An invite needs an address to begin at.")
    press(qtbot, scene.page._private.invite)
    sheet = scene.sheet(InviteSheet)
    assert "needs an address" in texts(sheet) and not sheet.link.copy_link.isEnabled()


def test_back_to_the_public_swarm(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(qtbot, swarm="cd" * 32)
    assert not scene.page._private.found.isVisible()
    monkeypatch.setattr(peers_private, "confirm", lambda *args, **named: True)
    press(qtbot, scene.page._private.leave)
    assert scene.bridge.asked_for(ResetSettings) == [ResetSettings(keys=["swarm", "admission", "peers"])]
    scene.settings(swarm="")
    assert scene.page._private.found.isVisible() and not scene.page._private.leave.isVisible()


# -- silo, no node, late answers, strangers -------------------------------------------------------------------


def test_in_silo_it_says_what_would_be_here_and_leads_out(qtbot: QtBot) -> None:
    scene = Scene(qtbot, silo=True)
    assert "In silo there are no peers" in texts(scene.page)
    assert not scene.page._links.isVisible() and scene.page._answer.isVisible()
    leave = next(button for button in scene.page._away.findChildren(peers_links.Button))
    press(qtbot, leave)
    assert scene.bridge.asked_for(SetSilo) == [SetSilo(on=False)]


def test_without_a_node_nothing_can_be_pressed_in_vain(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    scene.bridge.tell(Lost(reason="It was killed.", retry_at=scenes.NOW + 5))
    assert "It was killed." in texts(scene.page)
    for button in (scene.page.add_peer, scene.page._answer.ask, scene.page._sharing.switch):
        assert not button.isEnabled()


def test_answers_that_come_after_the_page_was_closed_do_no_harm(qtbot: QtBot) -> None:
    scene = Scene(qtbot, LateBridge)
    assert isinstance(scene.bridge, LateBridge)
    scene.page.closed()
    scene.page.hide()
    scene.bridge.deliver()
    assert "in this computer's keyring" in scene.page._me._kept.text()


def test_what_strangers_wrote_stays_text(qtbot: QtBot) -> None:
    scene = Scene(qtbot)
    assert scene.view.swarm is not None
    claim = msgspec.structs.replace(scene.view.swarm.links[0].claim, label=HOSTILE)
    link = msgspec.structs.replace(
        scene.view.swarm.links[0], program=HOSTILE, claim=claim, dialled=HOSTILE, refused={HOSTILE: {HOSTILE: 2}}
    )
    scene.swarm(links=[link], warnings=[HOSTILE], notices=[HOSTILE], refused={HOSTILE: {HOSTILE: 1}})
    scene.page._links.table.selectRow(0)
    press(qtbot, scene.page._links.details)
    sheet = scene.sheet(LinkSheet)
    for widget in (scene.page, sheet):
        for label in widget.findChildren(QLabel):
            assert label.textFormat() is Qt.TextFormat.PlainText or not label.text()
            assert "\u202e" not in label.text() and "\x1b" not in label.text() and len(label.text()) < 5000
    assert all("\u202e" not in text for row in cells(scene.page._refused.table) for text in row)


def test_tab_reaches_everything_that_can_be_operated(qtbot: QtBot) -> None:
    scene = Scene(qtbot, peers="wss://a.example:1")
    wanted = {
        scene.page.add_peer,
        scene.page._links.table,
        scene.page._sharing.switch,
        scene.page._addresses.table,
        scene.page._private.found,
        scene.page._answer.ask,
    }
    scene.page.activateWindow()
    seen = set()
    scene.page.add_peer.setFocus()
    for _ in range(60):
        seen.add(scene.page.window().focusWidget())
        qtbot.keyClick(scene.page.window().focusWidget(), Qt.Key.Key_Tab)
    assert wanted <= seen
    for widget in seen:
        assert widget.accessibleName() or widget.text()
