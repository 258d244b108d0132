"""Metrics of a relay for Prometheus, and its health, over HTTP.

A page is at most a second old. The library's own server uses a thread for every connection, however slow, and the
relay's descriptors; here a few connections have seconds to ask, and prompt requests are answered. Names and labels
contain no key or address. prometheus-client comes with the extra `relay` and is imported with this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

import sapo_desktop
from sapo_desktop.core.records import Check
from sapo_desktop.swarm.protocol.refusals import Refusals, kind_of
from sapo_desktop.worker.membership.entering import cannot_listen
from sapo_desktop.worker.membership.joining import Linked
from sapo_desktop.worker.membership.settings import host_and_port
from sapo_desktop.worker.relaying.joined import backbone_info

if TYPE_CHECKING:
    from sapo_desktop.swarm.sockets.backbone import Backbone

LOOK_SECONDS = 1.0
MOST_ASKING = 16
"""Concurrent connections; a further one ends the one that waited longest."""
ASKING_SECONDS = 10.0
"""From the first byte of a request to the last of its answer."""
_MOST_OF_A_REQUEST = 16 * 1024


class _Last(Collector):
    """The cached page."""

    def __init__(self) -> None:
        self.picture: Sequence[Metric] = ()

    def collect(self) -> Iterator[Metric]:
        return iter(self.picture)


class Health(msgspec.Struct, frozen=True):
    """The content of `/readyz`."""

    ready: bool
    """Whether it accepts links and no check is bad."""
    checks: list[Check]


class Metrics:
    """The pages. `where`: HOST:PORT, or a PORT of the loopback address. `health`: returns the current state.

    Raises:
        UsageError: listening there is impossible.
    """

    def __init__(self, where: str, health: Callable[[], Health]) -> None:
        self._health = health
        host, port = host_and_port(where if ":" in where else f"127.0.0.1:{where}")
        self._registry = CollectorRegistry()
        self._last = _Last()
        self._registry.register(self._last)
        ProcessCollector(registry=self._registry)
        self._asking: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}
        """Oldest first."""
        try:
            self._socket = _listening(host, port)
        except OSError as error:
            raise cannot_listen(where, error) from error
        self.host, self.port = self._socket.getsockname()[:2]
        self._serving = asyncio.create_task(
            asyncio.start_server(self._answer, sock=self._socket, limit=_MOST_OF_A_REQUEST)
        )

    async def run(self, linked: Linked, backbone: Backbone | None) -> None:
        """Serve until cancelled."""
        while True:
            self._last.picture = picture(linked, backbone)
            await asyncio.sleep(LOOK_SECONDS)

    async def close(self) -> None:
        """Close the listener and all connections."""
        with contextlib.suppress(OSError):  # it never listened
            (await self._serving).close()
        answering = list(self._asking.values())
        for writer in self._asking:
            writer.transport.abort()
        if answering:
            await asyncio.wait(answering, timeout=LOOK_SECONDS)
        self._socket.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._asking) >= MOST_ASKING:
            oldest = next(iter(self._asking))
            del self._asking[oldest]
            oldest.transport.abort()
        answering = asyncio.current_task()
        assert answering is not None
        self._asking[writer] = answering
        try:
            with contextlib.suppress(OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
                async with asyncio.timeout(ASKING_SECONDS):
                    writer.write(self._page(await reader.readuntil(b"\r\n\r\n")))
                    writer.close()
                    await writer.wait_closed()
        finally:
            self._asking.pop(writer, None)
            writer.transport.abort()

    def _page(self, request: bytes) -> bytes:
        """The complete answer to a request."""
        method, _, rest = request.partition(b" ")
        if method not in (b"GET", b"HEAD"):
            return b"HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Length: 0\r\n\r\n"
        status, kind, page = self._found(rest.partition(b" ")[0].partition(b"?")[0])
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(page)}\r\n"
        return head.encode() + b"Connection: close\r\n\r\n" + (page if method == b"GET" else b"")

    def _found(self, path: bytes) -> tuple[str, str, bytes]:
        """Status, type and body of a page."""
        match path:
            case b"/" | b"/metrics":
                return "200 OK", CONTENT_TYPE_LATEST, generate_latest(self._registry)
            case b"/healthz":  # an answer shows that the relay's event loop runs
                return "200 OK", "text/plain", b"ok\n"
            case b"/readyz":
                health = self._health()
                status = "200 OK" if health.ready else "503 Service Unavailable"
                return status, "application/json", msgspec.json.encode(health) + b"\n"
        return "404 Not Found", "text/plain", b"Pages: /metrics, /healthz, /readyz\n"


def _listening(host: str, port: int) -> socket.socket:
    """A listening socket; at `::` for both versions of IP, if the system can. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    both = host == "::" and socket.has_dualstack_ipv6()
    return socket.create_server(address, family=family, dualstack_ipv6=both)


def picture(linked: Linked, backbone: Backbone | None) -> list[Metric]:
    """All current metrics."""
    exchange = linked.network.exchange
    opened = [link for link in exchange.links if link.session.is_open]
    dialled = sum(link.dialled is not None for link in opened)
    all_traffic = [exchange.past, *(link.traffic for link in exchange.links)]
    found = [
        _by(
            GaugeMetricFamily("sapo_relay_info", "Version of the program.", labels=["version"]),
            {sapo_desktop.__version__: 1},
        ),
        _by(
            GaugeMetricFamily("sapo_relay_links", "Open links, by who dialled.", labels=["dialled"]),
            {"us": dialled, "them": len(opened) - dialled},
        ),
        _by(
            CounterMetricFamily("sapo_relay_groups", "Groups over links.", labels=["way"]),
            {
                "in": sum(traffic.groups_in for traffic in all_traffic),
                "out": sum(traffic.groups_out for traffic in all_traffic),
            },
        ),
        _by(
            CounterMetricFamily("sapo_relay_bytes", "Bytes of frames over links.", labels=["way"]),
            {
                "in": sum(traffic.bytes_in for traffic in all_traffic),
                "out": sum(traffic.bytes_out for traffic in all_traffic),
            },
        ),
        GaugeMetricFamily("sapo_relay_served_groups", "Groups available to peers.", len(exchange.giving.shelf)),
        GaugeMetricFamily("sapo_relay_held_bytes", "Memory used by groups.", exchange.held_bytes),
        GaugeMetricFamily(
            "sapo_relay_waiting_bytes",
            "Bytes queued on links, in both directions.",
            sum(map(linked.network.waiting, opened)),
        ),
        GaugeMetricFamily(
            "sapo_relay_seconds_per_group",
            "Interval at which each peer may send one group; above 1 if the relay is overloaded.",
            1 / linked.network.load.share if linked.network.load else 1,
        ),
        GaugeMetricFamily("sapo_relay_banned_keys", "Banned keys.", len(exchange.blocked)),
        GaugeMetricFamily("sapo_relay_clock_offset_seconds", "Peers' clocks against ours.", exchange.clock.offset),
        _refused("sapo_relay_refused", "Refusals on links.", exchange.refusals),
    ]
    return found if backbone is None else [*found, *_backbone(backbone)]


def _backbone(backbone: Backbone) -> list[Metric]:
    info, federation = backbone_info(backbone), backbone.federation
    name = "sapo_relay_backbone"
    return [
        GaugeMetricFamily(f"{name}_connected", "Whether NATS is connected.", int(info.state == "connected")),
        CounterMetricFamily(f"{name}_connects", "Connections made to NATS.", info.connects),
        GaugeMetricFamily(f"{name}_relays", "Other relays heard in the last ten minutes.", info.relays),
        _by(
            CounterMetricFamily(f"{name}_groups", "Groups to and from other relays.", labels=["way"]),
            {"in": info.groups_in, "out": info.groups_out},
        ),
        _by(
            CounterMetricFamily(
                f"{name}_lost", "Groups that could not be sent, messages that were not read.", labels=["way"]
            ),
            {"in": info.lost_in, "out": info.lost_out},
        ),
        GaugeMetricFamily(f"{name}_waiting_bytes", "Bytes queued, in both directions.", federation.waiting_bytes),
        _refused(f"{name}_refused", "Refusals from other relays.", federation.tally.refused),
    ]


def _by(family: GaugeMetricFamily | CounterMetricFamily, values: dict[str, float]) -> Metric:
    for label, value in values.items():
        family.add_metric([label], value)
    return family


def _refused(name: str, text: str, refusals: Refusals) -> Metric:
    family = CounterMetricFamily(name, text, labels=["kind", "reason"])
    for reason, count in refusals:
        family.add_metric([kind_of(reason), reason.value], count)
    return family
