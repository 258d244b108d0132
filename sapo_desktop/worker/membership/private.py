"""Private swarms on a node: checks its own admission, founds a swarm, admits others, invites, joins.

Pure: settings and keys go in, changed settings and links come out. The caller stores both.
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
    """The members of the swarm in these settings; None for the public one.

    Raises:
        UsageError: the admission does not admit our own `key`, with advice.
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
    """How a newcomer with this key gets admitted."""
    return sentence(
        "Send your key, {key}, to the swarm's founder. The founder makes a link with `sapo-desktop "
        "peers admit KEY`. You follow it with `sapo-desktop peers join LINK` (a relay: `relay "
        "--invite LINK`).",
        key=key.hex(),
    )


def founded(settings: Settings, admission_key: Signer, key: bytes) -> dict[str, str]:
    """The settings of a node with this key in the swarm that it founded."""
    swarm = admission_key.key.hex()
    same = settings.swarm == swarm
    kept, invited = (settings.peers, settings.invited) if same else ("", "")
    return {"swarm": swarm, "admission": admit(admission_key, key).hex(), "peers": kept, "invited": invited}


def admission_link(settings: Settings, admission_key: Signer, own: bytes, member: str, days: int, now: float) -> Invite:
    """An invite for only the `member` (64 hex digits), for so many days (0: no end). `own`: our key; `now`: Unix time.

    Raises:
        UsageError: that is not a key, we are not in the swarm of this admission key, or there is no address to dial.
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
    """The link to this node's swarm, for admitted members. `own`: our key.

    Raises:
        UsageError: it is the public swarm, or there is no address to dial.
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
    """This node's address for others according to the settings: the announced one, otherwise the one it listens at."""
    if settings.announce:
        return announced(settings.announce, key)
    host, _, port = settings.listen.strip().rpartition(":")
    ip = ip_of(host.strip("[]"))
    if not port.isdigit() or int(port) == 0 or (ip is not None and ip.is_unspecified):
        return None
    return Address(host.strip("[]"), int(port), key=key)


def announced(address: str, key: bytes) -> Address:
    """The announced address, which must have our own key. Raises UsageError."""
    return replace(Address.parse(address), key=key)


def joined(settings: Settings, link: Invite, key: bytes, now: float, *, nearby: bool = False) -> dict[str, str]:
    """The settings of a node with this key that follows the link. Addresses of another swarm are removed: they would be
    dialled for nothing, and learn our swarm. Addresses in the link that nobody typed are dialled only on the public
        internet; `nearby`: except obviously local ones, to which a person agreed.

        Raises:
            UsageError: the link admits another key or has expired; an address in it is invalid, or a local one.
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
