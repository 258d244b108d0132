"""What clients ask about the swarm: to try a peer, about the identity, about private swarms."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from sapo_desktop.core.errors import PassphraseNeeded, UsageError
from sapo_desktop.core.invite import Invite
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.admission import network_of
from sapo_desktop.swarm.rotation import rotate
from sapo_desktop.swarm.signing import Signer
from sapo_desktop.system import identity
from sapo_desktop.system.folders import write_private
from sapo_desktop.worker import messages as m
from sapo_desktop.worker import private_swarm
from sapo_desktop.worker.joining import PUBLIC_SWARM
from sapo_desktop.worker.swarm_side import SwarmSide
from sapo_desktop.worker.swarm_view import SESSION_IDENTITY


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

    async def test_peer(self, request: m.TestPeer) -> m.PeerAnswered:
        return await self._side.test(request.address)

    async def show_identity(self, request: m.GetIdentity) -> m.IdentityIs:
        keeper, used = self._side.keeper(), self._side.who
        if used is None and keeper.needs_passphrase and self._side.passphrase is None:
            return m.IdentityIs(key="", kept="file")
        found = used or await asyncio.to_thread(keeper.load, self._side.passphrase)
        if found is None and request.create and (identity.usable_keyring() or self._side.passphrase):
            return _identity_is(await self._side.identify(), created=True)
        return _identity_is(found)

    async def change_identity(self, request: m.ChangeIdentity) -> m.IdentityIs:
        """Do the action of that name: each is one method."""
        actions = {
            "unlock": self._unlock,
            "export": self._export,
            "protect": self._protect,
            "import": self._import,
            "rotate": self._rotate,
            "new": self._new,
        }
        return await actions[request.action](request)

    async def _unlock(self, request: m.ChangeIdentity) -> m.IdentityIs:
        await self._side.unlock(request.passphrase or "")
        return await self.show_identity(m.GetIdentity())

    async def _export(self, request: m.ChangeIdentity) -> m.IdentityIs:
        held = await self._held(request.passphrase)
        sealed = await asyncio.to_thread(identity.seal, held.seed, request.passphrase or "")
        return msgspec.structs.replace(_identity_is(held), sealed=sealed)

    async def _protect(self, request: m.ChangeIdentity) -> m.IdentityIs:
        held = self._side.who or await asyncio.to_thread(self._side.keeper().load, self._side.passphrase)
        seed = held.seed if held else identity.fresh_seed()
        return await self._be(seed, request.passphrase or "")

    async def _import(self, request: m.ChangeIdentity) -> m.IdentityIs:
        seed = await asyncio.to_thread(identity.unseal, request.sealed, request.passphrase or "")
        # Where there is no keyring the passphrase that opened it closes it here too.
        return await self._be(seed, None if identity.usable_keyring() else request.passphrase)

    async def _new(self, request: m.ChangeIdentity) -> m.IdentityIs:
        given = None if identity.usable_keyring() else request.passphrase or self._side.passphrase
        return await self._be(identity.fresh_seed(), given)

    async def _rotate(self, request: m.ChangeIdentity) -> m.IdentityIs:
        """A new key in place of the old one, where the old one was, and what shows peers that it is."""
        given = request.passphrase or self._side.passphrase
        held = await self._held(given)
        if held.where == "file" and given is None:
            raise PassphraseNeeded("The new key is kept where the old one is: give the passphrase of that file.")
        seed = identity.fresh_seed()
        shown = rotate(Signer(held.seed), Signer(seed).key, self._network(), time.time())
        return await self._be(seed, given if held.where == "file" else None, rotation=shown)

    async def _held(self, passphrase: str | None) -> identity.Identity:
        """The identity there is. Raises UsageError where there is none."""
        held = self._side.who or await asyncio.to_thread(self._side.keeper().load, passphrase)
        if held is None:
            raise UsageError("There is no identity yet: it is made when the node first joins the swarm.")
        return held

    async def _be(self, seed: bytes, passphrase: str | None, rotation: bytes = b"") -> m.IdentityIs:
        """Keep this seed, and be that identity from now on. `rotation`: what ties it to the one before."""
        kept = await asyncio.to_thread(self._side.keeper().keep, seed, passphrase)
        if rotation:
            write_private(self._side.folder.rotation, rotation)
        else:
            self._side.folder.rotation.unlink(missing_ok=True)
        await self._side.use(kept)
        key = Signer(kept.seed).key
        note = private_swarm.how_to_be_admitted(key) if self._in_force().swarm else ""
        return msgspec.structs.replace(_identity_is(kept), note=note)

    def _network(self) -> bytes:
        """The network id of the swarm that this node is in, or would be."""
        swarm = self._in_force().swarm
        return network_of(bytes.fromhex(swarm)) if swarm else PUBLIC_SWARM

    # -- private swarms ------------------------------------------------------------------------------------

    async def found(self, request: m.FoundSwarm) -> m.Ok:
        held = await self._admission_key(request.passphrase, create=True)
        who = await self._side.identify(request.passphrase)
        admission_key = Signer(held.seed)
        notes = await self._move(private_swarm.founded(self._kept(), admission_key, Signer(who.seed).key))
        return m.Ok(text=f"This node is in its own private swarm, {admission_key.key.hex()}.{notes}")

    async def admit(self, request: m.AdmitPeer) -> m.InviteIs:
        held = await self._admission_key(request.passphrase, create=False)
        own = Signer((await self._side.identify(request.passphrase)).seed).key
        link = private_swarm.admission_link(
            self._in_force(), Signer(held.seed), own, request.key.strip(), request.days, time.time()
        )
        return m.InviteIs(link=str(link))

    async def invite(self, request: m.GetInvite) -> m.InviteIs:
        own = Signer((await self._side.identify()).seed).key
        return m.InviteIs(link=str(private_swarm.invite(self._in_force(), own)))

    async def join(self, request: m.JoinSwarm) -> m.Ok:
        link = Invite.parse(request.link)
        who = await self._side.identify(request.passphrase)
        key = Signer(who.seed).key
        values = private_swarm.joined(self._kept(), link, key, time.time())
        notes = await self._move(values)
        if not values["admission"]:
            notes = f" {private_swarm.how_to_be_admitted(key)}{notes}"
        if who.where == "session":
            notes += f" {SESSION_IDENTITY}"
        return m.Ok(text=f"This node goes to the private swarm {link.swarm}.{notes}")

    async def _move(self, values: Mapping[str, str]) -> str:
        """Go to the swarm of these settings; returns what else a person should know."""
        settings = await self._change(values)
        return " It is in silo until `sapo-desktop silo off`." if settings.silo else ""

    async def _admission_key(self, passphrase: str | None, *, create: bool) -> identity.Identity:
        keeper, given = self._side.admission_keeper(), passphrase or self._side.passphrase
        found = await asyncio.to_thread(keeper.load, given)
        if found is not None:
            return found
        if not create:
            raise UsageError(
                "No private swarm was founded here, so this node can admit nobody: sapo-desktop peers found"
            )
        keyring = identity.usable_keyring()
        if keyring is None and given is None:
            raise PassphraseNeeded(
                "This computer has no keyring that keeps secrets: the admission key needs a passphrase. Set "
                "SAPO_PASSPHRASE, or type one in a terminal."
            )
        return await asyncio.to_thread(keeper.create, given if keyring is None else None)


def _identity_is(held: identity.Identity | None, *, created: bool = False) -> m.IdentityIs:
    if held is None:
        return m.IdentityIs(key="", kept="")
    return m.IdentityIs(key=Signer(held.seed).key.hex(), kept=held.where, created=created)
