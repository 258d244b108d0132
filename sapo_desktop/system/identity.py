"""Who this node is to others: 32 secret bytes, kept where the system keeps secrets. The admission key of a private
swarm, where this node founded one, is kept the same way.

In the keyring, under the data folder's random node id; where there is none, in a file that a passphrase closes; else
for this session only. Never in the open: keyrings that store plain text are passed over. Losing the identity loses
nothing but a name, so there is no way back to a forgotten one.
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
from sapo_desktop.system.folders import write_private
from sapo_desktop.system.secrets.system_keyring import SERVICE, SystemKeyring, opened

Where = Literal["keyring", "file", "session"]
SHORTEST_PASSPHRASE = 8
UNLOCK = sentence(
    "Unlock it in the system's password program, or keep the identity in a file protected by a passphrase.",
    in_terminal="sapo-desktop identity protect",
)
"""What to do where the keyring stays closed."""
LONGEST_SEALED = 4096
"""Bytes of a file with a sealed key; they are some hundred."""
# argon2id's middle parameters: 256 MiB and about a second, once at every start that needs the file.
_OPERATIONS, _MEMORY = pwhash.argon2id.OPSLIMIT_MODERATE, pwhash.argon2id.MEMLIMIT_MODERATE


Name = Literal["identity", "admission key"]
"""The secrets of one data folder."""
_WORDS: dict[Name, Text] = {"identity": sentence("identity"), "admission key": sentence("admission key")}


@dataclass(frozen=True)
class Identity:
    """The seed of a signing key, and where it is kept."""

    seed: bytes
    where: Where

    def __repr__(self) -> str:
        return f"Identity(where={self.where!r})"  # a seed has no business in a log or a traceback


class _Sealed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A seed behind a passphrase."""

    format: Literal[1] = 1
    salt: Annotated[bytes, Meta(min_length=16, max_length=16)]
    box: Annotated[bytes, Meta(max_length=256)]


class Keeper:
    """One secret key of one data folder.

    Args:
        node_id: the folder's random name, under which the keyring knows it.
        file: where the passphrase-protected file lies, or would.
    """

    def __init__(self, node_id: str, file: Path, name: Name = "identity") -> None:
        self._name = name
        self._user = node_id if name == "identity" else f"{node_id} {name}"
        self._file = file

    @property
    def needs_passphrase(self) -> bool:
        """Whether the key is in a file that only its passphrase opens."""
        return self._file.is_file()

    def load(self, passphrase: str | None = None) -> Identity | None:
        """The kept key; None where there is none yet.

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
        """A new key in place of any before: in the keyring, with a passphrase in the file, else for this
        session."""
        return self.keep(fresh_seed(), passphrase)

    def keep(self, seed: bytes, passphrase: str | None = None) -> Identity:
        """Keep this seed (32 bytes), as `create` does.

        Raises:
            PassphraseNeeded: it would be for this session only while another key lies in the file.
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
        """A keyring that stays closed keeps what nobody uses any more: the file goes first."""
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


def fresh_seed() -> bytes:
    """32 secret bytes that nobody had before."""
    seed: bytes = random(32)
    return seed


def seal(seed: bytes, passphrase: str) -> bytes:
    """The seed behind a passphrase, as the file holds it and as `identity export` writes it.

    Raises:
        IdentityError: the passphrase is shorter than 8 characters.
    """
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise IdentityError("The passphrase needs at least {count} characters.", count=SHORTEST_PASSPHRASE)
    salt = random(pwhash.argon2id.SALTBYTES)
    return msgspec.msgpack.encode(_Sealed(salt=salt, box=bytes(_box(passphrase, salt).encrypt(seed))))


def unseal(content: bytes, passphrase: str) -> bytes:
    """The seed (32 bytes) of what `seal` wrote. Raises IdentityError."""
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
    except (CryptoError, ValueError) as error:  # ValueError: a box too short to hold anything
        raise IdentityError(sentence("The passphrase is wrong, or the file is damaged. Enter it again.")) from error
    if len(seed) != 32:
        raise IdentityError(sentence("This identity is damaged. Export it again where it came from."))
    return seed


def usable_keyring() -> SystemKeyring | None:
    """The system's keyring where it is one that keeps secrets closed. Raises KeyringClosed."""
    return opened(UNLOCK)


def _box(passphrase: str, salt: bytes) -> secret.SecretBox:
    key = pwhash.argon2id.kdf(
        secret.SecretBox.KEY_SIZE, passphrase.encode("utf-8"), salt, opslimit=_OPERATIONS, memlimit=_MEMORY
    )
    return secret.SecretBox(key)
