"""Who a process is to others: the identity that it uses, where that is kept, and the passphrase it was given.

Everything that asks the keyring or a passphrase's file runs in a thread: the one may ask its user, the other takes a
second. What peers are told of an identity is not known here, nor who asks.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable

from sapo_desktop.core.errors import PassphraseNeeded, UsageError
from sapo_desktop.core.files.reading import read_bytes
from sapo_desktop.system import identity
from sapo_desktop.system.folders import DataFolder, write_private

INSTANCE_BYTES = 16
PASSPHRASE = "SAPO_PASSPHRASE"
"""Environment variable that opens a protected identity where nobody is there to type it."""


class OwnIdentity:
    """The identity of one data folder, and the admission key that was founded in it, while a process runs.

    Args:
        for_session: called where the identity could be kept nowhere, once it was made.
    """

    def __init__(self, folder: DataFolder, for_session: Callable[[], None]) -> None:
        self._folder = folder
        self._for_session = for_session
        self._making = asyncio.Lock()
        self.used: identity.Identity | None = None
        """The identity in use; None before it was first needed."""
        # Out of the environment at once: the hosts must not inherit it.
        self.passphrase = os.environ.pop(PASSPHRASE, None)
        """What opens this folder's secrets, where this process was given it."""

    @property
    def is_closed(self) -> bool:
        """Whether there is an identity that nobody has opened yet."""
        return self.used is None and self.passphrase is None and self._keeper().needs_passphrase

    async def can_be_kept(self) -> bool:
        """Whether a new one would outlast this process. Raises KeyringClosed."""
        return self.passphrase is not None or await self.has_keyring()

    @staticmethod
    async def has_keyring() -> bool:
        """Whether this computer has a keyring that keeps secrets. Raises KeyringClosed."""
        return await asyncio.to_thread(identity.usable_keyring) is not None

    @property
    def rotation(self) -> bytes:
        """What ties the kept identity to the one before; empty where nothing does."""
        return read_bytes(self._folder.rotation) if self._folder.rotation.is_file() else b""

    @property
    def instance(self) -> bytes:
        """The random number that stands beside the key in what is published, once another identity was taken; empty
        before: the data folder's first one holds (Counters)."""
        drawn = read_bytes(self._folder.instance) if self._folder.instance.is_file() else b""
        return drawn if len(drawn) == INSTANCE_BYTES else b""

    def renew_instance(self) -> None:
        """Draw another one, which the next identity begins with: else this number would tie it to the one before."""
        write_private(self._folder.instance, secrets.token_bytes(INSTANCE_BYTES))

    async def identify(self, passphrase: str | None = None) -> identity.Identity:
        """The identity in use, else the kept one, else a new one: in the keyring, else behind the passphrase, else
        for this session. Raises IdentityError where it stays closed."""
        async with self._making:
            if self.used is None:
                self.used = await asyncio.to_thread(_load_or_create, self._keeper(), passphrase or self.passphrase)
                if self.used.where == "session":
                    self.renew_instance()
                    self._for_session()
            return self.used

    async def known(self, passphrase: str | None = None) -> identity.Identity | None:
        """The identity in use, else the kept one; None where there is none yet. Raises IdentityError."""
        return self.used or await asyncio.to_thread(self._keeper().load, passphrase or self.passphrase)

    async def unlock(self, passphrase: str) -> identity.Identity | None:
        """Open the kept identity, and remember its passphrase; None where there is none yet. Raises IdentityError."""
        opened = await asyncio.to_thread(self._keeper().load, passphrase)
        self.passphrase = passphrase
        return opened

    async def keep(self, seed: bytes, passphrase: str | None, rotation: bytes = b"") -> identity.Identity:
        """Keep this seed (32 bytes) in place of any before. `rotation`: what ties it to that one."""
        kept = await asyncio.to_thread(self._keeper().keep, seed, passphrase)
        if rotation:
            write_private(self._folder.rotation, rotation)
        else:
            self._folder.rotation.unlink(missing_ok=True)
        return kept

    async def admission_key(self, passphrase: str | None, *, create: bool) -> identity.Identity:
        """The admission key of the private swarm that was founded in this folder; with `create` made where there is
        none yet.

        Raises:
            UsageError: no swarm was founded here.
            PassphraseNeeded: it is closed, or a new one could be kept nowhere.
        """
        keeper, given = self._keeper("admission key"), passphrase or self.passphrase
        found = await asyncio.to_thread(keeper.load, given)
        if found is not None:
            return found
        if not create:
            raise UsageError(
                "This node did not found a private swarm, so it cannot admit anyone.",
                in_terminal="sapo-desktop peers found",
            )
        in_keyring = await self.has_keyring()
        if not in_keyring and given is None:
            raise PassphraseNeeded(
                "This computer has no keyring that stores secrets, so the admission key needs a passphrase. "
                "Set {variable}, or enter one in a terminal.",
                variable=PASSPHRASE,
            )
        return await asyncio.to_thread(keeper.create, None if in_keyring else given)

    def _keeper(self, name: identity.Name = "identity") -> identity.Keeper:
        """Where a secret key of this folder is kept."""
        return identity.keeper_in(self._folder, name)


def _load_or_create(keeper: identity.Keeper, passphrase: str | None) -> identity.Identity:
    found = keeper.load(passphrase)
    if found is None:
        keyring = identity.usable_keyring()
        found = keeper.create(passphrase if keyring is None else None)
    return found
