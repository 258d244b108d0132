"""The page of figures, asked for over HTTP."""

import asyncio
import time
import urllib.request
from types import SimpleNamespace
from typing import Any

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.swarm.backbone.federation import Federation
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.worker.relaying.metrics import Metrics
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import NETWORK


def figures(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


async def test_an_operator_sees_links_groups_refusals_and_the_backbone() -> None:
    mesh, alice, bob, relay = Mesh(), Peer(1), Peer(2), Peer(3)
    mesh.join(alice, relay)
    gone = mesh.join(bob, relay)
    alice.share(mesh.now, 3)
    bob.share(mesh.now, 1)
    mesh.settle()
    relay.exchange.detach(gone.ends[1][1])
    relay.exchange.refusals.add(Reason.BAD_TEXT, 2)
    federation = Federation(relay.exchange, relay.signer, NETWORK, Now(time.monotonic(), time.time()))
    federation.arrived(b"odd", b"", Now(time.monotonic(), time.time()))
    linked: Any = SimpleNamespace(network=SimpleNamespace(exchange=relay.exchange))
    backbone: Any = SimpleNamespace(federation=federation, state="isolated", connects=2, overruns=0)
    metrics = Metrics("127.0.0.1:0")
    running = asyncio.create_task(metrics.run(linked, backbone))
    try:
        await asyncio.sleep(0)
        found = await asyncio.to_thread(figures, metrics.port)
        with pytest.raises(UsageError, match="Cannot listen"):
            Metrics(f"127.0.0.1:{metrics.port}")
    finally:
        running.cancel()
        metrics.close()
    assert found['sapo_relay_links{dialled="them"}'] == 1
    assert found['sapo_relay_groups_total{way="in"}'] == 4, "those of a link that is gone count on"
    assert found["sapo_relay_served_groups"] == 4
    assert found['sapo_relay_refused_total{kind="invalid",reason="bad_text"}'] == 2
    assert found["sapo_relay_backbone_connected"] == 0 and found["sapo_relay_backbone_connects_total"] == 2
    assert found['sapo_relay_backbone_refused_total{kind="invalid",reason="malformed"}'] == 1
    assert found["process_resident_memory_bytes"] > 0


def test_a_port_alone_is_one_of_this_computer() -> None:
    metrics = Metrics("0")
    try:
        assert metrics._server.server_address[0] == "127.0.0.1"
    finally:
        metrics.close()
