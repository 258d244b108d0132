"""Finds nodes on the local network by zeroconf (mDNS), and announces this one.

The announcement has an address, a port, and two names that change at every start: no host name, key or property.
Others' announcements may be false: only a few services are considered, with a few private addresses each, and the
handshake proves who really listens there. IPv4 only, which every home network has.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import secrets
import socket
from collections.abc import Callable, Sequence

import zeroconf
from zeroconf import IPVersion, ServiceInfo, ServiceStateChange
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from sapo_desktop.core.network.ranges import LOWEST_PORT, is_of_a_home
from sapo_desktop.swarm.addresses.address import Address

log = logging.getLogger(__name__)

SERVICE = "_sapo._tcp.local."
MOST_SERVICES = 32
"""Maximum known services; further ones wait until one disappears."""
_MOST_WAITING = 256
MOST_ADDRESSES = 4
"""Maximum addresses used per service."""
_ASK_MILLISECONDS = 3000.0

OnAddress = Callable[[Address], None]


class Lan:
    """One node's presence on the local network.

    Args:
        at: own IPv4 addresses there; nothing is sent or received elsewhere. A loopback one: only this computer's nodes.
        port: where this node listens at all of them; None: it only searches.
        found, lost: called with the addresses of others as they appear and disappear.
    """

    def __init__(self, at: Sequence[str], port: int | None, found: OnAddress, lost: OnAddress) -> None:
        self._at = list(at)
        self._port = port
        self._found = found
        self._lost = lost
        self._name = f"{secrets.token_hex(8)}.{SERVICE}"
        self._zeroconf: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._services: dict[str, frozenset[Address]] = {}
        """Addresses by service name; empty until its addresses are known."""
        self._waiting: dict[str, None] = {}
        """Names of services to be queried, in order."""
        self._asking: set[asyncio.Task[None]] = set()
        self._is_crowded = False

    async def start(self) -> None:
        """Announce this node, if it listens, and search for others until stopped.

        Raises:
            OSError: the local network cannot be used.
        """
        _silence()
        try:
            self._zeroconf = AsyncZeroconf(interfaces=self._at, ip_version=IPVersion.V4Only)
            if self._port is not None:
                # 64 random bits need no check whether the name is in use, which anybody could answer with yes.
                await self._zeroconf.async_register_service(self._own(self._port), cooperating_responders=True)
            self._browser = AsyncServiceBrowser(self._zeroconf.zeroconf, SERVICE, handlers=[self._changed])
        except (OSError, RuntimeError, zeroconf.Error) as error:
            await self.stop()
            raise OSError(f"the local network cannot be used ({type(error).__name__})") from error

    async def stop(self) -> None:
        """Withdraw the announcement and close every socket."""
        network, self._zeroconf = self._zeroconf, None
        browser, self._browser = self._browser, None
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        if browser is not None:
            await browser.async_cancel()
        if network is not None:
            await network.async_close()

    def _own(self, port: int) -> ServiceInfo:
        return ServiceInfo(
            SERVICE,
            self._name,
            port=port,
            addresses=[socket.inet_aton(host) for host in self._at],
            properties={},
            server=f"{secrets.token_hex(8)}.local.",
        )

    # -- others ----------------------------------------------------------------------------------------------

    def _changed(
        self, *, zeroconf: zeroconf.Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        """A service appeared, disappeared or changed. The library dictates the names of the arguments."""
        if state_change is ServiceStateChange.Removed:
            self._forget(name)
        elif name != self._name and name not in self._services and len(self._waiting) < _MOST_WAITING:
            self._waiting[name] = None
        self._ask_waiting(zeroconf)

    def _ask_waiting(self, network: zeroconf.Zeroconf) -> None:
        while self._waiting and len(self._services) < MOST_SERVICES:
            name = next(iter(self._waiting))
            del self._waiting[name]
            self._services[name] = frozenset()
            task = asyncio.ensure_future(self._ask(network, name))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        if self._waiting and not self._is_crowded:
            log.warning("More than %d nodes show themselves on the local network: further ones wait.", MOST_SERVICES)
            self._is_crowded = True

    async def _ask(self, network: zeroconf.Zeroconf, name: str) -> None:
        """Query the addresses of a service; one without usable addresses is dropped."""
        addresses: frozenset[Address] = frozenset()
        try:
            info = AsyncServiceInfo(SERVICE, name)
            if await info.async_request(network, _ASK_MILLISECONDS):
                addresses = self._acceptable(info)
        except (OSError, zeroconf.Error) as error:
            log.info("A service on the local network cannot be read: %s", type(error).__name__)
        if name not in self._services:
            return  # it disappeared meanwhile
        known = frozenset().union(*self._services.values())
        self._services[name] = addresses
        if not addresses:
            del self._services[name]
            self._ask_waiting(network)
        for address in addresses - known:
            self._found(address)

    def _acceptable(self, info: ServiceInfo) -> frozenset[Address]:
        """Addresses on the same kind of network as ours, without our own."""
        port = info.port or 0
        if not LOWEST_PORT <= port < 65536:
            return frozenset()
        hosts = [host for host in info.parsed_addresses(IPVersion.V4Only) if self._is_near(host)]
        own = self._at if port == self._port else []
        return frozenset(Address(host, port) for host in hosts[:MOST_ADDRESSES] if host not in own)

    def _is_near(self, host: str) -> bool:
        ip = ipaddress.IPv4Address(host)
        if any(own.startswith("127.") for own in self._at):
            return ip.is_loopback
        return is_of_a_home(ip)

    def _forget(self, name: str) -> None:
        self._waiting.pop(name, None)
        gone = self._services.pop(name, frozenset())
        for address in gone - frozenset().union(*self._services.values()):
            self._lost(address)


def _silence() -> None:
    """The library's own messages contain addresses; logs must not."""
    logging.getLogger("zeroconf").setLevel(logging.CRITICAL + 1)
