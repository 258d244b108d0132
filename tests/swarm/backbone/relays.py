"""Relays and a backbone in memory."""

from sapo_desktop.swarm.backbone.federation import Federation
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.protocol.refusals import Reason
from tests.swarm.mesh import START, Peer
from tests.swarm.peers import NETWORK


class Relay(Peer):
    """A peer that passes on what authors publish to it."""

    def __init__(self, name: int, now: Now = START) -> None:
        super().__init__(name)
        self.federation = Federation(self.exchange, self.signer, NETWORK, now)

    def served(self) -> set[bytes]:
        return {entry.envelope for entry in self.exchange.giving.shelf}

    def take(self, name: bytes, message: bytes, now: Now) -> None:
        self.federation.arrived(name, message, now)
        self.federation.receive(now)

    @property
    def refused(self) -> dict[Reason, int]:
        return dict(self.federation.tally.refused)


def carry(relays: list[Relay], now: Now) -> int:
    """Carry what is due to everybody else, as NATS would; returns how many messages that were."""
    carried = 0
    while messages := [(relay, one) for relay in relays for one in relay.federation.due(now)]:
        for sender, message in messages:
            carried += 1
            for relay in relays:
                if relay is not sender:
                    relay.take(sender.signer.key, message, now)
    return carried
