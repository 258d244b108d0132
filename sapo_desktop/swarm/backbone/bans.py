"""Bans that reach other relays of the backbone: each says whom it bans, and follows the relays that its operator named.

Pure, as federation.py. A relay says its list again each minute, so one that joins later hears it, and a shorter list
lifts what is no longer in it. Nobody can be made to follow: a relay that was taken over would else ban everybody.
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
"""Keys that one message holds; of a longer list the first ones in their order as numbers."""
SAY_SECONDS = 60.0
_MOST_OFF = 600.0
"""Seconds by which a list may be older, or from a clock that is ahead: it cannot be said again later."""


class BansBody(Body, frozen=True, kw_only=True, tag="bans"):
    """All keys that `key`, a relay, takes nothing from."""

    time: m.Number
    banned: Annotated[list[m.Key], Meta(max_length=MOST_BANS)]

    @property
    def written(self) -> int:
        return self.time


class SharedBans:
    """What one relay says and hears of bans.

    Args:
        follows: keys of the relays whose bans hold here too.
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
        """From now on others hear this list."""
        self._own, self._due = banned, float("-inf")

    def due(self, now: Now) -> bytes | None:
        """The message that is to go out now, if there is one."""
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
        """Take a message that came under the name of a relay; whether it changed who is banned here."""
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
        """Whom the relays that are followed ban; never this relay, nor one of those."""
        banned = {key for body in self._heard.values() for key in body.banned}
        return frozenset(banned) - self._follows - {self._signer.key}
