"""The key of a server that answers for this node: in the system's keyring, one for each address.

`SAPO_REMOTE_KEY` in the environment goes before it, for that one process.
"""

from __future__ import annotations

import os
import re

from keyring.errors import KeyringError

from sapo_desktop.core.errors import IdentityError, UsageError
from sapo_desktop.system.identity import SERVICE, usable_keyring

VARIABLE = "SAPO_REMOTE_KEY"
_KEY = re.compile(r"[\x21-\x7e]{1,2000}")


def load(url: str) -> str | None:
    """The key for the server at `url`; None where there is none.

    Raises:
        IdentityError: the keyring is locked or does not answer.
        UsageError: what the environment has is no key.
    """
    if given := os.environ.get(VARIABLE, "").strip():
        return checked(given)
    backend = usable_keyring()
    if backend is None:
        return None
    try:
        return backend.get_password(SERVICE, _user(url))
    except KeyringError as error:
        raise _unusable(error) from error


def keep(url: str, key: str) -> None:
    """Keep the key for that server; an empty one forgets what was kept.

    Raises:
        UsageError: it cannot be one.
        IdentityError: there is no keyring that keeps secrets, or it is locked.
    """
    backend = usable_keyring()
    if backend is None:
        raise IdentityError(f"This computer has no keyring that keeps secrets. Set {VARIABLE} in the environment.")
    try:
        if key:
            backend.set_password(SERVICE, _user(url), checked(key))
        elif backend.get_password(SERVICE, _user(url)) is not None:
            backend.delete_password(SERVICE, _user(url))
    except KeyringError as error:
        raise _unusable(error) from error


def checked(key: str) -> str:
    """Refuse what would break a request; raises UsageError."""
    if not _KEY.fullmatch(key):
        raise UsageError("A key is one word of ASCII characters; nothing was kept.")
    return key


def _user(url: str) -> str:
    return f"remote key {url.strip().rstrip('/').removesuffix('/v1')}"


def _unusable(error: KeyringError) -> IdentityError:
    return IdentityError(f"The keyring cannot be used ({error}). Unlock it, or set {VARIABLE} in the environment.")
