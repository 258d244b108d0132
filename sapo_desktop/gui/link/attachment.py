"""The window's link to the worker, on its own thread: attach or start, receive, recover after a failure. No Qt.

A worker that dies is restarted after 1, 2, 4 ... 60 seconds; one that was asked to quit, by anybody, is left alone. If
a setting prevents its start, that is retried quietly once a minute, and settings, models and what fits are read and
changed without it (worker/control/unstarted.py); a change that may fix it starts it at once. The window never owns its
worker: if a window crashes, the node continues and the next window attaches to it. Everything received is passed to
`deliver`, on this thread; bridge.py carries it into Qt's.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sapo_desktop.core.errors import (
    ControlError,
    HistoryError,
    ModelError,
    NoEnginePack,
    NotRunning,
    OutOfMemory,
    RemoteError,
    SapoError,
    SettingsError,
    TaskError,
    UsageError,
    error_class,
)
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.why import Starting
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.view.curves import COLUMNS
from sapo_desktop.view.link import Arrival, Attached, Connecting, Ended, LastKnown, Lost, Remedy
from sapo_desktop.worker.control.messages.events import SettingsChanged, Snapshot, StateChanged, Stopping
from sapo_desktop.worker.control.messages.facts import GetNotices, Notice
from sapo_desktop.worker.control.messages.replies import Curve, SettingsAre
from sapo_desktop.worker.control.messages.requests import (
    GetCurve,
    GetSettings,
    Quit,
    ResetSettings,
    SetSettings,
    SetSilo,
)
from sapo_desktop.worker.control.notices import KeptNotices

if TYPE_CHECKING:
    from sapo_desktop.worker.control.client import Client

log = logging.getLogger("sapo_desktop.gui")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
STEADY_SECONDS = 120.0
"""A worker that lived this long before it died is restarted without the earlier delays."""


_LAST_SECONDS = 2.0
_CHANGES = (SetSettings, ResetSettings, SetSilo)
_SAY_WHY = (GetNotices,)
"""Answered after the worker ended, too."""
_REMEDIES: tuple[tuple[Remedy, tuple[type[SapoError], ...]], ...] = (
    ("model", (ModelError, OutOfMemory)),
    ("pack", (NoEnginePack,)),
    ("settings", (SettingsError, UsageError, TaskError, RemoteError)),
)


class Attachment:
    """Keeps the link. All methods may be called from any thread.

    Args:
        folder: the node's data folder.
        deliver: called with everything received, on the link's own thread.
        open_worker: another way to reach a worker (tests).
    """

    def __init__(
        self,
        folder: Path,
        deliver: Callable[[Arrival], None],
        open_worker: Callable[[], Awaitable[Client]] | None = None,
    ) -> None:
        self._folder = folder
        self._deliver = deliver
        self._open = open_worker or self._attach_or_start
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="worker link", daemon=True)
        self._worker: Client | None = None
        self._last: Stopping | None = None
        """The worker's goodbye."""
        self._closely = True
        self._is_again = False
        """Whether there was a worker before the one that is awaited."""
        self._again = asyncio.Event()
        self._met = False
        """Whether the current or last worker ever had a node."""
        self._remedy: Remedy = ""
        """What must change before a worker can start, according to the last try."""
        self._resting = asyncio.Event()
        """Set while no start is tried, or a node is there."""
        self._keeper: asyncio.Task[None] | None = None
        """Attaches repeatedly, on the link's own loop."""

    def start(self) -> None:
        self._thread.start()
        self._submit(self._keep())

    def call(self, request: Request[ReplyType]) -> Future[ReplyType]:
        """Send a request to the worker. Cancelling the future cancels it. The future raises SapoError as Client.call
        does, and NotRunning if there is no worker."""
        return self._submit(self._call(request))

    def watch(self, closely: bool) -> None:
        """Whether events are displayed; otherwise the worker sends neither answers nor progress."""
        self._closely = closely
        if self._worker is not None:
            self._submit(self._worker.watch(closely))

    def try_again(self) -> None:
        """Start a worker now, if the link waits before a retry or the node was ended."""
        self._loop.call_soon_threadsafe(self._again.set)

    def quit_worker(self) -> Future[None]:
        """Ask the worker to quit; done once it has, or if there is none."""
        return self._submit(self._quit())

    def stop(self, timeout: float = 5.0) -> None:
        """Leave the worker running and end the thread."""
        if not self._thread.is_alive():
            return
        leaving = self._submit(self._leave())
        try:
            leaving.result(timeout)
        except TimeoutError:
            log.warning("The link to the worker did not close within %g s.", timeout)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout)

    # -- on the thread ---------------------------------------------------------------------------------------

    def _submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _attach_or_start(self) -> Client:
        # Its libraries are imported on this thread, while the first frame is painted.
        from sapo_desktop.worker.control import client

        attached = await client.connect_or_start(self._folder, {}, ("--as-before",), owner=False, stay=True)
        return attached.client

    async def _keep(self) -> None:
        """Until cancelled: a bug is reported, and the link attaches again."""
        self._keeper = asyncio.current_task()
        while True:
            try:
                await self._attach_again_and_again()
            except Exception as error:
                log.exception("A bug in the link to the worker")
                self._resting.set()
                self._deliver(
                    Lost(
                        reason=sentence(
                            "The window hit an internal error: {error}. Your node keeps running. Please report it and "
                            "attach logs/window.log from the data folder.",
                            error=f"{type(error).__name__}: {error}",
                        )
                    )
                )
                await self._wait(LONGEST_PAUSE)
                self._is_again = True

    async def _attach_again_and_again(self) -> NoReturn:
        pause = FIRST_PAUSE
        reported: Lost | None = None
        if not self._is_again:
            await self._deliver_last_known()
        while True:
            self._again.clear()
            if not self._remedy:
                reported = None
                self._deliver(Connecting(again=self._is_again))
            began = time.monotonic()
            self._resting.clear()
            failure = await self._attend()
            remedy = self._remedy_for(failure)
            kept = await self._settings_kept() if remedy else None
            self._remedy = "file" if remedy and kept is None else remedy
            self._resting.set()
            if failure is None:
                self._deliver(Ended())
                await self._wait(None)
                pause = FIRST_PAUSE
            else:
                if time.monotonic() - began > STEADY_SECONDS:
                    pause = FIRST_PAUSE
                log.warning("The node is not there: %s", failure)
                lost = Lost(reason=failure.text, remedy=self._remedy)
                if lost != reported:  # a quiet try with the same failure is no news
                    said = sentence("The node stopped: {reason}", reason=failure.text)
                    kept_notices = KeptNotices(DataFolder.at(self._folder).notices)
                    await asyncio.to_thread(kept_notices.add, Notice(level="error", text=said, time=time.time()))
                    self._deliver(lost)
                    if kept is not None:
                        self._deliver(SettingsChanged(now=kept))
                reported = lost
                called = await self._wait(LONGEST_PAUSE if self._remedy else pause)
                pause = FIRST_PAUSE if called else min(2 * pause, LONGEST_PAUSE)
                if called:
                    self._remedy = ""  # the caller sees how it starts
            self._is_again = True

    def _remedy_for(self, failure: SapoError | None) -> Remedy:
        """What a person must change before the node can start; empty if it had started."""
        if failure is None or self._met:
            return ""
        return next((remedy for remedy, kinds in _REMEDIES if isinstance(failure, kinds)), "")

    async def _attend(self) -> SapoError | None:
        """Attach and receive until the worker ends; returns why it failed, None if it was asked to quit."""
        self._met = False
        try:
            self._worker = await self._open()
        except SapoError as error:
            return error
        except OSError as error:
            return SapoError(str(error))
        worker = self._worker
        greeting = asyncio.create_task(self._greet(worker))
        hearing = asyncio.create_task(self._hear(worker, greeting))
        try:
            await asyncio.wait({greeting, hearing}, return_when=asyncio.FIRST_COMPLETED)
            if greeting.done() and greeting.exception() is not None:
                # It may be ending just now, and say why.
                await asyncio.wait({hearing}, timeout=_LAST_SECONDS)
                await greeting
            await hearing
            failure = SapoError(await worker.end_reason())
        except SapoError as error:
            failure = error
        finally:
            for task in (greeting, hearing):
                task.cancel()
            await asyncio.gather(greeting, hearing, return_exceptions=True)  # each error was handled above
            self._worker = None
            await worker.close()
        if self._last is None:
            return failure
        return error_class(self._last.kind)(self._last.reason) if self._last.failed else None

    async def _hear(self, worker: Client, greeting: asyncio.Task[tuple[SettingsAre, Curve]]) -> None:
        """Pass on the worker's messages until its end."""
        attached, self._last = False, None
        if not self._closely:
            await worker.watch(False)
        async for event in worker.events():
            if isinstance(event, Stopping):
                self._last = event
            if isinstance(event, Snapshot):
                # A second one is from another node, which replaced the first in the same worker.
                settings, curve = await self._greet(worker) if attached else await greeting
                attached = self._met = True
                self._remedy = ""
                self._resting.set()  # a change that was requested meanwhile goes to the node
                self._again.clear()
                # The curve may be ahead of the snapshot: repeated events replace existing data.
                self._deliver(Attached(status=event.status, settings=settings, curve=curve))
            elif isinstance(event, StateChanged) and not attached:
                if isinstance(why := event.why, Starting) and not self._remedy:  # the snapshot has the next
                    self._deliver(Connecting(again=self._is_again, why=why))
            else:
                self._deliver(event)

    async def _greet(self, worker: Client) -> tuple[SettingsAre, Curve]:
        settings = await worker.call(GetSettings())
        return settings, await _whole(await worker.call(GetCurve()), worker.call)

    async def _deliver_last_known(self) -> None:
        """What is on disk already, because a start takes time."""
        from sapo_desktop.worker.control import unstarted

        folder = DataFolder.at(self._folder)
        if not folder.history.exists():
            return
        ask = partial(unstarted.answer, folder)
        try:
            self._deliver(LastKnown(curve=await _whole(await ask(GetCurve()), ask)))
        except HistoryError as error:
            log.warning("The history is not shown before the start: %s", error)

    async def _call(self, request: Request[ReplyType]) -> ReplyType:
        if self._remedy and not isinstance(request, Quit):
            if isinstance(request, _CHANGES):
                await self._resting.wait()  # a running start has read what was stored before
            if self._remedy:
                return await self._answer_without(request)
        if self._worker is None:
            if type(request) in _SAY_WHY:
                return await self._answer_without(request)
            raise NotRunning(sentence("The node is not running. The page Home says why."))
        return await self._worker.call(request)

    async def _answer_without(self, request: Request[ReplyType]) -> ReplyType:
        """Read or change it without a worker, if none can start."""
        from sapo_desktop.worker.control import client, unstarted

        if type(request) in _CHANGES:
            # Another process may have started one meanwhile, which uses its own settings and not the file's.
            with contextlib.suppress(NotRunning, ControlError):
                strangers = await client.connect(self._folder, events=False)
                try:
                    return await strangers.call(request)
                finally:
                    await strangers.close()
                    self._again.set()  # attach to it from now on
        reply = await unstarted.answer(DataFolder.at(self._folder), request)
        if isinstance(request, _CHANGES):
            if (kept := await self._settings_kept()) is not None:
                self._deliver(SettingsChanged(now=kept))
            if unstarted.may_help(request):
                self._again.set()
        return reply

    async def _settings_kept(self) -> SettingsAre | None:
        """The settings in the folder; None if the file is unreadable, which is why no node starts."""
        from sapo_desktop.worker.control import unstarted

        try:
            return await asyncio.to_thread(unstarted.settings, DataFolder.at(self._folder))
        except SapoError as error:
            log.warning("The settings cannot be read: %s", error)
            return None

    async def _quit(self) -> None:
        worker = self._worker
        if worker is None:
            return
        try:
            await worker.call(Quit())
        except (ControlError, NotRunning):
            return  # ended already
        while self._worker is worker:
            await asyncio.sleep(0.02)

    async def _wait(self, seconds: float | None) -> bool:
        """Until the user wants a retry, or the time is over; returns whether it was the user."""
        try:
            async with asyncio.timeout(seconds):
                await self._again.wait()
        except TimeoutError:
            return False
        return True

    async def _leave(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()  # it leaves the worker, or ends one that it has only started to start
            await asyncio.wait({self._keeper})


async def _whole(curve: Curve, ask: Callable[[GetCurve], Awaitable[Curve]]) -> Curve:
    """A reply holds a limited number of rounds; the lists of the first one are extended."""
    page = curve
    while page.more:
        page = await ask(GetCurve(after=page.round[-1]))
        for name in COLUMNS:
            getattr(curve, name).extend(getattr(page, name))
        curve.models[:] = page.models
    return curve
