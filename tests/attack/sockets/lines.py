"""What a bad line does to links: is anything that was shared lost, does anything hang, how long until it continues?

    python -m tests.attack.sockets.lines                    a minute of loss and delay, a partition of 5 minutes
    python -m tests.attack.sockets.lines --quick            8 s of each

Two real nodes and a relay between them, in one process on this computer. One node shares through a proxy that delays
everything by 200 ms. A tenth is later still, by the time that TCP takes to send it again. In another scene the proxy
forwards nothing for a while, and neither side learns of it. What counts is what reached the other node in the end.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from random import Random

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol.limits import SLOT_SECONDS
from tests.attack.sockets.nodes import a_network
from tests.bench.figure import Figure, arguments, at_most, exactly, show, tell
from tests.swarm.peers import TASK, group

DELAY, LOSS = 0.2, 0.1
SENT_AGAIN = 3 * DELAY
"""Seconds: a round trip, and TCP's additional wait."""
PIECE = 1400
EVERY = 1.5
"""Seconds between two groups: below what a link may send."""
BEFORE = 3
"""Groups shared before a partition."""
MOST_WAITING = 240.0


class Line:
    """A proxy for connections to one port of this computer."""

    def __init__(self, port: int, rng: Random, *, delay: float = 0.0, loss: float = 0.0) -> None:
        self.connections = 0
        self.whole = asyncio.Event()
        self.whole.set()
        self._port, self._rng, self._delay, self._loss = port, rng, delay, loss
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self) -> int:
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        return int(server.sockets[0].getsockname()[1])

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        await self.whole.wait()
        onward, back = await asyncio.open_connection("127.0.0.1", self._port)
        with contextlib.suppress(OSError):
            await asyncio.gather(self._pass(reader, back), self._pass(onward, writer))
        for end in (writer, back):
            end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(maxsize=64)
        handing = asyncio.create_task(self._hand_on(waiting, writer))
        try:
            due = 0.0
            while data := await reader.read(PIECE):
                late = SENT_AGAIN if self._rng.random() < self._loss else 0.0
                due = max(due, time.monotonic() + self._delay + late)  # in their order, as TCP has it
                await waiting.put((due, data))
            await waiting.put((due, b""))
            await handing
        finally:
            handing.cancel()

    async def _hand_on(self, waiting: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
        while True:
            due, data = await waiting.get()
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await self.whole.wait()
            if not data:
                writer.close()
                return
            writer.write(data)
            await writer.drain()


class Swarm:
    """A relay, a node that shares over the line, and one that asks."""

    def __init__(self) -> None:
        self.relay, self.giver, self.taker = (a_network() for _ in range(3))
        self.shared: set[bytes] = set()

    def share(self) -> None:
        number = len(self.shared)
        signer = self.giver._me.signer
        envelope = group(signer, slot=int(time.time() // SLOT_SECONDS) - number // 64, index=number % 64)
        self.shared.add(envelope)
        self.giver.publish(envelope)

    @property
    def arrived(self) -> int:
        return len(self.shared & {entry.envelope for entry in self.taker.exchange.pool})

    async def wait_for(self, count: int, most: float) -> float:
        """Seconds until so many arrived, or `most`."""
        began = time.monotonic()
        while self.arrived < count and time.monotonic() - began < most:
            await asyncio.sleep(0.1)
        return time.monotonic() - began


@contextlib.asynccontextmanager
async def swarm(rng: Random, *, delay: float = 0.0, loss: float = 0.0) -> AsyncIterator[tuple[Swarm, Line]]:
    made = Swarm()
    port = await made.relay.listen("127.0.0.1", 0)
    line = Line(port, rng, delay=delay, loss=loss)
    at = await line.listen()
    made.giver.dial(Address("127.0.0.1", at, tls=False))
    made.taker.dial(Address("127.0.0.1", port, tls=False))
    made.taker.exchange.want([TASK], 512)
    try:
        yield made, line
    finally:
        for network in (made.giver, made.taker, made.relay):
            async with asyncio.timeout(30):
                await network.close()


def main() -> None:
    given = arguments(__doc__).parse_args()
    seconds, partition = (8.0, 8.0) if given.quick else (60.0, 300.0)
    show(asyncio.run(measured(seconds, partition, Random(given.seed))), given)


async def measured(seconds: float, partition: float, rng: Random) -> list[Figure]:
    return [*await lossy(seconds, rng), *await parted(partition, rng)]


async def lossy(seconds: float, rng: Random) -> list[Figure]:
    tell("loss and delay")
    async with swarm(rng, delay=DELAY, loss=LOSS) as (it, line):
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            it.share()
            await asyncio.sleep(EVERY)
        await it.wait_for(len(it.shared), MOST_WAITING)
        missing = len(it.shared) - it.arrived
        links = line.connections
    return [
        exactly("groups lost at 10% loss and 200 ms", missing, f"of {len(it.shared)}", 0),
        exactly("links made again", links - 1, "links", 0),
    ]


async def parted(seconds: float, rng: Random) -> list[Figure]:
    tell(f"a partition of {seconds:g} s")
    async with swarm(rng) as (it, line):
        for _ in range(BEFORE):
            it.share()
            await asyncio.sleep(EVERY)
        await it.wait_for(BEFORE, MOST_WAITING)
        line.whole.clear()
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            it.share()
            await asyncio.sleep(max(EVERY, seconds / 30))
        through = it.arrived - BEFORE
        line.whole.set()
        first = await it.wait_for(BEFORE + through + 1, MOST_WAITING)
        rest = await it.wait_for(len(it.shared), MOST_WAITING)
        missing = len(it.shared) - it.arrived
    name = f"a partition of {seconds:g} s"
    note = f"all after {first + rest:.0f} s; {line.connections} connections in all"
    return [
        exactly(f"groups lost to {name}", missing, f"of {len(it.shared)}", 0),
        at_most("until groups come after a partition", first, "s", 60, note),
    ]


if __name__ == "__main__":
    main()
