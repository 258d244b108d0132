"""identity: this node's identity for others. The secret key never leaves the worker unprotected."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Literal

from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.commands.line.prompts import ask_with_passphrase, typed_passphrase
from sapo_desktop.core.errors import KeyringClosed, SapoError, UsageError
from sapo_desktop.core.files.reading import read_bytes
from sapo_desktop.system.folders import write_private
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages.replies import IdentityIs
from sapo_desktop.worker.control.messages.requests import ChangeIdentity, GetIdentity

_LONGEST = 4096
"""Maximum bytes read of an exported identity, which has a few hundred."""
_PLACES = {
    "keyring": "in this computer's keyring",
    "file": "in a file protected by a passphrase",
    "session": "nowhere: it is lost when this node stops (sapo-desktop identity protect keeps it)",
}


async def show(context: Context, args: Namespace) -> None:
    _show(context, await context.ask(GetIdentity(create=True)))


async def new(context: Context, args: Namespace) -> None:
    await _change(context, "new")


async def rotate(context: Context, args: Namespace) -> None:
    await _change(context, "rotate")


async def _change(context: Context, action: Literal["new", "rotate"]) -> None:
    _show(context, await ask_with_passphrase(context, ChangeIdentity(action=action)))


async def protect(context: Context, args: Namespace) -> None:
    async with context.any_node() as node:
        try:
            await _opened(context, node)
        except KeyringClosed:
            context.out.warn("The keyring is locked, so a new identity is created.")
        request = ChangeIdentity(action="protect", passphrase=typed_passphrase(context, twice=True))
        found = await call(node, request)
    _show(context, found)


async def unlock(context: Context, args: Namespace) -> None:
    async with context.any_node() as node:
        found = await _opened(context, node)
    _show(context, found)


async def export_(context: Context, args: Namespace) -> None:
    path = Path(args.file).expanduser()
    if path.exists():
        raise UsageError(f"{path} exists already. Choose a new file.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}. Create it first, or choose another file.")
    async with context.any_node() as node:
        if not (await _opened(context, node)).kept:
            raise UsageError("There is no identity yet. To create one: sapo-desktop identity show")
        context.out.warn("The file will be protected by its own passphrase.")
        request = ChangeIdentity(action="export", passphrase=typed_passphrase(context, twice=True))
        found = await call(node, request)
    try:
        write_private(path, found.sealed)
    except OSError as error:
        raise SapoError(f"{path} could not be written: {error.strerror or error}. Choose another file.") from error
    context.out.emit("written", file=str(path.resolve()), what="identity")
    context.out.say(
        f"Wrote the identity to {path}. To use it elsewhere: sapo-desktop identity import FILE, with its passphrase"
    )


async def _opened(context: Context, node: Client) -> IdentityIs:
    """The node's identity, unlocked if a passphrase protects it, so that problems appear before a new one is typed."""
    found = await call(node, GetIdentity())
    if found.key or not found.kept:
        return found
    context.out.warn("The identity is in a file with a passphrase. Enter that one first.")
    return await call(node, ChangeIdentity(action="unlock", passphrase=typed_passphrase(context)))


async def import_(context: Context, args: Namespace) -> None:
    try:
        sealed = read_bytes(Path(args.file).expanduser(), _LONGEST)
    except OSError as error:
        raise SapoError(
            f"{args.file} could not be read: {error.strerror or error}. Check its name and permissions."
        ) from error
    request = ChangeIdentity(action="import", sealed=sealed, passphrase=typed_passphrase(context))
    _show(context, await context.ask(request))


def _show(context: Context, found: IdentityIs) -> None:
    context.out.emit("identity", key=found.key or None, kept=found.kept or None)
    if not found.kept:
        context.out.say(
            "There is no identity yet, and no keyring here to keep one: it would be made when the node first joins the "
            "swarm, and end with it. To keep one behind a passphrase: sapo-desktop identity protect"
        )
    elif not found.key:
        context.out.say("The identity is in a file protected by a passphrase. Open it: sapo-desktop identity unlock")
    else:
        if found.created:
            context.out.say("There was no identity yet, so one was created.")
        context.out.say(f"Key   {found.key}\nKept  {_PLACES[found.kept]}")
    if found.note:
        context.out.say(str(found.note))
