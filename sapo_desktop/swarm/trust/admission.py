"""Private swarms: an admission key signs the keys of the members.

The swarm's network id follows from the public half of its admission key, so knowing that key means knowing the swarm.
It is not secret and admits nobody. A member's *admission* is an expiry time and a signature over that and the member's
key. It is not secret either, because it is only useful with the member's own secret key.

Left out: revoking an admission. One with an end expires by itself; to remove a member at once, found a new swarm.
"""

from __future__ import annotations

import math
from collections import OrderedDict

from sapo_desktop.core.hashing import digest
from sapo_desktop.core.sentences import sentence
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import SIGNATURE_BYTES, Signer, verify

LABEL = "admission"
NO_END = 0
_END_BYTES = 8
ADMISSION_BYTES = _END_BYTES + SIGNATURE_BYTES
_MOST_KNOWN = 4096
"""Members whose signature was verified: a swarm has few, and each of their groups is checked."""


def network_of(swarm: bytes) -> bytes:
    """The network id (32 bytes) of the private swarm with this admission key (its public half, 32 bytes)."""
    return digest(b"sapo/network/1", b"private", swarm)


def admit(admission_key: Signer, member: bytes, ends: int = NO_END) -> bytes:
    """The admission (72 bytes) of the member with this key. `ends`: Unix time in seconds; NO_END: never."""
    end = ends.to_bytes(_END_BYTES, "big")
    return end + admission_key.sign(LABEL, network_of(admission_key.key), member + end)


class Members:
    """Decides who belongs to one private swarm. `swarm`: the public half of its admission key, 32 bytes."""

    def __init__(self, swarm: bytes) -> None:
        self.swarm = swarm
        self.network = network_of(swarm)
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def check(self, member: bytes, admission: bytes, unix_time: float) -> float:
        """The Unix time at which this member's admission ends, infinity if never.

        Raises:
            Refused: NOT_ADMITTED; there is none, it has ended by then, or it is not for this key in this swarm.
        """
        if not admission:
            raise Refused(Reason.NOT_ADMITTED, sentence("no admission"))
        if len(admission) != ADMISSION_BYTES:
            raise Refused(Reason.NOT_ADMITTED, sentence("an admission of {size} bytes", size=len(admission)))
        end = int.from_bytes(admission[:_END_BYTES], "big")
        if end != NO_END and unix_time >= end:
            raise Refused(Reason.NOT_ADMITTED, sentence("the admission has ended"))
        if not self._is_signed(member, admission):
            raise Refused(Reason.NOT_ADMITTED, sentence("the admission is for another key or another swarm"))
        return math.inf if end == NO_END else float(end)

    def _is_signed(self, member: bytes, admission: bytes) -> bool:
        name = member + admission
        if name in self._known:
            self._known.move_to_end(name)
            return True
        end, signature = admission[:_END_BYTES], admission[_END_BYTES:]
        if not verify(signature, key=self.swarm, label=LABEL, network=self.network, content=member + end):
            return False
        self._known[name] = None
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return True
