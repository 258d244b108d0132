"""Groups on their way from one relay to the others: a signed body like any other, in a message of its own.

The relay's signature says only who had the groups from their authors, and under which tag; each group in it keeps its
author's own. The message is an envelope (envelope.py) of at most one frame.
"""

from __future__ import annotations

from sapo_desktop.swarm.protocol import codec, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Body, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust.admission import Members


class BatchBody(Body, frozen=True, kw_only=True, tag="backbone"):
    """Groups that `key`, a relay, had from their authors."""

    time: m.Number
    batch: m.Batch
    """As in a GROUPS; the relay of each group is this body's key, whatever stands there."""

    @property
    def written(self) -> int:
        return self.time


def seal_batch(
    signer: Signer, network: bytes, groups: list[m.Sourced], unix_time: float, admission: bytes = b""
) -> list[bytes]:
    """These groups in one message, or in several where one would be larger than a frame."""
    body = BatchBody(
        network=network,
        key=signer.key,
        admission=admission,
        time=int(unix_time),
        batch=codec.pack_sourced(groups),
    )
    if len(body.batch) <= limits.MAX_FRAME - limits.KIB:  # a KiB is for all of a message but its batch
        return [seal(signer, body, limits.MAX_FRAME)]
    half = len(groups) // 2
    return [
        message
        for part in (groups[:half], groups[half:])
        for message in seal_batch(signer, network, part, unix_time, admission)
    ]


def open_batch(message: bytes, relay: bytes, network: bytes, members: Members | None, unix_time: float) -> BatchBody:
    """The body of a message that came under the name of this relay.

    Raises:
        Refused: as for open_envelope; NOT_ITS_OWN (another relay signed it), TOO_OLD, TOO_NEW (by its own word).
    """
    body = open_envelope(message, BatchBody, network, members, limits.MAX_FRAME).body
    if body.key != relay:
        raise Refused(Reason.NOT_ITS_OWN)
    if body.time < unix_time - limits.MOST_CLOCK_ERROR:
        raise Refused(Reason.TOO_OLD)
    if body.time > unix_time + limits.MOST_CLOCK_ERROR:
        raise Refused(Reason.TOO_NEW)
    return body
