"""Links that are kept come back: at once after a sleep, later where a peer asked for that."""

import asyncio

import pytest
from websockets.asyncio.server import ServerConnection, serve

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol import codec
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.sockets import kept_links
from tests.swarm.sockets.nodes import Node, link_up, nodes, until


async def test_a_link_comes_back_after_the_relay_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_links, "_FIRST_DELAY", 0.01)
    monkeypatch.setattr(kept_links, "_LONGEST_DELAY", 0.05)
    relay, alice = await Node(1).listen(), Node(2)
    await link_up(alice, relay)
    await relay.network.close()
    await until(lambda: not alice.network.exchange.links)
    again = Node(1)
    again.port = await again.network.listen("127.0.0.1", relay.port)
    await until(lambda: again.heard)
    envelope = alice.share()
    await until(lambda: again.held)
    assert again.held == [envelope]
    await asyncio.gather(again.network.close(), alice.network.close())


async def test_after_a_sleep_every_link_is_made_again_within_seconds() -> None:
    async with nodes(2) as (alice, bob):
        await link_up(alice, bob)
        (before,) = alice.network.exchange.links
        alice.network.dial_again()
        await until(lambda: [link for link in alice.network.exchange.links if link is not before and link.key])
        assert before not in alice.network.exchange.links


async def test_who_waits_long_to_dial_again_dials_after_a_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_links.SystemRandom, "uniform", lambda random, least, most: 600.0)
    async with nodes(2) as (relay, alice):
        port = relay.port
        await relay.network.close()
        alice.network.dial(Address("127.0.0.1", port, tls=False, key=None))
        await asyncio.sleep(0.1)  # refused by now: it waits ten minutes
        again = Node(1)
        await again.network.listen("127.0.0.1", port)
        async with asyncio.timeout(5):
            while not again.heard:
                alice.network.dial_again()
                await asyncio.sleep(0.05)
        await again.network.close()


async def test_who_was_asked_to_stay_away_does_so_after_a_sleep_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_links.SystemRandom, "uniform", lambda random, least, most: 600.0)
    async with nodes(3) as (relay, other, alice):
        relay.network.exchange.blocked = frozenset({alice.signer.key})
        keyless = other.address(b"x" * 32)  # not the peer that we want, so its words are ignored
        for address in (relay.address(), keyless):
            alice.network.dial(address)
        await until(lambda: len(alice.network.kept._rests) == 2)
        before = dict(alice.network.kept._rests)
        alice.network.dial_again()
        await until(lambda: alice.network.kept._rests.get(keyless) not in (None, before[keyless]))
        assert alice.network.kept._rests[relay.address()] is before[relay.address()]


async def test_only_who_proved_its_key_can_send_us_away_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_links, "_FIRST_DELAY", 0.01)
    tries: list[int] = []

    async def lying(connection: ServerConnection) -> None:
        tries.append(1)
        await connection.send(codec.encode(m.Goodbye(reason="full", retry_after=80_000)))

    async with nodes(1) as (node,), serve(lying, "127.0.0.1", 0, subprotocols=[m.SUBPROTOCOL]) as liar:  # type: ignore[list-item]
        port = next(iter(liar.sockets)).getsockname()[1]
        node.network.dial(Address("127.0.0.1", port, tls=False, key=bytes(32)))
        await until(lambda: len(tries) >= 3)
        assert node.network.exchange.refusals.by_kind()["invalid"] == {}


async def test_who_hangs_up_without_a_word_is_known_to_have_been_there() -> None:
    async def mute(connection: ServerConnection) -> None:
        """Its end closes the connection."""

    async with nodes(1) as (node,), serve(mute, "127.0.0.1", 0, subprotocols=[m.SUBPROTOCOL]) as server:  # type: ignore[list-item]
        address = Address("127.0.0.1", next(iter(server.sockets)).getsockname()[1], tls=False)
        node.network.dial(address)
        await until(lambda: address in node.network.kept.partings)
        assert not node.network.kept.partings[address].reason and address not in node.network.kept.silent
