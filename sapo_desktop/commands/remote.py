"""remote-key: the key of a server that answers for this node."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from sapo_desktop.commands.line.context import Context
from sapo_desktop.commands.line.prompts import typed_secret
from sapo_desktop.core.errors import UsageError
from sapo_desktop.system.secrets.kept_secrets import remote_key


async def key(context: Context, args: Namespace) -> None:
    """Store a key typed without echo; an empty one deletes it."""
    try:
        typed = typed_secret(context.out, f"Key for {args.url} (empty: delete it): ").strip()
    except EOFError as error:
        raise UsageError(f"Type the key in a terminal, or set {remote_key.variable} for the node.") from error
    if typed:
        await asyncio.to_thread(remote_key.keep, args.url, typed)
    else:
        await asyncio.to_thread(remote_key.forget, args.url)
    context.out.emit("remote-key", url=args.url, kept=bool(typed))
    context.out.say("The key is saved in this computer's keyring." if typed else "No key is saved for that server.")
