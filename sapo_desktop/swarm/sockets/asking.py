"""Asks to be admitted to a private swarm, at one address after the other."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from dataclasses import replace

from websockets.exceptions import ConnectionClosed

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.events import Closed
from sapo_desktop.swarm.protocol.handshake import Me
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.sockets.dialling import ProxyFault, peer_certificate, reach
from sapo_desktop.swarm.sockets.network import NO_LINK

log = logging.getLogger(__name__)


async def ask_to_join(me: Me, address: Address, label: str, *, proxy: str, named_by_stranger: bool) -> Closed | None:
    """Ask there once; how it ended, None where nobody answers. `me`: without an admission; the rest as for
    Network.link."""
    try:
        async with (
            asyncio.timeout(2 * limits.HANDSHAKE_SECONDS),
            reach(address, proxy, named_by_stranger=named_by_stranger, on_lan=False, allows=None) as (connection, _),
        ):
            session = Session(
                "client",
                replace(me, asks=label),
                nonce=secrets.token_bytes(32),
                unix_time=time.time(),
                now=time.monotonic(),
                certificate=peer_certificate(connection),
                expected_key=address.key,
            )
            while True:
                for frame in session.take():
                    await connection.send(frame)
                received = await connection.recv()
                events = session.receive(received, time.monotonic()) if isinstance(received, bytes) else []
                for event in events:
                    if isinstance(event, Closed):
                        return event
    except ProxyFault as fault:
        log.info("The proxy made no connection to a peer: %s", fault.text)
    except (*NO_LINK, ConnectionClosed) as error:
        log.info("Nobody could be asked: %s", type(error).__name__)
    return None
