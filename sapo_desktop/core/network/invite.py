"""Invite links of private swarms: `sapo://join?swarm=KEY&peer=ADDRESS&peer=ADDRESS&admission=HEX`.

`swarm` is the public half of the admission key, `peer` a percent-encoded address to start from, and `admission` admits
one person's key. Without an admission, the link only names the swarm. Nothing in a link is secret. Unknown fields are
ignored, so that later versions can add some. The code that follows a link checks whether an address can be dialled and
whom the admission is for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlsplit

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.ranges import LOWEST_PORT, is_public
from sapo_desktop.core.sentences import Sentence, Text, joined, sentence

SCHEME = "sapo:"
PREFIX = f"{SCHEME}//join?"
LONGEST_LINK = 4000
MOST_PEERS = 8
_MOST_FIELDS = 32
_SWARM = re.compile(r"[0-9a-f]{64}")
_ADMISSION = re.compile(r"[0-9a-f]{144}")
_ADDRESS = re.compile(r"[!-+\--~]{1,255}")
"""Printable ASCII without blanks and commas, which separate addresses in the settings."""
_FORM = f"{PREFIX}swarm=KEY&peer=ADDRESS"


@dataclass(frozen=True)
class Invite:
    """An invitation to one private swarm. Keys and admission in lower-case hex; `admission` may be empty."""

    swarm: str
    peers: tuple[str, ...]
    admission: str = ""

    @classmethod
    def parse(cls, text: str) -> Invite:
        """Parse a link that somebody sent. Raises UsageError with what is wrong."""
        fields = _fields(text.strip())
        swarm, admission = _only(fields, "swarm").lower(), _only(fields, "admission").lower()
        if not _SWARM.fullmatch(swarm):
            raise _cut(sentence("the swarm in this one is not a key of 64 hex digits."))
        if admission and not _ADMISSION.fullmatch(admission):
            raise _cut(sentence("this one's admission is not 144 hex digits."))
        peers = tuple(dict.fromkeys(fields.get("peer", [])))
        if not 1 <= len(peers) <= MOST_PEERS:
            count, most = len(peers), MOST_PEERS
            raise _cut(sentence("this one has {count} addresses instead of 1 to {most}.", count=count, most=most))
        if not all(_ADDRESS.fullmatch(peer) for peer in peers):
            raise _cut(sentence("an address in this one has characters that an address cannot have."))
        return cls(swarm, peers, admission)

    @property
    def nearby(self) -> tuple[str, ...]:
        """Addresses that are only dialled with the user's agreement: on this computer, in a local network, in a
        cloud's internal ranges, or at ports of other services."""
        return tuple(peer for peer in self.peers if not _is_far(peer))

    def __str__(self) -> str:
        peers = "".join(f"&peer={quote(peer, safe=':/[]')}" for peer in self.peers)
        admission = f"&admission={self.admission}" if self.admission else ""
        return f"{PREFIX}swarm={self.swarm}{peers}{admission}"


def asks_first(invite: Invite) -> Text:
    """What to tell a person before the `nearby` addresses of an invite are dialled."""
    return sentence(
        "This invite leads to {addresses}: this computer, a local network, or a port of other "
        "services. Follow it only if you know that a node of that swarm is there.",
        addresses=", ".join(invite.nearby),
    )


def _is_far(peer: str) -> bool:
    try:
        parts = urlsplit(peer)
        host, port = parts.hostname or "", parts.port or 0
    except ValueError:
        host, port = "", 0
    if not host or not port:
        return True  # not an address at all: refused when it is read
    return is_public(host) and (port >= LOWEST_PORT or port == 443)


def _fields(text: str) -> dict[str, list[str]]:
    """Name -> values, in their order."""
    if len(text) > LONGEST_LINK:
        raise _wrong(sentence("this one is longer than {most} characters.", most=LONGEST_LINK))
    if not text.startswith(PREFIX):
        raise _wrong(
            sentence("this one does not. Ask for the link again, or update this program: the link may be newer.")
        )
    if not (text.isascii() and text.isprintable()):
        raise _cut(sentence("this one has characters that a link cannot have."))
    try:
        pairs = parse_qsl(text[len(PREFIX) :], keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise _wrong(sentence("this one has more than {most} fields.", most=_MOST_FIELDS)) from error
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def _only(fields: dict[str, list[str]], name: str) -> str:
    """The single value of a field; empty if it is missing."""
    values = fields.get(name, [""])
    if len(values) != 1:
        raise _wrong(sentence("this one has {name} {count} times.", name=name, count=len(values)))
    return values[0]


def _cut(what: Sentence) -> UsageError:
    """The error for a link that seems to be truncated."""
    again = sentence("Ask for the whole link again. In a terminal, put it in quotes.")
    return _wrong(joined([what, again]))


def _wrong(what: Text) -> UsageError:
    return UsageError("An invite link looks like {form}; {what}", form=_FORM, what=what)
