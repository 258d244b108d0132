"""The settings about the swarm, checked and parsed."""

from __future__ import annotations

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.proxies import check_proxy
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings, listed
from sapo_desktop.swarm.addresses.address import Address, is_private
from sapo_desktop.system.network import home_addresses

_NO_KEY = sentence("Enter the peer's key to block it: 64 hex digits.", in_terminal="sapo-desktop peers")
_READ_WHEN_JOINING = ("silo", "listen", "label", "swarm", "admission", "lan", "proxy")


def check(settings: Settings) -> None:
    """Check addresses and keys. Raises UsageError."""
    for address in addresses(settings.peers):
        if not address.tls and not address.is_loopback and not at_home(settings):
            raise UsageError(
                "{address} is not encrypted, so anyone in between can read along. Use wss://. Within a "
                "private swarm it is allowed with the setting lan.",
                address=str(address),
            )
    if settings.listen:
        host_and_port(settings.listen)
    if settings.announce:
        Address.parse(settings.announce)
    check_proxy(settings.proxy)
    keys_of(settings.blocked)


def at_home(settings: Settings) -> bool:
    """Whether loopback and local addresses from peers are used like public ones: in a private swarm whose owner has
    turned on the local network. In the public one, a stranger could make this node dial its owner's printer."""
    return settings.lan and bool(settings.swarm)


def addresses(text: str) -> list[Address]:
    """The addresses of a comma-separated list. Raises UsageError."""
    return [Address.parse(word) for word in listed(text)]


def keys_of(text: str) -> frozenset[bytes]:
    """The keys (64 hex digits) of a comma-separated list. Raises UsageError."""
    try:
        keys = frozenset(map(bytes.fromhex, listed(text)))
    except ValueError as error:
        raise UsageError(_NO_KEY) from error
    if any(len(key) != 32 for key in keys):
        raise UsageError(_NO_KEY)
    return keys


def host_and_port(where: str) -> tuple[str, int]:
    """Parse `0.0.0.0:8765` or `[::]:8765`. Raises UsageError."""
    host, colon, port = where.strip().rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 <= int(port) < 65536:
        raise UsageError(
            "Write the address to listen at as HOST:PORT, like 0.0.0.0:8765 or [::]:8765, not '{where}'.", where=where
        )
    return host.strip("[]"), int(port)


def place_on_lan(listen: str, port: int) -> tuple[list[str], int | None]:
    """Own IPv4 addresses on local networks in which nodes are searched, and the port at which this one accepts links
    at all of them; no port if it listens at none. `port`: the actual one, if `listen` leaves it to the system."""
    host = host_and_port(listen)[0] if listen else ""
    if host == "0.0.0.0":
        return home_addresses(), port
    if is_private(host) and ":" not in host:
        return [host], port
    return home_addresses(), None


def rejoins(before: Settings | None, now: Settings) -> bool:
    """Whether a member must join again for this change."""
    return before is None or any(getattr(before, key) != getattr(now, key) for key in _READ_WHEN_JOINING)
