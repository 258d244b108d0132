"""The user's token for a model hub, one for each endpoint.

`HF_TOKEN` is meant for the hub of the environment, so a mirror from the settings never gets it.
"""

from __future__ import annotations

import os

from sapo_desktop.core.models import PUBLIC_HUB
from sapo_desktop.core.sentences import sentence
from sapo_desktop.system.secrets.kept_secrets import KeptSecrets

VARIABLE = "HF_TOKEN"
TOKENS = KeptSecrets(kind="hub token", words=sentence("hub token"), variable=VARIABLE, shortest=8, longest=500)


def load(endpoint: str) -> str | None:
    """The token for that endpoint; None where there is none.

    Raises:
        KeyringClosed: the keyring is locked, or does not answer.
        UsageError: what the environment has is no token.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if given and endpoint.rstrip("/") in (PUBLIC_HUB, os.environ.get("HF_ENDPOINT", "").rstrip("/")):
        return TOKENS.checked(given)
    return TOKENS.load(endpoint)


keep, forget = TOKENS.keep, TOKENS.forget
