"""The user's token for a model hub: in the system's keyring, one for each endpoint; it is written nowhere else.

It belongs to the user, not to a data folder. `HF_TOKEN` in the environment goes before it, for that one process; it is
meant for the hub of the environment, so a mirror from the settings never gets it.
"""

from __future__ import annotations

import os
import re

from keyring.backend import KeyringBackend
from keyring.errors import KeyringError

from sapo_desktop.core.errors import IdentityError, UsageError
from sapo_desktop.core.models import PUBLIC_HUB
from sapo_desktop.system.identity import SERVICE, usable_keyring

VARIABLE = "HF_TOKEN"
_TOKEN = re.compile(r"[\x21-\x7e]{8,500}")


def load(endpoint: str) -> str | None:
    """The token for that endpoint; None where there is none.

    Raises:
        IdentityError: the keyring is locked or does not answer.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if given and endpoint.rstrip("/") in (PUBLIC_HUB, os.environ.get("HF_ENDPOINT", "").rstrip("/")):
        return checked(given)
    backend = usable_keyring()
    if backend is None:
        return None
    try:
        return backend.get_password(SERVICE, _user(endpoint))
    except KeyringError as error:
        raise _unusable(error) from error


def keep(endpoint: str, token: str) -> None:
    """Keep the token for that endpoint.

    Raises:
        UsageError: it cannot be one.
        IdentityError: there is no keyring that keeps secrets, or it is locked.
    """
    checked(token)
    try:
        _backend().set_password(SERVICE, _user(endpoint), token)
    except KeyringError as error:
        raise _unusable(error) from error


def forget(endpoint: str) -> bool:
    """Forget the token for that endpoint; False where there was none. Raises IdentityError as `keep`."""
    backend = _backend()
    try:
        if backend.get_password(SERVICE, _user(endpoint)) is None:
            return False
        backend.delete_password(SERVICE, _user(endpoint))
    except KeyringError as error:
        raise _unusable(error) from error
    return True


def checked(token: str) -> str:
    """Refuse what would break a request, before it is kept. Raises UsageError."""
    if not _TOKEN.fullmatch(token):
        raise UsageError("A token is one word of 8 to 500 ASCII characters; nothing was kept.")
    return token


def _user(endpoint: str) -> str:
    return f"hub token {endpoint.rstrip('/')}"


def _backend() -> KeyringBackend:
    backend = usable_keyring()
    if backend is None:
        raise IdentityError(
            f"This computer has no keyring that keeps secrets, so the token is not kept. Set {VARIABLE} in the "
            "environment of the command instead."
        )
    return backend


def _unusable(error: KeyringError) -> IdentityError:
    return IdentityError(f"The keyring cannot be used ({error}). Unlock it, or set {VARIABLE} for this command.")
