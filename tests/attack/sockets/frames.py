"""Frames without a message: PINGs before any HELLO, over a proven link, and to a node that has cut its peer off.

    python -m tests.attack.sockets.frames                   10 s a scene
    python -m tests.attack.sockets.frames --quick           3 s a scene

A real node runs in its own process on this computer. The attacker reconnects whenever it is cut off, from another
network (127.9.0.0/24) than the honest peer. How long does an honest opening take meanwhile? What share of a core does a
proven link cost that pings at 0.3 MB/s? How many bytes of log can a peer make the node write?
"""

import asyncio
import contextlib
import logging
import multiprocessing
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.system.logs import begin_log, open_log
from tests.attack.sockets.nodes import a_network, shake_hands
from tests.bench.figure import Figure, arguments, at_most, show, tell
from tests.swarm.peers import me

ATTACKER = ("127.9.0.5", 0)
PING = b"\x89\x80" + bytes(4)
PARTS = b"\x02\x80" + bytes(4) + (b"\x00\x80" + bytes(4)) * 999
SMALLEST = b"\x82\x80" + bytes(4)
BEFORE_HELLO, PROVEN = 460_000, 300_000
"""Bytes a second: as much as once took the node."""
AS_FAST_AS_IT_TAKES = 10**9
_ANSWERED_ERRORS = (OSError, WebSocketException, TimeoutError, EOFError)
REQUEST = (
    b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: sapo.v1\r\n\r\n"
)


@dataclass
class Victim:
    """A node in its own process."""

    port: int
    process: psutil.Process
    log: Path

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.port, tls=False)

    def cpu(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)


def main() -> None:
    given = arguments(__doc__).parse_args()
    seconds = 3.0 if given.quick else 10.0
    show(measured(seconds), given)


def measured(seconds: float) -> Iterator[Figure]:
    with victim() as node:
        calm, _ = asyncio.run(openings(node, seconds / 2, nobody))
        yield Figure("median honest opening, nobody attacks", 1000 * calm, "ms")
    floods = {
        "PINGs at 0.46 MB/s": (PING * 1000, BEFORE_HELLO),
        "PINGs at full speed": (PING * 1000, AS_FAST_AS_IT_TAKES),
        "parts of messages at full speed": (PARTS, AS_FAST_AS_IT_TAKES),
        "the smallest messages at full speed": (SMALLEST * 1000, AS_FAST_AS_IT_TAKES),
    }
    for name, (frames, rate) in floods.items():
        with victim() as node:
            attack = Stranger(node.port, frames, rate)
            tell(f"{name}, before HELLO")
            slow, share = asyncio.run(openings(node, seconds, attack.run))
            note = f"{attack.bytes / 1e6:.1f} MB over {attack.links} connections; {share:.0%} of a core; {result(node)}"
            yield at_most(f"median honest opening, under {name}", 1000 * slow, "ms", 100, note)
    with victim() as node:
        tell("a proven link pings")
        prover = Prover(node.address, PROVEN)
        _, share = asyncio.run(openings(node, seconds, prover.run))
        note = f"{prover.bytes / 1e3:.0f} KB over {prover.links} links, each under a new key"
        yield at_most("CPU under a proven link's PINGs at 0.3 MB/s", 100 * share, "%", 10, note)
    with victim() as node:
        tell("a peer sends, is cut off or resets the connection, and sends on")
        asyncio.run(openings(node, seconds, Resetting(node.port).run))
        name = f"log of {seconds:.0f} s of resets between PINGs"
        yield at_most(name, log_bytes(node) / 1000, "KB", 20, result(node))


# -- the node ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def victim() -> Iterator[Victim]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = context.Pipe()
        log = Path(folder) / "worker.log"
        process = context.Process(target=_serve, args=(theirs, log), daemon=True)
        process.start()
        try:
            yield Victim(ours.recv(), psutil.Process(process.pid), log)
        finally:
            process.terminate()
            process.join()


def _serve(pipe: object, path: Path) -> None:
    # As a worker does it: what is written goes to a log.
    with open_log(path) as log:
        sys.stderr = open(log.fileno(), "w", buffering=1, closefd=False, encoding="utf-8")  # noqa: SIM115
        begin_log(sys.stderr, path)
        asyncio.run(_listen(pipe))


async def _listen(pipe: object) -> None:
    network = a_network()
    pipe.send(await network.listen("127.0.0.1", 0))  # type: ignore[attr-defined]
    await network.run()


def log_bytes(node: Victim) -> int:
    return sum(path.stat().st_size for path in node.log.parent.glob("worker.log*"))


def result(node: Victim) -> str:
    return f"{log_bytes(node) / 1000:.1f} KB of log"


# -- the honest peer -------------------------------------------------------------------------------------------------


async def openings(node: Victim, seconds: float, attack: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Median seconds until a link of an honest peer is open, one after the other, and the node's share of a core."""
    attacking = asyncio.ensure_future(attack())
    await asyncio.sleep(0.3)
    began, cpu, took = time.monotonic(), node.cpu(), []
    while time.monotonic() - began < seconds:
        took.append(await opening(node))
        await asyncio.sleep(0.2)
    share = (node.cpu() - cpu) / (time.monotonic() - began)
    if attacking.done():
        attacking.result()  # it was to attack until now: say why it did not
    while not attacking.done():
        attacking.cancel()  # more than once: the library waits with a timeout that may swallow it
        await asyncio.wait({attacking}, timeout=1)
    return statistics.median(took), share


async def opening(node: Victim) -> float:
    """One link from dialling to the proof; one that fails counts as a minute."""
    network = a_network()
    began = time.monotonic()
    try:
        async with asyncio.timeout(60):
            link = await network.link(node.address, only_greet=True)
        return link.opened - began if link is not None and link.key else 60.0
    except TimeoutError:
        return 60.0
    finally:
        await network.close()


async def nobody() -> None:
    await asyncio.sleep(3600)


# -- attackers -------------------------------------------------------------------------------------------------------


class Stranger:
    """Sends frames before any HELLO, `rate` bytes a second, over a new connection whenever it is cut off."""

    def __init__(self, port: int, frames: bytes, rate: int) -> None:
        self.bytes = self.links = 0
        self._port = port
        self._frames = frames
        self._pace = Pace(rate)

    async def run(self) -> None:
        await asyncio.gather(*(self._come_back() for _ in range(4)))

    async def _come_back(self) -> None:
        while True:
            with contextlib.suppress(*_ANSWERED_ERRORS):
                await self._once()
            await asyncio.sleep(0.001)

    async def _once(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=ATTACKER)
        try:
            writer.write(REQUEST)
            async with asyncio.timeout(10):
                await reader.readuntil(b"\r\n\r\n")
            self.links += 1
            while not (reader.at_eof() or writer.transport.is_closing()):
                writer.write(self._frames)
                await writer.drain()
                self.bytes += len(self._frames)
                await self._pace.spend(len(self._frames))
        finally:
            writer.transport.abort()


class Prover:
    """Proves a key, then pings; under another key whenever it is cut off."""

    def __init__(self, address: Address, rate: int) -> None:
        self.bytes = self.links = 0
        self._address = address
        self._pace = Pace(rate)

    async def run(self) -> None:
        while True:
            with contextlib.suppress(*_ANSWERED_ERRORS):
                async with connect(
                    self._address.url,
                    subprotocols=["sapo.v1"],  # type: ignore[list-item]
                    compression=None,
                    local_addr=ATTACKER,
                    ping_interval=None,
                    close_timeout=0.1,
                ) as connection:
                    async with asyncio.timeout(10):
                        await shake_hands(connection, me(Signer(secrets.token_bytes(32))))
                    self.links += 1
                    while True:
                        connection.transport.write(PING * 100)
                        self.bytes += 600
                        await self._pace.spend(600)
                        if connection.transport.is_closing():
                            break
            await asyncio.sleep(0.001)


class Resetting:
    """Sends a burst of PINGs and resets the connection, so that the answers meet no one."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def run(self) -> None:
        while True:
            with contextlib.suppress(*_ANSWERED_ERRORS):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=ATTACKER)
                writer.write(REQUEST)
                async with asyncio.timeout(10):
                    await reader.readuntil(b"\r\n\r\n")
                writer.write(PING * 10_000)
                await asyncio.sleep(0)
                writer.transport.abort()
            await asyncio.sleep(0.001)


class Pace:
    """A limit of bytes per second, with at most a tenth of a second saved up."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._free = time.monotonic()

    async def spend(self, count: int) -> None:
        self._free = max(self._free, time.monotonic() - 0.1) + count / self._rate
        await asyncio.sleep(max(0.0, self._free - time.monotonic()))


if __name__ == "__main__":
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    main()
