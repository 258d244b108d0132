"""The key of a server that answers for this node, one for each address, with or without `/v1` at its end.

One from the environment is bound to no address: who starts the node with it names the server in the same breath.
"""

from __future__ import annotations

import os

from sapo_desktop.core.sentences import sentence
from sapo_desktop.system.secrets.kept_secrets import KeptSecrets

VARIABLE = "SAPO_REMOTE_KEY"
KEYS = KeptSecrets(kind="remote key", words=sentence("remote key"), variable=VARIABLE, shortest=1, longest=2000)


def load(url: str) -> str | None:
    """The key for the server at `url`; None where there is none.

    Raises:
        KeyringClosed: the keyring is locked, or does not answer.
        UsageError: what the environment has is no key.
    """
    given = os.environ.get(VARIABLE, "").strip()
    return KEYS.checked(given) if given else KEYS.load(_server(url))


def keep(url: str, key: str) -> None:
    """Keep the key for that server; an empty one forgets what was kept. Raises as KeptSecrets.keep."""
    if key:
        KEYS.keep(_server(url), key)
    else:
        KEYS.forget(_server(url))


def _server(url: str) -> str:
    return url.strip().rstrip("/").removesuffix("/v1")
