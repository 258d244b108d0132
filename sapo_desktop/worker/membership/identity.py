"""The identity that a process uses, where it is stored, and the passphrase for it.

Everything that asks the keyring or a protected file runs in a thread: the keyring may ask its user, and the file takes
a second. What peers see of an identity, and who asks for it, is not known here.
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
"""Environment variable that opens a protected identity if nobody can type the passphrase."""


class OwnIdentity:
    """The identity of one data folder, and the admission key that was founded in it, while a process runs.

    Args:
        for_session: called after an identity was created that cannot be stored.
    """

    def __init__(self, folder: DataFolder, for_session: Callable[[], None]) -> None:
        self._folder = folder
        self._for_session = for_session
        self._making = asyncio.Lock()
        self.used: identity.Identity | None = None
        """The identity in use; None before it is first needed."""
        # Removed from the environment at once: the hosts must not inherit it.
        self.passphrase = os.environ.pop(PASSPHRASE, None)
        """Opens this folder's secrets, if this process has it."""

    @property
    def is_closed(self) -> bool:
        """Whether there is an identity that is still locked."""
        return self.used is None and self.passphrase is None and self._keeper().needs_passphrase

    async def can_be_kept(self) -> bool:
        """Whether a new one would outlast this process. Raises KeyringClosed."""
        return self.passphrase is not None or await self.has_keyring()

    @staticmethod
    async def has_keyring() -> bool:
        """Whether this computer has a keyring that encrypts secrets. Raises KeyringClosed."""
        return await asyncio.to_thread(identity.usable_keyring) is not None

    @property
    def rotation(self) -> bytes:
        """The proof of the identity that the stored one replaced; empty if there is none."""
        return read_bytes(self._folder.rotation) if self._folder.rotation.is_file() else b""

    @property
    def instance(self) -> bytes:
        """The random number that is published with the key since another identity was taken; empty before: then the
        data folder's first one applies (Counters)."""
        drawn = read_bytes(self._folder.instance) if self._folder.instance.is_file() else b""
        return drawn if len(drawn) == INSTANCE_BYTES else b""

    def renew_instance(self) -> None:
        """Draw another one for the next identity; otherwise this number would connect it to the previous one."""
        write_private(self._folder.instance, secrets.token_bytes(INSTANCE_BYTES))

    async def identify(self, passphrase: str | None = None) -> identity.Identity:
        """The identity in use, otherwise the stored one, otherwise a new one: in the keyring, otherwise protected by
        the passphrase, otherwise for this session. Raises IdentityError if it stays locked."""
        async with self._making:
            if self.used is None:
                self.used = await asyncio.to_thread(_load_or_create, self._keeper(), passphrase or self.passphrase)
                if self.used.where == "session":
                    self.renew_instance()
                    self._for_session()
            return self.used

    async def known(self, passphrase: str | None = None) -> identity.Identity | None:
        """The identity in use, otherwise the stored one; None if there is none yet. Raises IdentityError."""
        return self.used or await asyncio.to_thread(self._keeper().load, passphrase or self.passphrase)

    async def unlock(self, passphrase: str) -> identity.Identity | None:
        """Unlock the stored identity, and remember its passphrase; None if there is none yet. Raises IdentityError."""
        opened = await asyncio.to_thread(self._keeper().load, passphrase)
        self.passphrase = passphrase
        return opened

    async def keep(self, seed: bytes, passphrase: str | None, rotation: bytes = b"") -> identity.Identity:
        """Store this seed (32 bytes) and replace any previous one. `rotation`: the proof of that one."""
        kept = await asyncio.to_thread(self._keeper().keep, seed, passphrase)
        if rotation:
            write_private(self._folder.rotation, rotation)
        else:
            self._folder.rotation.unlink(missing_ok=True)
        return kept

    async def admission_key(self, passphrase: str | None, *, create: bool) -> identity.Identity:
        """The admission key of the private swarm that was founded in this folder; with `create`, created if there is
        none yet.

        Raises:
            UsageError: no swarm was founded here.
            PassphraseNeeded: it is locked, or a new one could not be stored.
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
        """The storage of a secret key of this folder."""
        return identity.keeper_in(self._folder, name)


def _load_or_create(keeper: identity.Keeper, passphrase: str | None) -> identity.Identity:
    found = keeper.load(passphrase)
    if found is None:
        keyring = identity.usable_keyring()
        found = keeper.create(passphrase if keyring is None else None)
    return found
