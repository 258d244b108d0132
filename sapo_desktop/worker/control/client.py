"""For the command line and the window: attach to a worker, send requests, receive events, start a worker.

Many tasks may share a `Client`. Events are kept until they are read, so a client that asks for them must read them. The
meaning of requests, and what users see, is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import json
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import msgspec

from sapo_desktop.core.errors import ControlError, FolderInUse, NotRunning, SapoError
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.link.calls import Calls, reading
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.system import ends, processes
from sapo_desktop.system.folders import DataFolder, explained
from sapo_desktop.system.logs import MAX_LOG_BYTES, add_line, last_lines, log_size, open_log
from sapo_desktop.worker.control.channel import ControlLink, open_link, other_release
from sapo_desktop.worker.control.lock import holder
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.models import FitReply, FitRequest
from sapo_desktop.worker.control.messages.requests import Watch
from sapo_desktop.worker.control.parent import OPTION, let_go, named_error
from sapo_desktop.worker.control.proof import Attach
from sapo_desktop.worker.hosts.patience import Patience, settled

START_SECONDS = 60.0
"""How long a starting worker may do nothing at all."""
_LAST_SECONDS = 5.0
"""Until a worker that closed its channel has ended."""
_END_SECONDS = 20.0
"""Until a worker that was asked to quit has ended."""
_STRANGERS_SECONDS = 1.0
"""Like START_SECONDS, for a worker that another process started."""
_LOST_SECONDS = 20.0
"""Until a worker that closed the channel just after the connection has ended."""
_STARTS = 3
"""How often a worker is started at most while another one that is just ending holds the folder."""
_LEAST_FREE = 64 * 1024
"""A disk with less free space counts as full."""
_SHORT_SECONDS = 60.0
"""For a short process that only reads."""
_LOOK_AGAIN = 0.03
"""Seconds between checks for the control file of a starting worker; not every system has an event for it."""


EVENT: msgspec.msgpack.Decoder[Event] = msgspec.msgpack.Decoder(Event)


class Client:
    """An attached client. Made by `connect`."""

    def __init__(self, link: ControlLink) -> None:
        self._link = link
        self.process: subprocess.Popen[bytes] | None = None
        """The worker's process, if it was started for this client."""
        self.last_words: Callable[[], str] = str
        """The worker's log since this client attached, or since our own worker started."""
        self.died: Callable[[int], Text] = processes.exit_reason
        """Why our own worker ended with that exit code; also writes it to the worker's log."""
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._calls = Calls(link.send, reading(EVENT, self._events.put_nowait))
        self._reader = asyncio.create_task(self._read())

    @property
    def worker_pid(self) -> int:
        return self._link.worker_pid

    async def call(self, request: Request[ReplyType]) -> ReplyType:
        """Send a request to the worker. Cancelling this call cancels the request.

        Raises:
            SapoError: what the worker raised, as its own class.
            ControlError: the worker ended before it answered, or is from another release.
        """
        try:
            return await self._calls.ask(request)
        except UNREADABLE as error:
            raise other_release(error) from error
        except ControlError as error:
            raise await self._why_it_ended() or error from error

    async def watch(self, closely: bool) -> None:
        """Whether answers and progress are wanted, too."""
        with contextlib.suppress(ControlError):  # a worker that ended has no events
            await self._calls.ask(Watch(closely=closely))

    async def events(self) -> AsyncIterator[Event]:
        """Events from now on, in order, until the worker ends or the channel breaks."""
        while (event := await self._events.get()) is not None:
            yield event
        self._events.put_nowait(None)  # for other readers

    async def close(self) -> None:
        """Detach. The worker cancels this client's unanswered requests."""
        await self._link.close()
        await asyncio.wait({self._reader, *self._calls.cancels})

    async def until_gone(self) -> None:
        """Return once the process that was started for this client, and asked to quit, has ended, so that its folder
        is free."""
        if self.process is not None:
            # A slower worker ends by itself; the lock makes the next command wait.
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self.process.wait, _END_SECONDS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def end_reason(self) -> Text:
        """What is known about a worker that closed its channel without a goodbye."""
        if (error := await self._why_it_ended()) is not None:
            return error.text
        code = self.process.poll() if self.process is not None else None
        said = self.last_words()
        reason: Text = "" if code is None else self.died(code)
        if code is None and said:
            return sentence("The worker has stopped. Its last output:\n{words}", words=said)
        if code is None:
            return sentence("It ended without any output.")
        if said and code > 0:
            return sentence("The worker has stopped: {reason}. Its last output:\n{words}", reason=reason, words=said)
        return sentence("The worker has stopped: {reason}.", reason=reason)

    async def _why_it_ended(self) -> SapoError | None:
        """The error that the worker named as it ended, before or during the call."""
        gone = await asyncio.to_thread(self._wait_gone)
        return named_error(self.last_words()) if gone else None

    def _wait_gone(self) -> bool:
        if self.process is None:
            return processes.wait_gone(self.worker_pid, _STRANGERS_SECONDS)
        try:
            self.process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    async def _read(self) -> None:
        try:
            while True:
                self._calls.take(await self._link.receive())
        except (ControlError, *UNREADABLE) as error:
            self._calls.end(error if isinstance(error, ControlError) else other_release(error))
            self._events.put_nowait(None)


def _died(folder: DataFolder, pid: int, code: int) -> Text:
    """Why worker `pid` ended. If a signal ended it, it could not log that; this does."""
    reason = ends.died(folder.run("worker"), pid, code)
    if code < 0:
        text = f"{time.strftime('%Y-%m-%d %H:%M:%S')} ERROR The node (process {pid}) ended: {reason}"
        with contextlib.suppress(OSError):  # the disk is full or the folder is gone; the cause is still shown
            add_line(folder.log("worker"), text.encode(), MAX_LOG_BYTES)
    return reason


class Attached(NamedTuple):
    """A client, and whether the worker was started for it."""

    client: Client
    started: bool


async def connect(folder: Path, *, owner: bool = False, events: bool = True, stay: bool = False) -> Client:
    """Attach to the running worker of a data folder. `owner`: it may end when we leave (`when_window_closes`). `stay`:
    a worker that runs for a single command then stays, in its previous mode.

    Raises:
        NotRunning: there is none.
        ControlError: what answers is not the worker.
    """
    data = DataFolder.at(folder)
    since = log_size(data.log("worker"))
    link = await open_link(data.control)
    await link.send(Attach(owner=owner, events=events, stay=stay))
    client = Client(link)
    client.last_words = functools.partial(last_lines, data.log("worker"), since)
    return client


async def connect_or_start(
    folder: Path,
    overrides: Mapping[str, str],
    arguments: Sequence[str] = ("--idle",),
    *,
    owner: bool = True,
    stay: bool = False,
) -> Attached:
    """Attach to the folder's worker; if none runs, start one and attach to it.

    `overrides` (settings for this run only) and `arguments` are for a new worker; a running one does not change.
    `owner`: of a new one, which may then end when we leave; otherwise it stays. `stay`: as for `connect`.

    Raises:
        SapoError: what `connect` and `start_worker` raise.
    """
    # A stranger on the port of a dead worker does not matter: the new worker replaces the control file.
    with contextlib.suppress(NotRunning, ControlError):
        return Attached(await connect(folder, stay=stay), False)
    words = ["--overrides", json.dumps(dict(overrides)), *arguments]
    for _ in range(_STARTS):
        try:
            return Attached(await start_and_connect(folder, words, owner=owner, stay=stay), True)
        except FolderInUse as error:
            in_use = error
        if (client := await _connect_soon(folder, stay=stay)) is not None:
            return Attached(client, False)
    raise in_use


async def start_and_connect(
    folder: Path,
    arguments: Sequence[str],
    *,
    module: str = "sapo_desktop.worker.main",
    owner: bool = True,
    stay: bool = False,
) -> Client:
    """Start a worker and attach to it; further arguments as for `start_worker` and `connect_or_start`.

    Raises:
        SapoError: what `start_worker` raises, or the worker's own error if it ended before the attachment.
    """
    data = DataFolder.open(folder)
    since = log_size(data.log("worker"))
    process = await start_worker(folder, arguments, module=module)
    try:
        client = await connect(folder, owner=owner, stay=stay)
    except (NotRunning, ControlError) as error:
        # It answered once and then failed.
        try:
            code = await asyncio.to_thread(process.wait, _LOST_SECONDS)
        except subprocess.TimeoutExpired:
            raise error from None
        raise _early_end(code, last_lines(data.log("worker"), since), data) from error
    finally:
        let_go(process)  # attached or not; without an attachment, it ends what was started for us
    client.process = process
    client.died = functools.partial(_died, data, process.pid)
    client.last_words = functools.partial(last_lines, data.log("worker"), since)
    return client


async def run_to_end(arguments: Sequence[str], module: str) -> None:
    """Run `module` until it ends by itself. Raises SapoError with its error message."""
    process = await asyncio.create_subprocess_exec(
        *processes.python_command(module),
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=processes.python_environment({}),
    )
    _, said = await process.communicate()
    if process.returncode:
        raise _early_end(process.returncode, said.decode("utf-8", "replace").strip())


async def start_worker(
    folder: Path, arguments: Sequence[str] = (), module: str = "sapo_desktop.worker.main"
) -> subprocess.Popen[bytes]:
    """Start a worker that outlives this process and its terminal once a client has attached; returns when its channel
    answers. Until then, our end of its standard input shows that we are alive (parent.py).

    `arguments` go to `module` after `--data`.

    Raises:
        FolderInUse: another worker has the folder.
        SapoError: it ended during its start; with its last words.
    """
    data = DataFolder.open(folder)
    path = data.log("worker")
    try:
        opened = open_log(path)
    except OSError as error:
        raise explained(error, data.root) from error
    with opened as log:
        since = log.tell()
        process = subprocess.Popen(
            [*processes.python_command(module), "--data", str(data.root), OPTION, *arguments],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=processes.python_environment({}),
            **processes.session_options(),
        )
    answering = asyncio.create_task(_until_it_answers(data, process))
    try:
        if not await settled(answering, _patience(), lambda: process.pid):
            process.kill()
            raise SapoError(
                "The worker did nothing for {seconds} s while starting and was stopped. {path} shows how far it got.",
                in_terminal="sapo-desktop doctor --report FILE",
                seconds=START_SECONDS,
                path=str(path),
            )
        if not answering.result():
            raise _early_end(process.returncode, last_lines(path, since), data)
    except BaseException as error:
        let_go(process)
        if isinstance(error, asyncio.CancelledError):
            process.terminate()  # it has no owner yet whose departure would end it
        raise
    finally:
        answering.cancel()
    return process


async def appraise(folder: Path, request: FitRequest) -> FitReply:
    """What fits this computer, from a short separate process: no node needs to run, and none is started.

    Raises:
        SapoError: the settings or the catalogue cannot be used.
    """
    words = ["--data", str(folder)]
    out = await _output_of("sapo_desktop.worker.control.handlers.appraisal", words, msgspec.json.encode(request))
    reply: FitReply = msgspec.json.decode(out, type=FitReply)
    return reply


async def doubts(folder: Path, keys: Collection[str]) -> list[Text]:
    """Remarks on these settings for a node that is not running (worker/control/keepable.py). Raises as `appraise`."""
    out = await _output_of("sapo_desktop.worker.control.keepable", ["--data", str(folder), *keys], b"")
    said: list[Text] = msgspec.json.decode(out, type=list[Text])
    return said


async def _output_of(module: str, words: Sequence[str], asked: bytes) -> bytes:
    """The output of a short process of ours. Raises SapoError."""
    process = await asyncio.create_subprocess_exec(
        *processes.python_command(module),
        *words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=processes.python_environment({}),
    )
    try:
        async with asyncio.timeout(_SHORT_SECONDS):
            out, said = await process.communicate(asked)
    except TimeoutError:
        raise SapoError(
            "This took longer than {seconds} s. A disk may not respond: check the folders in the settings.",
            seconds=_SHORT_SECONDS,
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        raise _early_end(process.returncode, said.decode(errors="replace").strip())
    return out


async def _connect_soon(folder: Path, *, stay: bool) -> Client | None:
    """Attach to a worker that another process has just started: it holds the folder and will listen soon. None if it
    was just ending, and has ended."""
    data = DataFolder.at(folder)

    async def attached() -> Client | None:
        while True:
            with contextlib.suppress(NotRunning):
                return await connect(folder, stay=stay)
            pid = holder(data)
            if pid is None or processes.wait_gone(pid, 0.0):
                return None
            await asyncio.sleep(_LOOK_AGAIN)

    attaching = asyncio.create_task(attached())
    try:
        if await settled(attaching, _patience(), lambda: holder(data)):
            return attaching.result()
    finally:
        attaching.cancel()
    return await connect(folder, stay=stay)


def _patience() -> Patience:
    """With a worker that starts: as long as it does anything."""
    return Patience(START_SECONDS, computes=True)


async def _until_it_answers(folder: DataFolder, process: subprocess.Popen[bytes]) -> bool:
    """False if it ended before."""
    while not await _answers(folder, process):
        if process.poll() is not None:
            return False
        await asyncio.sleep(_LOOK_AGAIN)
    return True


async def _answers(folder: DataFolder, process: subprocess.Popen[bytes]) -> bool:
    """Whether this process answers, and not a previous one."""
    try:
        link = await open_link(folder.control)
    except (NotRunning, ControlError):
        return False
    await link.close()
    # On Windows a virtual environment's python.exe is a launcher whose child is the worker.
    return link.worker_pid == process.pid or (sys.platform == "win32" and process.poll() is None)


def _early_end(code: int, said: str, data: DataFolder | None = None) -> SapoError:
    """The error of a worker that ended early. `data`: the folder with its log."""
    if named := named_error(said):
        return named
    if not said and data is not None:
        with contextlib.suppress(OSError):  # the folder is gone
            if shutil.disk_usage(data.root).free < _LEAST_FREE:
                return explained(OSError(errno.ENOSPC, ""), data.root)  # the disk was too full to log that
    reason = processes.exit_reason(code)
    if not said:
        return SapoError(
            "The worker stopped while starting: {reason}.",
            in_terminal="sapo-desktop doctor --report FILE",
            reason=reason,
        )
    return SapoError(
        "The worker stopped while starting: {reason}. Its last output:\n{words}",
        in_terminal="sapo-desktop doctor --report FILE",
        reason=reason,
        words=said,
    )
