"""Addresses of NATS servers as an operator types them, without a secret, which process lists would show."""

from __future__ import annotations

from urllib.parse import urlsplit

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.ranges import ip_of
from sapo_desktop.core.sentences import sentence

_DEFAULT_PORT = 4222


def nats_servers(text: str) -> tuple[str, ...]:
    """The servers of a comma-separated list of `nats://` or `tls://` addresses, with their ports. Raises UsageError."""
    return tuple(_server(word) for word in text.replace(",", " ").split())


def is_guarded(server: str) -> bool:
    """Whether traffic to this server is encrypted or stays on this computer."""
    parts = urlsplit(server)
    ip = ip_of(parts.hostname or "")
    return parts.scheme == "tls" or (ip.is_loopback if ip else parts.hostname == "localhost")


def _server(word: str) -> str:
    try:
        parts = urlsplit(word)
        host, port = parts.hostname or "", parts.port or _DEFAULT_PORT
    except ValueError:
        host, port, parts = "", 0, urlsplit("")
    if parts.username or parts.password:
        raise UsageError(
            sentence(
                "Every user of this computer can read a password on the command line. Put it into a file and "
                "pass that with --backbone-credentials."
            )
        )
    if parts.scheme not in ("nats", "tls") or not host or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError(
            sentence("Write a server of the backbone like nats://127.0.0.1:4222 or tls://nats.example:4222.")
        )
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"
