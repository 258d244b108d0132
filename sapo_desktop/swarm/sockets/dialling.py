"""How a link is dialled: which certificates are accepted, and which of a name's hosts is used."""

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
from websockets.exceptions import InvalidProxyStatus, ProxyError

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.proxies import Proxy, proxy_for
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.handshake import NO_TLS
from sapo_desktop.swarm.sockets.wire import BoundedClient, options, remote_host, tls_times

Allows = Callable[[str], bool]
"""Called with a host before it is dialled; False: not this one."""
_TAKEN = "there is a link to that part of the internet already"
_OF_THE_PEER = {1, 3, 4, 5, 6}
"""Replies of a SOCKS proxy (RFC 1928) about the host behind it, or without information."""
_MAYBE_BEHIND_IT = (ssl.SSLError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, TimeoutError)
"""Errors that can occur after the proxy was reached; other socket errors concern the way to it."""


class ProxyFault(UsageError):
    """A link failed because of the proxy: it is away, refuses, or is not a proxy. Nothing is known about the peer."""


@contextlib.asynccontextmanager
async def reach(
    address: Address, proxy_setting: str, *, named_by_stranger: bool, on_lan: bool, allows: Allows | None
) -> AsyncIterator[tuple[BoundedClient, str]]:
    """Connect to a peer; also returns its host: an IP address, or a name that a proxy resolved.

    Args:
        named_by_stranger: dial only hosts on the public internet, whatever their names resolve to.
        on_lan: without a proxy, and with any certificate; `allows` is not called.
        allows: decides which of the address's hosts may be dialled.

    Raises:
        OSError: there is no such host, or nothing listens there; or an error of websockets.
        ProxyFault: the proxy is at fault.
    """
    proxy = None if on_lan else proxy_of(proxy_setting, address)
    if named_by_stranger and not address.is_public:
        raise OSError("a stranger's address leads to a private network")
    where: dict[str, Any] = {}
    # With a proxy, the proxy resolves names: doing so here would tell our resolver whom we dial.
    if proxy is not None:
        if allows is not None and not allows(address.host):
            raise OSError(_TAKEN)
    elif not on_lan and (named_by_stranger or allows is not None):
        where = {"host": await _host_to_dial(address, named_by_stranger, allows), "port": address.port}
    tls = client_tls(address, any_certificate=on_lan or address.key is not None)
    async with await _dialled(address, tls, proxy, where) as connection:
        assert isinstance(connection, BoundedClient)
        # Behind a proxy all peers would seem to be in the proxy's network.
        yield connection, address.host if proxy else remote_host(connection)


def proxy_of(setting: str, address: Address) -> Proxy | None:
    """The proxy for links to this address. Raises ProxyFault if it cannot be used."""
    try:
        return proxy_for(setting, address.host, address.port, tls=address.tls)
    except UsageError as error:
        raise ProxyFault(error.text) from error


async def _dialled(
    address: Address, tls: ssl.SSLContext | None, proxy: Proxy | None, where: dict[str, Any]
) -> Connection:
    """The open connection. Raises ProxyFault, or an error of websockets if the peer is at fault."""
    try:
        return await dialling(address, tls, proxy.url if proxy else None, **where)
    except ProxyError as error:
        if proxy is None or (reason := _refusal(error)) is None:
            raise
        raise ProxyFault(proxy.refuses(f"{address.host}:{address.port}", reason)) from error
    except OSError as error:
        if proxy is None or isinstance(error, _MAYBE_BEHIND_IT):
            raise
        raise ProxyFault(proxy.unreachable(error.strerror or str(error))) from error


def _refusal(error: ProxyError) -> str | None:
    """The proxy's message, unless it is about the host behind it."""
    if isinstance(error, InvalidProxyStatus):
        status = error.response.status_code
        return f"HTTP {status}" if status < 500 else None
    cause = error.__cause__ or error
    # A proxy that hangs up may have found nobody behind it.
    if isinstance(cause, EOFError) or getattr(cause, "error_code", None) in _OF_THE_PEER:
        return None
    return str(cause) or type(cause).__name__


async def hosts_of(address: Address) -> list[str]:
    """The IP addresses of the host, the most likely reachable first. Raises OSError if there are none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


async def _host_to_dial(address: Address, only_public: bool, allows: Allows | None) -> str:
    """The IP address to dial for this host; exactly the checked address is used.

    `only_public`: a stranger must not point us at our own network through a name, so all its addresses must be public.
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
    """A connection without redirects, which could lead to any host of our own network."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def dialling(address: Address, tls: ssl.SSLContext | None, proxy: str | None, **where: Any) -> Dialling:
    """A new connection. `where`: host and port to connect to instead of the address's own."""
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
    """The TLS context for a dial; None on `ws://`.

    `any_certificate`: the handshake checks the key, which signs the certificate's hash (handshake.py).
    """
    if not address.tls:
        return None
    context = ssl.create_default_context()
    if any_certificate:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def peer_certificate(connection: Connection) -> bytes:
    """SHA-256 of the server's certificate, DER encoded; NO_TLS on `ws://`."""
    tls: ssl.SSLObject | None = connection.transport.get_extra_info("ssl_object")
    if tls is None:
        return NO_TLS
    return hashlib.sha256(tls.getpeercert(binary_form=True) or b"").digest()
