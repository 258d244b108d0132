"""What status says of links and identities, for both ends of a key that is used twice."""

from __future__ import annotations

from sapo_desktop.terminal.swarm_words import swarm_line, swarm_lines
from sapo_desktop.worker import messages as m
from sapo_desktop.worker.swarm_view import USED_TWICE, listening_at, notices
from tests.swarm.mesh import Mesh, Peer


def test_both_ends_of_a_key_that_is_used_twice_say_so() -> None:
    mesh, relay, first, second = Mesh(), Peer(9), Peer(1), Peer(1)
    for peer in (first, second):
        mesh.join(peer, relay)
        assert notices(peer.exchange) == []
    mesh.wait(60)
    for peer in (first, second):
        (said,) = notices(peer.exchange)
        assert said.startswith(USED_TWICE) and "identity new" in said and "1 peer says so" in said
    (said,) = notices(relay.exchange)
    assert "each key has one quota" in said


def test_a_failed_audit_is_said() -> None:
    peer = Peer(1)
    for _ in range(6):
        peer.exchange.audit.record(b"a" * 32, 1.0, supplied=False)
    assert notices(peer.exchange) == [
        "1 author could not show what was said to be published: left out of the peers' reward."
    ]


def test_notices_reach_people_and_programs() -> None:
    info = m.SwarmInfo(state="linked", reason="Linked to 1 peer.", notices=[USED_TWICE])
    assert f"Note      {USED_TWICE}" in swarm_lines(info)
    assert swarm_line(info)["notices"] == [USED_TWICE]


def test_an_address_that_is_every_computers_is_not_passed_off_as_this_ones() -> None:
    assert listening_at("wss://10.0.0.7:8765#ab").endswith("reach this node at wss://10.0.0.7:8765#ab")
    for host in ("0.0.0.0", "[::]"):
        assert f"name or address in place of {host}" in listening_at(f"wss://{host}:8765#ab")
