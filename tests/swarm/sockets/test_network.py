"""Nodes over real websockets on this computer's own address."""

import asyncio
import contextlib
import gc
import time
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from sapo_desktop.core.network import connection as bounded_connection
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol import codec, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.sockets import network, wire
from sapo_desktop.swarm.sockets.network import now
from tests.swarm.peers import TASK
from tests.swarm.sockets.nodes import Node, knock, link_up, nodes, until


async def test_who_ends_a_network_that_runs_hears_no_complaint() -> None:
    said: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: said.append(context))
    node = await Node(1).listen()
    running = asyncio.create_task(node.network.run())
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait({running})
    await node.network.close()
    del running
    gc.collect()
    await asyncio.sleep(0)
    assert not said


async def test_who_drains_takes_no_newcomers_and_keeps_those_it_has() -> None:
    async with nodes(3) as (alice, relay, carol):
        await link_up(alice, relay)
        relay.network.turn_away()
        carol.network.dial(relay.address())
        await until(lambda: carol.heard)
        assert [getattr(event, "reason", None) for event in carol.heard] == ["going away"]
        envelope = alice.share()
        await until(lambda: relay.held)
        assert relay.held == [envelope]


async def test_a_relay_serves_a_third(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    async with nodes(3) as (alice, relay, carol):
        alice.network.dial(relay.address())
        carol.network.dial(relay.address())
        await until(lambda: len(relay.heard) == 2)
        envelope = alice.share()
        await until(lambda: relay.held)
        carol.network.exchange.want([TASK], 4)
        await until(lambda: carol.held)
        assert carol.held == [envelope]


async def test_web_pages_are_turned_away() -> None:
    async with nodes(1) as (node,):
        with pytest.raises(InvalidStatus, match="403"):
            await knock(node, origin="https://example.com")
        with pytest.raises(InvalidStatus, match="400"):
            await connect(node.address().url)  # another protocol, or none


@pytest.mark.parametrize(
    "rubbish",
    ["text", b"", b"\xc1" * 100, bytes(limits.MAX_FRAME + 1), bytes(limits.MAX_HELLO + 1)],
    ids=["text", "empty", "noise", "larger than a frame", "larger than a hello"],
)
async def test_rubbish_ends_its_own_link_and_no_other(rubbish: str | bytes) -> None:
    async with nodes(2) as (alice, bob):
        await link_up(alice, bob)
        async with knock(bob) as stranger:
            await stranger.send(rubbish)
            with contextlib.suppress(ConnectionClosed):
                goodbye = codec.decode(await stranger.recv())  # type: ignore[arg-type]
                assert isinstance(goodbye, m.Goodbye)
            with pytest.raises(ConnectionClosed):
                await stranger.recv()
        alice.share()
        await until(lambda: bob.held)
        assert len(bob.network.exchange.links) == 1


async def test_a_redirect_is_not_followed() -> None:
    """It could lead to any host of our own network, also behind the check of what a stranger may name."""
    async with nodes(2) as (alice, bob):

        async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            head = f"HTTP/1.1 302 Found\r\nLocation: {bob.address().url}\r\nContent-Length: 0\r\n\r\n"
            writer.write(head.encode())
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(redirect, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            assert await alice.network.link(Address("127.0.0.1", port, tls=False), only_greet=True) is None
        assert bob.heard == [] and bob.network.exchange.links == []


async def test_who_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HANDSHAKE_SECONDS", 0.05)
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(wire, "PARTING_SECONDS", 0.05)
    monkeypatch.setattr(network, "PARTING_SECONDS", 0.05)
    async with nodes(1) as (node,):
        async with knock(node) as stranger:
            goodbye = codec.decode(await stranger.recv())  # type: ignore[arg-type]
            assert isinstance(goodbye, m.Goodbye) and goodbye.reason == "handshake: too slow"
        await until(lambda: not node.network.exchange.links)


async def test_one_part_of_the_internet_cannot_hold_every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    async with nodes(5, most_links=3) as (host, *others):
        places = iter([b"one", b"one", b"one", b"two", b"one"])
        monkeypatch.setattr(host.network, "_part", lambda name: next(places))
        for other in others[:3]:
            other.network.dial(host.address())
            await until(lambda other=other: any(link.key == other.signer.key for link in host.network.exchange.links))
        first = [link.key for link in sorted(host.network.exchange.links, key=lambda link: link.opened)]
        link = await others[3].network.link(host.address(), only_greet=True)
        assert link is not None and link.key, "there is room for somebody from elsewhere"
        left = {link.key for link in host.network.exchange.links}
        assert first[2] not in left and set(first[:2]) <= left, "the youngest of the crowd made it"


async def test_one_part_of_the_internet_stays_one_source_from_day_to_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others get another name of it each day."""
    real, days = time.time, 0
    monkeypatch.setattr(network.time, "time", lambda: real() + 86400 * days)
    async with nodes(3) as (host, *others):
        for other in others:
            other.network.dial(host.address())
            await until(lambda other=other: any(link.key == other.signer.key for link in host.network.exchange.links))
            days += 1
        for other in others:
            other.share()
        exchange = host.network.exchange
        await until(lambda: len(exchange.pool) == 2)
        assert len({entry.path for entry in exchange.pool}) == 1
        assert len({entry.path.tag for entry in exchange.giving.shelf}) == 2


REQUEST = (
    b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: sapo.v1\r\n\r\n"
)


PING, PONG, FIRST_PART, NEXT_PART = (bytes([first, 0x80]) + bytes(4) for first in (0x89, 0x8A, 0x02, 0x00))


TEXT = b"\x81\x84" + bytes(4) + b"text"


async def test_a_flood_of_pings_before_any_key_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library answers them by itself, whatever our own queues say."""
    monkeypatch.setattr(limits, "HANDSHAKE_SECONDS", 600.0)  # or the link would end for its slow handshake
    ping = b"\x89\xfd" + bytes(4) + bytes(125)  # masked with zeros, 125 bytes
    async with nodes(1) as (node,):
        reader, writer = await asyncio.open_connection("127.0.0.1", node.port, limit=2**12)
        writer.write(REQUEST)
        await reader.readuntil(b"\r\n\r\n")
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        await until(lambda: node.network.exchange.links)
        with contextlib.suppress(ConnectionError):
            for _ in range(400):
                writer.write(ping * 200)
                await writer.drain()
        await until(lambda: not node.network.exchange.links)
        assert [getattr(event, "reason", None) for event in node.heard] == ["too many frames without a message"]
        assert node.network.exchange.refusals[Reason.TOO_OFTEN] == 1
        writer.close()


@pytest.mark.parametrize(
    "flood", [PING * 1000, PONG * 1000, FIRST_PART + NEXT_PART * 1000], ids=["ping", "pong", "parts"]
)
async def test_frames_without_a_message_have_a_rate_also_right_behind_the_request(flood: bytes) -> None:
    async with nodes(1) as (node,):
        reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
        writer.write(REQUEST + flood)
        with contextlib.suppress(ConnectionError):
            answer = await reader.read()
            assert answer.count(b"\x8a\x00") <= bounded_connection.SMALL_AT_ONCE + 1024 / len(PING)
        await until(lambda: not node.network.exchange.links)
        writer.close()


@pytest.mark.parametrize(
    ("rubbish", "reason", "times", "places"),
    [(PING * 500, Reason.TOO_OFTEN, 1, 1), (TEXT * 9, Reason.NOT_A_MESSAGE, 9, 0)],
    ids=["frames without a message", "text"],
)
async def test_a_proven_peer_that_sends_rubbish_is_shut_out_for_a_while(
    rubbish: bytes, reason: Reason, times: int, places: int
) -> None:
    """`times`: how often it is counted; `places`: how many its network has less."""
    async with nodes(2) as (alice, bob):
        link = asyncio.ensure_future(alice.network.link(bob.address()))
        await until(lambda: bob.heard and alice.heard)
        (out,) = alice.network._wires.values()
        out._connection.transport.write(rubbish)
        await link
        await until(lambda: not bob.network.exchange.links)
        assert bob.network.exchange.refusals[reason] == times
        assert alice.signer.key in bob.network.exchange._barred, "it is sent away when it comes back"
        await until(lambda: bob.network._door._left_of.total() == places)


async def test_a_few_pings_of_a_library_with_a_keepalive_are_no_flood() -> None:
    async with nodes(1) as (node,), knock(node, ping_interval=None) as stranger:
        for _ in range(20):
            await (await stranger.ping())
        assert len(node.network.exchange.links) == 1


async def test_messages_that_nobody_read_yet_are_not_taken_apart() -> None:
    """One read brings thousands of the smallest."""
    async with nodes(1) as (node,):
        node.network._gate._turns.spent(3600, now().monotonic)  # nobody has a turn
        _, writer = await asyncio.open_connection("127.0.0.1", node.port)
        writer.write(REQUEST + (b"\x82\x80" + bytes(4)) * 30_000)
        await until(lambda: any(one.memory > 100_000 for one in node.network._wires.values()))
        (one,) = node.network._wires.values()
        assert len(one._connection.recv_messages.frames) <= 1024 / 6 + 3
        writer.close()


async def test_nothing_is_written_or_logged_after_the_peer_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    async with nodes(1) as (node,), knock(node) as stranger:
        (one,) = node.network._wires.values()
        connection = one._connection
        await stranger.ping()
        connection.transport.abort()
        for _ in range(100):
            connection.protocol.send_ping(b"")
            connection.send_data()
            connection.data_received(PING * 100)
        assert connection.held == 0
    assert "socket.send()" not in caplog.text


async def test_making_room_never_ends_a_link_that_we_dialled() -> None:
    async with nodes(3, most_links=3) as (alice, bob, carol):
        await link_up(alice, bob)
        dialled = alice.network.exchange.links[0]
        carol.network.dial(alice.address())
        await until(lambda: len(alice.network.exchange.links) == 2 and carol.heard)
        # Ours is the youngest of that network, and two came from there.
        dialled.opened = now().monotonic + 1
        for link in alice.network.exchange.links:
            link.part = b"crowd"
        another = alice.network.exchange.links[1]
        alice.network._wires[Link(another.session, b"crowd")] = alice.network._wires[another]
        assert alice.network._make_room(b"elsewhere")
        assert dialled.goodbye is None and dialled.session.is_open
        for link in [link for link in alice.network._wires if link not in alice.network.exchange.links]:
            del alice.network._wires[link]


async def test_one_place_that_is_given_up_lets_in_one() -> None:
    """Otherwise a peer that must go and does not hang up lets in anyone who comes meanwhile."""
    async with nodes(5, most_links=4) as (host, *others):
        for other in others:
            other.network.dial(host.address())
        await until(lambda: len(host.heard) == 4)
        links = list(host.network.exchange.links)
        assert [host.network._make_room(bytes([part])) for part in range(4)] == [True, True, True, False]
        ended = [link for link in links if link.session.is_closed]
        assert len(ended) == 3 and all(host.network._wires[link]._ending for link in ended)


async def test_a_peer_that_closes_and_stays_keeps_no_network_from_closing() -> None:
    """It answers our goodbye by the closing handshake, so the library waits for it to end the connection, which it
    never does."""
    close = b"\x88\x82" + bytes(4) + (1000).to_bytes(2, "big")
    node = await Node(1).listen()
    peers = [await asyncio.open_connection("127.0.0.1", node.port) for _ in range(2)]
    for reader, writer in peers:
        writer.write(REQUEST)
        await reader.readuntil(b"\r\n\r\n")
    await until(lambda: len(node.network.exchange.links) == 2)
    (stays, writes), (slow, _) = peers
    slow._transport.pause_reading()  # type: ignore[attr-defined]
    *_, link = node.network.exchange.links
    node.network._wires[link].put([bytes(limits.MAX_FRAME)] * 4)  # so that there is a second between goodbye and end
    closing = asyncio.create_task(node.network.close())
    await stays.read(limits.MAX_FRAME)
    writes.write(close)
    await asyncio.wait_for(closing, 20)
    assert not node.network.exchange.links
    for _, writer in peers:
        writer.close()


async def test_a_link_that_is_ended_while_its_last_words_leave_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words leave in the very step in which the task is cancelled: the cancellation must not be lost over that."""
    leaving, left = asyncio.Event(), asyncio.Event()

    async def drained(self: wire.Wire) -> None:
        leaving.set()
        await left.wait()

    async with nodes(2) as (here, there):
        dialling = here.network.dial(there.address())
        await until(lambda: any(link.key for link in here.network.exchange.links))
        monkeypatch.setattr(wire.Wire, "drained", drained)
        for link in there.network.exchange.links:
            link.goodbye = link.session.close("enough", retry_after=60)
        await asyncio.wait_for(leaving.wait(), 20)
        left.set()
        dialling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(dialling), 5)
        assert dialling.cancelled()
