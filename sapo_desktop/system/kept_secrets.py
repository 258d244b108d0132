"""Secrets that a user gives for an address elsewhere (a hub's token, a server's key): in the system's keyring, one for
each address; they are written nowhere else.

They belong to the user, not to a data folder. An environment variable goes before them, for that one process.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from keyring.backend import KeyringBackend

from sapo_desktop.core.errors import IdentityError, UsageError
from sapo_desktop.core.sentences import Text
from sapo_desktop.system.identity import SERVICE, usable_keyring


@dataclass(frozen=True)
class KeptSecrets:
    """All secrets of one kind."""

    kind: str
    """As it stands in the keyring before the address."""
    words: Text
    """The same for a person."""
    variable: str
    """Of the environment."""
    shortest: int
    longest: int

    def load(self, address: str) -> str | None:
        """The secret for that address; None where there is none.

        Raises:
            IdentityError: the keyring is locked or does not answer.
        """
        backend = usable_keyring()
        if backend is None:
            return None
        with self._errors():
            return backend.get_password(SERVICE, self._user(address))

    def keep(self, address: str, secret: str) -> None:
        """Keep the secret for that address.

        Raises:
            UsageError: it cannot be one.
            IdentityError: there is no keyring that keeps secrets, or it is locked.
        """
        self.checked(secret)
        backend = self._backend()
        with self._errors():
            backend.set_password(SERVICE, self._user(address), secret)

    def forget(self, address: str) -> bool:
        """Forget the secret for that address; False where there was none. Raises IdentityError as `keep`."""
        backend = self._backend()
        with self._errors():
            if backend.get_password(SERVICE, self._user(address)) is None:
                return False
            backend.delete_password(SERVICE, self._user(address))
        return True

    def checked(self, secret: str) -> str:
        """Refuse what would break a request, before it is kept. Raises UsageError."""
        if not re.fullmatch(rf"[\x21-\x7e]{{{self.shortest},{self.longest}}}", secret):
            raise UsageError(
                "A {kind} is one word of {shortest} to {longest} ASCII characters; nothing was kept.",
                kind=self.words,
                shortest=self.shortest,
                longest=self.longest,
            )
        return secret

    def _user(self, address: str) -> str:
        return f"{self.kind} {address.rstrip('/')}"

    def _backend(self) -> KeyringBackend:
        backend = usable_keyring()
        if backend is None:
            raise IdentityError(
                "This computer has no keyring that keeps secrets, so the {kind} is not kept. Set {variable} in "
                "the environment instead.",
                kind=self.words,
                variable=self.variable,
            )
        return backend

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # as identity.py: not each is a KeyringError
            raise IdentityError(
                "The keyring cannot be used ({reason}). Unlock it, or set {variable}.",
                reason=str(error),
                variable=self.variable,
            ) from error
