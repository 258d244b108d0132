"""Relays over real NATS servers: delivery, and the effects of a dead, slow or hostile backbone."""

import asyncio
import contextlib
import signal
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client

from sapo_desktop.swarm.backbone.federation import Federation, seal_batch
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets import backbone, network
from sapo_desktop.swarm.sockets.backbone import Backbone, Credentials
from sapo_desktop.swarm.sockets.certificate import self_signed
from sapo_desktop.swarm.sockets.network import now
from sapo_desktop.swarm.sockets.nkey import UserKey
from tests.swarm.backbone.servers import Server, cluster, running
from tests.swarm.peers import NETWORK, TASK, group
from tests.swarm.sockets.nodes import Node, link_up, nodes, until
from tests.swarm.sockets.test_nkey import written_seed

SUBJECT = "sapo.test"
WITHIN = 5.0
"""Seconds in which what is published at one relay is there for those of another, who ask every 5 s."""


class Relay(Node):
    """A node that listens and passes on what it has from authors."""

    def __init__(self, name: int, servers: list[str], **more: Any) -> None:
        super().__init__(name)
        self.federation = Federation(self.network.exchange, self.signer, NETWORK, now())
        self.backbone = Backbone(servers, self.federation, self.network, SUBJECT, **more)
        self._running: asyncio.Task[None] | None = None

    async def begin(self) -> "Relay":
        await self.listen()
        self._running = asyncio.create_task(self.backbone.run())
        return self

    async def end(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        await self.network.close()

    @property
    def served(self) -> set[bytes]:
        return {entry.envelope for entry in self.network.exchange.giving.shelf}

    @property
    def refused(self) -> dict[Reason, int]:
        return dict(self.federation.tally.refused)


@contextlib.asynccontextmanager
async def relays(servers: list[list[str]], **more: Any) -> AsyncIterator[list[Relay]]:
    made = [Relay(100 + number, names, **more) for number, names in enumerate(servers)]
    try:
        yield [await relay.begin() for relay in made]
    finally:
        await asyncio.gather(*(relay.end() for relay in made))


@contextlib.asynccontextmanager
async def attacker(url: str) -> AsyncIterator[Client]:
    client = Client()
    await client.connect(url)
    try:
        yield client
    finally:
        await client.close()


def connected(*those: Relay) -> Callable[[], bool]:
    return lambda: all(relay.backbone.state == "connected" for relay in those)


def batch(*groups: bytes, signer: Signer) -> bytes:
    (message,) = seal_batch(signer, NETWORK, [m.Sourced(envelope=one) for one in groups], now().unix)
    return message


def fresh(name: int, index: int = 0) -> bytes:
    return group(Signer(name.to_bytes(32, "big")), slot=int(now().unix // 600), index=index)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.1)
    monkeypatch.setattr(backbone, "_LONGEST_DELAY", 1.0)


@pytest.mark.slow
async def test_in_a_cluster_of_three_with_one_killed_groups_are_drawn_elsewhere_in_time(
    tmp_path: Path, quick: None
) -> None:
    servers = cluster(tmp_path, 3)
    urls = [server.url for server in servers]
    with running(*servers):
        async with relays([urls] * 3) as (a, b, c), nodes(2) as (alice, carol):
            await until(connected(a, b, c))
            alice.network.dial(a.address(a.signer.key))
            carol.network.dial(c.address(c.signer.key))
            carol.network.exchange.want([TASK], 1000)
            await until(lambda: alice.heard and carol.heard)
            for turn, victim in enumerate((None, servers[0])):
                if victim is not None:
                    victim.kill()
                    await asyncio.sleep(1)
                    await until(connected(a, b, c))
                await asyncio.sleep(WITHIN)  # carol has asked, found nothing new, and will ask again
                shared = {alice.share(index) for index in range(turn * 8, turn * 8 + 8)}
                served = await until(lambda shared=shared: shared <= c.served, WITHIN)
                drawn = await until(lambda shared=shared: shared <= set(carol.held))
                print(f"turn {turn}: served elsewhere after {served:.2f} s, drawn there {drawn:.2f} s later")
            assert {entry.path.relay for entry in carol.network.exchange.pool} == {a.signer.key}
            assert b.served == c.served == a.served
            assert a.federation.tally.groups_in == 0 and not a.refused, "nothing comes back"


@pytest.mark.slow
async def test_without_nats_a_relay_serves_on_and_comes_back_with_it(tmp_path: Path, quick: None) -> None:
    server = Server(tmp_path)
    with running(server):
        async with relays([[server.url]] * 2) as (a, b), nodes(2) as (alice, carol):
            await until(connected(a, b))
            for node in (alice, carol):
                node.network.dial(a.address(a.signer.key))
            await until(lambda: alice.heard and carol.heard)
            server.kill()
            await until(lambda: a.backbone.state == b.backbone.state == "isolated")
            envelope = alice.share(0)
            carol.network.exchange.want([TASK], 10)
            await until(lambda: envelope in carol.held)
            assert envelope not in b.served
            server.start()
            await until(lambda: envelope in b.served)
            assert a.backbone.connects == 2


@pytest.mark.slow
async def test_a_server_that_hangs_blocks_nobody_and_is_left(tmp_path: Path, quick: None) -> None:
    servers = cluster(tmp_path, 2)
    with running(*servers):
        async with relays([[servers[0].url], [servers[1].url]]) as (a, b), nodes(1) as (alice,):
            await until(connected(a, b))
            await link_up(alice, a)
            servers[0].send(signal.SIGSTOP)
            envelope = alice.share(0)
            assert await until(lambda: envelope in a.served) < 10, "the hanging server is found out after more"
            await until(lambda: a.backbone.state == "isolated", 60)
            servers[0].send(signal.SIGCONT)
            await until(connected(a, b))
            alice.share(1)
            await until(lambda: len(b.served) >= 1)


@pytest.mark.slow
async def test_rubbish_and_floods_on_the_backbone_change_nothing_for_the_others(tmp_path: Path, quick: None) -> None:
    server, stranger = Server(tmp_path), Signer(b"s" * 32)
    with running(server):
        async with relays([[server.url]] * 2) as (a, b), nodes(1) as (alice,), attacker(server.url) as hostile:
            await until(connected(a, b))
            await link_up(alice, a)
            first = alice.share(0)
            await until(lambda: first in b.served)
            subject = f"{SUBJECT}.7.{stranger.key.hex()}"
            for number in range(3000):
                await hostile.publish(subject, bytes([number % 256]) * (number % 5000))
                await hostile.publish(f"{SUBJECT}.7.{number:064x}", b"\x93\x01\xc4\xff")
            await hostile.publish(subject, bytes(limits.MAX_FRAME + 1))
            await hostile.publish(f"{SUBJECT}.7.odd", b"x")
            await hostile.publish(f"{SUBJECT}.7.{b.signer.key.hex()}", batch(fresh(9), signer=stranger))
            await hostile.flush()
            second = alice.share(1)
            await until(lambda: second in b.served, WITHIN)
            await until(lambda: b.refused.get(Reason.MALFORMED) and b.refused.get(Reason.OVERSIZE))
            assert b.refused[Reason.TOO_OFTEN] > 5000 and b.served == {first, second}
            assert b.backbone.state == "connected" and b.federation.waiting_bytes < 2 * limits.KIB * limits.KIB


@pytest.mark.slow
async def test_a_relay_hears_the_shards_that_it_listens_to_now(
    tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent_in, heard = [3], [frozenset({3, 9})]
    monkeypatch.setattr(backbone, "shard_of", lambda relay, unix_time: sent_in[0])
    monkeypatch.setattr(backbone, "heard_by", lambda relay, count, unix_time: heard[0])
    server = Server(tmp_path)
    with running(server):
        async with relays([[server.url]] * 2, shards=2) as (a, b), nodes(1) as (alice,):
            await until(connected(a, b))
            await link_up(alice, a)
            first = alice.share(0)
            await until(lambda: first in b.served)
            sent_in[0] = 4
            second = alice.share(1)
            await until(lambda: a.federation.tally.groups_out == 2)
            await asyncio.sleep(1)
            assert second not in b.served
            heard[0] = frozenset({4, 200})
            await asyncio.sleep(1)
            third = alice.share(2)
            await until(lambda: third in b.served)
            assert b.served == {first, third}


@pytest.mark.slow
async def test_credentials_are_shown_and_wrong_ones_are_said(tmp_path: Path, quick: None) -> None:
    server = Server(tmp_path, config='authorization { users = [{user: "relay", password: "right"}] }')
    with running(server):
        async with relays([[server.url]], credentials=Credentials("relay", "right")) as (a,):
            await until(connected(a))
        async with relays([[server.url]], credentials=Credentials("relay", "wrong")) as (a,):
            await until(lambda: a.backbone.state == "refused")
    assert "right" not in repr(Credentials("relay", "right"))


@pytest.mark.slow
async def test_an_nkey_lets_a_relay_publish_under_its_own_key_alone(tmp_path: Path, quick: None) -> None:
    seeds = [written_seed(bytes([n]) * 32) for n in (1, 2)]
    own = [Signer((100 + n).to_bytes(32, "big")).key.hex() for n in (0, 1)]
    users = ", ".join(
        f'{{ nkey: {UserKey(seed).public}, permissions: {{ publish: "sapo.*.*.{key}", subscribe: "sapo.>" }} }}'
        for seed, key in zip(seeds, own, strict=True)
    )
    server = Server(tmp_path, config=f"authorization {{ users = [{users}] }}")
    with running(server):
        names = [[server.url]] * 2
        async with relays(names, credentials=Credentials(key=UserKey(seeds[0]))) as (a, b), nodes(1) as (alice,):
            await until(connected(a, b))
            await link_up(alice, b)
            alice.share(0)  # b shows a's nkey, which may not speak for b
            alice.network.dial(a.address(a.signer.key))
            envelope = alice.share(1)
            await until(lambda: envelope in a.served and a.federation.tally.groups_out)
            await until(lambda: b.federation.tally.batches_in)
            assert a.federation.tally.batches_in == 0
        async with relays([[server.url]], credentials=Credentials(key=UserKey(written_seed(b"x" * 32)))) as (a,):
            await until(lambda: a.backbone.state == "refused")


def tls_config(folder: Path) -> str:
    certificate, key = self_signed(folder)
    return f'tls {{ cert_file: "{certificate}", key_file: "{key}" }}\nauthorization {{ token: "secret" }}'


@pytest.mark.slow
async def test_over_tls_with_a_certificate_that_is_vouched_for(tmp_path: Path, quick: None) -> None:
    server = Server(tmp_path, config=tls_config(tmp_path))
    url = server.url.replace("nats://", "tls://")
    trusting = ssl.create_default_context(cafile=str(tmp_path / "certificate.pem"))
    trusting.check_hostname = False  # a test's certificate has no name
    with running(server):
        async with relays([[url]], credentials=Credentials(token="secret"), tls=trusting) as (a,):
            await until(connected(a))
        async with relays([[url]], credentials=Credentials(token="secret"), tls=ssl.create_default_context()) as (a,):
            await asyncio.sleep(2)
            assert a.backbone.state == "isolated"


async def test_a_server_that_would_do_without_tls_gets_nothing() -> None:
    heard = bytearray()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id":"x","max_payload":65536,"auth_required":true}\r\n')
        with contextlib.suppress(OSError):
            heard.extend(await reader.read(4096))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"tls://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    tls = ssl.create_default_context()
    async with server, relays([[url]], credentials=Credentials(token="secret"), tls=tls) as (a,):
        await until(lambda: a.backbone.state == "isolated")
    assert heard == b""
