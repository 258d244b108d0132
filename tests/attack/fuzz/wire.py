"""Fuzz targets for input from peers: frames, a session, an exchange, signed bodies, invites and addresses."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import msgspec

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.invite import Invite, asks_first
from sapo_desktop.swarm.addresses.address import Address, part_of_internet
from sapo_desktop.swarm.addresses.book import AddressBook
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.protocol import codec
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import (
    ENVELOPE_VERSION,
    GroupBody,
    PeerBody,
    StatsBody,
    open_envelope,
    seal,
)
from sapo_desktop.swarm.protocol.limits import SEND_QUEUE
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.trust.standing import Standing
from tests.attack.fuzz.target import Target, patch, patched
from tests.swarm.mesh import START, check
from tests.swarm.peers import ALICE, BOB, NETWORK, TASK, group, group_body, me, session, want

PATCH = patch((9, b"\xc1"))
TICKET = b"w" * 16
_HEAD = struct.Struct("<BH")
_FRAME, _TIME, _ASK = range(3)


def messages() -> list[m.Any]:
    """One of each kind."""
    stats = seal(ALICE, StatsBody(network=NETWORK, key=ALICE.key, time=int(START.unix), round=3, reward=0.5))
    return [
        m.CatalogueReq(),
        m.Catalogue(tasks=[TASK]),
        m.Credit(links=2),
        m.Credit(ms_per_group=2500, together=8),
        m.Publish(batch=codec.pack_published([group(), group(index=1)])),
        want(TICKET),
        want(TICKET, held=b"\1"),
        m.Groups(ticket=TICKET, batch=codec.pack_sourced([m.Sourced(envelope=group(), relay=BOB.key, tag=b"t")])),
        m.PeersReq(),
        m.Peers(records=[record()]),
        m.Stats(envelope=stats),
        m.Ping(number=7),
        m.Pong(number=7),
        m.Goodbye(reason="enough", retry_after=60, admission=bytes(72)),
    ]


def record() -> bytes:
    """Alice's address."""
    address = f"wss://relay.example:8765#{ALICE.key.hex()}"
    return seal(ALICE, PeerBody(network=NETWORK, key=ALICE.key, time=int(START.unix), address=address))


def frames() -> list[bytes]:
    """One of each kind, the handshake's too."""
    client = session("client", me(ALICE))
    server = session("server", me(BOB))
    (hello,) = client.take()
    server.receive(hello, 0.0)
    (asks,) = session("client", me(ALICE, asks="anna")).take()
    return [hello, asks, *server.take(), *map(codec.encode, messages())]


def _decode(folder: Path) -> Callable[[bytes], None]:
    """Half of the inputs are frames, half patch a valid one."""
    good = frames()

    def one(data: bytes) -> None:
        if data[:1] >= b"\xc0":
            data = patched(good[data[0] % len(good)], data[1:])
        message = codec.decode(data)
        codec.encode(message)  # anything that decodes is small enough to be encoded again
        if isinstance(message, m.Publish):
            codec.unpack_published(message.batch)
        if isinstance(message, m.Groups):
            codec.unpack_sourced(message.batch)

    return one


def _unpacked(folder: Path) -> Callable[[bytes], None]:
    def one(data: bytes) -> None:
        try:
            codec.unpack_published(data)
        except Refused:
            codec.unpack_sourced(data)

    return one


# -- a session and an exchange ---------------------------------------------------------------------------------------


def script(*steps: tuple[int, bytes]) -> bytes:
    """An input of `_session`: a sequence of events on a link."""
    return b"".join(_HEAD.pack(kind, len(content)) + content for kind, content in steps)


def steps(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The events of an input; the last one may be cut."""
    at = 0
    while at + _HEAD.size <= len(data):
        kind, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield kind % 3, data[at : at + length]
        at += length


def scripts() -> list[bytes]:
    sent = [codec.encode(message) for message in messages()]
    alone = [script((_ASK, b"\0"), (_FRAME, frame)) for frame in sent]
    return [
        *alone,
        script((_ASK, b"\0"), *((_FRAME, frame) for frame in sent[:-1]), (_TIME, b"\xff"), (_TIME, b"\7")),
    ]


def _session(folder: Path) -> Callable[[bytes], None]:
    """Half of the inputs begin before the handshake, half after it."""
    client = session("client", me(ALICE))
    hello = client.take()[0]

    def one(data: bytes) -> None:
        ours = session("server", me(BOB), now=0.0)
        if data[:1] >= b"\x80":
            ours = session("client", me(ALICE), now=0.0)
        elif data[:1] >= b"\x20":
            open_up(ours)
        elif data[:1] >= b"\x10":
            ours.receive(hello, 0.0)
        drive(ours, data[1:], ours.receive)

    return one


def open_up(ours: Session) -> None:
    """Shake hands with it."""
    other = session("client", me(ALICE))
    for _ in range(2):
        for frame in other.take():
            ours.receive(frame, 0.0)
        for frame in ours.take():
            other.receive(frame, 0.0)
    assert ours.is_open


def drive(ours: Session, data: bytes, receive: Callable[[bytes, float], object]) -> None:
    """Apply an input's events to a link, and check its bounds throughout."""
    now = 0.0
    for kind, content in steps(data):
        if kind == _FRAME:
            receive(content, now)
        elif kind == _TIME:
            now += sum(content[:8])
            ours.tick(now)
        else:
            ours.want(want(TICKET, n=1 + sum(content[:1]) % 16), now)
            ours.ask_catalogue()
            ours.ask_peers(now)
        assert ours.waiting <= SEND_QUEUE + 4096, f"{ours.waiting} bytes wait"
        assert not (ours.is_open and ours.is_closed)
        if len(content) % 2:
            ours.take()


def _exchange(folder: Path) -> Callable[[bytes], None]:
    def one(data: bytes) -> None:
        node = Exchange(BOB.key, NETWORK, check, Standing(), Random(1))
        ours = session("server", me(BOB), now=0.0)
        link = node.attach(ours, b"tag")
        other = session("client", me(ALICE))
        for _ in range(2):
            for frame in other.take():
                node.receive(link, frame, START)
            for frame in ours.take():
                other.receive(frame, 0.0)
        node.want([TASK], 8)

        def receive(frame: bytes, now: float) -> None:
            at = Now(now, START.unix + now)
            node.receive(link, frame, at)
            node.tick(at)
            node.draw(4, at)

        drive(ours, data, receive)
        node.detach(link)

    return one


# -- what is signed --------------------------------------------------------------------------------------------------


def _signed(folder: Path) -> Callable[[bytes], None]:
    """Bodies with a valid signature: anyone with a key can sign anything."""
    kinds: tuple[type[GroupBody | StatsBody | PeerBody], ...] = (GroupBody, StatsBody, PeerBody)
    book = AddressBook(BOB.key, b"s" * 32)

    def one(data: bytes) -> None:
        kind = kinds[sum(data[:1]) % 3]
        content = data[1:]
        signature = ALICE.sign(str(kind.__struct_config__.tag), NETWORK, content)
        opened = open_envelope(msgspec.msgpack.encode([ENVELOPE_VERSION, content, signature]), kind, NETWORK)
        if isinstance(opened.body, PeerBody):
            book.add_record(opened, START.unix)  # type: ignore[arg-type]
            book.next_to_dial([], START.unix, Random(1))

    return one


def bodies() -> list[bytes]:
    stats = StatsBody(network=NETWORK, key=ALICE.key, time=1, round=3, reward=0.5, label="a")
    of_peer = open_envelope(record(), PeerBody, NETWORK).body
    return [bytes([n]) + msgspec.msgpack.encode(body) for n, body in enumerate((group_body(), stats, of_peer))]


# -- links that a person follows -------------------------------------------------------------------------------------


def _invite(folder: Path) -> Callable[[bytes], None]:
    def one(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        try:
            invite = Invite.parse(text)
        except UsageError as error:
            str(error)
        else:
            assert Invite.parse(str(invite)) == invite, "an invite is not what it says"
            str(asks_first(invite))
        address = Address.parse(text)
        assert Address.parse(str(address)) == address, "an address is not what it says"
        part_of_internet(address.host)
        assert isinstance(address.is_public, bool)
        assert isinstance(address.is_loopback, bool)

    return one


def links() -> list[bytes]:
    key = ALICE.key.hex()
    invite = Invite(key, (f"wss://relay.example:8765#{key}", "wss://[2001:db8::1]:443"), "ab" * 72)
    return [str(invite).encode(), f"wss://relay.example:8765#{key}".encode(), b"ws://127.0.0.1:9/", b"wss://[::1]:8765"]


_SWARM = ("sapo_desktop.swarm", "sapo_desktop.core.network")
_NAMES = tuple(
    name.encode()
    for kind in (*map(type, messages()), m.Hello, m.Auth, m.Sourced, GroupBody, StatsBody, PeerBody)
    for name in (str(kind.__struct_config__.tag or ""), *kind.__struct_fields__)  # type: ignore[attr-defined]
    if name
)
WIRE = {
    "frames": Target(
        _decode, lambda: [*frames(), *(bytes([0xC0 + n]) + PATCH for n in range(16))], _SWARM, (Refused,), _NAMES
    ),
    "batches": Target(
        _unpacked,
        lambda: [codec.pack_published([group()]), codec.pack_sourced([m.Sourced(envelope=group())])],
        _SWARM,
        (Refused,),
    ),
    "session": Target(_session, lambda: [b"\x40" + one for one in scripts()], _SWARM, (), _NAMES),
    "exchange": Target(_exchange, scripts, _SWARM, (), _NAMES),
    "bodies": Target(_signed, bodies, _SWARM, (Refused,), _NAMES),
    "links": Target(
        _invite, links, _SWARM, (UsageError,), (b"sapo://join?", b"swarm=", b"&peer=", b"&admission=", b"wss://")
    ),
}
