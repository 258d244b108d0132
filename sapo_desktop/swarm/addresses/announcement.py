"""The address record of a node whose settings announce it."""

from __future__ import annotations

from dataclasses import dataclass

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.protocol.envelope import PeerBody, seal
from sapo_desktop.swarm.protocol.signing import Signer


@dataclass(frozen=True)
class Announcement:
    """Our own address as a signed record for peers that ask; only if the settings announce it."""

    signer: Signer
    network: bytes
    address: Address
    relay: bool
    admission: bytes = b""

    def record(self, at: Now) -> bytes:
        """The current record; a link may ask for one every ten minutes."""
        body = PeerBody(
            network=self.network,
            key=self.signer.key,
            time=int(at.unix),
            address=str(self.address),
            relay=self.relay,
            admission=self.admission,
        )
        return seal(self.signer, body)
