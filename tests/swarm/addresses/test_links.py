"""How a node finds its links and keeps them, over real websockets on this computer."""

import asyncio
import contextlib
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from sapo_desktop.swarm.addresses import links as links_module
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.announcement import Announcement
from sapo_desktop.swarm.addresses.book import AddressBook
from sapo_desktop.swarm.addresses.links import Links
from sapo_desktop.swarm.addresses.memory import Memory
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.protocol.envelope import PeerBody, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets import dialling
from sapo_desktop.swarm.sockets.network import Network, now
from sapo_desktop.swarm.trust.standing import Standing
from tests.swarm.mesh import check
from tests.swarm.peers import NETWORK, me
from tests.swarm.sockets.nodes import nodes as network_nodes
from tests.swarm.sockets.nodes import until

pytestmark = pytest.mark.usefixtures("quick")


class Node:
    """A network with what keeps its links."""

    def __init__(self, name: int, folder: Path, *, found: int = 2, private: bool = True) -> None:
        self.signer = Signer(name.to_bytes(32, "big"))
        self.path = folder / f"{name}.json"
        memory = Memory.read(self.path)
        exchange = Exchange(self.signer.key, NETWORK, check, Standing(memory.known_since()), Random(name))
        self.network = Network(exchange, me(self.signer))
        self.book = AddressBook(self.signer.key, bytes(32), private_allowed=private)
        self.links = Links(self.network, self.book, NETWORK, self.path, memory, found_links=found)
        self.network.heard = self.links.heard
        self.port = 0

    async def open(self, *, announced: bool = False) -> "Node":
        self.port = await self.network.listen("127.0.0.1", 0)
        if announced:
            self.links.announcement = Announcement(self.signer, NETWORK, self.address(), relay=False)
        self.running = asyncio.create_task(self.links.run())
        return self

    def address(self) -> Address:
        return Address("127.0.0.1", self.port, tls=False, key=self.signer.key)

    def linked(self) -> set[bytes]:
        return {link.key for link in self.network.exchange.links if link.session.is_open}

    async def close(self) -> None:
        self.running.cancel()
        await self.links.close()
        await self.network.close()


@contextlib.asynccontextmanager
async def open_nodes(folder: Path, *announced: bool, **more: int) -> AsyncIterator[list[Node]]:
    made = [await Node(name, folder, **more).open(announced=one) for name, one in enumerate(announced, 1)]
    try:
        yield made
    finally:
        await asyncio.gather(*(node.close() for node in made))


async def test_a_node_finds_another_through_a_third_that_dialled_it_back(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, True, False) as (middle, open_one, seeker):
        # The open node dials the middle one, which asks it for addresses and gets its own.
        open_one.links.keep([middle.address()])
        await until(lambda: middle.book.to_pass_on(Random(0), time.time()))
        seeker.links.keep([middle.address()])
        await until(lambda: open_one.signer.key in seeker.linked())
        assert seeker.linked() == {middle.signer.key, open_one.signer.key}
        # Not to the byte: the open node may have sent it to the seeker itself since, a second later.
        for node in (middle, seeker):
            records = node.book.to_pass_on(Random(0), time.time())
            assert [open_envelope(one, PeerBody, NETWORK).body.key for one in records] == [open_one.signer.key]


async def test_a_record_that_nobody_answers_to_is_never_passed_on(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, found=0) as (node,):
        signer = Signer(bytes([7]) * 32)
        gone = Address("127.0.0.1", 9, tls=False, key=signer.key)  # discard: a port below 1024, refused at once
        elsewhere = Address("127.0.0.1", node.port, tls=False, key=signer.key)  # somebody else's port
        link = node.network.exchange.attach(None, b"tag")  # type: ignore[arg-type]
        node.network.exchange.links.clear()
        for address in (gone, elsewhere):
            body = PeerBody(network=NETWORK, key=signer.key, time=int(time.time()), address=str(address))
            node.links._take_in(link, seal(signer, body), now())
        assert node.network.exchange.refusals[Reason.BAD_BODY] == 1
        assert len(node.book) == 1
        await until(lambda: node.book.next_unproven([], time.time(), Random(0)) is None)  # tried, and waits
        assert node.book.to_pass_on(Random(0), time.time()) == []


async def test_who_passes_on_records_with_bad_signatures_is_shut_out_for_a_while(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False, found=0) as (node, liar):
        liar.network.dial(node.address())
        await until(node.linked)
        (link,) = node.network.exchange.links
        signer = Signer(bytes([7]) * 32)
        record = seal(signer, PeerBody(network=NETWORK, key=signer.key, time=int(time.time()), address="wss://a:8765"))
        for _ in range(9):
            node.links._take_in(link, record[:-1] + bytes([record[-1] ^ 1]), now())
        assert node.network.exchange.refusals[Reason.BAD_SIGNATURE] == link.refused[Reason.BAD_SIGNATURE] == 9
        assert link.goodbye is not None and liar.signer.key in node.network.exchange._barred


async def test_a_peer_that_is_linked_already_is_not_dialled_again(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, True, True) as (alice, bob):
        alice.links.keep([bob.address()])
        await until(lambda: len(alice.book) == len(bob.book) == 1 and bob.book.to_pass_on(Random(0), time.time()))
        busy = [alice.links._found, bob.links._found, alice.links._greetings, bob.links._greetings]
        await until(lambda: alice.linked() and not any(busy))
        assert len(alice.network.exchange.links) == len(bob.network.exchange.links) == 1


async def test_links_that_held_are_dialled_first_after_a_restart(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False) as (alice, bob):
        alice.links.seed([bob.address()])
        await until(alice.linked)
        await until(lambda: alice.book.anchors())
        alice.links.remember(now())
        # The same folder, nobody named.
        again = await Node(1, tmp_path).open()
        await until(lambda: again.linked() == {bob.signer.key})
        assert [link.dialled for link in again.network.exchange.links] == [bob.address()]
        await again.close()


async def test_who_is_no_longer_named_after_a_restart_is_not_dialled(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False) as (alice, bob):
        alice.links.keep([bob.address()])
        await until(alice.linked)
        alice.links.remember(now())
        again = await Node(1, tmp_path).open()
        again.links.keep([])
        await asyncio.sleep(0.1)
        assert not again.network.exchange.links and not len(again.book)
        await again.close()


async def test_a_start_does_not_forget_whom_the_last_one_knew(tmp_path: Path) -> None:
    seen = {bytes([7] * 32).hex(): 1.0}
    (tmp_path / "1.json").write_bytes(msgspec.json.encode(Memory(first_seen=seen)))
    async with open_nodes(tmp_path, False):
        await asyncio.sleep(0.05)
        assert Memory.read(tmp_path / "1.json").first_seen == seen
    assert Memory.read(tmp_path / "1.json").first_seen == seen


async def test_the_first_key_of_an_address_without_one_is_pinned_as_soon_as_it_is_proven(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False, found=0) as (alice, bob):
        bare = Address("127.0.0.1", bob.port, tls=False)
        alice.links.keep([bare])
        await until(alice.linked)
        assert alice.network.pins == {bare.url: bob.signer.key}
        alice.links.remember(now())
        assert Memory.read(alice.path).pins == {bare.url: bob.signer.key.hex()}
        alice.network.pins[bare.url] = bytes(32)  # as if another key had been there first
        link = await alice.network.link(bare, only_greet=True)
        assert link is not None and not link.key


async def test_a_link_whose_task_failed_keeps_nothing_else_from_ending(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False, found=0) as (alice, bob):

        async def fails() -> None:
            raise RuntimeError

        failed = alice.links._found[bob.address()] = asyncio.create_task(fails())
        other = alice.links._found[alice.address()] = asyncio.create_task(asyncio.sleep(60))
        await asyncio.sleep(0)
        await alice.links.close()
        assert failed.done() and other.cancelled()


async def test_a_name_that_stands_for_a_private_host_is_not_dialled_for_a_stranger(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False, found=0) as (alice, bob):
        named = Address("localhost", bob.port, tls=False, key=bob.signer.key)
        assert await alice.network.link(named, named_by_stranger=True, only_greet=True) is None
        link = await alice.network.link(named, only_greet=True)
        assert link is not None and link.key == bob.signer.key


async def test_of_several_names_for_one_network_one_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four domains on one host are one party, whatever they are called."""
    names = ("one.example", "two.test", "three.co.uk")

    async def on_this_computer(address: Address) -> list[str]:
        return ["127.0.0.1"]

    monkeypatch.setattr(dialling, "hosts_of", on_this_computer)
    async with open_nodes(tmp_path, True, True, True, found=0) as others:
        node = Node(9, tmp_path, found=4, private=False)
        addresses = [
            Address(name, one.port, tls=False, key=one.signer.key) for name, one in zip(names, others, strict=True)
        ]
        node.links.seed(addresses)
        await node.open()
        await until(lambda: all(node.book._known[str(one)].tried for one in addresses))
        assert len(node.linked()) == 1
        await node.close()


async def test_siblings_under_one_suffix_are_two_where_they_lead_to_two_places(tmp_path: Path) -> None:
    node = Node(1, tmp_path, private=False)
    first, second, third = (Address(f"{name}.co.uk", 8765) for name in ("first", "second", "third"))
    assert node.links._allows(first, "20.1.0.1") and node.links._allows(second, "20.2.0.1")
    assert not node.links._allows(third, "20.1.255.9")
    assert node.links._allows(third, "2606:4700::1")
    # Behind a proxy nobody here knows where a name leads: a stranger's are all one, the seed list's are not.
    node.links.seed([first, second])
    assert node.links._allows(first, first.host) and node.links._allows(second, second.host)
    assert node.links._allows(Address("a.example", 1), "a.example")
    assert not node.links._allows(Address("b.test", 1), "b.test")
    await node.network.close()


async def test_a_name_is_not_looked_up_again_for_a_visit_to_where_it_led(tmp_path: Path) -> None:
    node = Node(1, tmp_path, private=False)
    name = Address("relay.co.uk", 8765, key=bytes(32))
    node.links.seed([name])
    assert node.links._next_to_visit(now()) == name
    assert node.links._allows(name, "20.1.0.1")
    assert node.links._next_to_visit(now()) is None, "its part is linked to"
    node.links._left[node.links._parts.pop(name)] = time.monotonic()
    assert node.links._next_to_visit(now()) is None, "it was, just now"
    node.links._left.clear()
    assert node.links._next_to_visit(now()) == name
    await node.network.close()


async def test_a_blocked_key_gets_no_link_which_is_remembered_while_the_address_is_kept(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False, found=0) as (alice, bob):
        bob.network.exchange.blocked = frozenset({alice.signer.key})
        alice.links.keep([bob.address()])
        await until(lambda: bob.address() in alice.network.kept.partings)
        goodbye = alice.network.kept.partings[bob.address()]
        assert (goodbye.reason, goodbye.retry_after, bob.linked()) == ("blocked", 86400, set())
        alice.links.keep([])
        await until(lambda: not alice.network.kept.partings)


async def test_since_when_nobody_answers_is_remembered_while_an_address_is_kept(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False, found=0) as (alice, bob):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            nobody = Address("127.0.0.1", taken.getsockname()[1], tls=False)
        alice.links.keep([nobody, bob.address()])
        await until(lambda: nobody in alice.network.kept.silent)
        since = alice.network.kept.silent[nobody]
        assert 0 <= time.time() - since < 60
        await until(lambda: bob.linked())
        assert set(alice.network.kept.silent) == {nobody} and alice.network.kept.silent[nobody] == since
        alice.links.keep([])
        await until(lambda: not alice.network.kept.silent)


@pytest.mark.parametrize("content", [b"", b"{", b'{"pins": {"wss://a": "zz"}}', b'{"first_seen": {"00": "soon"}}'])
def test_what_was_remembered_and_is_damaged_is_learned_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "peers.json").write_bytes(content)
    assert Memory.read(tmp_path / "peers.json") == Memory()


async def test_a_named_peer_that_is_away_keeps_nobody_else_from_being_found(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False) as (alice, bob):
        away = Address("127.0.0.1", 9, tls=False, key=bytes(32))
        alice.links.keep([away])
        alice.links.seed([bob.address()])
        await until(lambda: alice.linked() == {bob.signer.key})
        alice.links.keep([])
        assert alice.book.next_to_dial([bob.address()], time.time() + 10_000, Random(0)) is None, "forgotten"


async def test_an_invited_name_that_leads_home_is_not_dialled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the dial shows what a name stands for."""
    flags: list[bool] = []
    async with network_nodes(1) as (node,):

        async def link(address: Address, **how: bool) -> None:
            flags.append(how["named_by_stranger"])
            await asyncio.sleep(3600)

        monkeypatch.setattr(node.network, "link", link)
        book = AddressBook(node.signer.key, bytes(32))
        links = Links(node.network, book, NETWORK, tmp_path / "memory", Memory())
        typed, invited = Address("a.example", 8765), Address("b.example", 8765)
        links.keep([typed, invited], invited=[invited])
        await until(lambda: len(flags) == 2)
        assert flags == [False, True]
        await links.close()


class Scattered(AddressBook):
    """Addresses of this computer count as of the internet, each 127.x in a part of its own."""

    def _is_at_home(self, host: str) -> bool:
        return False


HAS_PARTS = pytest.mark.skipif(sys.platform == "darwin", reason="there all but 127.0.0.1 would have to be set up")


@contextlib.asynccontextmanager
async def among_scattered(folder: Path, others: int, *, found: int) -> AsyncIterator[tuple[Node, list[Node]]]:
    """A node, not open yet, that knows of others in so many networks."""
    async with open_nodes(folder, *[False] * others, found=0) as there:
        node = Node(9, folder, found=found)
        node.book = node.links._book = Scattered(node.signer.key, bytes(32), private_allowed=True)
        for place, other in enumerate(there):
            port = await other.network.listen(f"127.{place}.0.1", 0)
            node.links.seed([Address(f"127.{place}.0.1", port, tls=False, key=other.signer.key)])
        yield node, there
        await node.close()


@HAS_PARTS
async def test_the_latest_found_link_moves_on_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_module, "VISIT_SECONDS", 0.3)
    async with among_scattered(tmp_path, 6, found=3) as (node, _):
        await node.open()
        most, met, held = 0, set[bytes](), list[bytes]()

        def have_all_met() -> bool:
            nonlocal most, held
            most = max(most, len(node.linked()))
            met.update(node.linked())
            held = held or ([link.key for link in node.links._open_found()] if len(node.linked()) == 3 else [])
            return len(met) == 6

        await until(have_all_met)
        await until(lambda: len(node.links._found) == len(node.linked()) == 3)
        assert set(held[:2]) < node.linked(), "the first two stay"
        assert most <= 4
        last = node.links._open_found()[-1]
        assert last.visit and [link.visit for link in node.links._open_found()[:2]] == [False, False]
        await asyncio.sleep(1)
        assert set(held[:2]) < node.linked() and len(node.linked()) == 3
        assert node.links._open_found()[-1] is last, "within the hour it has been everywhere"
        node.links.remember(now())
        kept = [Address.parse(anchor.address).key for anchor in Memory.read(node.path).anchors[:2]]
        assert set(kept) == set(held[:2])


@pytest.mark.parametrize("key", [True, False])
async def test_a_found_peer_that_a_person_names_is_linked_to_once_and_for_its_name(tmp_path: Path, key: bool) -> None:
    async with open_nodes(tmp_path, False, False, False, found=1) as (alice, bob, carol):
        alice.links.seed([bob.address()])
        await until(lambda: alice.linked() == {bob.signer.key})
        alice.links.keep([bob.address() if key else Address("127.0.0.1", bob.port, tls=False)])
        alice.links.seed([carol.address()])
        await until(lambda: alice.linked() == {bob.signer.key, carol.signer.key})
        assert list(alice.links._found) == [carol.address()]
        assert len(alice.network.exchange.links) == 2


async def test_while_a_person_s_address_is_dialled_a_peer_that_is_there_is_not_found_again(tmp_path: Path) -> None:
    async with open_nodes(tmp_path, False, False, found=1) as (alice, bob):
        alice.links.seed([bob.address()])
        alice.links.keep([Address("127.0.0.1", bob.port, tls=False)])
        assert alice.links._next_to_dial(now()) is None


@HAS_PARTS
async def test_a_peer_that_was_visited_and_stays_is_no_visit_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_module, "VISIT_SECONDS", 0.2)
    monkeypatch.setattr(links_module, "VISITED_SECONDS", 0.1)
    async with among_scattered(tmp_path, 5, found=2) as (node, _):
        await node.open()
        visits, most = set[int](), 0

        def met_many() -> bool:
            nonlocal most
            found = node.links._open_found()
            most = max(most, sum(link.visit for link in found))
            if len(found) == 2 and found[1].visit and id(found[1]) not in visits:
                visits.add(id(found[1]))
                found[0].session.close("gone")  # so that a visit takes its place, or stays
                node.network._flush(found[0])
            return len(visits) >= 4

        await until(met_many)
        assert most == 1


@HAS_PARTS
async def test_a_peer_that_hangs_up_all_the_time_does_not_keep_a_visit_from_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_module, "VISIT_SECONDS", 0.3)
    async with among_scattered(tmp_path, 2, found=1) as (node, (hostile, honest)):
        (known,) = [one.address for one in node.book._known.values() if one.address.key == hostile.signer.key]
        node.book.tried(known, time.time(), reached=True)

        def met_while_hanging_up() -> bool:
            for link in hostile.network.exchange.links:
                if link.session.is_open:
                    link.session.close("tired of you")
                    hostile.network._flush(link)
            return honest.signer.key in node.linked()

        await node.open()
        await until(met_while_hanging_up)
        assert [link.visit for link in node.links._open_found() if link.key == honest.signer.key] == [True]
