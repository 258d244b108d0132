"""Passphrases: from the environment for scripts, else typed without being shown."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from typing import TypeVar

from sapo_desktop.commands.context import Context, Node, call
from sapo_desktop.core.errors import PassphraseNeeded, UsageError
from sapo_desktop.worker.messages import Request

PASSPHRASE = "SAPO_PASSPHRASE"
Told = TypeVar("Told")


def typed_passphrase(*, twice: bool = False) -> str:
    """Raises UsageError where nobody can type one, or two differ."""
    if given := os.environ.get(PASSPHRASE):
        return given
    try:
        typed = getpass.getpass("Passphrase: ")
        if twice and getpass.getpass("Once more: ") != typed:
            raise UsageError("The two differ; nothing was changed.")
    except EOFError as error:
        raise UsageError(f"A passphrase is needed: type it in a terminal, or set {PASSPHRASE}.") from error
    return typed


async def with_passphrase(
    context: Context, node: Node, request: Callable[[str | None], Request], kind: type[Told], *, twice: bool = False
) -> Told:
    """Ask with the passphrase of the environment, if any; where one is needed and was not given, have it typed."""
    try:
        return await call(node, request(os.environ.get(PASSPHRASE)), kind)
    except PassphraseNeeded as needed:
        context.out.warn(str(needed))
        return await call(node, request(typed_passphrase(twice=twice)), kind)
