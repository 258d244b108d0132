"""The local network, which here is this computer's loopback: real mDNS, real links over TLS."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest
from zeroconf import ServiceInfo
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from sapo_desktop.swarm.addresses import lan
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.lan import MOST_SERVICES, SERVICE, Lan
from sapo_desktop.swarm.sockets.certificate import self_signed, server_context
from sapo_desktop.swarm.sockets.network import now
from tests.swarm.addresses import test_links
from tests.swarm.sockets.nodes import until

pytestmark = pytest.mark.usefixtures("quick")
HERE = "127.0.0.1"


class Looker:
    """A Lan with what it reported."""

    def __init__(self, port: int | None = None, at: Sequence[str] = (HERE,)) -> None:
        self.there: list[Address] = []
        self.lan = Lan(at, port, self.there.append, self.there.remove)


@contextlib.asynccontextmanager
async def looking(*ports: int | None) -> AsyncIterator[list[Looker]]:
    made = [Looker(port) for port in ports]
    try:
        for one in made:
            await one.lan.start()
        yield made
    finally:
        await asyncio.gather(*(one.lan.stop() for one in made))


@contextlib.asynccontextmanager
async def stranger() -> AsyncIterator[AsyncZeroconf]:
    """Somebody else on the network, who may show anything."""
    it = AsyncZeroconf(interfaces=[HERE])
    try:
        yield it
    finally:
        await it.async_close()


def service(name: str, port: int, *hosts: str, **more: Any) -> ServiceInfo:
    return ServiceInfo(
        SERVICE, f"{name}.{SERVICE}", port=port, parsed_addresses=list(hosts), server=f"{name}.local.", **more
    )


async def show(network: AsyncZeroconf, *services: ServiceInfo) -> None:
    await asyncio.gather(*(network.async_register_service(one, cooperating_responders=True) for one in services))


async def test_nodes_find_each_other_and_notice_when_one_goes_and_who_does_not_listen_is_not_shown() -> None:
    async with looking(None, 40001, 40002) as (quiet, one, two):
        await until(lambda: len(quiet.there) == 2 and one.there and two.there)
        assert (one.there, two.there) == ([Address(HERE, 40002)], [Address(HERE, 40001)])
        await two.lan.stop()
        await until(lambda: not one.there)
        await two.lan.stop()  # nothing more to do


async def test_what_is_shown_names_nobody_and_is_new_at_every_start() -> None:
    seen: list[AsyncServiceInfo] = []

    async def read(zc: Any, name: str) -> None:
        info = AsyncServiceInfo(SERVICE, name)
        assert await info.async_request(zc, 5000)
        seen.append(info)

    tasks = []
    for start in (1, 2):
        async with stranger() as other, looking(40001):
            browser = AsyncServiceBrowser(
                other.zeroconf,
                SERVICE,
                handlers=[
                    lambda zeroconf, service_type, name, state_change: (
                        tasks.append(asyncio.ensure_future(read(zeroconf, name)))
                        if state_change.name == "Added"
                        else None
                    )
                ],
            )
            await until(lambda n=start: len(seen) == n)  # type: ignore[misc]
            await browser.async_cancel()
    names = [word for info in seen for word in (info.name.removesuffix(f".{SERVICE}"), info.server or "")]
    assert len(set(names)) == 4
    for name in names:
        assert len(bytes.fromhex(name.removesuffix(".local."))) == 8
        assert socket.gethostname().lower() not in name
    assert [info.properties for info in seen] == [{}, {}]
    assert [info.parsed_addresses() for info in seen] == [[HERE], [HERE]]


async def test_only_addresses_of_this_network_and_ports_of_nobody_else_are_taken() -> None:
    async with looking(40001) as (one,), stranger() as other:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rubbish:
            rubbish.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(HERE))
            for packet in (b"", b"\x00", bytes(12), b"\x84\x00" * 700, bytes(range(256)) * 20):
                rubbish.sendto(packet, ("224.0.0.251", 5353))
        await show(
            other,
            service("public", 40000, "8.8.8.8"),
            service("elsewhere", 40000, "192.168.1.1"),  # no loopback address, as all of ours are
            service("multicast", 40000, "224.0.0.251"),
            service("nowhere", 40000, "0.0.0.0"),
            service("six", 40000, "::1"),
            service("ssh", 22, HERE),
            service("none", 0, HERE),
            service("me", 40001, HERE),
            service("many", 40000, *(f"127.0.1.{n}" for n in range(20))),
            service("good", 40007, "8.8.8.8", HERE, properties={"key": "ignored"}),
        )
        await until(lambda: Address(HERE, 40007) in one.there and not one.lan._asking)
        assert len(one.there) == 1 + lan.MOST_ADDRESSES
        assert {address.host for address in one.there} - {HERE} <= {f"127.0.1.{n}" for n in range(20)}
        assert set(one.lan._services) == {f"many.{SERVICE}", f"good.{SERVICE}"}


def test_a_network_at_home_is_no_loopback() -> None:
    home = Looker(at=["192.168.1.2"])
    near = ["192.168.1.7", "10.0.0.1", "172.20.1.1", "169.254.7.7"]
    far = [HERE, "8.8.8.8", "100.64.0.1", "224.0.0.1", "255.255.255.255", "0.0.0.0", "0.1.2.3", "192.0.2.1"]
    assert [host for host in near + far if home.lan._is_near(host)] == near


async def test_of_a_flood_of_services_a_few_are_looked_at(caplog: pytest.LogCaptureFixture) -> None:
    async with looking(None) as (one,), stranger() as other:
        shown = [service(f"n{n}", 41000 + n, HERE) for n in range(2 * MOST_SERVICES)]
        await show(other, *shown)
        await until(lambda: one.lan._is_crowded and not one.lan._asking)
        assert len(one.there) == len(one.lan._services) == MOST_SERVICES
        first = list(one.there)
        for gone in [gone for gone in shown if gone.name in one.lan._services][:4]:
            await other.async_unregister_service(gone)
        await until(lambda: len(set(one.there) - set(first)) == 4)  # those that waited have their places
        assert len(one.there) == MOST_SERVICES
    assert [record.getMessage() for record in caplog.records if "More than 32" in record.getMessage()] != []
    assert HERE not in caplog.text


async def test_whose_answer_was_lost_is_asked_again_when_it_says_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    real, asked = AsyncServiceInfo.async_request, []

    async def lost_once(self: AsyncServiceInfo, *more: Any) -> bool:
        asked.append(self.name)
        return len(asked) > 1 and await real(self, *more)

    monkeypatch.setattr(AsyncServiceInfo, "async_request", lost_once)
    async with looking(None) as (one,), stranger() as other:
        await show(other, service("late", 40007, HERE))
        await until(lambda: asked and not one.lan._asking)
        assert not one.lan._services
        await other.async_update_service(service("late", 40007, HERE, properties={"another": "one"}))
        await until(lambda: one.there == [Address(HERE, 40007)])


async def test_a_network_that_cannot_be_used_is_an_error_with_a_reason() -> None:
    looker = Looker(at=["198.51.100.7"])  # an address that is not ours
    try:
        with pytest.raises(OSError, match="the local network cannot be used"):
            await looker.lan.start()
    finally:
        await looker.lan.stop()


# -- links ----------------------------------------------------------------------------------------------------


class Neighbour(test_links.Node):
    """A node that listens with a certificate of its own and is on the network."""

    async def open(self, *, announced: bool = False) -> "Neighbour":
        folder = self.path.with_suffix("")
        folder.mkdir()
        context, digest = server_context(*self_signed(folder))
        self.port = await self.network.listen(HERE, 0, tls=context, certificate=digest)
        self.network.lan_is_open = True
        self.lan = Lan([HERE], self.port, self.links.found_on_lan, self.links.lost_on_lan)
        await self.lan.start()
        self.running = asyncio.create_task(self.links.run())
        return self

    async def close(self) -> None:
        await self.lan.stop()
        await super().close()


async def test_neighbours_link_once_by_the_key_that_the_handshake_proves(tmp_path: Path) -> None:
    alice, bob = [await Neighbour(name, tmp_path, private=False).open() for name in (1, 2)]
    for one, other in ((alice, bob), (bob, alice)):
        await until(lambda one=one, other=other: one.linked() == {other.signer.key})  # type: ignore[misc]
    # Both dialled, or one was faster: what stays is one link, marked as the local network's on both sides.
    await until(lambda: len(alice.network.exchange.links) == len(bob.network.exchange.links) == 1)
    await until(lambda: not alice.links._found or not bob.links._found)
    assert all(link.lan for node in (alice, bob) for link in node.network.exchange.links)
    assert alice.book.anchors() == bob.book.anchors() == [] and not alice.network.pins
    (known,) = alice.book.on_lan()
    assert known == Address(HERE, bob.port)
    await bob.close()
    await until(lambda: not alice.book.on_lan() and not alice.network.lan_pins)
    await alice.close()


async def test_another_key_at_a_pinned_place_is_not_talked_to(tmp_path: Path) -> None:
    alice, bob = [await Neighbour(name, tmp_path, found=0, private=False).open() for name in (1, 2)]
    place = Address(HERE, bob.port)
    alice.network.lan_pins[place.url] = bytes(32)
    link = await alice.network.link(place, on_lan=True, only_greet=True)
    assert link is not None and not link.key
    del alice.network.lan_pins[place.url]
    link = await alice.network.link(place, on_lan=True, only_greet=True)
    assert link is not None and link.key == bob.signer.key
    # Off the local network the same address still needs a certificate that an authority signed.
    assert await alice.network.link(place, only_greet=True) is None
    await asyncio.gather(alice.close(), bob.close())


def test_the_local_network_has_half_of_the_places_and_stays_out_of_what_is_kept() -> None:
    book = test_links.AddressBook(bytes(32), bytes(32))
    near, far = Address("192.168.1.7", 8765), Address("relay.example", 8765, key=b"k" * 32)
    book.add(near, "lan", 0.0)
    book.add(far, "seed", 0.0)
    assert book.next_to_dial([], 1.0, Random(1)) == near
    assert book.next_to_dial([], 1.0, Random(1), lan=False) == far
    for address in (near, far):
        book.tried(address, 1.0, reached=True)
    assert [anchor.address for anchor in book.anchors()] == [str(far)]
    book.leave_lan(far)
    book.leave_lan(near)
    assert (len(book), book.is_on_lan(near)) == (1, False)


async def test_a_crowd_of_neighbours_leaves_places_for_others(tmp_path: Path) -> None:
    node = test_links.Node(1, tmp_path, found=4, private=False)
    held = asyncio.Event()

    async def link(address: Address, **more: object) -> None:
        await held.wait()

    node.network.link = link  # type: ignore[assignment, method-assign]
    for n in range(9):
        node.links.found_on_lan(Address("192.168.1.7", 9000 + n))
    node.links.seed([Address(f"relay{n}.example{n}", 8765, key=bytes([n]) * 32) for n in range(9)])
    for _ in range(9):
        node.links._dial_found(now())
    assert sum(map(node.book.is_on_lan, node.links._found)) == 2 and len(node.links._found) == 4
    await node.links.close()
    await node.network.close()


async def test_stopping_leaves_no_socket() -> None:
    before = udp_sockets()
    async with looking(40001):
        assert udp_sockets() > before
    await asyncio.sleep(0)  # the loop closes what was aborted
    assert udp_sockets() == before


def udp_sockets() -> int:
    return len(psutil.Process().net_connections("udp"))
