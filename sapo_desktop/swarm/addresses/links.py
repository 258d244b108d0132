"""Keeps a node linked: always to the peers that a person named, and to a few that it found.

Addresses come from the book (book.py) and go there; network.py owns the sockets. One small file keeps what helps at the
next start (links that lasted, pinned keys, identities with a history).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from random import SystemRandom

import msgspec

from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.swarm.addresses.address import Address, ip_of
from sapo_desktop.swarm.addresses.announcement import Announcement
from sapo_desktop.swarm.addresses.book import AddressBook
from sapo_desktop.swarm.addresses.memory import MOST_KEPT, Memory
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol import events, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import PeerBody, open_envelope
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.sockets.network import Network, now
from sapo_desktop.swarm.trust import claims
from sapo_desktop.swarm.trust.admission import Members

log = logging.getLogger(__name__)

FOUND_LINKS = 4
"""Outbound links to peers that nobody named."""
VISIT_SECONDS = 120.0
"""After this time the latest of them moves to another network, if there is one."""
VISITED_SECONDS = 3600.0
"""How long a network is not visited again after a link there ended: as long as its groups can be drawn."""
ENOUGH_ADDRESSES = 64
_BREATH = 2.0
"""Seconds between checks of what is due."""
_GREETING_SECONDS = 30.0
"""Seconds between two dial-backs."""
_KEEP_SECONDS = 600.0
_MOST_LED_TO = 2048


class Links:
    """The links that a node makes by itself.

    Args:
        network_id: of the swarm.
        path: the file to remember things in.
        found_links: number of links to peers that nobody named.
        members: of a private swarm, whose addresses alone are used.
    """

    def __init__(
        self,
        network: Network,
        book: AddressBook,
        network_id: bytes,
        path: Path,
        memory: Memory,
        *,
        found_links: int = FOUND_LINKS,
        members: Members | None = None,
    ) -> None:
        self.announcement: Announcement | None = None
        self.tell_claims: Callable[[Now], None] = lambda at: None
        """Called regularly: sends peers this node's statistics."""
        self._network = network
        self._book = book
        self._network_id = network_id
        self._members = members
        self._path = path
        self._found_links = found_links
        self._named: dict[str, asyncio.Task[None]] = {}
        self._named_addresses: frozenset[Address] = frozenset()
        self._found: dict[Address, asyncio.Task[None]] = {}
        self._greetings: dict[Address, asyncio.Task[None]] = {}
        self._parts: dict[Address, bytes | None] = {}
        """The network in which a found address turned out to be, while it is dialled or linked."""
        self._led_to: dict[Address, bytes | None] = {}
        """Address with a name -> the network to which it resolved when it was last dialled."""
        self._left: dict[bytes, float] = {}
        """Network -> monotonic seconds at which a found link there ended."""
        self._visit_due = time.monotonic() + VISIT_SECONDS
        self._rng = SystemRandom()
        self._greeted = float("-inf")
        self._kept = time.monotonic()
        network.pins.update({url: bytes.fromhex(key) for url, key in memory.pins.items()})
        book.restore(memory.anchors, time.time())

    # -- requests -------------------------------------------------------------------------------------------

    def keep(self, addresses: Sequence[Address], invited: Collection[Address] = ()) -> None:
        """Keep links to exactly these peers, besides the found ones. `invited`: those that nobody typed; dialled
        only if their names resolve to the public internet."""
        named = {str(address): address for address in addresses}
        for name in set(self._named) - set(named):
            self._named.pop(name).cancel()
            self._book.forget(name)
        self._named_addresses = frozenset(addresses)
        for name, address in named.items():
            self._book.add(address, "typed", time.time())
            for found in [found for found in self._found if found.url == address.url]:
                self._found.pop(found).cancel()  # from now on it is kept as a named one
            if name not in self._named:
                self._named[name] = self._network.dial(address, named_by_stranger=address in invited)

    @property
    def named(self) -> Collection[Address]:
        """The addresses that a person named, whose links are kept."""
        return self._named_addresses

    def seed(self, addresses: Sequence[Address]) -> None:
        """Add the addresses of a seed list."""
        for address in addresses:
            self._book.add(address, "seed", time.time())

    def found_on_lan(self, address: Address) -> None:
        """Add an address found on the local network."""
        self._book.add(address, "lan", time.time())

    def lost_on_lan(self, address: Address) -> None:
        """An address left the local network; its next owner may be another node."""
        self._book.leave_lan(address)
        self._network.lan_pins.pop(address.url, None)

    def heard(self, link: Link, event: events.Event) -> None:
        """Handle events that the exchange does not use."""
        at = now()
        match event:
            case events.Opened():
                if link.lan:
                    self._drop_second(link.key)
                if link.lan and link.dialled is not None:
                    self._network.lan_pins[link.dialled.url] = link.key
                if link.dialled is not None:
                    self._book.tried(link.dialled, at.unix, reached=True)
                    if link.dialled.key is None and not link.lan:
                        self._network.pins.setdefault(link.dialled.url, link.key)
                    if link.visit:
                        self._move_on(link, at)
                if len(self._book) < ENOUGH_ADDRESSES:
                    link.session.ask_peers(at.monotonic)
            case m.PeersReq():
                own = [self.announcement.record(at)] if self.announcement else []
                link.session.give_peers([*own, *self._book.to_pass_on(self._rng, at.unix)][: limits.MAX_RECORDS])
            case m.Stats(envelope=envelope):
                if reason := claims.hear(link, envelope, self._network_id, self._members):
                    self._refuse(link, reason, at)
            case m.Peers(records=records):
                for record in records:
                    self._take_in(link, record, at)
            case _:
                pass

    async def run(self) -> None:
        """Maintain the links until cancelled."""
        while True:
            at = now()
            self._book.expire(at.unix)
            self._dial_found(at)
            self._greet(at)
            if at.monotonic - self._kept >= _KEEP_SECONDS:
                self.remember(at)
            for link in self._network.exchange.links:
                if link.session.is_open and len(self._book) < ENOUGH_ADDRESSES:
                    link.session.ask_peers(at.monotonic)
            self.tell_claims(at)
            await asyncio.sleep(_BREATH)

    def remember(self, at: Now) -> None:
        """Store on disk what helps at the next start; if the disk is full, only that is lost."""
        self._kept = at.monotonic
        seen = self._network.exchange.standing.first_seen(MOST_KEPT)
        memory = Memory(
            anchors=self._book.anchors([link.dialled for link in self._open_found() if link.dialled is not None]),
            pins={url: key.hex() for url, key in list(self._network.pins.items())[-MOST_KEPT:]},
            first_seen={key.hex(): since for key, since in seen.items()},
        )
        try:
            write_atomically(self._path, msgspec.json.encode(memory))
        except OSError as error:
            log.warning("What is known of peers cannot be kept: %s.", error.strerror)

    # -- found peers -----------------------------------------------------------------------------------------

    def _dial_found(self, at: Now) -> None:
        """Fill a free place. Occasionally one goes to a network that was not linked recently; if none is free, the
        latest link ends for it (_move_on). Otherwise an attacker that once occupied all places would keep them."""
        is_due = at.monotonic >= self._visit_due
        is_free = len(self._found) < self._found_links
        is_settled = len(self._found) == len(self._open_found()) == self._found_links
        if not self._found_links or not (is_free or (is_due and is_settled)):
            return
        if is_due and (address := self._next_to_visit(at)) is not None:
            self._found[address] = asyncio.create_task(self._hold(address, visit=True))
        elif is_free and (address := self._next_to_dial(at)) is not None:
            self._found[address] = asyncio.create_task(self._hold(address))

    def _next_to_dial(self, at: Now) -> Address | None:
        # The local network gets half of the places: there, a single neighbour could be every node that is found.
        neighbours = sum(self._book.is_on_lan(address) for address in self._found)
        lan = neighbours < max(1, self._found_links // 2)
        return self._book.next_to_dial(
            self._busy(), at.unix, self._rng, lan=lan, keys=self._keys(), taken=self._taken()
        )

    def _next_to_visit(self, at: Now) -> Address | None:
        since = at.monotonic - VISITED_SECONDS
        self._left = {part: left for part, left in self._left.items() if left > since}
        taken = self._taken() | set(self._left)
        known = {address for address, part in self._led_to.items() if part in taken}
        return self._book.next_to_visit({*self._busy(), *known}, at.unix, self._rng, keys=self._keys(), taken=taken)

    def _move_on(self, visit: Link, at: Now) -> None:
        """A visit started: if it is one link too many, the latest opened one before it ends. A visited peer that
        stays counts among these."""
        self._visit_due = at.monotonic + VISIT_SECONDS
        found = self._open_found()
        others = [link for link in found if link is not visit and not link.lan]
        if others and len(found) > self._found_links:
            others[-1].goodbye = others[-1].session.close("moving on")
        for link in others:
            link.visit = False

    def _open_found(self) -> list[Link]:
        """Open links to found peers, from the longest lasting one on."""
        links = [link for link in self._network.exchange.links if link.session.is_open and link.dialled in self._found]
        return sorted(links, key=lambda link: link.opened)

    def _keys(self) -> set[bytes]:
        return {link.key for link in self._network.exchange.links if link.key}

    async def _hold(self, address: Address, *, visit: bool = False) -> None:
        """One link to a found peer, until it ends. `visit`: it must lead to a network that was not linked recently."""
        avoided = frozenset(self._left) if visit else frozenset()
        link: Link | None = None
        try:
            link = await self._network.link(
                address,
                named_by_stranger=self._book.is_strangers(address),
                on_lan=self._book.is_on_lan(address),
                visit=visit,
                allows=lambda host: self._allows(address, host, avoided),
            )
        finally:
            part = self._parts.pop(address, None)
            if link is None or not link.key:
                self._unreached(address)
            elif part is not None:
                self._left[part] = time.monotonic()
            if address in self._found and self._found[address] is asyncio.current_task():
                del self._found[address]

    def _unreached(self, address: Address) -> None:
        """Nobody proved a key there; a fault of the proxy does not count against the address."""
        blamed = address not in self._network.proxy_faults
        self._book.tried(address, time.time(), reached=False if blamed else None)

    def _allows(self, address: Address, host: str, avoided: Collection[bytes] = ()) -> bool:
        """Whether this host may be dialled for a found address; its network is then taken."""
        if ip_of(host) is None and not self._book.is_strangers(address):
            # Behind a proxy: seed list entries count as separate networks, because their operators differ.
            self._parts[address] = host.encode()
            return host.encode() not in avoided
        part = self._book.part(host)
        if ip_of(address.host) is None:
            self._led_to.pop(address, None)
            self._led_to[address] = part
            if len(self._led_to) > _MOST_LED_TO:
                del self._led_to[next(iter(self._led_to))]
        if part is not None and (part in avoided or part in self._taken()):
            return False
        self._parts[address] = part
        return True

    def _taken(self) -> set[bytes | None]:
        """The networks with a link or a starting link, including those of named peers once they answered."""
        linked = {
            self._book.part(link.host)
            for link in self._network.exchange.links
            if link.dialled is not None and not link.lan and ip_of(link.host) is not None
        }
        return (linked | set(self._parts.values())) - {None}

    def _greet(self, at: Now) -> None:
        """Dial back a node that others reported: it is passed on only after it proved its key."""
        if at.monotonic - self._greeted < _GREETING_SECONDS:
            return
        address = self._book.next_unproven(self._busy(), at.unix, self._rng)
        if address is None:
            return
        self._greeted = at.monotonic
        self._greetings[address] = asyncio.create_task(self._greet_once(address))

    async def _greet_once(self, address: Address) -> None:
        try:
            link = await self._network.link(
                address, named_by_stranger=self._book.is_strangers(address), only_greet=True
            )
            if link is None or not link.key:
                self._unreached(address)
        finally:
            self._greetings.pop(address, None)

    def _busy(self) -> Collection[Address]:
        links = self._network.exchange.links
        keys = {link.key for link in links if link.session.is_open}
        # A local address has no key; its pin shows whether that node is linked already.
        neighbours = [one for one in self._book.on_lan() if self._network.lan_pins.get(one.url) in keys]
        dialled = {link.dialled for link in links if link.dialled is not None}
        # Named peers have their own tasks; here they would only take others' places.
        return {*dialled, *self._found, *self._greetings, *neighbours, *self._named_addresses}

    def _drop_second(self, key: bytes) -> None:
        """Say goodbye on a local link to a node that is linked already. If both found and dialled each other, the
        node with the lower key keeps its link."""
        links = [link for link in self._network.exchange.links if link.key == key]
        for link in links:
            others = [other for other in links if other is not link and other.session.is_open]
            is_second = any(other.dialled is not None or key < self._network.key for other in others)
            if link.lan and link.dialled is not None and is_second:
                link.goodbye = link.session.close("linked already")

    def _take_in(self, link: Link, record: bytes, at: Now) -> None:
        try:
            opened = open_envelope(record, PeerBody, self._network_id, self._members)
            self._book.add_record(opened, at.unix, link.key if link.visit else link.source)
        except Refused as refused:
            self._refuse(link, refused.reason, at)

    def _refuse(self, link: Link, reason: Reason, at: Now) -> None:
        if reason is Reason.BAD_SIGNATURE:
            self._network.exchange.charge(link, reason, at)
        else:
            self._network.exchange.count(link, reason)

    async def close(self) -> None:
        """Close every link that was made here, and keep what was learned."""
        self.remember(now())
        tasks = [*self._named.values(), *self._found.values(), *self._greetings.values()]
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):  # a failure must not prevent the others from ending
                log.error("A link's task failed.", exc_info=result)
