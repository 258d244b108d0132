"""A newcomer in an internet most of whose addresses are an attacker's: does it meet anybody else?

One of the scenarios (scenarios.py). What dials and holds links is the product's (swarm/addresses/links.py), and so is
the book it takes addresses from; the internet is made up, and everybody in it answers at once.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from sapo_desktop.core.sentences import Text
from sapo_desktop.swarm.addresses import links as links_module
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.book import AddressBook
from sapo_desktop.swarm.addresses.memory import Memory
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol import events
from sapo_desktop.swarm.protocol.envelope import Opened, PeerBody
from sapo_desktop.swarm.protocol.messages import Hello
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.sockets.dialling import Allows
from sapo_desktop.swarm.trust.standing import Standing
from tests.bench.figure import Figure, at_least
from tests.swarm.mesh import START
from tests.swarm.peers import NETWORK

PARTS = 24
"""Parts of the internet (IPv4 /16) with honest nodes."""
HOSTILE = 4 * PARTS
"""Addresses of the attacker: four fifths of all."""
HOURS = 3
_STEP = 30.0
"""Seconds between two looks at what is due."""
_NAMED = Address("relay.example", 8765)


def eclipse(quick: bool, rng: Random) -> Iterator[Figure]:
    """Four fifths of the addresses that a newcomer hears are hostile: when and how often has it an honest link?"""
    tries = 10 if quick else 300
    cases = {  # in how many of the networks the attacker is
        "in a quarter of networks": Internet(PARTS // 3),
        "in half": Internet(PARTS),
        "in 4/5": Internet(HOSTILE),
        "in 4/5, hanging up": Internet(HOSTILE, hang_up=True),
        "in one, by names": Internet(1, names=True),
        "in 4/5, one peer named": Internet(HOSTILE, named=True),
    }
    for case, internet in cases.items():
        met = [asyncio.run(internet.honest_links(rng)) for _ in range(tries)]
        asked = {
            f"newcomers whose first {links_module.FOUND_LINKS} links are not all hostile": (lambda it: it.begun, None),
            f"newcomers with an honest link in each of {HOURS} hours": (lambda it: min(it.hours) > 0, 0.99),
            "time that they have one": (lambda it: sum(it.hours) / HOURS, None),
        }
        for what, (of, least) in asked.items():
            count = sum(map(of, met))
            note = f"{count:.0f} of {tries}" if what.startswith("newcomers") else ""
            yield at_least(f"{what} while 80% of addresses are hostile, {case}", count / tries, "share", least, note)


@dataclass
class Met:
    """The result of one newcomer."""

    begun: bool
    """Whether a link is honest once its places are taken."""
    hours: list[float]
    """The share of each hour with an honest link."""


class Internet:
    """Addresses, those that are honest, and where each leads.

    Args:
        hostile_parts: networks that the attacker's addresses are in.
        names: whether the attacker's addresses are names, each of a domain of its own.
        hang_up: whether the attacker's nodes end a link within two minutes, so that places are free when none is due.
        named: whether the newcomer was given an honest peer by a person.
    """

    def __init__(self, hostile_parts: int, *, names: bool = False, hang_up: bool = False, named: bool = False) -> None:
        honest = [f"{20 + n}.7.0.1" for n in range(PARTS)]
        parts = [(130 + n % 60, n // 60) for n in range(hostile_parts)]
        hostile = ["{}.{}.{}.1".format(*parts[n % hostile_parts], n) for n in range(HOSTILE)]
        self.leads_to = {host: host for host in honest}
        self.leads_to |= {f"node.domain{n}.example" if names else host: host for n, host in enumerate(hostile)}
        self.honest = {*honest, _NAMED.host}
        self.hang_up = hang_up
        self.named = named

    async def honest_links(self, rng: Random) -> Met:
        """What one newcomer meets."""
        book = self.full_book(rng)
        clock = SimpleNamespace(at=START)
        times = SimpleNamespace(time=lambda: clock.at.unix, monotonic=lambda: clock.at.monotonic)
        with (
            tempfile.TemporaryDirectory() as folder,
            patch.multiple(links_module, now=lambda: clock.at, time=times, SystemRandom=lambda: rng),
        ):
            network = MadeUpNetwork(self.leads_to, rng)
            links = links_module.Links(network, book, NETWORK, Path(folder) / "peers", Memory())  # type: ignore[arg-type]
            network.heard = links.heard
            if self.named:
                links.keep([_NAMED])
            while len(links._open_found()) < links_module.FOUND_LINKS:
                links._dial_found(clock.at)
                await network.settle()
            met = Met(self._is_any_honest(network), [0.0] * HOURS)
            while clock.at.monotonic < 3600 * HOURS:
                hour = int(clock.at.monotonic // 3600)
                links._dial_found(clock.at)
                await network.settle()
                met.hours[hour] += self._is_any_honest(network) * _STEP / 3600
                if self.hang_up:
                    for link in network.exchange.links:
                        if not self._is_honest(link) and rng.random() < 2 * _STEP / links_module.VISIT_SECONDS:
                            link.session.close("hanging up")
                clock.at = Now(clock.at.monotonic + _STEP, clock.at.unix + _STEP)
            await links.close()
        return met

    def full_book(self, rng: Random) -> AddressBook:
        """A fresh book that received all addresses, in any order and by anybody."""
        book = AddressBook(b"o" * 32, rng.randbytes(32))
        hosts = sorted(self.leads_to)
        rng.shuffle(hosts)
        for host in hosts:
            key = rng.randbytes(32)
            body = PeerBody(network=NETWORK, key=key, time=int(START.unix), address=f"wss://{host}:8765#{key.hex()}")
            try:
                book.add_record(Opened(body, b"e" * 100), START.unix, rng.randbytes(1))
            except Refused:
                continue  # its bucket has its share
        return book

    def _is_any_honest(self, network: "MadeUpNetwork") -> bool:
        return any(self._is_honest(link) for link in network.exchange.links if link.session.is_open)

    def _is_honest(self, link: Link) -> bool:
        return link.dialled is not None and link.dialled.host in self.honest


class MadeUpSession:
    """A session that is open until it is closed."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return not self.ended.is_set()

    def close(self, reason: str) -> None:
        self.ended.set()

    def ask_peers(self, at: float) -> None:
        """Nobody tells of others here."""


class MadeUpNetwork:
    """Where everybody answers: what the keeper needs of a Network (swarm/sockets/network.py)."""

    def __init__(self, leads_to: Mapping[str, str], rng: Random) -> None:
        self.key = b"o" * 32
        self.pins: dict[str, bytes] = {}
        self.lan_pins: dict[str, bytes] = {}
        self.proxy_faults: dict[Address, Text] = {}
        self.exchange = SimpleNamespace(links=[], standing=Standing())
        self.heard: Callable[[Link, events.Event], None]
        self._leads_to = leads_to
        self._rng = rng

    def dial(self, address: Address, *, named_by_stranger: bool) -> asyncio.Task[Link | None]:
        return asyncio.create_task(self.link(address))

    async def link(
        self, address: Address, *, visit: bool = False, allows: Allows | None = None, **how: bool
    ) -> Link | None:
        """One link that lasts until the newcomer ends it; None where `allows` forbids it."""
        host = self._leads_to.get(address.host, address.host)
        if allows is not None and not allows(host):
            return None
        session: Any = MadeUpSession()
        opened = links_module.now().monotonic
        key = address.key or self._rng.randbytes(32)
        link = Link(session, b"", key=key, dialled=address, host=host, opened=opened, visit=visit)
        self.exchange.links.append(link)
        hello = Hello(versions=[1], network=NETWORK, key=link.key, nonce=bytes(32), time=0, catalogue=bytes(32))
        self.heard(link, events.Opened(hello))
        await session.ended.wait()
        self.exchange.links.remove(link)
        return link

    async def settle(self) -> None:
        """Let what was begun continue until all wait."""
        for _ in range(8):
            await asyncio.sleep(0)
