"""What nodes say about themselves: round, reward, and how often they used the other's groups. Shown, never used.

A sharing node sends it once a minute to each linked peer. A claim is for one peer on one link, and is never passed on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import StatsBody, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust.admission import Members


@dataclass(frozen=True)
class About:
    """What a node says about itself to everybody."""

    round: int = 0
    reward: float = 0.0
    label: str = ""


def tell(
    links: Iterable[Link], exchange: Exchange, signer: Signer, network: bytes, admission: bytes, about: About, at: Now
) -> None:
    """Send it to every peer for which it is due."""
    for link in links:
        if not link.session.is_open or at.monotonic < link.claim_due:
            continue
        body = StatsBody(
            network=network,
            key=signer.key,
            admission=admission,
            time=int(at.unix),
            round=about.round,
            reward=about.reward,
            label=about.label,
            used=exchange.giving.used(link.key),
        )
        if link.session.tell_stats(seal(signer, body), at.monotonic):
            link.claim_due = at.monotonic + limits.STATS_SECONDS


def hear(link: Link, envelope: bytes, network: bytes, members: Members | None) -> Reason | None:
    """Store a peer's claim; returns why it is refused, or None. Its numbers may be anything, because they are only
    shown."""
    try:
        body = open_envelope(envelope, StatsBody, network, members).body
    except Refused as refused:
        return refused.reason
    if body.key != link.key:
        return Reason.NOT_ITS_OWN
    if not math.isfinite(body.reward):
        return Reason.BAD_BODY
    link.claim = body
    return None
