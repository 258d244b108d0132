"""Passphrases: from the environment for scripts, else typed without being shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from sapo_desktop.commands.line.context import Context, Node, call
from sapo_desktop.commands.line.prompts import typed_secret
from sapo_desktop.core.errors import PassphraseNeeded, UsageError
from sapo_desktop.worker.control.messages.requests import Request

PASSPHRASE = "SAPO_PASSPHRASE"
Told = TypeVar("Told")


def typed_passphrase(context: Context, *, twice: bool = False) -> str:
    """The passphrase of the environment, else one that is typed; a new one (`twice`) again, to be sure of it.

    Raises:
        UsageError: nobody can type one, it is too short for a new one, or two differ.
    """
    if given := os.environ.get(PASSPHRASE):
        return given
    try:
        typed = typed_secret(context.out, "Passphrase: ")
        if twice:
            _check_length(typed)
            if typed_secret(context.out, "Once more: ") != typed:
                raise UsageError("The two differ; nothing was changed.")
    except EOFError as error:
        raise UsageError(f"A passphrase is needed: type it in a terminal, or set {PASSPHRASE}.") from error
    return typed


def _check_length(passphrase: str) -> None:
    from sapo_desktop.system.identity import SHORTEST_PASSPHRASE  # loads the keyring's libraries: not at every start

    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise UsageError(f"The passphrase needs at least {SHORTEST_PASSPHRASE} characters; nothing was changed.")


async def with_passphrase(
    context: Context, node: Node, request: Callable[[str | None], Request], kind: type[Told], *, twice: bool = False
) -> Told:
    """Ask with the passphrase of the environment, if any; where one is needed and was not given, have it typed."""
    try:
        return await call(node, request(os.environ.get(PASSPHRASE)), kind)
    except PassphraseNeeded as needed:
        context.out.warn(str(needed))
        return await call(node, request(typed_passphrase(context, twice=twice)), kind)
