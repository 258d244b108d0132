"""Does one relay hold two thousand sessions that send and ask as much as they may?

    python -m tests.attack.peers.load                     2,000 sessions for a quarter of an hour
    python -m tests.attack.peers.load --sessions 500 --minutes 5
    python -m tests.attack.peers.load --quick             60 sessions, 20 s

A real relay with TLS runs in its own process. One other process runs the sessions, each from its own network
(127.x.y.0/24). Each session has one group a second to send. It signs and sends as many as the product's session lets it
(one a second, or fewer if the relay asks), and requests sixteen as often as it may. A relay handles a link message by
message. So it answers a PING after a PUBLISH once that group can be served, and that is the time to servable. The
processes share this computer's cores, so the relay gets only what the sessions leave.
"""

import asyncio
import contextlib
import hashlib
import json
import random
import resource
import secrets
import socket
import ssl
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from random import Random
from urllib.request import urlopen

import msgspec
import psutil
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from sapo_desktop.core.resources import resource as shipped
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.catalogues import catalogue_id
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.giving import Giving, sample
from sapo_desktop.swarm.link import MOST_UNSENT, Link
from sapo_desktop.swarm.pool.pool import Path, Pool
from sapo_desktop.swarm.protocol import codec, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import ENVELOPE_VERSION, Answer, GroupBody, Opened
from sapo_desktop.swarm.protocol.events import Closed
from sapo_desktop.swarm.protocol.handshake import Me
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.dialling import client_tls
from sapo_desktop.swarm.sockets.network import MOST_MEMORY, now
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.worker.membership.joining import PUBLIC_SWARM
from tests.attack.peers.swarm import Program, start_relay
from tests.attack.sockets.nodes import shake_hands
from tests.bench.figure import Figure, arguments, at_least, at_most, cpu_seconds, exactly, show, tell
from tests.swarm.mesh import SLOT, Mesh, Peer
from tests.swarm.peers import TASK as TASK_ID
from tests.swarm.peers import group, group_body

SESSIONS, MINUTES = 2000, 15.0
SESSIONS_QUICK, SECONDS_QUICK = 60, 20.0
AT_ONCE = 16
"""Handshakes under way."""
IDLE_SECONDS = 5.0
PING_SECONDS = 1.1 * limits.PING_SECONDS
SMALL = 100
"""Bytes of a frame that may be a PONG."""
TASKS = 16
"""Tasks that each session uses in turn, since a key has few places an hour per task."""
ANSWERS = 8
INGEST_LINKS, INGEST_EACH = 200, 20
SAMPLES, SAMPLED_EACH = 200, 3
SPREAD = 65_536 - 512
"""Parts 127.x.y of the loopback network to come from."""


@dataclass
class Load:
    """What the sessions did and saw. Seconds where a float is a time."""

    handshakes: list[float] = field(default_factory=list)
    servable: list[float] = field(default_factory=list)
    due: int = 0
    published: int = 0
    ended: Counter[str] = field(default_factory=Counter)


class Client:
    """One session: the product's own, without a pool and without looking into what it gets."""

    def __init__(
        self,
        number: int,
        address: Address,
        tasks: Mapping[bytes, bool],
        tls: ssl.SSLContext,
        load: Load,
        giving: Giving,
    ) -> None:
        """`tasks`: the relay's, each with whether its answers are shared."""
        ids = tuple(tasks)
        self._signer = Signer(secrets.token_bytes(32))
        self._me = Me(signer=self._signer, network=PUBLIC_SWARM, tasks=ids, catalogue=catalogue_id(ids))
        self._tasks = [task for task, is_shared in tasks.items() if is_shared][:TASKS]
        self._slot = int(time.time() // limits.SLOT_SECONDS)
        self._address, self._tls, self._load, self._giving = address, tls, load, giving
        part = number % SPREAD + 256
        self._host = f"127.{part >> 8}.{part & 255}.1"
        self._index = 0
        self._pinged = float("-inf")
        self._waits = False
        """For a PONG."""
        self._goodbye = ""
        self._wire: ClientConnection | None = None
        self._link: Link | None = None

    async def greet(self) -> None:
        """Connect, and prove the key."""
        began = time.monotonic()
        self._wire = wire = await connect(
            f"wss://127.0.0.1:{self._address.port}",
            ssl=self._tls,
            subprotocols=[m.SUBPROTOCOL],  # type: ignore[list-item]
            compression=None,
            local_addr=(self._host, 0),
            ping_interval=None,
            open_timeout=60,
        )
        session = await shake_hands(wire, self._me, self._address.key)
        self._link = Link(session, b"")
        self._load.handshakes.append(time.monotonic() - began)

    async def work(self, until: float) -> None:
        """Send what credit allows and read whatever comes, until then."""
        assert self._wire is not None and self._link is not None
        reading = asyncio.create_task(self._read(self._wire, self._link.session))
        try:
            await asyncio.sleep(secrets.randbelow(5000) / 1000)
            await self._send(self._link, until)
        except (ConnectionClosed, OSError):
            self._load.ended[self._goodbye or "cut off"] += 1
        finally:
            reading.cancel()

    def leave(self) -> None:
        if self._wire is not None:
            self._wire.transport.abort()

    async def _send(self, link: Link, until: float) -> None:
        due, waiting = time.monotonic(), 0
        while due < until:
            if link.session.is_closed:
                raise ConnectionError(self._goodbye)
            self._load.due += 1
            at, waiting = now(), min(waiting + 1, MOST_UNSENT)
            room = min(waiting, limits.MAX_BATCH, int(link.session.credit(at.monotonic)[0]))
            if room >= min(link.session.groups_together, waiting):
                waiting -= self._publish(link, room, at)
            link.session.want(
                m.Want(ticket=secrets.token_bytes(16), n=limits.MAX_BATCH, tasks=self._tasks), at.monotonic
            )
            await self._flush()
            due += 1 / limits.GROUPS_PER_SECOND
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    def _publish(self, link: Link, groups: int, at: Now) -> int:
        """How many were sent. A PING goes after them where it is time for one."""
        link.offer_later([self._group() for _ in range(groups)])
        before = link.traffic.groups_out
        self._giving.offer(link, at)
        sent = link.traffic.groups_out - before
        self._load.published += sent
        if sent and not self._waits and at.monotonic >= self._pinged + PING_SECONDS:
            self._waits, self._pinged = True, at.monotonic
            link.session.ping(at.monotonic)
        return sent

    async def _flush(self) -> None:
        assert self._wire is not None and self._link is not None
        for frame in self._link.session.take():
            await self._wire.send(frame)

    async def _read(self, wire: ClientConnection, session: Session) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                frame = await wire.recv(decode=False)
                at = time.monotonic()
                if len(frame) < SMALL and isinstance(codec.decode(frame), m.Pong) and self._waits:
                    self._load.servable.append(at - self._pinged)
                    self._waits = False
                for event in session.receive(frame, at):
                    if isinstance(event, Closed):
                        self._goodbye = event.reason
                await self._flush()

    def _group(self) -> Opened[GroupBody]:
        """A sealed group of eight answers as long as the starter's."""
        place, task = divmod(self._index, len(self._tasks))
        back, index = divmod(place, limits.SHARED_INDICES)
        body = GroupBody(
            network=PUBLIC_SWARM,
            key=self._signer.key,
            instance=bytes(16),
            task=self._tasks[task],
            slot=self._slot - back,
            index=index,
            question=secrets.token_bytes(8),
            answers=_answers(),
        )
        self._index += 1
        return Opened(body, _sealed(self._signer, body))


class Relay:
    """The process, and what can be seen of it from outside."""

    def __init__(self, program: Program, address: Address, folder: FilePath, metrics: int) -> None:
        self.address = address
        catalogue = load_catalogue(shipped("tasks.toml"))
        self.tasks = {bytes.fromhex(value): catalogue.find(key)[1].shared for key, value in _ids(folder).items()}
        self._program = program
        self._process = psutil.Process(program.process.pid)
        while children := self._process.children():  # the command, then what it runs
            self._process = children[0]
        self._metrics = metrics

    @property
    def memory(self) -> int:
        """Resident bytes."""
        return int(self._process.memory_info().rss)

    @property
    def cpu(self) -> float:
        """Seconds so far."""
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def figures(self) -> dict[str, float]:
        """Its page for Prometheus, by name and label."""
        with urlopen(f"http://127.0.0.1:{self._metrics}/metrics", timeout=30) as page:
            lines = page.read().decode().splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}

    def end(self) -> None:
        self._program.kill()


def ingest() -> Figure:
    """How many groups a relay verifies and keeps in a CPU-second, without sockets: its exchange, links in memory."""
    mesh, relay = Mesh(), Peer(1, draws=False)
    frames = []
    for number in range(INGEST_LINKS):
        author = Peer(number + 2)
        mesh.wires.clear()  # it settles all at every join
        (_, (_, link)) = mesh.join(author, relay, tag=hashlib.sha256(author.signer.key).digest()[:16]).ends
        for index in range(INGEST_EACH):
            sealed = group(author.signer, slot=SLOT, index=index, answers=_answers())
            frames.append((link, codec.encode(m.Publish(batch=codec.pack_published([sealed])))))
    spent = cpu_seconds(lambda: [relay.exchange.receive(link, frame, mesh.now) for link, frame in frames])
    assert len(relay.exchange.giving.shelf) == len(frames)
    rate = len(frames) / spent
    return at_least("groups verified and kept, without sockets", rate, "a CPU-second", 4000)


def sampling() -> Figure:
    """How many WANTs a relay finds the groups for in a CPU-second, that each of 2,000 sessions sent it from a part of
    the internet of its own."""
    shelf, rng = Pool(b""), Random(1)
    for number in range(SESSIONS):
        key = number.to_bytes(32, "big")
        for index in range(SAMPLED_EACH):
            opened = Opened(group_body(key=key, instance=key[16:], index=index), key + bytes([index]))
            shelf.add(opened, Path(b"", b"", key[16:]), 0.0)
    wants = [m.Want(ticket=rng.randbytes(16), n=limits.MAX_BATCH, tasks=[TASK_ID]) for _ in range(SAMPLES)]
    spent = cpu_seconds(lambda: [sample(shelf, want, rng) for want in wants])
    return Figure("WANTs answered, without sockets", SAMPLES / spent, "a CPU-second")


def _sealed(signer: Signer, body: GroupBody) -> bytes:
    """Like the product's `seal`, without opening the result again, which is the relay's work here."""
    content = msgspec.msgpack.encode(body)
    signature = signer.sign(str(body.__struct_config__.tag), body.network, content)
    return msgspec.msgpack.encode([ENVELOPE_VERSION, content, signature])


def _answers() -> list[Answer]:
    """Eight answers, of a length as the starter's."""
    return [
        Answer(text=f"{random.getrandbits(100):b} <answer>{random.randrange(999)}</answer>", tokens=40)
        for _ in range(ANSWERS)
    ]


def _ids(folder: FilePath) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "cache" / "task-ids.json").read_text(encoding="utf-8"))["ids"]
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    given = parser.parse_args()
    count, seconds = (SESSIONS_QUICK, SECONDS_QUICK) if given.quick else (given.sessions, 60 * given.minutes)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    show((ingest(), sampling()), given)
    with tempfile.TemporaryDirectory(prefix="sapo-load-") as folder:
        show(asyncio.run(play(FilePath(folder), count, seconds)), given)


async def play(folder: FilePath, count: int, seconds: float) -> list[Figure]:
    """Greet, be idle, load, and say what came of it."""
    port = _free_port()
    program, address = await start_relay(folder, "127.0.0.1:0", "--metrics", str(port))
    relay = Relay(program, address, folder, port)
    load = Load()
    tls = client_tls(address, any_certificate=True)
    assert tls is not None
    giving = Giving(b"", Random(1))
    clients = [Client(number, address, relay.tasks, tls, load, giving) for number in range(count)]
    try:
        empty, spent, began = relay.memory, relay.cpu, time.monotonic()
        await _greet_all(clients)
        greeting, greeting_cpu = time.monotonic() - began, relay.cpu - spent
        tell(f"{count} sessions after {greeting:.0f} s")
        await asyncio.sleep(IDLE_SECONDS)
        idle, spent, peak = relay.memory, relay.cpu, relay.memory
        began = time.monotonic()
        working = asyncio.gather(*(client.work(began + seconds) for client in clients))
        while not working.done():
            await asyncio.wait([working], timeout=10)
            peak = max(peak, relay.memory)
            tell(f"{time.monotonic() - began:.0f} s: {load.published} published, {sum(load.ended.values())} ended")
        await working
        wall, cpu = time.monotonic() - began, relay.cpu - spent
        await asyncio.sleep(2.5)  # its page is a second old at most
        seen = await asyncio.to_thread(relay.figures)
        return list(_figures(count, load, seen, greeting, greeting_cpu, (empty, idle, peak), wall, cpu))
    finally:
        for client in clients:
            client.leave()
        relay.end()


async def _greet_all(clients: list[Client]) -> None:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(client: Client) -> None:
        async with places:
            await client.greet()

    await asyncio.gather(*map(one, clients))


def _figures(
    count: int,
    load: Load,
    seen: dict[str, float],
    greeting: float,
    greeting_cpu: float,
    memory: tuple[int, int, int],
    wall: float,
    cpu: float,
) -> Iterator[Figure]:
    empty, idle, peak = memory
    name = f"of {count:,} sessions, after {wall:.0f} s, ended or not open at the end"
    ended = max(count - seen['sapo_relay_links{dialled="them"}'], load.ended.total())
    note = ", ".join(f"{number} x {reason}" for reason, number in load.ended.items())
    yield exactly(name, ended, "sessions", 0, note)
    came = seen['sapo_relay_groups_total{way="in"}']
    refused = [name for name, value in seen.items() if name.startswith("sapo_relay_refused") and value]
    note = f"of {load.published}, {load.published / wall:.0f}/s, of {load.due} that were due; "
    note += ", ".join(refused) or "none refused"
    yield exactly("groups published and not taken", load.published - came, "groups", 0, note)
    allowed = 1 / seen["sapo_relay_seconds_per_group"]
    yield Figure("what a session may send at the end", allowed, "groups a second")
    times = sorted(load.servable)
    late = times[int(0.99 * len(times))]
    note = f"half within {times[len(times) // 2]:.3f} s, of {len(times)}; the sessions' own waiting included"
    yield at_most("from PUBLISH to servable, 99% within", late, "s", 1, note)
    yield Figure("groups served", seen['sapo_relay_groups_total{way="out"}'], "groups")
    yield at_most("memory of an idle session", (idle - empty) / count / limits.KIB, "KiB", 40)
    # Empty, all that it may hold, and its sessions.
    most = round((empty + MOST_MEMORY + 40 * limits.KIB * count) / limits.KIB**2)
    yield at_most("most memory of the relay", peak / limits.KIB**2, "MiB", most)
    note = f"{came / cpu:.0f} groups taken, and as many served, for a CPU-second"
    yield Figure("relay's processor", cpu / wall, "cores", note=note)
    for way in ("in", "out"):
        carried = seen[f'sapo_relay_bytes_total{{way="{way}"}}']
        yield Figure(f"traffic {way}, frames without TLS and TCP", 8 * carried / wall / 1e6, "Mbit/s")
    note = f"{count / greeting_cpu:.0f} for a CPU-second of the relay; the other side's work took the rest"
    yield at_least("handshakes", count / greeting, "a second", 200, note)


def _free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
