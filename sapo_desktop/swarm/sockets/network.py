"""Sockets for the exchange: it listens, dials, hands frames in and sends what the sessions say.

With wire.py and dialling.py the only part of the swarm that does I/O. A link costs a bounded amount whatever its peer
does: two frames in, a small queue out, ten seconds to prove its key. Who does not read what was asked for is cut off,
and nobody waits for anybody else.
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
from random import SystemRandom

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
from sapo_desktop.swarm.protocol.events import Closed, Event, Opened
from sapo_desktop.swarm.protocol.handshake import NO_TLS, Me, Role
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.sockets.certificate import server_context
from sapo_desktop.swarm.sockets.dialling import Allows, ProxyFault, peer_certificate, proxy_of, reach
from sapo_desktop.swarm.sockets.door import MOST_UNPROVEN, Door, open_door
from sapo_desktop.swarm.sockets.fair_queue import SHARE, FairQueue, done_before
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
"""Of pool, shelf, and all that waits to be sent or read, together; above it the links that hold most are ended."""
_FIRST_DELAY, _LONGEST_DELAY = 1.0, 300.0
_LONGEST_ABSENCE = 86400.0
"""However long a peer asks to be left alone."""
_ANSWER_SECONDS = 10.0
"""Within which a peer that was only greeted says that it takes our key, or not."""
_LONGEST_WAIT = 4 / 3 * limits.IDLE_SECONDS
"""For whoever sends more than it was told to. So neither side takes the link for dead: a PING, which is due before this
is over, lets the peer hear of us however many of its messages wait."""
_SENT_LATELY = 10.0
"""Seconds for which whoever sent groups counts among those that share what can be taken; at least."""
_TURNS = 1.25 / limits.GROUPS_PER_SECOND
"""Of the time that one message takes at a pace: who sends that seldom counts too."""
_LASTING = 60.0
"""A link that held this long starts the waiting times anew."""
_MOST_PROXY_FAULTS = 256
_FAULTS = ("too many faults", "shut out", "still shut out", "handshake: ")
"""How a goodbye of ours begins that a peer's own doing brought about."""
_HUNG_UP = Closed("", 0, False)
"""How a greeting ended in whose midst the connection was closed."""
_NO_LINK = (
    OSError,
    InvalidHandshake,
    InvalidProxy,
    InvalidURI,
    ConnectionClosed,
    ssl.SSLError,
    TimeoutError,
    ValueError,  # a host that no resolver can be asked for
)

Heard = Callable[[Link, Event], None]
"""Told of what the exchange has no use for: Opened, Closed, addresses, statistics, catalogues."""


class _Rest:
    """Between two dials of one address: `seconds`, of which a peer that is heeded asked for the first `asked`."""

    def __init__(self, asked: float, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = loop.create_future()
        self.shortened = False
        self._asked_until = loop.time() + asked
        self._timer = loop.call_later(seconds, self.end)

    def shorten(self) -> None:
        """Rest no longer than the peer asked for."""
        self.shortened = True
        self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(self._asked_until, self.end)

    def end(self) -> None:
        """Dial now."""
        self._timer.cancel()
        if not self.over.done():
            self.over.set_result(None)


class Network:
    """Every connection of one node.

    Args:
        heard: called with each event that is not about groups.
        most_links: more are turned away with a word.
        proxy: what links are dialled through, as the setting of that name says it (proxies.py).
        at_home: private addresses are no part of the internet that may only have its share.
        most_memory: bytes; see MOST_MEMORY.
        share: seconds of work for peers in each second.
        paces: tell peers to send less where they send more than can be taken.
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
        """Of the frames of all links."""
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
        """What peers may send, where that is bounded by what can be taken."""
        self._certificate = NO_TLS
        self._tls: ssl.SSLContext | None = None
        self._turns_away = False
        self._rests: dict[Address, _Rest] = {}
        """Of the links that are kept, those that wait to be dialled again."""
        self._woke_at = float("-inf")
        """Monotonic seconds."""
        self.pins: dict[str, bytes] = {}
        """Keys proven first by peers whose address names none, by URL."""
        self.lan_pins: dict[str, bytes] = {}
        """The same of peers on the local network, where an address is somebody else's tomorrow: never kept on disk."""
        self.partings: dict[Address, Closed] = {}
        """How the last greeting ended of those that links are kept to and that take none."""
        self.silent: dict[Address, float] = {}
        """Of those that links are kept to, since when nobody answers there, Unix time."""
        self.on_fault: Callable[[str, str], None] = lambda host, reason: None
        """Told of each peer whose link was ended for its faults: its host, and why."""
        self.proxy_faults: dict[Address, Text] = {}
        """Of those dialled lately, the ones that the proxy did not connect us to, and why."""
        self.lan_is_open = False
        """Whether this node shows itself on the local network: who dials it from a private address is of there."""
        self._tag_secret = secrets.token_bytes(32)
        self._working = [self._keep(self._tick()), self._keep(self._gate.run())]

    # -- what is asked of it ---------------------------------------------------------------------------------

    @property
    def key(self) -> bytes:
        """Our own."""
        return self._me.signer.key

    async def listen(
        self, host: str, port: int, *, tls: ssl.SSLContext | None = None, certificate: bytes = NO_TLS
    ) -> int:
        """Take connections; returns the port. `certificate`: SHA-256 of the one in `tls`, DER encoded.

        Raises:
            OSError: the port cannot be had.
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
        """Return only by raising: what went wrong with the clockwork of all links, or that this was cancelled."""
        # Not gathered: a gathering that is let go of complains about what its parts were ended by.
        done, _ = await asyncio.wait(self._working, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    def dial(self, address: Address, *, named_by_stranger: bool = False) -> asyncio.Task[None]:
        """Keep a link to this address, for ever; cancel the task to give it up. `named_by_stranger`: as for `link`."""
        return self._keep(self._keep_link(address, named_by_stranger))

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
        """One link from dialling to its end; None where there was no connection. Its `key` says whether it opened.

        Args:
            named_by_stranger: dial nothing but hosts on the public internet, whatever their names stand for.
            on_lan: the address was found on the local network: dialled without a proxy, and whatever certificate is
                shown is taken. The handshake signs the certificate's hash, so the key that is proven is the key of
                whoever holds that certificate; whether it is one that we want is known only then.
            only_greet: say goodbye once the peer has proven its key and answered: it takes ours.
            visit: as for Exchange.attach.
            allows: asked which of the hosts that the address stands for may be dialled; behind a proxy, which looks
                up names by itself, about the host as it is written.
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
        except _NO_LINK as error:
            log.info("A peer could not be reached: %s", type(error).__name__)
            return None

    def proxy_words(self, address: Address) -> Text:
        """Which proxy leads to this address, to stand behind it in a sentence; empty without one."""
        proxy = proxy_of(self._proxy, address)
        if proxy is None:
            return ""
        return sentence(" (through the proxy {proxy}, from {source})", proxy=proxy.shown, source=proxy.source)

    def waiting(self, link: Link) -> int:
        """Bytes of a link that wait in this process, to be sent or to be looked at."""
        wire = self._wires.get(link)
        return wire.memory if wire is not None else 0

    def publish(self, envelope: bytes) -> None:
        """Offer an own group to every link."""
        self.exchange.publish(envelope, now())
        self._flush_all()

    async def in_turn(self, part: bytes, work: Callable[[], None]) -> None:
        """Do something for a peer that comes over no link, when it is its turn among those that do."""
        await self._gate.turn(part, asyncio.Event().wait, is_new=False)
        began = time.thread_time()
        work()
        self._gate.spent(time.thread_time() - began)

    def renew_certificate(self, certificate: Path, key: Path) -> None:
        """Show newcomers what is in these files now; links that are open stay. Who shakes hands in this moment may
        have to come again.

        Raises:
            UsageError: the files cannot be used; what was shown before stays.
        """
        _, proven = server_context(certificate, key)
        if self._tls is not None:
            self._tls.load_cert_chain(certificate, key)
            self._certificate = proven

    def turn_away(self) -> None:
        """Take no more links; those that are open stay."""
        self._turns_away = True

    def dial_anew(self) -> None:
        """Every link is dead: the computer slept, and sockets do not know it. Have them made again at once, but for
        those whose peers asked to be left alone for longer."""
        for wire in self._wires.values():
            wire.cut_off()
        self._woke_at = time.monotonic()
        for rest in self._rests.values():
            rest.shorten()

    def dial_now(self, address: Address) -> None:
        """A person asks for this address: where a link to it is kept, try again, whatever its peer said last."""
        self.partings.pop(address, None)
        if rest := self._rests.get(address):
            rest.end()

    async def close(self) -> None:
        """Say goodbye to everyone and end every task."""
        for link in list(self._wires):
            link.goodbye = link.session.close("going away")
            self._flush(link)
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

    async def _keep_link(self, address: Address, named_by_stranger: bool) -> None:
        try:
            await self._link_again_and_again(address, named_by_stranger)
        finally:
            self.partings.pop(address, None)
            self.silent.pop(address, None)
            self.proxy_faults.pop(address, None)

    async def _link_again_and_again(self, address: Address, named_by_stranger: bool) -> None:
        delay = _FIRST_DELAY
        while True:
            began = time.monotonic()
            link = await self.link(address, named_by_stranger=named_by_stranger)
            goodbye = link.goodbye if link else None
            if link is not None and not link.key:
                goodbye = goodbye or _HUNG_UP
            if link is not None and goodbye is not None and (goodbye.by_peer or not link.key):
                self.partings[address] = goodbye
            else:
                self.partings.pop(address, None)
            if link is None and address not in self.proxy_faults:
                self.silent.setdefault(address, time.time())
            else:
                self.silent.pop(address, None)
            # Only whoever has the key that we want may send us away for long.
            heeded = link is not None and link.key and goodbye is not None and goodbye.by_peer
            wait = min(_LONGEST_ABSENCE, goodbye.retry_after) if heeded and goodbye else 0.0
            if time.monotonic() - began > _LASTING or began < self._woke_at:
                delay = _FIRST_DELAY
            # Full jitter: a relay that comes back is not met by all of its peers in one second.
            rest = self._rests[address] = _Rest(wait, max(wait, SystemRandom().uniform(0, delay)))
            try:
                await rest.over
            finally:
                self._rests.pop(address, None)
                rest.end()
            delay = _FIRST_DELAY if rest.shortened else min(_LONGEST_DELAY, 2 * delay)

    async def _welcome(self, connection: ServerConnection) -> None:
        assert isinstance(connection, BoundedServer)
        for read in (connection.request, connection.response):
            if read is not None:
                read.headers.clear()  # nobody asks for them again: 3 KiB of each link
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
            if not was_seen:  # else its socket says when it is closed
                self._door.leave(peer)

    def _make_room(self, part: bytes) -> bool:
        """End the youngest link of the part of the internet that has most, where that is not the newcomer's own.

        Only of those that were dialled by their peers: whoever fills our places must not choose whom we talk to.
        """
        inbound = [link for link in self._wires if link.dialled is None and not link.session.is_closed]
        counts = Counter(link.part for link in inbound)
        largest, count = max(counts.items(), key=lambda item: item[1], default=(b"", 0))
        # With the newcomer its own part would have as many: nothing would be gained, and two parts could swap for ever.
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
        """Read until either side ends the link; then say what is left to say."""
        read_into(connection, self._tls_buffer)
        link = self.exchange.attach(session, part, dialled, tag=self._tag(part), lan=lan, visit=visit)
        link.host = host
        wire = self._wires[link] = Wire(connection, session, self.upload)
        writer = asyncio.create_task(wire.write())
        loop, enough = asyncio.get_running_loop(), None
        try:
            self._flush(link)
            # Backpressure: until this frame has had its turn nothing more is read. The library's two places fill up,
            # then TCP's window stops the peer. So no link fills our memory, or makes another one wait.
            while not session.is_closed:
                frame = await connection.recv()
                if not await self._may_come(connection, session, len(frame)):
                    break
                # A peer that sends more than its pace waits here by itself, without using up a turn.
                if overdue := session.overdue(time.monotonic()):
                    delay = asyncio.sleep(min(overdue, _LONGEST_WAIT))
                    if not await done_before(delay, connection.wait_closed()):
                        break
                is_new = not link.key or self.exchange.standing.is_new(link.key, time.time())
                if not await self._gate.turn(part, connection.wait_closed, is_new=is_new):
                    break
                # Of this thread's processor time, not of the clock: a busy computer is not the peer's doing.
                began = time.thread_time()
                if isinstance(frame, str):
                    told = self.exchange.charge(link, Reason.NOT_A_MESSAGE, now(), "text")
                else:
                    told = self.exchange.receive(link, frame, now())
                self._tell(link, told)
                self._gate.spent(time.thread_time() - began)
                # From now on it is none of the unproven, for whom there are few places.
                if session.is_open and dialled is None:
                    self._door.prove(connection.remote_address)
                if only_greet and session.is_open and enough is None:
                    # That it proved its key says nothing of ours: only an answer does.
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
                        # The goodbye gets its second; then the writer ends whatever is left.
                        await wire.drained()
            finally:
                writer.cancel()
                del self._wires[link]
                if link.goodbye and not link.goodbye.by_peer and link.goodbye.reason.startswith(_FAULTS):
                    self.on_fault(host, link.goodbye.reason)
                self.exchange.detach(link)
        return link

    async def _may_come(self, connection: Connection, session: Session, size: int) -> bool:
        """Wait until the download limit has room for a frame; False where its connection ended first. What is too
        long for a handshake is refused as it is: strangers must not use up the room of all."""
        if not self.download.rate or (not session.is_open and size > limits.MAX_HELLO):
            self.download.passed += size
            return True
        return await done_before(self.download.take(size), connection.wait_closed())

    def _end_greeting(self, link: Link, reason: str = "only a greeting") -> None:
        if link.session.is_open:
            link.goodbye = link.session.close(reason)
            self._flush(link)

    def _tell(self, link: Link, told: list[Event]) -> None:
        for event in told:
            if isinstance(event, Opened):
                log.info("A link opened.")
                if self.load is not None and self.load.is_paced:
                    link.session.pace(self.load.ms_per_group, self.load.together, time.monotonic())
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
        """End the links that hold most, until all together hold what they may."""
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
            # How late the loop wakes up says how busy it is (LoadControl.look).
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
        """Where peers send more than can be taken, or could send more than they may, tell them. `due`: when this was
        to be looked at."""
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
        """Our name for the part of the internet that the peer is in."""
        return hmac.digest(self._tag_secret, part_of_internet(host), "sha256")[:8]

    def _tag(self, part: bytes) -> bytes:
        """What others are told of it today."""
        day = int(time.time() // 86400).to_bytes(4, "big")
        return hmac.digest(self._tag_secret, day + part, "sha256")[:8]

    def _keep(self, work: object) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def now() -> Now:
    """This instant, for the exchange."""
    return Now(time.monotonic(), time.time())


def _refuse_browsers(connection: ServerConnection, request: Request) -> Response | None:
    """Only web pages send an Origin, and no page has any business here."""
    if "Origin" in request.headers:
        return connection.respond(http.HTTPStatus.FORBIDDEN, "This port is for SAPO peers.\n")
    return None
