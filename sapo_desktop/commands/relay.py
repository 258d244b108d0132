"""relay: forwards the swarm's groups between nodes; no model and no training."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

from sapo_desktop.commands.line.context import Context
from sapo_desktop.commands.line.signals import on_signals
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ControlError, NotRunning, SapoError, UsageError
from sapo_desktop.core.network.invite import Invite, asks_first
from sapo_desktop.core.network.nats_url import nats_servers
from sapo_desktop.core.sentences import joined
from sapo_desktop.terminal.swarm_words import swarm_line
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages.events import Stopping
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import RelayStatus
from sapo_desktop.worker.control.messages.requests import GetStatus, Quit
from sapo_desktop.worker.control.messages.swarm import RelayOptions

_LOOK_SECONDS = 10.0
_FILES = ("cert", "key", "backbone_credentials", "backbone_ca", "bans")


async def relay(context: Context, args: Namespace) -> None:
    """Run a relay until Ctrl-C, a signal or `quit`; or check its options."""
    if args.check:
        await _check(context, _options(args))
        return
    node = await context.door.relay_started(context.folder, _options(args))
    stop = asyncio.Event()
    ending = asyncio.create_task(_end_when(stop, node))
    looking = asyncio.create_task(_look(context, node))
    again = asyncio.Event()
    reloading = asyncio.create_task(_reload_when(again, node))
    try:
        with on_signals(stop.set, stop.set), _on_hang_up(again.set, stop.set):
            failure = await _follow(context, node)
    finally:
        ending.cancel()
        looking.cancel()
        reloading.cancel()
        await node.close()
        await node.until_gone()
    if failure:
        raise SapoError(failure)


async def _check(context: Context, options: RelayOptions) -> None:
    """Let the relay's program check options, files and ports. Raises SapoError with what is wrong."""
    await context.door.relay_checked(context.folder, options)
    context.out.done("Options, files and ports are usable.")


def _options(args: Namespace) -> RelayOptions:
    """The options, checked as far as possible here. Raises UsageError."""
    if bool(args.cert) != bool(args.key):
        raise UsageError("--cert and --key belong together: the files of the certificate and of its private key.")
    swarm, admission, peers = args.swarm, args.admission, args.peer
    invited: list[str] = []
    if args.invite:
        if swarm or admission:
            raise UsageError("--invite names the swarm and the admission already: leave out --swarm and --admission.")
        link = Invite.parse(args.invite)
        if link.nearby and not args.private_addresses:
            raise UsageError(joined([asks_first(link), "Then: --private-addresses"]))
        invited = [peer for peer in link.peers if peer not in link.nearby and peer not in peers]
        swarm, admission, peers = link.swarm, link.admission, [*peers, *link.peers]
    if admission and not swarm:
        raise UsageError("--admission admits to a private swarm. Set that with --swarm.")
    if not args.backbone and (args.backbone_credentials or args.backbone_ca or args.backbone_shards is not None):
        raise UsageError("Options that begin with --backbone- need the address of the backbone: --backbone URL.")
    if args.bans_from and not args.backbone:
        raise UsageError("--bans-from follows relays of the backbone. Set that with --backbone URL.")
    for key, text in (("swarm", swarm), ("admission", admission)):
        settings_file.parse_value(key, text)
    return RelayOptions(
        listen=args.listen,
        peers=",".join(peers),
        invited=",".join(invited),
        announce=args.announce,
        private_addresses=args.private_addresses,
        swarm=swarm,
        admission=admission,
        backbone=",".join(nats_servers(args.backbone)) if args.backbone else "",
        backbone_shards=args.backbone_shards,
        bans_from=args.bans_from,
        metrics=args.metrics,
        log_json=args.log_json,
        log_addresses=args.log_addresses,
        **{name: str(Path(path).resolve()) for name in _FILES if (path := getattr(args, name))},
    )


async def _follow(context: Context, node: Client) -> str:
    """Show the relay's messages until it ends; returns the reason of a failure."""
    async for event in node.events():
        if isinstance(event, Notice):
            context.out.emit("notice", level=event.level, text=str(event.text))
            context.out.say(str(event.text))
        if isinstance(event, Stopping):
            return str(event.reason) if event.failed else ""
    log = context.folder / "logs"
    return f"{await node.end_reason()} (The relay's log is in {log}.) Start it again with the same command."


async def _look(context: Context, node: Client) -> None:
    """Regularly print the relay's traffic."""
    while True:
        with contextlib.suppress(ControlError, NotRunning):
            found = await node.call(GetStatus())
            if isinstance(found, RelayStatus):
                context.out.emit("swarm", **swarm_line(found.swarm))
        await asyncio.sleep(_LOOK_SECONDS)


@contextlib.contextmanager
def _on_hang_up(reload: Callable[[], None], end: Callable[[], None]) -> Iterator[None]:
    """Handle SIGHUP; in a terminal it means that the terminal closed, and a remaining relay would be forgotten."""
    at_terminal = sys.stdin.isatty()
    if os.name == "nt" or (at_terminal and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN):
        yield
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, end if at_terminal else reload)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)


async def _reload_when(again: asyncio.Event, node: Client) -> None:
    """Pass SIGHUP to the relay's process, which reports the result."""
    while True:
        await again.wait()
        again.clear()
        with contextlib.suppress(ControlError, NotRunning, ProcessLookupError):
            found = await node.call(GetStatus())
            if isinstance(found, RelayStatus):
                os.kill(found.pid, signal.SIGHUP)


async def _end_when(stop: asyncio.Event, node: Client) -> None:
    await stop.wait()
    with contextlib.suppress(ControlError, NotRunning):
        await node.call(Quit())
