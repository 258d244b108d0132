"""Requests to join a private swarm: what strangers can do with them, and what they get."""

import asyncio
from dataclasses import replace
from random import Random

import msgspec
import pytest

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.protocol import codec, events, limits
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.asking import ask_to_join
from sapo_desktop.swarm.sockets.network import Network
from sapo_desktop.swarm.trust import asking
from sapo_desktop.swarm.trust.admission import Members, admit
from sapo_desktop.swarm.trust.asking import Porch
from sapo_desktop.swarm.trust.standing import Standing
from tests.swarm.mesh import check
from tests.swarm.peers import ALICE, BOB, Link, me, session
from tests.swarm.protocol.test_session import refusals

FOUNDER = Signer(b"F" * 32)
MEMBERS = Members(FOUNDER.key)
HERE, THERE = b"here", b"there"
NEWCOMER = me(ALICE, network=MEMBERS.network, members=MEMBERS)
ASKS = replace(NEWCOMER, asks="anna")
HOST = me(BOB, network=MEMBERS.network, members=MEMBERS, admission=admit(FOUNDER, BOB.key), porch=Porch())


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


# -- who waits -----------------------------------------------------------------------------------------------


def test_who_asks_waits_until_it_is_answered_and_is_informed_once() -> None:
    came: list[bytes] = []
    porch = Porch(lambda asker: came.append(asker.key))
    for at in (0.0, 60.0):
        assert porch.knock(ALICE.key, "anna", HERE, at).reason == asking.WAITING
    assert came == [ALICE.key] and [(one.label, one.since) for one in porch.waiting(60)] == [("anna", 0.0)]
    assert porch.admit(ALICE.key, b"let in", 61) and porch.waiting(61) == []
    assert porch.knock(ALICE.key, "anna", HERE, 120).admission == b"let in"
    assert porch.refuse(ALICE.key, 130) is False, "it waits no longer"
    answer = porch.knock(ALICE.key, "anna", HERE, 140)
    assert (answer.reason, answer.admission) == (asking.REFUSED, b"") and answer.retry_after >= 86400


def test_a_key_that_was_admitted_before_it_asks_gets_its_admission() -> None:
    porch = Porch()
    assert not porch.admit(ALICE.key, b"let in", 0)
    assert porch.knock(ALICE.key, "", HERE, 1).admission == b"let in"
    later = porch.knock(ALICE.key, "", HERE, 1 + asking.ANSWERED_SECONDS)
    assert later.reason == asking.WAITING, "it is not kept for ever"


def test_a_crowd_is_bounded_in_all_and_of_one_network_and_is_forgotten() -> None:
    came: list[bytes] = []
    porch = Porch(lambda asker: came.append(asker.key))
    for number in range(1000):
        porch.knock(key(number), "x" * 64, HERE, 0.0)
    assert len(porch.waiting(0)) == asking.MOST_OF_PART
    assert porch.knock(ALICE.key, "anna", THERE, 1.0).reason == asking.WAITING, "another network has room"
    for number in range(1000, 2000):
        porch.knock(key(number), "", key(number), 2.0)
    assert len(porch.waiting(2)) == len(came) == asking.MOST_WAITING and ALICE.key in came
    assert porch.knock(key(5000), "", b"p", 3.0).reason == asking.FULL
    assert porch.waiting(2 + asking.WAITING_SECONDS) == [], "who does not come back is forgotten"
    assert porch.knock(key(5000), "", b"p", 3 + asking.WAITING_SECONDS).reason == asking.WAITING


def test_answers_are_bounded_too() -> None:
    porch = Porch()
    for number in range(1000):
        porch.refuse(key(number), float(number))
    assert porch.knock(key(0), "", HERE, 1000).reason == asking.WAITING, "the oldest is forgotten"
    assert porch.knock(key(999), "", HERE, 1000).reason == asking.REFUSED


# -- over a link ---------------------------------------------------------------------------------------------


def asked(link: Link) -> list[events.Event]:
    link.run()
    return link.events("server")


def test_a_newcomer_proves_its_key_and_learns_nothing_of_the_server() -> None:
    link = Link(client=session("client", ASKS), server=session("server", HOST))
    assert asked(link) == [events.Asked(ALICE.key, "anna")]
    assert link.events("client") == [] and not link.server.is_open, "no HELLO, no key, no catalogue"
    admission = admit(FOUNDER, ALICE.key)
    link.server.close(asking.ADMITTED, 0, admission)
    link.run()
    (ended,) = link.events("client")
    assert isinstance(ended, events.Closed) and (ended.reason, ended.admission) == (asking.ADMITTED, admission)
    assert MEMBERS.check(ALICE.key, ended.admission, 0.0)


@pytest.mark.parametrize("forge", ["another key", "another certificate", "another nonce"])
def test_nobody_asks_in_anothers_name_or_carries_a_request_elsewhere(forge: str) -> None:
    client = session("client", ASKS)
    server = session("server", HOST, certificate=b"x" * 32 if forge == "another certificate" else bytes(32))
    (frame,) = client.take()
    hello = codec.decode(frame)
    changed = {"another key": {"key": Signer(b"m" * 32).key}, "another nonce": {"nonce": b"z" * 32}}.get(forge, {})
    answer = server.receive(codec.encode(msgspec.structs.replace(hello, **changed)), 0)
    assert refusals(answer) == [Reason.BAD_SIGNATURE] and server.is_closed


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        (replace(HOST, porch=None), "not a member of this private swarm"),
        (replace(HOST, network=b"o" * 32), "another network"),
    ],
    ids=["who takes no requests", "another swarm"],
)
def test_elsewhere_a_request_is_a_stranger(host: object, reason: str) -> None:
    link = Link(
        client=session("client", ASKS),
        server=session("server", host),  # type: ignore[arg-type]
    )
    assert not any(isinstance(event, events.Asked) for event in asked(link))
    (ended,) = [event for event in link.events("client") if isinstance(event, events.Closed)]
    assert ended.reason.startswith(reason) and ended.admission == b""


def test_a_request_has_room_in_a_hello_and_a_label_no_tricks() -> None:
    long = replace(ASKS, asks="a" * 64, program="p" * 64)
    (frame,) = session("client", long).take()
    assert len(frame) <= limits.MAX_HELLO
    for label in ("a" * 65, "an\u202ena", "<b>", "anna\n"):
        (frame,) = session("client", ASKS).take()
        raw = codec.decode(frame)
        bad = msgspec.structs.replace(raw, asks=msgspec.structs.replace(raw.asks, label=label))
        answer = session("server", HOST).receive(codec.encode(bad), 0)
        assert refusals(answer) == [Reason.MALFORMED]


# -- over a socket -------------------------------------------------------------------------------------------


async def test_it_is_asked_and_answered_over_a_socket() -> None:
    porch = Porch()
    exchange = Exchange(BOB.key, MEMBERS.network, check, Standing(), Random(1), members=MEMBERS)
    network = Network(exchange, replace(HOST, porch=porch))
    try:
        address = Address("127.0.0.1", await network.listen("127.0.0.1", 0), tls=False)

        async def ask() -> events.Closed | None:
            return await ask_to_join(NEWCOMER, address, "anna", proxy="off", named_by_stranger=False)

        first = await ask()
        assert first is not None and first.by_peer and first.reason == asking.WAITING
        porch.admit(ALICE.key, admit(FOUNDER, ALICE.key), asyncio.get_running_loop().time())
        second = await ask()
        assert second is not None and second.admission == admit(FOUNDER, ALICE.key)
        assert exchange.links == []
    finally:
        await network.close()
    assert await ask() is None, "nobody is there"
