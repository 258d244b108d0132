"""Secrets for a remote address (a hub's token, a server's key), in the system's keyring, one per address, and nowhere
else.

They belong to the user, not to a data folder. An environment variable takes precedence in its own process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from sapo_desktop.core.errors import IdentityError, UsageError
from sapo_desktop.core.models import PUBLIC_HUB
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.system.secrets.system_keyring import SystemKeyring, opened


@dataclass
class KeptSecrets:
    """All secrets of one kind."""

    kind: str
    """The prefix of the address in the keyring."""
    words: Text
    """The kind in words for a person."""
    variable: str
    """The name of the environment variable."""
    shortest: int
    longest: int
    is_meant_for: Callable[[str], bool] = lambda address: True
    """Whether the variable is meant for this address."""

    def load(self, address: str) -> str | None:
        """The secret for that address; None if there is none.

        Raises:
            KeyringClosed: it is locked, or does not respond.
            UsageError: the environment's value is invalid.
        """
        if self.given and self.is_meant_for(address):
            return self.checked(self.given)
        backend = opened(self._unlock())
        return None if backend is None else backend.load(self._user(address))

    @property
    def given(self) -> str:
        """The one in the environment; empty if there is none."""
        return os.environ.get(self.variable, "").strip()

    def keep(self, address: str, secret: str) -> None:
        """Store the secret for that address.

        Raises:
            UsageError: it is invalid.
            IdentityError: there is no keyring that encrypts secrets, or it does not open (KeyringClosed).
        """
        self.checked(secret)
        self._keyring().keep(self._user(address), secret)

    def forget(self, address: str) -> bool:
        """Delete the secret for that address; False if there was none. Raises IdentityError as `keep`."""
        return self._keyring().forget(self._user(address))

    def checked(self, secret: str) -> str:
        """Refuse what would break a request, before it is stored. Raises UsageError."""
        if not re.fullmatch(rf"[\x21-\x7e]{{{self.shortest},{self.longest}}}", secret):
            raise UsageError(
                "A {kind} is one word of {shortest} to {longest} ASCII characters. Nothing was saved.",
                kind=self.words,
                shortest=self.shortest,
                longest=self.longest,
            )
        return secret

    def _user(self, address: str) -> str:
        return f"{self.kind} {address.strip().rstrip('/').removesuffix('/v1')}"

    def _unlock(self) -> Text:
        return sentence("Unlock it in the system's password program, or set {variable}.", variable=self.variable)

    def _keyring(self) -> SystemKeyring:
        backend = opened(self._unlock())
        if backend is None:
            raise IdentityError(
                "This computer has no keyring that stores secrets, so the {kind} is not saved. Set "
                "{variable} in the environment instead.",
                kind=self.words,
                variable=self.variable,
            )
        return backend


def _of_the_environment(hub: str) -> bool:
    return hub.rstrip("/") in (PUBLIC_HUB, os.environ.get("HF_ENDPOINT", "").rstrip("/"))


hub_token = KeptSecrets("hub token", sentence("hub token"), "HF_TOKEN", 8, 500, _of_the_environment)
"""For a model hub, one for each endpoint."""
remote_key = KeptSecrets("remote key", sentence("remote key"), "SAPO_REMOTE_KEY", 1, 2000)
"""For a server that answers for this node. A key from the environment is not bound to an address, because the person
who starts the node with it also names the server."""
server_key = KeptSecrets("server key", sentence("key of the local server"), "SAPO_SERVER_KEY", 16, 500)
"""The key with which other programs on this computer ask this node, one per data folder."""
