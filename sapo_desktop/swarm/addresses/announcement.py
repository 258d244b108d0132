"""What a node that was told to announce itself tells of where it listens."""

from __future__ import annotations

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.protocol.envelope import PeerBody, seal
from sapo_desktop.swarm.protocol.signing import Signer

_RECORD_SECONDS = 3600.0


class Announcement:
    """Our own address as a signed record, for those who ask: only of a node that was told to announce itself."""

    def __init__(
        self, signer: Signer, network: bytes, address: Address, *, relay: bool, admission: bytes = b""
    ) -> None:
        self._signer = signer
        self._network = network
        self._address = str(address)
        self._relay = relay
        self._admission = admission
        self._record = b""
        self._made = float("-inf")

    def record(self, at: Now) -> bytes:
        """The record, made anew every hour."""
        if at.monotonic - self._made >= _RECORD_SECONDS:
            body = PeerBody(
                network=self._network,
                key=self._signer.key,
                time=int(at.unix),
                address=self._address,
                relay=self._relay,
                admission=self._admission,
            )
            self._record, self._made = seal(self._signer, body), at.monotonic
        return self._record
