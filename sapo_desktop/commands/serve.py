"""serve: other programs on this computer ask the model while the command runs."""

from __future__ import annotations

import asyncio
import contextlib
from argparse import Namespace

from sapo_desktop.commands.line.context import Context, call, status_of
from sapo_desktop.commands.line.signals import on_signals
from sapo_desktop.terminal.invocation import as_started
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages.serving import GetServer, NewServerKey, Serve

_EXAMPLE = '{"model": "sapo", "messages": [{"role": "user", "content": "What is 7 + 5 - 3?"}]}'


async def serve(context: Context, args: Namespace) -> None:
    ended = asyncio.Event()
    with on_signals(ended.set, ended.set):
        async with context.any_node() as node:
            if args.new_key:
                await call(node, NewServerKey())
            serving = asyncio.create_task(call(node, Serve(port=args.port)))
            ending = asyncio.create_task(ended.wait())
            showing = asyncio.create_task(_show(context, node))
            try:
                # A failure to listen comes first; Ctrl-C may come while the address is requested.
                await asyncio.wait({serving, showing, ending}, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
                if serving.done():
                    await serving
            finally:
                for task in (serving, showing, ending):
                    task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.gather(serving, showing, ending, return_exceptions=True)


async def _show(context: Context, node: Client) -> None:
    found = await call(node, GetServer())
    if not found.url:
        return  # the reason comes as the answer to Serve
    status = await status_of(node)
    out = context.out
    out.emit("serving", url=found.url, key=found.key, kept=found.kept, model=status.model, round=status.round)
    out.say(f"{status.model}, after round {status.round:,}, answers programs on this computer. Ctrl-C ends that.")
    out.say(f"Address: {found.url}\nKey:     {found.key}")
    if not found.kept:
        out.say("This computer has no keyring, so the key changes with each start. SAPO_SERVER_KEY can name one.")
    out.say(
        f"\nTry it:  curl {found.url}/chat/completions -H 'Authorization: Bearer {found.key}' \\\n"
        f"           -H 'Content-Type: application/json' -d '{_EXAMPLE}'"
    )
    out.say(as_started(f"\nTo leave it on: sapo-desktop settings set serve on{context.data_option}"))
