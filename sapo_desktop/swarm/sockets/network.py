"""Sockets for the exchange: it listens, dials, passes frames on and sends what the sessions produce.

With wire.py and dialling.py, the only part of the swarm with I/O. The cost of a link is bounded whatever its peer does:
two incoming frames, a small outgoing queue, ten seconds to prove its key. A peer that does not read what it asked for
is cut off, and nobody waits for anybody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import http
import logging
import secrets
import ssl
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidProxy, InvalidURI
from websockets.http11 import Request, Response

from sapo_desktop.core.network.pace import Pace
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.swarm.addresses.address import Address, is_private, part_of_internet
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.events import Asked, Event, Opened
from sapo_desktop.swarm.protocol.handshake import NO_TLS, Me, Role
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.sockets.certificate import server_context
from sapo_desktop.swarm.sockets.dialling import Allows, ProxyFault, peer_certificate, proxy_of, reach
from sapo_desktop.swarm.sockets.door import MOST_UNPROVEN, Door, open_door
from sapo_desktop.swarm.sockets.fair_queue import SHARE, FairQueue, done_before
from sapo_desktop.swarm.sockets.kept_links import KeptLinks
from sapo_desktop.swarm.sockets.load_control import LoadControl
from sapo_desktop.swarm.sockets.wire import (
    PARTING_SECONDS,
    BoundedServer,
    Connection,
    Wire,
    options,
    read_into,
    read_tls_in_small_parts,
    remote_host,
    tls_buffer,
    tls_times,
)

log = logging.getLogger(__name__)

TICK_SECONDS = 1.0
MOST_MEMORY = 256 * limits.KIB * limits.KIB
"""Bytes of pool, shelf and all queues together; above this, the links with the largest queues are ended."""
_ANSWER_SECONDS = 10.0
"""How long a greeted peer may take to accept our key or not."""
_LONGEST_WAIT = 4 / 3 * limits.IDLE_SECONDS
"""For a peer that exceeds its pace. Shorter than the time after which a link counts as dead: a PING, which is due
before, reaches the peer however many of its messages wait."""
_SENT_LATELY = 10.0
"""Minimum seconds for which a peer that sent groups counts as a sender."""
_TURNS = 1.25 / limits.GROUPS_PER_SECOND
"""In multiples of the time between messages at the current pace, so that rare senders count, too."""
_MOST_PROXY_FAULTS = 256
_FAULTS = ("too many faults", "shut out", "still shut out", "handshake: ")
"""Prefix of our goodbyes that are the peer's own fault."""
NO_LINK = (
    OSError,
    InvalidHandshake,
    InvalidProxy,
    InvalidURI,
    ConnectionClosed,
    ssl.SSLError,
    TimeoutError,
    ValueError,  # a host name that no resolver accepts
)

Heard = Callable[[Link, Event], None]
"""Called with what the exchange does not use: Opened, Closed, addresses, statistics, catalogues."""


class Network:
    """All connections of one node.

    Args:
        heard: called with each event that is not about groups.
        most_links: further ones are refused with a message.
        proxy: for links, in the form of the setting `proxy` (proxies.py).
        at_home: private addresses do not count as one network with a limited share.
        most_memory: bytes; see MOST_MEMORY.
        share: seconds of work for peers per second.
        paces: tell peers to send less if they send more than can be handled.
    """

    def __init__(
        self,
        exchange: Exchange,
        me: Me,
        heard: Heard | None = None,
        *,
        most_links: int = 2000,
        proxy: str = "",
        at_home: bool = False,
        most_memory: int = MOST_MEMORY,
        share: float = SHARE,
        paces: bool = False,
    ) -> None:
        read_tls_in_small_parts()
        self._tls_buffer = tls_buffer()
        self.exchange = exchange
        self._me = me
        self.upload, self.download = Pace(), Pace()
        """Frames of all links."""
        self.heard: Heard = heard or (lambda link, event: None)
        self._most_links = most_links
        self._proxy = proxy
        self._wires: dict[Link, Wire] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: list[Server] = []
        self._door = Door(most_links + MOST_UNPROVEN, at_home=at_home)
        self._most_memory = most_memory
        self._gate = FairQueue(share)
        self.load = LoadControl(time.monotonic(), time.thread_time()) if paces else None
        """What peers may send, if that is limited by what can be handled."""
        self._certificate = NO_TLS
        self._tls: ssl.SSLContext | None = None
        self._turns_away = False
        self.pins: dict[str, bytes] = {}
        """First proven keys of peers whose address names none, by URL."""
        self.lan_pins: dict[str, bytes] = {}
        """The same for peers on the local network, whose address may belong to another node tomorrow: never stored
        on disk."""
        self.on_fault: Callable[[str, str], None] = lambda host, reason: None
        """Called for each peer whose link was ended for its faults: its host, and why."""
        self.proxy_faults: dict[Address, Text] = {}
        """For recently dialled addresses: those to which the proxy did not connect, and why."""
        self.kept = KeptLinks(self)
        self.lan_is_open = False
        """Whether this node announces itself on the local network, so that peers that dial from a private address
        are local."""
        self._tag_secret = secrets.token_bytes(32)
        self._working = [self._keep(self._tick()), self._keep(self._gate.run())]

    # -- requests -------------------------------------------------------------------------------------------

    @property
    def key(self) -> bytes:
        """Our own."""
        return self._me.signer.key

    async def listen(
        self, host: str, port: int, *, tls: ssl.SSLContext | None = None, certificate: bytes = NO_TLS
    ) -> int:
        """Accept connections; returns the port. `certificate`: SHA-256 of the one in `tls`, DER encoded.

        Raises:
            OSError: the port is not available.
        """
        self._certificate, self._tls = certificate, tls
        sockets = await open_door(host, port, self._door)
        for listening in sockets:
            server = await serve(
                self._welcome,
                sock=listening,
                ssl=tls,
                process_request=_refuse_browsers,
                server_header=None,
                create_connection=BoundedServer,
                **options(),
                **tls_times(tls),
            )
            self._servers.append(server)
        found: int = sockets[0].getsockname()[1]
        return found

    async def run(self) -> None:
        """Run all links; returns only by raising an error of the central tasks, or when cancelled."""
        # Not gathered: an abandoned gather logs the exceptions of its parts.
        done, _ = await asyncio.wait(self._working, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    def dial(self, address: Address, *, named_by_stranger: bool = False) -> asyncio.Task[None]:
        """Keep a link to this address; cancel the task to end it. `named_by_stranger`: as for `link`."""
        return self._keep(self.kept.keep(address, named_by_stranger=named_by_stranger))

    async def link(
        self,
        address: Address,
        *,
        named_by_stranger: bool = False,
        on_lan: bool = False,
        only_greet: bool = False,
        visit: bool = False,
        allows: Allows | None = None,
    ) -> Link | None:
        """One link from dialling to its end; None if there was no connection. Its `key` shows whether it opened.

        Args:
            named_by_stranger: dial only hosts on the public internet, whatever their names resolve to.
            on_lan: the address was found on the local network: dialled without a proxy, and any certificate is
                accepted. The handshake signs the certificate's hash, so the proven key belongs to the holder of that
                certificate; whether it is one that we want is known only then.
            only_greet: say goodbye once the peer has proven its key and accepted ours.
            visit: as for Exchange.attach.
            allows: decides which of the address's hosts may be dialled; behind a proxy, which resolves names itself,
                about the host as written.
        """
        self.proxy_faults.pop(address, None)
        try:
            reached = reach(address, self._proxy, named_by_stranger=named_by_stranger, on_lan=on_lan, allows=allows)
            async with reached as (connection, host):
                key = address.key or (self.lan_pins if on_lan else self.pins).get(address.url)
                session = self._session("client", peer_certificate(connection), key)
                return await self._converse(
                    connection, session, host, self._part(host), address, lan=on_lan, only_greet=only_greet, visit=visit
                )
        except ProxyFault as fault:
            log.warning("The proxy made no connection to a peer.")
            self.proxy_faults[address] = fault.text
            if len(self.proxy_faults) > _MOST_PROXY_FAULTS:
                self.proxy_faults.pop(next(iter(self.proxy_faults)))
            return None
        except NO_LINK as error:
            log.info("A peer could not be reached: %s", type(error).__name__)
            return None

    def proxy_words(self, address: Address) -> Text:
        """The proxy for this address, as a suffix for a sentence; empty without one."""
        proxy = proxy_of(self._proxy, address)
        if proxy is None:
            return ""
        return sentence(" (through the proxy {proxy}, from {source})", proxy=proxy.shown, source=proxy.source)

    def waiting(self, link: Link) -> int:
        """Bytes of a link that wait in this process, to be sent or handled."""
        wire = self._wires.get(link)
        return wire.memory if wire is not None else 0

    def publish(self, envelope: bytes) -> None:
        """Offer an own group to every link."""
        self.exchange.publish(envelope, now())
        self._flush_all()

    async def in_turn(self, part: bytes, work: Callable[[], None]) -> None:
        """Do something for a peer without a link, when it is its turn."""
        await self._gate.turn(part, asyncio.Event().wait, is_new=False)
        began = time.thread_time()
        work()
        self._gate.spent(time.thread_time() - began)

    def renew_certificate(self, certificate: Path, key: Path) -> None:
        """Use the current content of these files for new connections; open links stay. A handshake in progress may have
        to be repeated.

        Raises:
            UsageError: the files cannot be used; the previous certificate stays.
        """
        _, proven = server_context(certificate, key)
        if self._tls is not None:
            self._tls.load_cert_chain(certificate, key)
            self._certificate = proven

    def turn_away(self) -> None:
        """Accept no more links; open ones stay."""
        self._turns_away = True

    def dial_again(self) -> None:
        """All links are dead because the computer slept, which sockets do not notice. Reconnect at once, except to
        peers that asked for a longer wait."""
        for wire in self._wires.values():
            wire.cut_off()
        self.kept.woke_up()

    async def close(self) -> None:
        """Say goodbye to all and end every task."""
        for link in list(self._wires):
            link.goodbye = link.session.close("going away")
            self._flush(link)
            # The library waits forever for a peer that began to close and then does not end its connection.
            self._wires[link].end_soon()
        if self._wires:
            await asyncio.wait(
                [asyncio.ensure_future(wire.drained()) for wire in self._wires.values()], timeout=PARTING_SECONDS
            )
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for server in self._servers:
            server.close()
            await server.wait_closed()

    # -- connections -----------------------------------------------------------------------------------------

    async def _welcome(self, connection: ServerConnection) -> None:
        assert isinstance(connection, BoundedServer)
        for read in (connection.request, connection.response):
            if read is not None:
                read.headers.clear()  # not needed any more: 3 KiB per link
        session = self._session("server", self._certificate, None)
        host = remote_host(connection)
        part = self._part(host)
        peer = connection.remote_address
        was_seen = self._door.has(peer)
        connection.when_flooded = lambda: self._door.distrust(peer)
        if not was_seen and not self._door.enter(peer, connection.transport.abort):
            session.close("busy", retry_after=10)
        elif self._turns_away:
            session.close("going away")
        elif len(self._wires) >= self._most_links and not self._make_room(part):
            session.close("no room for another link", retry_after=60)
        lan = self.lan_is_open and is_private(host)
        try:
            await self._converse(connection, session, host, part, lan=lan)
        finally:
            if not was_seen:  # otherwise its socket reports when it closes
                self._door.leave(peer)

    def _make_room(self, part: bytes) -> bool:
        """End the youngest link of the network with most links, unless that is the newcomer's own.

        Only links that peers dialled: a peer that fills our places must not choose our links.
        """
        inbound = [link for link in self._wires if link.dialled is None and not link.session.is_closed]
        counts = Counter(link.part for link in inbound)
        largest, count = max(counts.items(), key=lambda item: item[1], default=(b"", 0))
        # With the newcomer its own network would have as many: nothing gained, and two networks could swap forever.
        if count <= counts[part] + 1:
            return False
        youngest = max((link for link in inbound if link.part == largest), key=lambda link: link.opened)
        youngest.goodbye = youngest.session.close("making room for others", retry_after=60)
        self._flush(youngest)
        self._wires[youngest].end_soon()
        return True

    def _session(self, role: Role, certificate: bytes, key: bytes | None) -> Session:
        return Session(
            role,
            self._me,
            nonce=secrets.token_bytes(32),
            unix_time=time.time(),
            now=time.monotonic(),
            certificate=certificate,
            expected_key=key,
        )

    async def _converse(
        self,
        connection: Connection,
        session: Session,
        host: str,
        part: bytes,
        dialled: Address | None = None,
        *,
        lan: bool = False,
        only_greet: bool = False,
        visit: bool = False,
    ) -> Link:
        """Read until either side ends the link; then send the rest."""
        read_into(connection, self._tls_buffer)
        link = self.exchange.attach(session, part, dialled, tag=self._tag(part), lan=lan, visit=visit)
        link.host = host
        wire = self._wires[link] = Wire(connection, session, self.upload)
        writer = asyncio.create_task(wire.write())
        loop, enough = asyncio.get_running_loop(), None
        try:
            self._flush(link)
            # Backpressure: nothing more is read until this frame had its turn. The library's two places fill up, then
            # TCP's window stops the peer. So no link fills our memory or delays another one.
            while not session.is_closed:
                frame = await connection.recv()
                if not await self._may_come(connection, session, len(frame)):
                    break
                # A peer that exceeds its pace waits here by itself, without using a turn.
                if overdue := session.overdue(time.monotonic()):
                    delay = asyncio.sleep(min(overdue, _LONGEST_WAIT))
                    if not await done_before(delay, connection.wait_closed()):
                        break
                is_new = not link.key or self.exchange.standing.is_new(link.key, time.time())
                if not await self._gate.turn(part, connection.wait_closed, is_new=is_new):
                    break
                # This thread's processor time, not wall time: a busy computer is not the peer's fault.
                began = time.thread_time()
                if isinstance(frame, str):
                    events = self.exchange.charge(link, Reason.NOT_A_MESSAGE, now(), "text")
                else:
                    events = self.exchange.receive(link, frame, now())
                self._tell(link, events)
                self._gate.spent(time.thread_time() - began)
                # From now on it does not count among the unproven, which have few places.
                if session.is_open and dialled is None:
                    self._door.prove(connection.remote_address)
                if only_greet and session.is_open and enough is None:
                    # Its proof does not mean that it accepts our key: only an answer does.
                    session.ping(time.monotonic())
                    enough = loop.call_later(_ANSWER_SECONDS, self._end_greeting, link, "silent for too long")
                elif only_greet and session.is_open and session.latency is not None:
                    self._end_greeting(link)
                self._flush(link)
        except ConnectionClosed:
            log.debug("A link ended.")
        finally:
            if enough is not None:
                enough.cancel()
            if connection.flooded:
                self._tell(link, self.exchange.flooded(link, now()))
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(PARTING_SECONDS):
                        # The goodbye gets its second; then the writer drops the rest.
                        await wire.drained()
            finally:
                writer.cancel()
                del self._wires[link]
                if link.goodbye and not link.goodbye.by_peer and link.goodbye.reason.startswith(_FAULTS):
                    self.on_fault(host, link.goodbye.reason)
                self.exchange.detach(link)
        return link

    async def _may_come(self, connection: Connection, session: Session, size: int) -> bool:
        """Wait until the download limit allows a frame; False if its connection ended first. Frames too long for a
        handshake are refused unread: strangers must not use up everybody's share."""
        if not self.download.rate or (not session.is_open and size > limits.MAX_HELLO):
            self.download.passed += size
            return True
        return await done_before(self.download.take(size), connection.wait_closed())

    def _end_greeting(self, link: Link, reason: str = "only a greeting") -> None:
        if link.session.is_open:
            link.goodbye = link.session.close(reason)
            self._flush(link)

    def _tell(self, link: Link, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Opened):
                log.info("A link opened.")
                if self.load is not None and self.load.is_paced:
                    link.session.pace(self.load.ms_per_group, self.load.together, time.monotonic())
            if isinstance(event, Asked) and self._me.porch is not None:
                answer = self._me.porch.knock(event.key, event.label, link.part, time.monotonic())
                link.goodbye = link.session.close(answer.reason, answer.retry_after, answer.admission)
            self.heard(link, event)

    def _flush(self, link: Link) -> None:
        wire = self._wires.get(link)
        if wire is not None:
            frames = link.session.take()
            link.traffic.bytes_out += sum(map(len, frames))
            wire.put(frames)

    def _flush_all(self) -> None:
        for link in list(self._wires):
            self._flush(link)

    def _keep_within_memory(self) -> None:
        """End the links with the largest queues, until all together are within the limit."""
        held = {link: wire.memory for link, wire in self._wires.items()}
        total = self.exchange.held_bytes + sum(held.values())
        for link in sorted(held, key=held.__getitem__, reverse=True):
            if total <= self._most_memory or not held[link]:
                return
            log.warning("What waits for peers takes too much memory: the link that holds most is ended.")
            self._wires[link].cut_off()
            total -= held[link]

    async def _tick(self) -> None:
        while True:
            # How late the loop wakes up shows how busy it is (LoadControl.look).
            due = time.monotonic() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            self._keep_up(time.monotonic(), due)
            self.exchange.tick(now())
            self._flush_all()
            self._keep_within_memory()
            for link, wire in list(self._wires.items()):
                if link.session.is_closed:
                    wire.end_soon()

    def _keep_up(self, at: float, due: float) -> None:
        """If peers send more than can be handled, or could send more than they may, tell them. `due`: when this
        check was planned."""
        if self.load is None:
            return
        links = self.exchange.links
        taken = self.exchange.past.groups_in + sum(link.traffic.groups_in for link in links)
        lately = max(_SENT_LATELY, _TURNS * self.load.together / self.load.share)
        senders = sum(link.published > at - lately for link in links)
        waiting, processor = self._gate.waiting, time.thread_time()
        if self.load.look(at, processor, taken, senders=senders, waiting=waiting, late=at - due):
            log.info("Peers may send a group in %d ms, %d together.", self.load.ms_per_group, self.load.together)
            for link in links:
                link.session.pace(self.load.ms_per_group, self.load.together, at)

    def _part(self, host: str) -> bytes:
        """Our own name of the peer's network."""
        return hmac.digest(self._tag_secret, part_of_internet(host), "sha256")[:8]

    def _tag(self, part: bytes) -> bytes:
        """The name that others get for it today."""
        day = int(time.time() // 86400).to_bytes(4, "big")
        return hmac.digest(self._tag_secret, day + part, "sha256")[:8]

    def _keep(self, work: object) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def now() -> Now:
    """The current moment, for the exchange."""
    return Now(time.monotonic(), time.time())


def _refuse_browsers(connection: ServerConnection, request: Request) -> Response | None:
    """Only web pages send an Origin, and none may connect here."""
    if "Origin" in request.headers:
        return connection.respond(http.HTTPStatus.FORBIDDEN, "This port is for SAPO peers.\n")
    return None
