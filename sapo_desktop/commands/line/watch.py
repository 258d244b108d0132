"""Follows a node at work, from attaching to the last event, and handles Ctrl-C.

A command that started the node, or found it idle, is in charge: Ctrl-C finishes the round and ends the node, a second
one ends it at once. A command that found it working only watches: Ctrl-C leaves, and the node continues.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from sapo_desktop.commands.line.context import Context, call, status_of
from sapo_desktop.commands.line.signals import on_signals
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ControlError, NotRunning, SapoError, UsageError
from sapo_desktop.core.why import Ending
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.views import View
from sapo_desktop.worker.control.client import Attached, Client
from sapo_desktop.worker.control.messages.events import Event, Snapshot, StateChanged, Stopping
from sapo_desktop.worker.control.messages.replies import SettingsAre, Status
from sapo_desktop.worker.control.messages.requests import GetSettings, Quit, StartRounds

_BUSY = ("working", "finishing")
_LAST_WORD_SECONDS = 5.0


@dataclass
class Watch:
    """One view's session with a node. `failure`: why it ended unexpectedly."""

    context: Context
    dashboard: Dashboard
    view: View
    attached: Attached
    in_charge: bool = False
    failure: str = ""
    goes_on: bool = False
    """Whether the node was left working."""
    asked_to_end: bool = False
    """Whether the node is ending on request."""
    _begun: bool = False
    _interrupts: int = 0
    _seen_working: bool = False
    _last: Stopping | None = None
    """The goodbye of a node that failed during its start."""

    def __post_init__(self) -> None:
        self.node: Client = self.attached.client
        self._left = asyncio.Event()
        self._asking: asyncio.Task[None] | None = None

    async def until_the_end(self, overrides: Mapping[str, str], rounds: int | None) -> None:
        """Start the node's work unless it works already, and show it until it is done or the user leaves."""
        with on_signals(self._interrupt, self._terminate):
            work = asyncio.create_task(self._work(overrides, rounds))
            left = asyncio.create_task(self._left.wait())
            try:
                await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
                if self._asking is not None:
                    await asyncio.wait({self._asking}, timeout=_LAST_WORD_SECONDS)
            finally:
                left.cancel()
                work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work

    async def _work(self, overrides: Mapping[str, str], rounds: int | None) -> None:
        await self._begin(overrides, rounds)
        async for event in self.node.events():
            self.dashboard.take(event)
            self.view.event(event)
            if await self._is_last(event):
                return
        self.failure = self.failure or (
            f"{await self.node.end_reason()} (The log is in {self.context.folder / 'logs'}.) Every finished round is "
            f"kept: continue with sapo-desktop run{self.context.data_option}"
        )

    async def _begin(self, overrides: Mapping[str, str], rounds: int | None) -> None:
        """Get the node's status, pass it to the view, and start its work unless it works already."""
        status = await self._when_started()
        settings = await call(self.node, GetSettings())
        if not self.attached.started:
            _refuse_other_settings(settings, overrides)
            if status.state == "idle":
                await self._own()
        self.in_charge = self.attached.started or status.state == "idle"
        self.dashboard.greet(status, settings)
        self._announce(status)
        if rounds is None and status.state == "paused" and not self.attached.started:
            self.view.said(f"It is paused; continue: sapo-desktop resume{self.context.data_option}")
        elif status.state not in _BUSY or rounds is not None:
            await call(self.node, StartRounds(rounds=rounds))
        else:
            self._seen_working = True
        self._begun = True

    async def _when_started(self) -> Status:
        """The node's status, once there is one; its messages are shown meanwhile."""
        listening = asyncio.create_task(self._hear_start())
        try:
            return await status_of(self.node)
        except ControlError as error:
            raise (SapoError(self._last.reason) if self._last else error) from error
        finally:
            listening.cancel()
            await asyncio.wait({listening})

    async def _hear_start(self) -> None:
        """Show events until there is a node."""
        async for event in self.node.events():
            if isinstance(event, Snapshot):
                return
            if isinstance(event, Stopping):
                self._last = event if event.failed else None
                return
            self.dashboard.take(event)
            self.view.event(event)

    async def _own(self) -> None:
        """Attach again as owner, because the starter of this idle node may leave before we do."""
        owned = await self.context.door.running(self.context.folder, owner=True)
        await self.node.close()
        self.node = owned

    def _announce(self, status: Status) -> None:
        self.context.out.emit(
            "start",
            data=str(self.context.folder),
            attached=not self.attached.started,
            model=status.model,
            seed=status.seed,
            silo=status.silo,
            mix=status.mix,
            device=status.device,
            round=status.round,
            pid=status.pid,
            version=status.version,
        )
        if not self.attached.started:
            self.view.said(f"Attached to the node that runs here already (process {status.pid}).")
        elif status.round:
            self.view.said(f"Continuing after round {status.round:,}.")
        if self.context.out.stdout.isatty():
            ending = "Ctrl-C: finish this round and stop. Again: stop now."
            leaving = "Ctrl-C: leave; the node continues. sapo-desktop quit stops it."
            self.view.said(ending if self.in_charge else leaving)

    async def _is_last(self, event: Event) -> bool:
        """Whether `event` is the last one of interest. The command in charge waits for the node's goodbye."""
        match event:
            case Stopping(failed=failed, reason=reason):
                self.failure = self.failure or (str(reason) if failed else "")
                return True
            case StateChanged(state="failed", reason=reason):
                self.failure = reason
            case StateChanged(state="idle") if self._seen_working:
                pass  # the requested rounds are done
            case StateChanged(state=state):
                self._seen_working = self._seen_working or state in _BUSY
                return False
            case _:
                return False
        if self.in_charge:
            await self._quit(finish_round=False)
        return not self.in_charge

    def _interrupt(self) -> None:
        """Ctrl-C."""
        self._interrupts += 1
        if not self._begun and self.attached.started:
            self._ask_to_quit("Stopping; nothing has started yet.", finish_round=False)
            self._left.set()
        elif not self.in_charge:
            self.goes_on = True
            self.view.said("Leaving; the node continues.")
            self._left.set()
        elif self._interrupts == 1:
            self._ask_to_quit("Finishing this round, then stopping. Ctrl-C again: stop now.", finish_round=True)
        elif self._interrupts == 2:
            self.dashboard.take(StateChanged(state="stopping", reason="Ending", why=Ending()))
            self._ask_to_quit("Stopping now, without the unfinished round.", finish_round=False)
        else:
            # Third time: the channel closes, and the node ends by itself because its owner is gone.
            self._left.set()

    def _terminate(self) -> None:
        """SIGTERM: the same as Ctrl-C twice."""
        self._interrupts = max(self._interrupts, 1)
        self._interrupt()

    def _ask_to_quit(self, words: str, *, finish_round: bool) -> None:
        self.view.said(words)
        self._asking = asyncio.create_task(self._quit(finish_round=finish_round))

    async def _quit(self, *, finish_round: bool) -> None:
        # A node that ended meanwhile did what was asked, and its events show that it ended. One that also serves other
        # programs says so.
        with contextlib.suppress(NotRunning, ControlError, UsageError):
            await self.node.call(Quit(finish_round=finish_round))
            self.asked_to_end = True


def _refuse_other_settings(found: SettingsAre, overrides: Mapping[str, str]) -> None:
    """A working node keeps its settings; SapoError if the command line asks for others."""
    other = [
        key for key, text in overrides.items() if settings_file.parse_value(key, text) != getattr(found.settings, key)
    ]
    if other:
        raise SapoError(
            f"A node runs here already, with other settings ({', '.join(other)}). Change them there (sapo-desktop "
            "settings set, silo off), stop it first (sapo-desktop quit), or leave those options out to watch it."
        )
