"""Bans shared between relays of the backbone: each publishes its list, and follows the relays that its operator named.

Pure, like federation.py. A relay repeats its list every minute, so that later ones hear it, and a shorter list lifts
the missing bans. Nobody is forced to follow: otherwise a relay that was taken over could ban everybody.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from msgspec import Meta

from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Body, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust.admission import Members

MOST_BANS = 1500
"""Maximum keys in one message; of a longer list, the numerically first ones."""
SAY_SECONDS = 60.0
_MOST_OFF = 600.0
"""Maximum age of a list in seconds, and maximum lead of its clock, so that it cannot be replayed later."""


class BansBody(Body, frozen=True, kw_only=True, tag="bans"):
    """All keys that `key`, a relay, bans."""

    time: m.Number
    banned: Annotated[list[m.Key], Meta(max_length=MOST_BANS)]

    @property
    def written(self) -> int:
        return self.time


class SharedBans:
    """The bans that one relay publishes and hears.

    Args:
        follows: keys of the relays whose bans also apply here.
    """

    def __init__(
        self,
        signer: Signer,
        network: bytes,
        follows: Collection[bytes],
        *,
        members: Members | None = None,
        admission: bytes = b"",
    ) -> None:
        self._signer = signer
        self._network = network
        self._follows = frozenset(follows) - {signer.key}
        self._members = members
        self._admission = admission
        self._own: frozenset[bytes] | None = None
        self._due = float("-inf")
        self._heard: dict[bytes, BansBody] = {}

    def say(self, banned: frozenset[bytes]) -> None:
        """Publish this list from now on."""
        self._own, self._due = banned, float("-inf")

    def due(self, now: Now) -> bytes | None:
        """The message to send now, if any."""
        if self._own is None or now.monotonic < self._due:
            return None
        self._due = now.monotonic + SAY_SECONDS
        body = BansBody(
            network=self._network,
            key=self._signer.key,
            admission=self._admission,
            time=int(now.unix),
            banned=sorted(self._own)[:MOST_BANS],
        )
        return seal(self._signer, body, limits.MAX_FRAME)

    def heard(self, relay: bytes, message: bytes, now: Now) -> bool:
        """Handle a message in the name of a relay; returns whether the bans here changed."""
        if relay not in self._follows or len(message) > limits.MAX_FRAME:
            return False
        before = self.followed
        try:
            body = open_envelope(message, BansBody, self._network, self._members, limits.MAX_FRAME).body
        except Refused:
            return False
        last = self._heard.get(relay)
        if body.key != relay or abs(now.unix - body.time) > _MOST_OFF or (last and body.time < last.time):
            return False
        self._heard[relay] = body
        return self.followed != before

    @property
    def followed(self) -> frozenset[bytes]:
        """The keys banned by followed relays; never this relay or one of those."""
        banned = {key for body in self._heard.values() for key in body.banned}
        return frozenset(banned) - self._follows - {self._signer.key}
