"""Networks with real websockets on this computer's own address, for tests."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Any

from websockets.asyncio.client import connect

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.events import Event
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.network import Network, now
from sapo_desktop.swarm.trust.standing import Standing
from tests.swarm.mesh import check
from tests.swarm.peers import NETWORK, group, me


class Node:
    """A network with its exchange, and a way to wait for what happens."""

    def __init__(self, name: int, **more: Any) -> None:
        self.signer = Signer(name.to_bytes(32, "big"))
        exchange = Exchange(self.signer.key, NETWORK, check, Standing(), Random(name))
        self.heard: list[Event] = []
        self.network = Network(exchange, me(self.signer), self._hear, **more)
        self.port = 0

    def _hear(self, link: Link, event: Event) -> None:
        self.heard.append(event)

    async def listen(self) -> "Node":
        self.port = await self.network.listen("127.0.0.1", 0)
        return self

    def address(self, key: bytes | None = None) -> Address:
        return Address("127.0.0.1", self.port, tls=False, key=key)

    def share(self, index: int = 0) -> bytes:
        envelope = group(self.signer, slot=int(now().unix // 600), index=index)
        self.network.publish(envelope)
        return envelope

    @property
    def held(self) -> list[bytes]:
        return [entry.envelope for entry in self.network.exchange.pool]


@contextlib.asynccontextmanager
async def nodes(count: int, **more: Any) -> AsyncIterator[list[Node]]:
    made = [await Node(name + 1, **more).listen() for name in range(count)]
    try:
        yield made
    finally:
        await asyncio.gather(*(node.network.close() for node in made))


def knock(node: Node, **more: Any) -> connect:
    """A stranger's websocket to a node."""
    return connect(node.address().url, subprotocols=[m.SUBPROTOCOL], **more)  # type: ignore[list-item]


async def until(holds: Callable[[], object], seconds: float = 30.0) -> float:
    """How long it took until that was true."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.005)
    return time.monotonic() - began


async def link_up(dialler: Node, listener: Node) -> None:
    """Have the first dial the second, until both heard of it."""
    dialler.network.dial(listener.address(listener.signer.key))
    await until(lambda: dialler.heard and listener.heard)
