"""How a link is dialled: whose certificate is taken, and which of the hosts that a name stands for."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.proxies import proxy_for
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.handshake import NO_TLS
from sapo_desktop.swarm.sockets.wire import BoundedClient, options, remote_host, tls_times

Allows = Callable[[str], bool]
"""Asked with a host before it is dialled; False: not that one."""
_TAKEN = "there is a link to that part of the internet already"


@contextlib.asynccontextmanager
async def reach(
    address: Address, proxy_setting: str, *, named_by_stranger: bool, on_lan: bool, allows: Allows | None
) -> AsyncIterator[tuple[BoundedClient, str]]:
    """A connection to a peer, and the host that it leads to: an IP address, or a name that a proxy looked up.

    Args:
        named_by_stranger: dial nothing but hosts on the public internet, whatever their names stand for.
        on_lan: without a proxy, and whatever certificate is shown; nobody is asked.
        allows: asked which of the hosts that the address stands for may be dialled.

    Raises:
        OSError: there is no such host, or nobody there; or what websockets raises.
        UsageError: the proxy cannot be used.
    """
    proxy = None if on_lan else proxy_for(proxy_setting, address)
    if named_by_stranger and not address.is_public:
        raise OSError("a stranger's address leads to a private network")
    where: dict[str, Any] = {}
    # Through a proxy a name is the proxy's to look up: asking here would tell our resolver whom we dial.
    if proxy is not None:
        if allows is not None and not allows(address.host):
            raise OSError(_TAKEN)
    elif not on_lan and (named_by_stranger or allows is not None):
        where = {"host": await _host_to_dial(address, named_by_stranger, allows), "port": address.port}
    tls = client_tls(address, any_certificate=on_lan or address.key is not None)
    async with dialling(address, tls, proxy, **where) as connection:
        assert isinstance(connection, BoundedClient)
        # Behind a proxy all peers would seem to be in the proxy's part of the internet.
        yield connection, address.host if proxy else remote_host(connection)


async def hosts_of(address: Address) -> list[str]:
    """The IP addresses that the host stands for, the likeliest to be reached first. OSError where there are none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


async def _host_to_dial(address: Address, only_public: bool, allows: Allows | None) -> str:
    """The IP address to be dialled for this one: what was looked at is what is connected to.

    `only_public`: a stranger must not aim us at our own network by a name: all that it stands for must be public.
    """
    async with asyncio.timeout(limits.HANDSHAKE_SECONDS):
        hosts = await hosts_of(address)
    if only_public and not all(Address(host, address.port).is_public for host in hosts):
        raise OSError("a stranger's address leads to a private network")
    allowed = next((host for host in hosts if allows is None or allows(host)), None)
    if allowed is None:
        raise OSError(_TAKEN)
    return allowed


class Dialling(connect):
    """A dial that ends where it was aimed: a redirect could lead to any host of our own network."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def dialling(address: Address, tls: ssl.SSLContext | None, proxy: str | None, **where: Any) -> Dialling:
    """A connection to be made. `where`: host and port to be connected to instead of the address's own."""
    return Dialling(
        address.url,
        ssl=tls,
        proxy=proxy,
        user_agent_header=None,
        create_connection=BoundedClient,
        **where,
        **options(),
        **tls_times(tls),
    )


def client_tls(address: Address, *, any_certificate: bool) -> ssl.SSLContext | None:
    """What a dial takes for a certificate; None on `ws://`.

    `any_certificate`: what is checked is the key, over the certificate's hash (handshake.py).
    """
    if not address.tls:
        return None
    context = ssl.create_default_context()
    if any_certificate:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def peer_certificate(connection: Connection) -> bytes:
    """SHA-256 of the certificate that the server showed, DER encoded; NO_TLS on `ws://`."""
    tls: ssl.SSLObject | None = connection.transport.get_extra_info("ssl_object")
    if tls is None:
        return NO_TLS
    return hashlib.sha256(tls.getpeercert(binary_form=True) or b"").digest()
