"""What a node does about private swarms: checks its own admission, founds a swarm, admits others, invites, joins.

Pure: settings and keys go in, settings to be changed and links come out. Keeping either is the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.invite import MOST_PEERS, Invite, asks_first
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.sentences import joined as joined_text
from sapo_desktop.core.settings import Settings, listed
from sapo_desktop.swarm.addresses.address import Address, ip_of
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.protocol.signing import KEY_BYTES, Signer
from sapo_desktop.swarm.trust.admission import NO_END, Members, admit

_DAY = 86400
_HOW_TO_FOLLOW = sentence("Then: sapo-desktop peers join --nearby LINK")


def members_of(swarm: str, admission: str, key: bytes, unix_time: float) -> Members | None:
    """Who belongs to the swarm of these settings; None in the public one.

    Raises:
        UsageError: the admission does not admit our own `key`, and what to do.
    """
    if not swarm:
        return None
    members = Members(bytes.fromhex(swarm))
    try:
        members.check(key, bytes.fromhex(admission), unix_time)
    except Refused as refused:
        raise UsageError(
            "This node's key is not admitted to the private swarm ({reason}). {advice}",
            reason=refused.detail,
            advice=how_to_be_admitted(key),
        ) from refused
    return members


def how_to_be_admitted(key: bytes) -> Text:
    """What a newcomer with this key tells whom."""
    return sentence(
        "Send your key, {key}, to the swarm's founder. The founder makes a link with `sapo-desktop "
        "peers admit KEY`. You follow it with `sapo-desktop peers join LINK` (a relay: `relay "
        "--invite LINK`).",
        key=key.hex(),
    )


def founded(settings: Settings, admission_key: Signer, key: bytes) -> dict[str, str]:
    """The settings of a node with this key that is in the swarm that it founded."""
    swarm = admission_key.key.hex()
    same = settings.swarm == swarm
    kept, invited = (settings.peers, settings.invited) if same else ("", "")
    return {"swarm": swarm, "admission": admit(admission_key, key).hex(), "peers": kept, "invited": invited}


def admission_link(settings: Settings, admission_key: Signer, own: bytes, member: str, days: int, now: float) -> Invite:
    """An invite for just the `member` (64 hex digits), for so many days (0: without end). `own`: our key; `now`: Unix
    time.

    Raises:
        UsageError: that is no key, we are not in the swarm of this admission key, or nobody could be dialled.
    """
    try:
        key = bytes.fromhex(member)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise UsageError("Enter the newcomer's key: 64 hex digits.", in_terminal="sapo-desktop identity show")
    if settings.swarm != admission_key.key.hex():
        raise UsageError(
            "This node is not in the swarm that it founded. Go back to that swarm first.",
            in_terminal="sapo-desktop peers found",
        )
    ends = int(now) + days * _DAY if days else NO_END
    return replace(invite(settings, own), admission=admit(admission_key, key, ends).hex())


def invite(settings: Settings, own: bytes) -> Invite:
    """The way to the swarm that this node is in, for whoever is admitted there. `own`: our key.

    Raises:
        UsageError: it is the public swarm, or nobody could be dialled.
    """
    if not settings.swarm:
        raise UsageError(
            "This node is in the public swarm, which needs no invite. To invite others, create a private swarm.",
            in_terminal="sapo-desktop peers found",
        )
    mine = own_address(settings, own)
    kept = listed(settings.peers)
    peers = tuple(dict.fromkeys([*([str(mine)] if mine else []), *kept]))[:MOST_PEERS]
    if not peers:
        raise UsageError(
            "An invite needs an address to connect to. Set the address at which others reach this node "
            "(announce), or give the address of a peer or relay of the swarm.",
            in_terminal="sapo-desktop settings set announce wss://HOST:PORT, or sapo-desktop peers add URL",
        )
    return Invite(settings.swarm, peers)


def own_address(settings: Settings, key: bytes) -> Address | None:
    """Where others reach this node, as far as the settings tell: the announced address, else the one it listens at."""
    if settings.announce:
        return announced(settings.announce, key)
    host, _, port = settings.listen.strip().rpartition(":")
    ip = ip_of(host.strip("[]"))
    if not port.isdigit() or int(port) == 0 or (ip is not None and ip.is_unspecified):
        return None
    return Address(host.strip("[]"), int(port), key=key)


def announced(address: str, key: bytes) -> Address:
    """The address that is told to others: under our own key, which a record must be for. Raises UsageError."""
    return replace(Address.parse(address), key=key)


def joined(settings: Settings, link: Invite, key: bytes, now: float, *, nearby: bool = False) -> dict[str, str]:
    """The settings of a node with this key that follows the link. Addresses of another swarm are given up: they would
    be dialled in vain, and told which swarm we are in. What the link names and nobody typed is from now on dialled only
    on the public internet; `nearby`: but for what is plainly elsewhere, as a person agreed to that.

    Raises:
        UsageError: the link admits another key, or no longer; an address in it cannot be read, or is one nearby.
    """
    if link.nearby and not nearby:
        raise UsageError(joined_text([asks_first(link), _HOW_TO_FOLLOW]))
    same = settings.swarm == link.swarm
    if link.admission:
        members_of(link.swarm, link.admission, key, now)
    kept = listed(settings.peers) if same else []
    peers = _merged(kept, link.peers)
    far = [one for one in link.peers if one not in link.nearby and str(Address.parse(one)) not in kept]
    invited = _merged(listed(settings.invited) if same else [], far)
    return {
        "swarm": link.swarm,
        "admission": link.admission or (settings.admission if same else ""),
        "peers": ", ".join(peers),
        "invited": ", ".join(invited),
    }


def _merged(kept: Sequence[str], named: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*kept, *(str(Address.parse(one)) for one in named)]))
