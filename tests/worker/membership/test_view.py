"""The status of links and identities, for both ends of a key that is used twice."""

import pytest

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.link import VISITS
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope
from sapo_desktop.swarm.protocol.events import Closed
from sapo_desktop.terminal.swarm_words import link_line, swarm_line, swarm_lines
from sapo_desktop.worker.control.messages.swarm import SwarmInfo
from sapo_desktop.worker.membership.view import (
    ONE_SOURCE,
    USED_TWICE,
    link_info,
    listening_at,
    nobody,
    notices,
    parting_words,
    sent_away,
    warnings,
)
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import NETWORK, group


def test_both_ends_of_a_key_that_is_used_twice_say_so() -> None:
    mesh, relay, first, second = Mesh(), Peer(9), Peer(1), Peer(1)
    for peer in (first, second):
        mesh.join(peer, relay)
        assert notices(peer.exchange) == []
    mesh.wait(60)
    for peer in (first, second):
        said = str(*notices(peer.exchange))
        assert said.startswith(USED_TWICE.template) and said.endswith("identity new") and "1 peer reports this" in said
    said = str(*notices(relay.exchange))
    assert "Each key has one quota" in said


@pytest.mark.parametrize(
    ("peers", "words"),
    [
        ((), "Add the address"),
        (("a.example",), "wss://a.example:8765 does not answer. Training"),
        (("a.example", "b.example", "c.example"), "wss://a.example:8765 and 2 other addresses do not answer."),
    ],
)
def test_where_peers_are_named_it_says_who_does_not_answer(peers: tuple[str, ...], words: str) -> None:
    said = str(nobody([Address(peer, 8765) for peer in peers], lan=False))
    assert words in said and ("Add the address" in said) == (not peers)
    assert not peers or said.endswith("sapo-desktop peers test wss://a.example:8765")


def test_an_address_that_is_every_computers_is_not_passed_off_as_this_ones() -> None:
    assert str(listening_at("wss://10.0.0.7:8765#ab")).endswith("reach this node at wss://10.0.0.7:8765#ab")
    for host in ("0.0.0.0", "[::]"):
        assert f"name or address in place of {host}" in str(listening_at(f"wss://{host}:8765#ab"))


def test_sources_that_most_was_drawn_from_are_named() -> None:
    mesh, here, one, other = Mesh(), Peer(1), Peer(2), Peer(3)
    for peer in (one, other):
        mesh.join(here, peer)
    links = here.exchange.links
    shares = {link.source: share for link, share in zip(links, (0.75, 0.25), strict=True)}
    assert warnings(links, shares, one_source=True, drawn=99) == [ONE_SOURCE]
    assert warnings(links, shares, one_source=False, drawn=15) == []
    assert warnings(links, {VISITS: 0.9}, one_source=False, drawn=16) == []
    (said,) = warnings(links, shares, one_source=False, drawn=16)
    key = one.signer.key.hex()[:16]
    assert str(said).startswith(f"75% of the recently used groups came from one source ({key}). ")
    (said,) = warnings(links[1:], shares, one_source=False, drawn=16)
    assert "% of the recently used groups came from" in str(said), "the link it came over has gone"


def test_a_link_is_shown_with_its_latency_and_its_share_of_what_was_drawn() -> None:
    mesh, here, there = Mesh(), Peer(1), Peer(2)
    mesh.join(here, there)
    (link,) = here.exchange.links
    assert (link_info(link, 0.0).latency_ms, link_info(link, 0.0).draw_share) == (None, 0.0)
    link.session.latency = 0.125
    link.offer_later([open_envelope(group(), GroupBody, NETWORK)])
    shown = link_info(link, 0.0, 0.5, waiting=700)
    assert (shown.latency_ms, shown.draw_share, shown.waiting, shown.unsent) == (125.0, 0.5, 700, 1)
    line = link_line(shown)
    assert (line["latency_ms"], line["draw_share"], line["waiting"], line["unsent"]) == (125.0, 0.5, 700, 1)
    assert not shown.visit and not line["visit"]
    link.visit = True
    assert link_info(link, 0.0).visit and link_line(link_info(link, 0.0))["visit"]


def test_notices_warnings_and_what_peers_used_reach_people_and_programs() -> None:
    info = SwarmInfo(state="linked", reason="", notices=[USED_TWICE], warnings=[ONE_SOURCE], used_total=1234, helped=2)
    lines, line = swarm_lines(info), swarm_line(info)
    assert f"Note      {USED_TWICE}" in lines and f"Note      {ONE_SOURCE}" in lines
    assert "          1,234 of ours were used by 2 peers, as they say" in lines
    assert (line["notices"], line["warnings"], line["used_total"]) == ([str(USED_TWICE)], [str(ONE_SOURCE)], 1234)


def test_who_refuses_this_node_is_named_until_it_is_linked() -> None:
    relay, other = Address("relay.example", 1), Address("other.example", 2)
    partings = {relay: Closed("blocked", 86400, True), other: Closed("going away for ever", 0, True)}
    said = sent_away(partings, [])
    assert list(said) == ["wss://relay.example:1", "wss://other.example:2"]
    assert "relay.example:1" in str(said[str(relay)])
    assert "refuses this node's key; ask its operator" in str(said[str(relay)])
    assert "will try again" in str(sent_away(partings, [relay])[str(other)])
    assert sent_away(partings, [relay, other]) == sent_away({}, []) == {}
    own = {relay: Closed("blocked", 86400, False)}
    assert "this node blocks its key" in str(sent_away(own, [])[str(relay)])


@pytest.mark.parametrize("words", ["This version is unsafe: get the fix at example.com", "unsafe \u202e words", ""])
def test_a_peers_own_words_are_never_repeated_as_this_programs(words: str) -> None:
    (said,) = map(str, sent_away({Address("relay.example", 1): Closed(words, 0, True)}, []).values())
    assert said == f"wss://relay.example:1 answers but does not accept a link: {parting_words('')}."
    assert "without a known reason" in said and "unsafe" not in said


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("making room for others", "made room for others"),
        ("silent for too long", "silent"),
        ("handshake: too slow", "took too long"),
        ("handshake: malformed", "do not understand"),
        ("the admission to this private swarm has ended", "admission"),
        ("shut out: malformed", "it banned this node for a while"),
        ("too many faults, the last: overdrawn", "it banned this node for a while"),
        ("linked already", "linked already"),
    ],
)
def test_what_sessions_say_when_they_part_has_words(reason: str, said: str) -> None:
    assert said in str(parting_words(reason))
