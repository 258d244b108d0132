"""The node's identity: 32 secret bytes, stored where the system keeps secrets. A private swarm's admission key is
stored the same way on the founder's node.

They are in the keyring, under the data folder's random node id; without a keyring, in a file that a passphrase
protects; otherwise only for this session. Keyrings that store plain text are not used. A lost identity only loses a
name, so there is no recovery from a forgotten passphrase.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from nacl import pwhash, secret
from nacl.exceptions import CryptoError
from nacl.utils import random

from sapo_desktop.core.errors import IdentityError, KeyringClosed, PassphraseNeeded
from sapo_desktop.core.files.reading import UNREADABLE, UnfitFile, read_bytes
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.system.folders import DataFolder, write_private
from sapo_desktop.system.secrets.system_keyring import SERVICE, SystemKeyring, opened

Where = Literal["keyring", "file", "session"]
SHORTEST_PASSPHRASE = 8
UNLOCK = sentence(
    "Unlock it in the system's password program, or keep the identity in a file protected by a passphrase.",
    in_terminal="sapo-desktop identity protect",
)
"""What to do if the keyring stays locked."""
LONGEST_SEALED = 4096
"""Maximum bytes of a file with a sealed key, which has a few hundred."""
# argon2id's medium parameters: 256 MiB and about a second, once at every start that needs the file.
_OPERATIONS, _MEMORY = pwhash.argon2id.OPSLIMIT_MODERATE, pwhash.argon2id.MEMLIMIT_MODERATE


Name = Literal["identity", "admission key"]
NAMES: tuple[Name, ...] = ("identity", "admission key")
"""The secrets of one data folder."""
_WORDS: dict[Name, Text] = {"identity": sentence("identity"), "admission key": sentence("admission key")}


@dataclass(frozen=True)
class Identity:
    """The seed of a signing key, and where it is stored."""

    seed: bytes
    where: Where

    def __repr__(self) -> str:
        return f"Identity(where={self.where!r})"  # seeds must not appear in logs or tracebacks


class _Sealed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A seed protected by a passphrase."""

    format: Literal[1] = 1
    salt: Annotated[bytes, Meta(min_length=16, max_length=16)]
    box: Annotated[bytes, Meta(max_length=256)]


class Keeper:
    """One secret key of one data folder.

    Args:
        node_id: the folder's random name in the keyring.
        file: the (possible) path of the passphrase-protected file.
    """

    def __init__(self, node_id: str, file: Path, name: Name = "identity") -> None:
        self._name = name
        self._user = node_id if name == "identity" else f"{node_id} {name}"
        self._file = file

    @property
    def needs_passphrase(self) -> bool:
        """Whether the key is in a file that needs its passphrase."""
        return self._file.is_file()

    def load(self, passphrase: str | None = None) -> Identity | None:
        """The stored key; None if there is none yet.

        Raises:
            IdentityError: the keyring does not open (KeyringClosed), or the passphrase is missing or wrong.
        """
        if self.needs_passphrase:
            if passphrase is None:
                raise PassphraseNeeded(
                    "The {name} in {path} is locked. Enter its passphrase.",
                    name=_WORDS[self._name],
                    path=str(self._file),
                )
            return Identity(unseal(self._content(), passphrase), "file")
        backend = usable_keyring()
        if backend is None:
            return None
        text = backend.load(self._user)
        return None if text is None else Identity(self._seed_of(text), "keyring")

    def create(self, passphrase: str | None = None) -> Identity:
        """Replace the key by a new one: in the keyring, with a passphrase in the file, otherwise for this session."""
        return self.keep(fresh_seed(), passphrase)

    def keep(self, seed: bytes, passphrase: str | None = None) -> Identity:
        """Store this seed (32 bytes), as `create` does.

        Raises:
            PassphraseNeeded: it would last only for this session while another key is in the file.
        """
        if passphrase is not None:
            write_private(self._file, seal(seed, passphrase))
            self._forget_in_keyring()
            return Identity(seed, "file")
        backend = usable_keyring()
        if backend is None:
            if self._file.is_file():
                raise PassphraseNeeded(
                    "There is no keyring here, and the old key is in {path}. Enter a passphrase to keep the new "
                    "one there.",
                    path=str(self._file),
                )
            return Identity(seed, "session")
        backend.keep(self._user, seed.hex())
        self._file.unlink(missing_ok=True)
        return Identity(seed, "keyring")

    def forget(self) -> None:
        """Delete the key wherever it is kept. A keyring that stays closed keeps it, and nobody asks for it again."""
        self._forget_in_keyring()
        self._file.unlink(missing_ok=True)

    def _content(self) -> bytes:
        try:
            return read_bytes(self._file, LONGEST_SEALED)
        except UnfitFile as error:
            raise IdentityError(
                "{path} is not an exported identity ({reason}). Choose the file that `identity export` wrote.",
                path=str(self._file),
                reason=str(error.strerror),
            ) from error

    def _forget_in_keyring(self) -> None:
        """A locked keyring may keep an unused key; the file is removed first."""
        with contextlib.suppress(KeyringClosed):
            if (backend := usable_keyring()) is not None:
                backend.forget(self._user)

    def _seed_of(self, text: str) -> bytes:
        try:
            seed = bytes.fromhex(text)
        except ValueError:
            seed = b""
        if len(seed) != 32:
            said: Text = sentence(
                "The keyring's entry for '{service}' is not a valid {name}.", service=SERVICE, name=_WORDS[self._name]
            )
            if self._name == "identity":
                said = joined(
                    [said, sentence("Create a new one to continue sharing.", in_terminal="sapo-desktop identity new")]
                )
            raise IdentityError(said)
        return seed


def keeper_in(folder: DataFolder, name: Name) -> Keeper:
    """The keeper of this data folder."""
    return Keeper(folder.node_id(), folder.control / name.replace(" ", "-"), name)


def fresh_seed() -> bytes:
    """32 new secret bytes."""
    seed: bytes = random(32)
    return seed


def seal(seed: bytes, passphrase: str) -> bytes:
    """The seed protected by a passphrase, in the format of the file and of `identity export`.

    Raises:
        IdentityError: the passphrase is shorter than 8 characters.
    """
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise IdentityError("The passphrase needs at least {count} characters.", count=SHORTEST_PASSPHRASE)
    salt = random(pwhash.argon2id.SALTBYTES)
    return msgspec.msgpack.encode(_Sealed(salt=salt, box=bytes(_box(passphrase, salt).encrypt(seed))))


def unseal(content: bytes, passphrase: str) -> bytes:
    """The seed (32 bytes) from what `seal` wrote. Raises IdentityError."""
    try:
        sealed = msgspec.msgpack.decode(content, type=_Sealed)
    except UNREADABLE as error:
        raise IdentityError(
            sentence(
                "This is not an exported identity, or it is damaged. Choose the file that `identity export` wrote."
            )
        ) from error
    try:
        seed = _box(passphrase, sealed.salt).decrypt(sealed.box)
    except (CryptoError, ValueError) as error:  # ValueError: too short to be sealed
        raise IdentityError(sentence("The passphrase is wrong, or the file is damaged. Enter it again.")) from error
    if len(seed) != 32:
        raise IdentityError(sentence("This identity is damaged. Export it again where it came from."))
    return seed


def usable_keyring() -> SystemKeyring | None:
    """The system's keyring if it encrypts its secrets. Raises KeyringClosed."""
    return opened(UNLOCK)


def _box(passphrase: str, salt: bytes) -> secret.SecretBox:
    key = pwhash.argon2id.kdf(
        secret.SecretBox.KEY_SIZE, passphrase.encode("utf-8"), salt, opslimit=_OPERATIONS, memlimit=_MEMORY
    )
    return secret.SecretBox(key)
