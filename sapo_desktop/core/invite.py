"""Invite links of private swarms: `sapo://join?swarm=KEY&peer=ADDRESS&peer=ADDRESS&admission=HEX`.

`swarm` is the public half of the admission key, `peer` an address to begin at (percent-encoded), `admission` what
admits one person's key; without it the link only says which swarm. Nothing in a link is secret. Fields that are not
known are passed over, so that later versions can add some. Whether an address can be dialled, and whom the admission is
for, is checked where the link is followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote

from sapo_desktop.core.errors import UsageError

PREFIX = "sapo://join?"
LONGEST_LINK = 4000
MOST_PEERS = 8
LONGEST_ADDRESS = 255
_MOST_FIELDS = 32
_SWARM = re.compile(r"[0-9a-f]{64}")
_ADMISSION = re.compile(r"[0-9a-f]{144}")
_ADDRESS = re.compile(r"[!-+\--~]{1,255}")
"""Printable ASCII but blanks and commas, which separate addresses in the settings."""
_FORM = f"An invite link is written {PREFIX}swarm=KEY&peer=ADDRESS"
_AGAIN = "Have it sent again, and put it in quotes: a shell cuts it at each &."


@dataclass(frozen=True)
class Invite:
    """The way into one private swarm. Keys and admission in lower-case hex; `admission` may be empty."""

    swarm: str
    peers: tuple[str, ...]
    admission: str = ""

    @classmethod
    def parse(cls, text: str) -> Invite:
        """Read a link that somebody sent. Raises UsageError with what is wrong."""
        fields = _fields(text.strip())
        swarm, admission = _only(fields, "swarm").lower(), _only(fields, "admission").lower()
        if not _SWARM.fullmatch(swarm):
            raise UsageError(f"{_FORM}; this one's swarm is no key of 64 hex digits. {_AGAIN}")
        if admission and not _ADMISSION.fullmatch(admission):
            raise UsageError(f"{_FORM}; this one's admission is not 144 hex digits. {_AGAIN}")
        peers = tuple(dict.fromkeys(fields.get("peer", [])))
        if not 1 <= len(peers) <= MOST_PEERS:
            raise UsageError(f"{_FORM}; this one names {len(peers)} addresses instead of 1 to {MOST_PEERS}. {_AGAIN}")
        if not all(_ADDRESS.fullmatch(peer) for peer in peers):
            raise UsageError(f"{_FORM}; an address in this one has signs that none has. {_AGAIN}")
        return cls(swarm, peers, admission)

    def __str__(self) -> str:
        peers = "".join(f"&peer={quote(peer, safe=':/[]')}" for peer in self.peers)
        admission = f"&admission={self.admission}" if self.admission else ""
        return f"{PREFIX}swarm={self.swarm}{peers}{admission}"


def _fields(text: str) -> dict[str, list[str]]:
    """Name -> values, in their order."""
    if len(text) > LONGEST_LINK:
        raise UsageError(f"{_FORM}; this one is longer than {LONGEST_LINK:,} characters.")
    if not text.startswith(PREFIX):
        raise UsageError(f"{_FORM}; this one does not begin so.")
    if not (text.isascii() and text.isprintable()):
        raise UsageError(f"{_FORM}; this one has signs that no link has. {_AGAIN}")
    try:
        pairs = parse_qsl(text[len(PREFIX) :], keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise UsageError(f"{_FORM}; this one has more than {_MOST_FIELDS} fields.") from error
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def _only(fields: dict[str, list[str]], name: str) -> str:
    """The one value of a field; empty where it is missing."""
    values = fields.get(name, [""])
    if len(values) != 1:
        raise UsageError(f"{_FORM}; this one says {name} {len(values)} times.")
    return values[0]
