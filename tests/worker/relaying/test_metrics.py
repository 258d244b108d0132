"""The page of metrics, over HTTP."""

import asyncio
import contextlib
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import Check
from sapo_desktop.swarm.backbone.federation import Federation
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.sockets.load_control import LoadControl
from sapo_desktop.worker.relaying import metrics as metrics_module
from sapo_desktop.worker.relaying.metrics import MOST_ASKING, Health, Metrics
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import NETWORK

READY = Health(True, [Check("relay", "good", "Relaying.")])
STARTING = Health(False, [Check("relay", "limited", "The relay is starting.")])


def asked(port: int, path: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


async def test_health_is_whether_it_answers_and_readiness_whether_it_relays() -> None:
    health = STARTING
    async with serving(health=lambda: health) as metrics:
        found = {path: await asyncio.to_thread(asked, metrics.port, path) for path in ("/healthz", "/readyz", "/x")}
        assert [status for status, _ in found.values()] == [200, 503, 404]
        assert json.loads(found["/readyz"][1])["checks"][0]["found"] == "The relay is starting."
        health = READY
        status, body = await asyncio.to_thread(asked, metrics.port, "/readyz?verbose")
        assert status == 200 and json.loads(body)["ready"] is True


def figures(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


@contextlib.asynccontextmanager
async def serving(where: str = "127.0.0.1:0", health: Callable[[], Health] = lambda: READY) -> AsyncIterator[Metrics]:
    metrics = Metrics(where, health)
    try:
        yield metrics
    finally:
        await metrics.close()


async def served(metrics: Metrics) -> bool:
    return (await asyncio.to_thread(figures, metrics.port))["process_resident_memory_bytes"] > 0


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
    load = LoadControl(0.0, 0.0)
    load.share = 0.25
    sockets = SimpleNamespace(exchange=relay.exchange, load=load, waiting=lambda link: 700)
    linked: Any = SimpleNamespace(network=sockets)
    backbone: Any = SimpleNamespace(federation=federation, state="isolated", connects=2, overruns=0)
    async with serving() as metrics:
        running = asyncio.create_task(metrics.run(linked, backbone))
        await asyncio.sleep(0)
        found = await asyncio.to_thread(figures, metrics.port)
        with pytest.raises(UsageError, match="Cannot listen"):
            Metrics(f"127.0.0.1:{metrics.port}", lambda: READY)
        running.cancel()
    assert found['sapo_relay_links{dialled="them"}'] == 1
    assert found['sapo_relay_groups_total{way="in"}'] == 4, "those of a link that is gone count on"
    assert found["sapo_relay_served_groups"] == 4
    assert found["sapo_relay_seconds_per_group"] == 4 and found["sapo_relay_waiting_bytes"] == 700
    assert found['sapo_relay_refused_total{kind="invalid",reason="bad_text"}'] == 2
    assert found["sapo_relay_backbone_connected"] == 0 and found["sapo_relay_backbone_connects_total"] == 2
    assert found['sapo_relay_backbone_refused_total{kind="invalid",reason="malformed"}'] == 1
    assert found["process_resident_memory_bytes"] > 0


async def test_a_port_alone_is_one_of_this_computer() -> None:
    async with serving("0") as metrics:
        assert metrics.host == "127.0.0.1"


async def test_who_asks_and_says_no_more_costs_a_place_for_a_moment_and_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metrics_module, "ASKING_SECONDS", 1.0)
    async with serving() as metrics:
        threads = threading.active_count()
        held = [await asyncio.open_connection("127.0.0.1", metrics.port) for _ in range(MOST_ASKING + 4)]
        for _, writer in held:
            writer.write(b"GET /metrics HTTP/1.1\r\n")
        ended = await asyncio.gather(*(_ends_within(reader, 0.5) for reader, _ in held))
        assert sum(ended) == 4 and threading.active_count() <= threads
        assert ended[:4] == [True] * 4, "those that waited longest made room"
        ended = await asyncio.gather(*(_ends_within(reader, 5) for reader, _ in held))
        assert all(ended), "nobody keeps a place by being slow"
        assert await served(metrics)
        for _, writer in held:
            writer.close()


async def test_who_asks_at_once_is_answered_though_strangers_hold_every_place() -> None:
    said: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: said.append(context))
    async with serving() as metrics:
        held = [await asyncio.open_connection("127.0.0.1", metrics.port) for _ in range(MOST_ASKING)]
        assert await served(metrics)
    assert all(await asyncio.gather(*(_ends_within(reader, 5) for reader, _ in held))) and not said
    for _, writer in held:
        writer.close()


async def test_both_versions_of_ip_are_answered_at_the_open_address() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this system has no IPv6")
    async with serving("[::]:0") as metrics:
        assert await served(metrics)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n"),
        (b"HEAD /metrics HTTP/1.0\r\n\r\n", b"HTTP/1.1 200 OK\r\n"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", b"HTTP/1.1 405 "),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", b"HTTP/1.1 405 "),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000, b""),
    ],
)
async def test_an_odd_request_is_answered_in_a_line_or_not_at_all(request_: bytes, answer: bytes) -> None:
    async with serving() as metrics:
        reader, writer = await asyncio.open_connection("127.0.0.1", metrics.port)
        writer.write(request_)
        with contextlib.suppress(ConnectionError):
            said = await asyncio.wait_for(reader.read(), 5)
            assert said.startswith(answer) if answer else not said
            assert (b"process_resident_memory_bytes" in said) is request_.startswith(b"GET / HTTP/1.1\r\n\r")
        writer.close()


async def _ends_within(reader: asyncio.StreamReader, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return not await reader.read()
    except TimeoutError:
        return False
    except ConnectionError:
        return True
