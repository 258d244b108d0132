"""Clients' requests about the swarm (test a peer; found, enter or open a private swarm) and about the identity
(show, unlock, protect, export, import or replace it)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

import msgspec

from sapo_desktop.core.errors import KeyringClosed, PassphraseNeeded, UsageError
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.network.invite import Invite
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust.admission import network_of
from sapo_desktop.swarm.trust.rotation import rotate
from sapo_desktop.system import identity
from sapo_desktop.worker.control.handlers.settings import SettingsRequests
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import IdentityIs, InviteIs, PeerAnswered
from sapo_desktop.worker.control.messages.requests import (
    AdmitPeer,
    ChangeIdentity,
    CreateSwarm,
    GetIdentity,
    GetInvite,
    JoinSwarm,
    RefuseJoin,
    TestPeer,
)
from sapo_desktop.worker.membership import private as private_swarm
from sapo_desktop.worker.membership.joining import PUBLIC_SWARM
from sapo_desktop.worker.membership.side import SwarmSide
from sapo_desktop.worker.membership.view import SESSION_IDENTITY

LEFT_IN_KEYRING = sentence(
    "The keyring is locked, so this is a new identity. The old key in the keyring is no longer used."
)


class SwarmRequests:
    """Answers them. `settings`: the settings to read and change."""

    def __init__(self, side: SwarmSide, settings: SettingsRequests) -> None:
        self._side = side
        self._settings = settings
        side.keep_admission = self._keep_admission
        self.handlers = handlers = Handlers()
        handlers.on(TestPeer).by(self.test_peer)
        handlers.on(CreateSwarm).by(self.create)
        handlers.on(AdmitPeer).by(self.admit)
        handlers.on(RefuseJoin).by(self.refuse)
        handlers.on(GetInvite).by(self.invite)
        handlers.on(JoinSwarm).by(self.join)

    async def _keep_admission(self, admission: bytes) -> None:
        """The node joins again, with it."""
        await self._settings.keep_for_good({"admission": admission.hex()})

    async def test_peer(self, request: TestPeer) -> PeerAnswered:
        return await self._side.test(request.address)

    async def create(self, request: CreateSwarm) -> Ok:
        held = await self._side.identity.admission_key(request.passphrase, create=True)
        who = await self._side.identity.identify(request.passphrase)
        admission_key = Signer(held.seed)
        notes = await self._move(private_swarm.founded(self._settings.kept(), admission_key, Signer(who.seed).key))
        said = sentence("This node is in its own private swarm, {key}.", key=admission_key.key.hex())
        return Ok(text=joined([said, *notes]))

    async def admit(self, request: AdmitPeer) -> InviteIs:
        held = await self._side.identity.admission_key(request.passphrase, create=False)
        own = Signer((await self._side.identity.identify(request.passphrase)).seed).key
        link = private_swarm.admission_link(
            self._settings.in_force, Signer(held.seed), own, request.key.strip(), request.days, time.time()
        )
        key, admission = bytes.fromhex(request.key.strip()), bytes.fromhex(link.admission)
        return InviteIs(link=str(link), waits=self._side.porch.admit(key, admission, time.monotonic()))

    async def refuse(self, request: RefuseJoin) -> Ok:
        key = request.key.strip().lower()
        if key not in {one.hex() for one in self._side.waiting()}:
            raise UsageError("Nobody with this key asks to join.", in_terminal="sapo-desktop peers requests")
        self._side.porch.refuse(bytes.fromhex(key), time.monotonic())
        return Ok(text=sentence("Refused. This key may ask again tomorrow."))

    async def invite(self, request: GetInvite) -> InviteIs:
        own = Signer((await self._side.identity.identify()).seed).key
        return InviteIs(link=str(private_swarm.invite(self._settings.in_force, own)))

    async def join(self, request: JoinSwarm) -> Ok:
        link = Invite.parse(request.link)
        who = await self._side.identity.identify(request.passphrase)
        key = Signer(who.seed).key
        values = private_swarm.joined(self._settings.kept(), link, key, time.time(), nearby=request.nearby)
        notes = await self._move(values)
        if not values["admission"]:
            asks = sentence("It asks the founder to admit it. Tell the founder its key: {key}", key=key.hex()[:16])
            notes = [asks, *notes]
        if who.where == "session":
            notes = [*notes, SESSION_IDENTITY]
        said = sentence("This node will join the private swarm {key}.", key=link.swarm)
        return Ok(text=joined([said, *notes]))

    async def _move(self, values: Mapping[str, str]) -> list[Text]:
        """Move to the swarm of these settings; returns further remarks."""
        await self._settings.keep_for_good(values)
        if not self._settings.in_force.silo:
            return []
        return [sentence("It is in silo until you switch silo off.", in_terminal="sapo-desktop silo off")]


class IdentityRequests:
    """Answers them. `in_force`: the settings of this run."""

    def __init__(self, side: SwarmSide, in_force: Callable[[], Settings]) -> None:
        self._side = side
        self._own = side.identity
        self._in_force = in_force
        self.handlers = handlers = Handlers()
        handlers.on(GetIdentity).by(self.show)
        handlers.on(ChangeIdentity).by(self.change)

    async def show(self, request: GetIdentity) -> IdentityIs:
        if self._own.is_closed:
            return IdentityIs(key="", kept="file")
        found = await self._own.known()
        if found is None and request.create and await self._own.can_be_kept():
            return _identity_is(await self._own.identify(), created=True)
        return _identity_is(found)

    async def change(self, request: ChangeIdentity) -> IdentityIs:
        """Do the action of that name: each is a method."""
        actions = {
            "unlock": self._unlock,
            "export": self._export,
            "protect": self._protect,
            "import": self._import,
            "rotate": self._rotate,
            "new": self._new,
        }
        return await actions[request.action](request)

    async def _unlock(self, request: ChangeIdentity) -> IdentityIs:
        await self._side.use(await self._own.unlock(request.passphrase or ""))
        return await self.show(GetIdentity())

    async def _export(self, request: ChangeIdentity) -> IdentityIs:
        # The export's passphrase may differ from the stored identity's.
        held = await self._held(self._own.passphrase or request.passphrase)
        sealed = await asyncio.to_thread(identity.seal, held.seed, request.passphrase or "")
        return msgspec.structs.replace(_identity_is(held), sealed=sealed)

    async def _protect(self, request: ChangeIdentity) -> IdentityIs:
        given = request.passphrase or ""
        try:
            held = await self._own.known()
        except KeyringClosed:
            made = await self._be(identity.fresh_seed(), given, renewed=True)
            return msgspec.structs.replace(made, note=joined([LEFT_IN_KEYRING, *([made.note] if made.note else [])]))
        if held is None:
            return await self._be(identity.fresh_seed(), given, renewed=True)
        return await self._be(held.seed, given, self._own.rotation)

    async def _import(self, request: ChangeIdentity) -> IdentityIs:
        seed = await asyncio.to_thread(identity.unseal, request.sealed, request.passphrase or "")
        # Without a keyring, the passphrase that opened the export also protects it here.
        return await self._be(seed, None if await self._own.has_keyring() else request.passphrase, renewed=True)

    async def _new(self, request: ChangeIdentity) -> IdentityIs:
        given = None if await self._own.has_keyring() else request.passphrase or self._own.passphrase
        return await self._be(identity.fresh_seed(), given, renewed=True)

    async def _rotate(self, request: ChangeIdentity) -> IdentityIs:
        """Replace the key in place, and make the proof for peers."""
        given = request.passphrase or self._own.passphrase
        held = await self._held(given)
        if held.where == "file" and given is None:
            raise PassphraseNeeded(
                sentence("The new key will be stored where the old one is. Enter the passphrase of that file.")
            )
        seed = identity.fresh_seed()
        shown = rotate(Signer(held.seed), Signer(seed).key, self._network(), time.time())
        return await self._be(seed, given if held.where == "file" else None, rotation=shown)

    async def _held(self, passphrase: str | None) -> identity.Identity:
        """The existing identity. Raises UsageError if there is none."""
        held = await self._own.known(passphrase)
        if held is None:
            raise UsageError(
                "There is no identity yet. It is created when the node first joins the swarm.",
                in_terminal="sapo-desktop identity show",
            )
        return held

    async def _be(
        self, seed: bytes, passphrase: str | None, rotation: bytes = b"", *, renewed: bool = False
    ) -> IdentityIs:
        """Store this seed, and use that identity from now on. `rotation`: its proof of the previous one. `renewed`:
        nothing may connect the two, not even the instance."""
        if renewed:
            self._own.renew_instance()
        kept = await self._own.keep(seed, passphrase, rotation)
        await self._side.use(kept)
        note = private_swarm.how_to_be_admitted(Signer(kept.seed).key) if self._in_force().swarm else ""
        return msgspec.structs.replace(_identity_is(kept), note=note)

    def _network(self) -> bytes:
        """The network id of the node's swarm, current or future."""
        swarm = self._in_force().swarm
        return network_of(bytes.fromhex(swarm)) if swarm else PUBLIC_SWARM


def _identity_is(held: identity.Identity | None, *, created: bool = False) -> IdentityIs:
    if held is None:
        return IdentityIs(key="", kept="")
    return IdentityIs(key=Signer(held.seed).key.hex(), kept=held.where, created=created)
