"""What clients ask about the swarm: to try a peer, and to found, enter or open up a private swarm."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

from sapo_desktop.core.network.invite import Invite
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.worker.control.messages.replies import InviteIs, Ok, PeerAnswered
from sapo_desktop.worker.control.messages.requests import AdmitPeer, CreateSwarm, GetInvite, JoinSwarm, TestPeer
from sapo_desktop.worker.membership import private as private_swarm
from sapo_desktop.worker.membership.side import SwarmSide
from sapo_desktop.worker.membership.view import SESSION_IDENTITY


class SwarmRequests:
    """Answers them.

    Args:
        kept: the settings on disk.
        in_force: those of this run.
        change: keeps other values and returns the settings then in force.
    """

    def __init__(
        self,
        side: SwarmSide,
        kept: Callable[[], Settings],
        in_force: Callable[[], Settings],
        change: Callable[[Mapping[str, str]], Awaitable[Settings]],
    ) -> None:
        self._side = side
        self._kept = kept
        self._in_force = in_force
        self._change = change

    async def test_peer(self, request: TestPeer) -> PeerAnswered:
        return await self._side.test(request.address)

    async def create(self, request: CreateSwarm) -> Ok:
        held = await self._side.identity.admission_key(request.passphrase, create=True)
        who = await self._side.identity.identify(request.passphrase)
        admission_key = Signer(held.seed)
        notes = await self._move(private_swarm.founded(self._kept(), admission_key, Signer(who.seed).key))
        said = sentence("This node is in its own private swarm, {key}.", key=admission_key.key.hex())
        return Ok(text=joined([said, *notes]))

    async def admit(self, request: AdmitPeer) -> InviteIs:
        held = await self._side.identity.admission_key(request.passphrase, create=False)
        own = Signer((await self._side.identity.identify(request.passphrase)).seed).key
        link = private_swarm.admission_link(
            self._in_force(), Signer(held.seed), own, request.key.strip(), request.days, time.time()
        )
        return InviteIs(link=str(link))

    async def invite(self, request: GetInvite) -> InviteIs:
        own = Signer((await self._side.identity.identify()).seed).key
        return InviteIs(link=str(private_swarm.invite(self._in_force(), own)))

    async def join(self, request: JoinSwarm) -> Ok:
        link = Invite.parse(request.link)
        who = await self._side.identity.identify(request.passphrase)
        key = Signer(who.seed).key
        values = private_swarm.joined(self._kept(), link, key, time.time(), nearby=request.nearby)
        notes = await self._move(values)
        if not values["admission"]:
            notes = [private_swarm.how_to_be_admitted(key), *notes]
        if who.where == "session":
            notes = [*notes, SESSION_IDENTITY]
        said = sentence("This node goes to the private swarm {key}.", key=link.swarm)
        return Ok(text=joined([said, *notes]))

    async def _move(self, values: Mapping[str, str]) -> list[Text]:
        """Go to the swarm of these settings; returns what else a person should know."""
        settings = await self._change(values)
        return [sentence("It is in silo until `sapo-desktop silo off`.")] if settings.silo else []
