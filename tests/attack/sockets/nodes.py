"""Nodes without model and examiner over real sockets, as attackers and victims."""

import secrets
import time
from random import Random

from websockets.asyncio.client import ClientConnection

from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.protocol.handshake import Me
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.dialling import peer_certificate
from sapo_desktop.swarm.sockets.network import Network
from sapo_desktop.swarm.trust.standing import Standing
from tests.swarm.mesh import check
from tests.swarm.peers import NETWORK, me


def a_network(signer: Signer | None = None) -> Network:
    """One that takes every group; under a new key, where none is given."""
    signer = signer or Signer(secrets.token_bytes(32))
    return Network(Exchange(signer.key, NETWORK, check, Standing(), Random(signer.key)), me(signer))


async def shake_hands(wire: ClientConnection, who: Me, expected_key: bytes | None = None) -> Session:
    """The session once it is open. Raises ConnectionError: it was sent away."""
    session = Session(
        "client",
        who,
        nonce=secrets.token_bytes(32),
        unix_time=time.time(),
        now=time.monotonic(),
        certificate=peer_certificate(wire),
        expected_key=expected_key,
    )
    while not session.is_open:
        for frame in session.take():
            await wire.send(frame)
        session.receive(await wire.recv(decode=False), time.monotonic())
        if session.is_closed:
            raise ConnectionError("sent away in the handshake")
    for frame in session.take():
        await wire.send(frame)
    return session
