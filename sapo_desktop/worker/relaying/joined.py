"""Connects a relay to others over NATS, as its options say, and reads the list of banned keys.

Left out: the exchange (swarm/backbone/), and its transport (swarm/sockets/backbone.py).
"""

from __future__ import annotations

import ssl
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.files.reading import read_text
from sapo_desktop.core.network.nats_url import is_guarded, nats_servers
from sapo_desktop.core.records import Check
from sapo_desktop.swarm.backbone.bans import SharedBans
from sapo_desktop.swarm.backbone.federation import Federation
from sapo_desktop.swarm.backbone.shards import SHARDS
from sapo_desktop.swarm.clock import Now
from sapo_desktop.worker.control.messages.swarm import BackboneInfo, RelayOptions
from sapo_desktop.worker.membership.joining import Linked
from sapo_desktop.worker.membership.settings import keys_of

if TYPE_CHECKING:
    from sapo_desktop.swarm.sockets.backbone import Backbone, Credentials

_MOST_CREDENTIALS, _MOST_BANS = 4096, 16 * 1024 * 1024
INSTALL = "python3 installers/bootstrap.py setup relay"
"""In a clone: installs both in the locked versions, checked by hash."""


def check_backbone(options: RelayOptions) -> None:
    """Raise UsageError if something for the backbone of these options is missing or unusable."""
    if not options.backbone:
        return
    servers = nats_servers(options.backbone)
    try:
        from sapo_desktop.swarm.sockets import backbone  # noqa: F401
    except ImportError as error:
        raise UsageError("A backbone needs nats-py, which is not installed: {command}", command=INSTALL) from error
    if options.backbone_shards is not None and not 1 <= options.backbone_shards <= SHARDS:
        raise UsageError("--backbone-shards must be a number from 1 to {most}.", most=str(SHARDS))
    credentials = read_credentials(options.backbone_credentials)
    if credentials and credentials.is_secret and (bare := [server for server in servers if not is_guarded(server)]):
        raise UsageError(
            "{server} would receive the password unencrypted. Use tls:// there, or a server at 127.0.0.1.",
            server=bare[0],
        )
    _tls(options.backbone_ca)


def join_backbone(options: RelayOptions, linked: Linked, banned: frozenset[bytes] = frozenset()) -> Backbone:
    """The relay's connection, not started yet. `banned`: published to others, if there is a list.

    Raises UsageError as `check_backbone` does.
    """
    from sapo_desktop.swarm.sockets.backbone import Backbone

    federation = Federation(
        linked.network.exchange,
        linked.signer,
        linked.network_id,
        Now(time.monotonic(), time.time()),
        members=linked.members,
        admission=linked.admission,
    )
    bans = SharedBans(
        linked.signer,
        linked.network_id,
        keys_of(options.bans_from),
        members=linked.members,
        admission=linked.admission,
    )
    if options.bans:
        bans.say(banned)
    joined = Backbone(
        nats_servers(options.backbone),
        federation,
        linked.network,
        f"sapo.v1.{linked.network_id.hex()}",
        credentials=read_credentials(options.backbone_credentials),
        tls=_tls(options.backbone_ca),
        shards=SHARDS if options.backbone_shards is None else options.backbone_shards,
    )
    joined.bans = bans
    return joined


def read_credentials(path: str) -> Credentials | None:
    """The seed of an nkey, `user:password`, or a token: the first line of the file; None without a file."""
    from sapo_desktop.swarm.sockets.backbone import Credentials
    from sapo_desktop.swarm.sockets.nkey import UserKey

    if not path:
        return None
    first = _read(path, _MOST_CREDENTIALS).strip().partition("\n")[0].strip()
    if not first or first.startswith("-"):
        raise UsageError("The first line of {path} must be USER:PASSWORD or a token.", path=path)
    if first.startswith("SU") and ":" not in first:
        try:
            return Credentials(key=UserKey(first))
        except ValueError as error:
            raise UsageError(
                "{path} holds no seed of a user's nkey, which begins with SU. Choose the file that holds it.", path=path
            ) from error
    user, colon, password = first.partition(":")
    return Credentials(user, password) if colon else Credentials(token=first)


def _tls(authorities: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authorities or None)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            "{path} contains no certificates. Choose a file with certificates in PEM form.", path=authorities
        ) from error


def backbone_info(backbone: Backbone) -> BackboneInfo:
    """The backbone in the form of `status`."""
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
    """The check for `doctor`. `state`: of the connection to NATS."""
    name = "backbone"
    if state == "connected":
        return Check(name, "good", "Connected to NATS.")
    if state == "refused":
        return Check(
            name,
            "limited",
            "NATS refuses the credentials: this relay works alone.",
            "Put what the server's configuration names into the file of --backbone-credentials, and start the "
            "relay again.",
        )
    return Check(
        name,
        "limited",
        "No NATS server of --backbone can be reached: this relay works alone.",
        "Check whether NATS runs there, whether its port is open from here, and, where it is tls://, whether "
        "--backbone-ca vouches for its certificate.",
    )


def read_bans(path: str) -> frozenset[bytes]:
    """Keys of 64 hex digits, one per line, with comments after `#`; none without a file. Raises UsageError."""
    if not path:
        return frozenset()
    banned: set[bytes] = set()
    for number, line in enumerate(_read(path, _MOST_BANS).splitlines(), 1):
        try:
            banned |= keys_of(line.partition("#")[0])
        except UsageError as error:
            raise UsageError(
                "Line {number} of {path} is not a key. Write its 64 hex digits.",
                in_terminal="sapo-desktop peers --json",
                number=number,
                path=path,
            ) from error
    return frozenset(banned)


def _read(path: str, most: int) -> str:
    try:
        return read_text(Path(path), most)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text"
        raise UsageError(
            "{path} cannot be read: {reason}. Check whether it exists and you may read it.",
            path=path,
            reason=reason,
        ) from error
