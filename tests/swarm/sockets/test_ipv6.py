"""Links over IPv6, on this computer's own address."""

import asyncio
import socket
from pathlib import Path

import pytest

from sapo_desktop.swarm.addresses.address import Address, part_of_internet
from sapo_desktop.worker.membership.settings import host_and_port
from tests.swarm.proxies import HOSTS, proxy
from tests.swarm.sockets.nodes import Node, until
from tests.swarm.sockets.test_certificate import listener


def is_here() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
    except OSError:
        return False
    return True


pytestmark = [
    pytest.mark.allowed_skip("a computer without IPv6"),
    pytest.mark.skipif(not is_here(), reason="this computer has no ::1"),
]


async def test_nodes_share_over_tls(tmp_path: Path) -> None:
    host, _ = host_and_port("[::1]:0")
    alice, bob = Node(1), await listener(tmp_path, 2, host)
    written = f"wss://[::1]:{bob.port}#{bob.signer.key.hex()}"
    assert str(Address("::1", bob.port, key=bob.signer.key)) == written
    alice.network.dial(Address.parse(written))
    await until(lambda: alice.heard and bob.heard)
    envelope = alice.share()
    await until(lambda: bob.held)
    (entry,) = bob.network.exchange.pool
    assert (entry.envelope, entry.path.tag) == (envelope, bob.network._part("::1"))
    assert bob.network._part("::1") == bob.network._part("::2") != bob.network._part("0:0:1::1")
    assert len(part_of_internet("::1")) == 1 + 48 // 8
    await asyncio.gather(alice.network.close(), bob.network.close())


@pytest.mark.parametrize("kind", ["http", "socks5h"])
async def test_through_a_proxy_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setitem(HOSTS, "2001:db8::1", "::1")  # no proxy leads to this computer itself
    async with proxy(kind) as through:
        alice, bob = Node(1, proxy=through.url()), await listener(tmp_path, 2, "::1")
        link = await alice.network.link(Address("2001:db8::1", bob.port, key=bob.signer.key), only_greet=True)
        assert link is not None and link.key == bob.signer.key
        assert through.asked == [("2001:db8::1", bob.port)]
        await asyncio.gather(alice.network.close(), bob.network.close())
