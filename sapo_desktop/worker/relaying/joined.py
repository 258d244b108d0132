"""Joins a relay to others over NATS, as its options say; and reads the list of keys that are banned.

Left out: what is given and taken (swarm/backbone/), and how it is carried (swarm/sockets/backbone.py).
"""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.files.reading import read_text
from sapo_desktop.core.network.nats_url import is_guarded, nats_servers
from sapo_desktop.core.records import Check
from sapo_desktop.swarm.backbone.federation import Federation
from sapo_desktop.swarm.backbone.shards import SHARDS
from sapo_desktop.swarm.clock import Now
from sapo_desktop.worker.control.messages.swarm import BackboneInfo
from sapo_desktop.worker.membership.joining import Linked
from sapo_desktop.worker.membership.settings import keys_of

if TYPE_CHECKING:
    from sapo_desktop.swarm.sockets.backbone import Backbone, Credentials

_MOST_CREDENTIALS, _MOST_BANS = 4096, 16 * 1024 * 1024
INSTALL = "python -m pip install nats-py prometheus-client"


@dataclass(frozen=True)
class BackboneOptions:
    """Where the other relays are met. Empty: nowhere."""

    servers: str = ""
    credentials: Path | None = None
    ca: Path | None = None
    """Certificates (PEM) that the servers' are signed with; None: those that this computer trusts."""
    shards: int = SHARDS
    """How many to listen to."""

    def check(self) -> None:
        """Raises UsageError: what is missing, or cannot be used."""
        if not self.servers:
            return
        servers = nats_servers(self.servers)
        try:
            from sapo_desktop.swarm.sockets import backbone  # noqa: F401
        except ImportError as error:
            raise UsageError(
                "Relays are joined by nats-py, which is not installed: {command}", command=INSTALL
            ) from error
        if not 1 <= self.shards <= SHARDS:
            raise UsageError("--backbone-shards is a number from 1 to {most}.", most=str(SHARDS))
        credentials = self._credentials()
        if credentials and credentials.is_secret and (bare := [server for server in servers if not is_guarded(server)]):
            raise UsageError(
                "{server} would be told the password unencrypted. Use tls:// there, or a server at 127.0.0.1.",
                server=bare[0],
            )
        self._tls()

    def join(self, linked: Linked) -> Backbone:
        """The relay's connection, not begun yet. Raises UsageError as `check` does."""
        from sapo_desktop.swarm.sockets.backbone import Backbone

        federation = Federation(
            linked.network.exchange,
            linked.signer,
            linked.network_id,
            Now(time.monotonic(), time.time()),
            members=linked.members,
            admission=linked.admission,
        )
        return Backbone(
            nats_servers(self.servers),
            federation,
            linked.network,
            f"sapo.v1.{linked.network_id.hex()}",
            credentials=self._credentials(),
            tls=self._tls(),
            shards=self.shards,
        )

    def _credentials(self) -> Credentials | None:
        """The seed of an nkey, `user:password`, or a token: the first line of the file."""
        from sapo_desktop.swarm.sockets.backbone import Credentials
        from sapo_desktop.swarm.sockets.nkey import UserKey

        if self.credentials is None:
            return None
        first = _read(self.credentials, _MOST_CREDENTIALS).strip().partition("\n")[0].strip()
        if not first or first.startswith("-"):
            raise UsageError("The first line of {path} has to be USER:PASSWORD or a token.", path=str(self.credentials))
        if first.startswith("SU") and ":" not in first:
            try:
                return Credentials(key=UserKey(first))
            except ValueError as error:
                raise UsageError(
                    "{path} holds no seed of a user's nkey: it begins with SU. Name the file that holds it.",
                    path=str(self.credentials),
                ) from error
        user, colon, password = first.partition(":")
        return Credentials(user, password) if colon else Credentials(token=first)

    def _tls(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=str(self.ca) if self.ca else None)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(
                "{path} holds no certificates: name a file with certificates in PEM form.", path=str(self.ca)
            ) from error


def backbone_info(backbone: Backbone) -> BackboneInfo:
    """As `status` shows it."""
    federation = backbone.federation
    return BackboneInfo(
        state=backbone.state,
        relays=federation.relays(Now(time.monotonic(), time.time())),
        connects=backbone.connects,
        groups_in=federation.tally.groups_in,
        groups_out=federation.tally.groups_out,
        lost_in=federation.lost_in + backbone.overruns,
        lost_out=federation.lost_out,
        refused=federation.tally.refused.by_kind(),
    )


def backbone_check(state: str) -> Check:
    """For `doctor`. `state`: of the connection to NATS."""
    name = "backbone"
    if state == "connected":
        return Check(name, "good", "Connected to NATS.")
    if state == "refused":
        return Check(
            name,
            "limited",
            "NATS refuses the credentials: this relay serves on alone.",
            "Put what the server's configuration names into the file of --backbone-credentials, and start the "
            "relay again.",
        )
    return Check(
        name,
        "limited",
        "No NATS server of --backbone is reached: this relay serves on alone.",
        "Look whether NATS runs there, whether its port is open from here, and, where it is tls://, whether "
        "--backbone-ca vouches for its certificate.",
    )


def read_bans(path: Path | None) -> frozenset[bytes]:
    """Keys of 64 hex digits, one a line; what follows a `#` is a remark. Raises UsageError."""
    if path is None:
        return frozenset()
    banned: set[bytes] = set()
    for number, line in enumerate(_read(path, _MOST_BANS).splitlines(), 1):
        try:
            banned |= keys_of(line.partition("#")[0])
        except UsageError as error:
            raise UsageError(
                "Line {number} of {path} is no key: write its 64 hex digits.",
                in_terminal="sapo-desktop peers --json",
                number=number,
                path=str(path),
            ) from error
    return frozenset(banned)


def _read(path: Path, most: int) -> str:
    try:
        return read_text(path, most)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text"
        raise UsageError(
            "{path} cannot be read: {reason}. Look whether it is there and you may read it.",
            path=str(path),
            reason=reason,
        ) from error
