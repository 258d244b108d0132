"""The context of every command: its data folder, its output, and access to the folder's node.

A command works on the running node of its folder; if none runs it starts an idle one, sends its requests, and ends it
again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from sapo_desktop.commands.line.door import Door
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ControlError, NotRunning, SapoError, UsageError
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.settings import Settings
from sapo_desktop.system import installation
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.wording import amount, duration, nearest
from sapo_desktop.worker.control import unstarted
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages.events import PhaseChanged, Progressed, Stopping
from sapo_desktop.worker.control.messages.replies import RelayStatus, Status
from sapo_desktop.worker.control.messages.requests import Evaluate, GetStatus, Quit

_LAST_WORD_SECONDS = 1.0
ESTIMATE_AFTER = 3.0
"""Seconds of answering after which the total time can be estimated."""
ESTIMATE_FROM = 4
"""And the share of answers (one in so many): the first come late, since many run at once, and those to the longest
questions before others."""


NO_RELAY = "No relay is running on this folder."
START_RELAY = "Start it: python3 installers/bootstrap.py relay, with its options."
"""After a setup for relays only, no node can start."""


@dataclass(frozen=True)
class Context:
    """A command's context. `data_option`: how the user named the folder, for commands in messages."""

    folder: Path
    data_option: str
    out: Output
    door: Door

    def need_folder(self) -> None:
        """Raise SapoError if the data folder does not exist: for commands about the past."""
        if self.folder.is_dir():
            return
        parent = self.folder.parent
        names = [entry.name for entry in parent.iterdir() if entry.is_dir()] if parent.is_dir() else []
        hint = nearest(self.folder.name, names) or f" Start it with: sapo-desktop run{self.data_option}"
        raise NotRunning(f"There is no node in {self.folder}: the folder does not exist.{hint}")

    def kept(self) -> Settings:
        """The folder's stored settings. Raises SettingsError."""
        return settings_file.read(DataFolder.at(self.folder).settings).settings

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Client]:
        """The running node. Raises NotRunning if there is none."""
        self.need_folder()
        try:
            node = await self.door.running(self.folder)
        except NotRunning:
            if installation.only_relays():
                raise NotRunning(f"{NO_RELAY} {START_RELAY}") from None
            raise
        try:
            yield node
        finally:
            await node.close()

    @contextlib.asynccontextmanager
    async def if_running(self) -> AsyncIterator[Client | None]:
        """The running node; None if there is none, and the work is then done here."""
        node: Client | None = None
        with contextlib.suppress(NotRunning):
            node = await self.door.running(self.folder)
        try:
            yield node
        finally:
            if node is not None:
                await node.close()

    @contextlib.asynccontextmanager
    async def any_node(self) -> AsyncIterator[Client]:
        """The running node, or an idle one for the duration. After a setup for relays only, a running relay."""
        if installation.only_relays():
            async with self.running() as relay:
                yield relay
            return
        self.out.passing("Asking the node; if none is running, one starts for this, in about ten seconds ...")
        try:
            attached = await self.door.running_or_started(self.folder, {})
        finally:
            self.out.wipe()
        try:
            yield attached.client
        finally:
            ending = attached.started and await _quit_if_idle(attached.client)
            await attached.client.close()
            if ending:
                await attached.client.until_gone()

    async def ask(self, request: Request[ReplyType]) -> ReplyType:
        """Send one request to the running node or to an idle one."""
        async with self.any_node() as node:
            return await call(node, request, self.out)

    async def ask_if_running(self, request: Request[ReplyType]) -> ReplyType:
        """The running node's answer, otherwise what is known without one: none is started."""
        async with self.if_running() as node:
            if node is not None:
                return await call(node, request)
        return await unstarted.answer(DataFolder.at(self.folder), request)


async def call(node: Client, request: Request[ReplyType], progress: Output | None = None) -> ReplyType:
    """The reply to a request; `progress` is called with an evaluation's progress."""
    meter: asyncio.Task[None] | None = None
    if isinstance(request, Evaluate) and progress is not None:
        progress.warn(f"Asking the held-out questions ({request.which}) of {request.checkpoint}. Ctrl-C cancels.")
        meter = asyncio.create_task(_meter(node, progress))
    try:
        return await node.call(request)
    except ControlError as error:
        raise await _last_word(node) or error from error
    finally:
        if meter is not None:
            meter.cancel()
            await asyncio.gather(meter, return_exceptions=True)


async def status_of(node: Client) -> Status:
    """The state of a node. Raises ControlError for a relay."""
    found = await call(node, GetStatus())
    if isinstance(found, RelayStatus):
        raise ControlError("A relay runs on this folder, not a node. For a node, choose another folder with --data.")
    assert isinstance(found, Status), "it was waited for"
    return found


async def _quit_if_idle(node: Client) -> bool:
    """End the node that was started for one request, unless another client has taken it over."""
    # It may have ended already, by a `quit` elsewhere or by failing: the result is the same.
    with contextlib.suppress(SapoError):
        if (await status_of(node)).state in ("working", "finishing", "paused"):
            return False
        try:
            await node.call(Quit())
        except UsageError:
            return False  # a window has attached and keeps it, or another command uses it
    return True


async def _last_word(node: Client) -> SapoError | None:
    """Why the node ended, if it said so before the channel closed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LAST_WORD_SECONDS):
            async for event in node.events():
                if isinstance(event, Stopping):
                    ended = "The node was stopped. Start it again: sapo-desktop run"
                    return SapoError(event.reason) if event.failed else NotRunning(ended)
    return None


async def _meter(node: Client, out: Output) -> None:
    """Show how long it takes once that can be estimated; a terminal shows progress on one line, removed at the end."""
    printed = False
    began: tuple[float, int] | None = None
    try:
        async for event in node.events():
            if isinstance(event, PhaseChanged):
                began = None  # the clock starts with the first answers; questions are made before
            if not isinstance(event, Progressed) or event.phase != "evaluate":
                continue
            began = began or (time.monotonic(), event.done)
            seconds, answered = time.monotonic() - began[0], event.done - began[1]
            known = seconds > ESTIMATE_AFTER and answered and event.total <= ESTIMATE_FROM * event.done
            left = seconds / answered * (event.total - event.done) if known else None
            line = f"{event.done:,}/{amount(event.total, 'answer')}"
            out.passing(line if left is None else f"{line}, about {duration(left)} left")
            if left is not None and not printed and not out.stderr.isatty():
                printed = True
                out.warn(f"{amount(event.total, 'answer')}: about {duration(seconds + left)} in all.")
    finally:
        out.wipe()
