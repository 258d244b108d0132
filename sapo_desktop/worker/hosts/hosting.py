"""The worker's side of a host: start, call, suspend, cancel, and detect its death.

A `Host` is one process with one current request; further calls wait, except urgent ones that are answered in between
(`call_aside`). Nothing here decides what to do about an error: the round restarts a host with `restart()`, at its own
pace. Time-outs do not count time in which a host is suspended, gets no processor, or makes progress (patience.py). A
host loads at normal priority and has low priority afterwards: lowering it is easy, only root can raise it. Hosts are
started from the main thread, which runs the event loop: Linux kills them with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import NoReturn

import msgspec

from sapo_desktop.core.errors import (
    EndlessTemplate,
    HostCancelled,
    HostDied,
    HostError,
    HostTimeout,
    SapoError,
)
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.link.calls import Calls, NoteType, OnCall, OnNote, Pending, reading
from sapo_desktop.core.link.frames import FrameError, pack, read_frame
from sapo_desktop.core.link.requests import ReplyType, Request, ToClient, ToServer, encode
from sapo_desktop.core.records import Confined
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.system import processes
from sapo_desktop.system.desktop import ceiling
from sapo_desktop.system.logs import last_lines, open_log
from sapo_desktop.worker.hosts.patience import Patience, Suspension, settled
from sapo_desktop.worker.hosts.protocol import (
    HostOptions,
    Ready,
    command,
    decoder,
    environment,
)

GRACE = 0.6
"""Seconds a host has to stop its work, and then again to end, before the next harder step."""
PATIENCE = 60.0
"""The first of these if a client cancels a request: the host's state in memory is worth more than a minute."""
EXIT_SECONDS = 10.0
"""Time for a process that closed its output to end, however starved: our own kill would look like one for memory."""
grace_of_caller = contextvars.ContextVar("grace_of_caller", default=GRACE)
"""How long a cancelled call waits for the host to stop, before it ends the process."""
_TEMPLATE_TIMER = -signal.SIGPROF if sys.platform != "win32" else None
"""The exit of a process that a chat template blocks (engines/chat_template.py)."""
READ_BUFFER = 1 << 20
OnBusy = Callable[[Text], None]
"""Called with a sentence if loading takes long because the computer is busy."""


class Host:
    """One host process. Made by `start`."""

    def __init__(self, options: HostOptions, on_busy: OnBusy | None = None) -> None:
        self.options = options
        self._on_busy = on_busy
        self.versions: dict[str, str] = {}
        self.confined: Confined | None = None
        """The restrictions on its process; None: none were requested."""
        self._progress = decoder(options.kind.progress)
        self._process: asyncio.subprocess.Process | None = None
        self._launched: int | None = None
        """Windows: the working process, started by a virtual environment's python.exe, which is a launcher."""
        self._listener: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._calls = Calls(self._send)
        """Those of the current process."""
        self._call: Pending | None = None
        """The current one, which is not aside."""
        self._aside_turn = asyncio.Lock()
        self._suspension = Suspension()
        self._asleep = False
        """Whether it should be suspended: a process started meanwhile begins suspended."""
        self.is_closed = False
        """Whether it was closed permanently."""
        self._log_start = 0
        self._limits_reached = 0
        """At its start or last call; if the count grew, it may have been killed for that."""
        self._memory_kills = 0
        """The same for the memory of the whole computer."""
        self._haste: asyncio.TimerHandle | None = None
        self._unreported: SapoError | None = None
        """How it ended, if it did so by itself while no call was waiting."""

    @classmethod
    async def start(cls, options: HostOptions, on_busy: OnBusy | None = None) -> Host:
        """Start a host and await its Ready.

        Raises:
            HostError: it could not start; HostDied, HostTimeout, or what its service raised.
        """
        host = cls(options, on_busy)
        await host._launch()
        return host

    @property
    def pid(self) -> int | None:
        """Id of the working process, None while it does not run."""
        if self._process is None or self._process.returncode is not None:
            return None
        return self._launched or self._process.pid

    async def call(
        self,
        request: Request[ReplyType],
        timeout: float | None,
        on_progress: Callable[[NoteType], None] | None = None,
        *,
        loading: bool = False,
    ) -> ReplyType:
        """Call the host and wait for its reply, at most `timeout` seconds in which it was not suspended and had a
        processor. If it is `loading`, or its kind computes, only seconds without any activity count.

        Raises:
            HostTimeout: no reply in time; the host was killed.
            HostDied: the process ended; restart it. EndlessTemplate: by the timer of a chat template.
            HostCancelled: `cancel` was called meanwhile.
            SapoError: what the service raised, as its own class.
        """
        patience = self._patience(timeout, loading=loading)

        async def wait(call: Pending) -> None:
            await self._settle(call, patience)
            if loading:
                self._loaded()

        async def leave(call: Pending) -> None:
            # The turn is held until the host is free again: the next caller must not get an old answer.
            await _to_the_end(self.cancel(grace_of_caller.get()))

        async with self._turn:
            if self.pid is None:
                raise await self._not_running()
            self._count_kills()
            if loading:
                self._keep_pace()
            self._call = self._calls.open(self._hearing(patience, on_progress))
            try:
                return await self._ask(request, self._call, wait, leave)
            finally:
                self._call = None

    async def call_aside(
        self, request: Request[ReplyType], timeout: float | None, on_progress: Callable[[NoteType], None] | None = None
    ) -> ReplyType:
        """Send a request that is answered between two steps of the current one if the service can, otherwise after it.
        Errors as for `call`; also HostCancelled if the current request was cancelled meanwhile."""
        patience = self._patience(timeout)

        async def wait(call: Pending) -> None:
            await self._settle(call, patience)

        async with self._aside_turn:
            if self.pid is None:
                raise await self._not_running()
            call = self._calls.open(self._hearing(patience, on_progress))
            # If we are cancelled, it ends at its next step, and the interrupted request continues.
            return await self._ask(request, call, wait, self._calls.cancel, aside=True)

    async def cancel(self, grace: float = GRACE) -> None:
        """Cancel the current request: ask the service, then end the process, then kill it. Does nothing if idle.

        The pending `call` raises HostCancelled. Afterwards the host is ready for the next call, or it has ended (`pid`
        is None) and needs `restart()`.
        """
        call = self._call
        if call is None or call.answer.done():
            return
        # From here on, anything from the host makes the call raise HostCancelled, even its reply.
        call.give_up(HostCancelled(sentence("The work was cancelled on purpose.")))
        # A suspended process reads no Cancel, and no signal but SIGKILL.
        self._switch(False)
        await self._calls.cancel(call)
        await asyncio.wait({call.answer}, timeout=grace)
        if not call.answer.done():
            await self._end(min(grace, GRACE))
        self._switch(self._asleep)

    def suspend(self) -> None:
        """Suspend the process and its children. It keeps its memory."""
        self._asleep = True
        self._switch(True)

    def resume(self) -> None:
        self._asleep = False
        self._switch(False)

    def give_way(self, low: bool) -> bool:
        """Lower its priority below all other programs, or restore it; False if the system refuses, and then it
        applies from the next start on if `options` say so."""
        self._keep_pace()
        if self.pid is not None and not processes.give_way(self.pid, low):
            return False
        self.options = msgspec.structs.replace(self.options, low_priority=low)
        return True

    async def stop(self) -> None:
        """End the process; a pending call raises HostDied."""
        await self._end(GRACE)

    async def close(self) -> None:
        """End the process permanently: waiting calls raise HostDied, and it is not restarted."""
        self.is_closed = True
        await self._end(GRACE)

    async def restart(self) -> None:
        """End the process if it runs and start a new one; everything it held in memory is lost. Raises HostDied if
        it was closed."""
        if self.is_closed:
            raise self._ended()
        await self._end(GRACE)
        await self._launch()

    # -- the process -----------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return self.options.kind.name

    async def _launch(self) -> None:
        self._suspension, self._unreported, self._launched = Suspension(), None, None
        self._count_kills()
        with open_log(self.options.log) as log:
            self._log_start = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                *command(self.options),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=environment(self.options),
                limit=READ_BUFFER,
                **processes.group_options(),
            )
        processes.tie_to_this_process(self._process.pid)
        self._switch(self._asleep)
        self._calls = Calls(self._send)
        # A call like any other, with number 0, answered by Ready.
        call = self._call = self._calls.open(number=0)
        self._listener = asyncio.create_task(self._listen(self._process))
        try:
            if self.is_closed:  # while the process was being created
                raise self._ended()
            await self._settle(call, Patience(self.options.start_timeout, loading=True))
            self._is_ready(call.answer.result())
            if not self.options.kind.loads:
                self._loaded()
        except BaseException:
            await _to_the_end(self._end(0.0))
            raise
        finally:
            self._calls.close(call)
            self._call = None

    def _is_ready(self, body: msgspec.Raw) -> None:
        try:
            ready = msgspec.msgpack.decode(body, type=Ready)
        except UNREADABLE as error:
            raise self._unreadable(error) from error
        self.versions, self.confined = ready.versions, ready.confined
        self._launched = ready.pid if sys.platform == "win32" else None  # else the group's id

    def _count_kills(self) -> None:
        """Read the counts again: earlier kills by the kernel do not matter for a later death."""
        self._limits_reached, self._memory_kills = ceiling.times_reached(), processes.memory_kills()

    def _loaded(self) -> None:
        """From now on it only computes: its priority will be lowered soon."""
        if self.options.low_priority:
            loop = asyncio.get_running_loop()
            self._haste = loop.call_later(self.options.haste, self.give_way, True)

    def _keep_pace(self) -> None:
        """Cancel the planned lowering of its priority."""
        if self._haste is not None:
            self._haste.cancel()
            self._haste = None

    async def _end(self, grace: float) -> None:
        """Terminate, wait, kill; returns when the process has ended and its last frame was read."""
        self._keep_pace()
        process, listener = self._process, self._listener
        if process is None or listener is None:
            return
        if process.returncode is None:
            self._switch(False)
            processes.terminate_tree(process.pid)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await process.wait()
        if process.returncode is None:
            processes.kill_tree(process.pid)
            await process.wait()
        # The listener reads the rest of the pipe, then fails the pending call; only then may another start.
        await asyncio.wait({listener})
        self._unreported = None

    def _ended(self) -> HostDied:
        return HostDied("The {host} was stopped.", host=self._name)

    async def _not_running(self) -> SapoError:
        """Why there is no process; how it ended is reported once."""
        if self._listener is not None:
            await asyncio.wait({self._listener})  # it may just have started to look
        unreported, self._unreported = self._unreported, None
        return unreported or HostDied(sentence("The {host} is not running. Try again in a moment.", host=self._name))

    def _switch(self, suspended: bool) -> None:
        if self._suspension.is_on == suspended or self.pid is None:
            return
        (processes.suspend if suspended else processes.resume)(self.pid)
        self._suspension.switch(suspended)

    # -- frames ----------------------------------------------------------------------------------------------

    async def _ask(
        self, request: Request[ReplyType], call: Pending, wait: OnCall, leave: OnCall, *, aside: bool = False
    ) -> ReplyType:
        try:
            return await self._calls.ask(request, call, wait=wait, leave=leave, aside=aside)
        except UNREADABLE as error:
            await _to_the_end(self._end(0.0))
            raise self._unreadable(error) from error

    def _hearing(self, patience: Patience, on_progress: Callable[[NoteType], None] | None) -> OnNote:
        read = reading(self._progress, on_progress)

        def hear(body: msgspec.Raw) -> None:
            patience.heard()
            if read is not None:
                read(body)

        return hear

    async def _send(self, message: ToServer) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(pack(encode(message)))
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            # The listener sees the same end and knows the reason; the caller waits for its message.
            return

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read frames until the process ends; then fail the pending calls."""
        assert process.stdout is not None
        frames: msgspec.msgpack.Decoder[ToClient] = msgspec.msgpack.Decoder(ToClient)
        fault: Exception | None = None
        try:
            while (payload := await read_frame(process.stdout)) is not None:
                self._calls.take(frames.decode(payload))
        except (FrameError, *UNREADABLE) as error:
            fault = error
        with contextlib.suppress(TimeoutError):
            # What sent garbage is killed at once; what closed its output is about to end by itself and tell why.
            async with asyncio.timeout(0.0 if fault else EXIT_SECONDS):
                await process.wait()
        if process.returncode is None:
            processes.kill_tree(process.pid)
            await process.wait()
        died = self._unreadable(fault) if fault is not None else self._death(process)
        self._unreported = None if self._calls.end(died) else died

    def _unreadable(self, error: Exception) -> HostError:
        return HostError(
            "The {host} sent an unreadable message and was stopped: {error}", host=self._name, error=str(error)
        )

    def _death(self, process: asyncio.subprocess.Process) -> SapoError:
        if process.returncode == _TEMPLATE_TIMER:
            return EndlessTemplate()
        over_limit = ceiling.times_reached() > self._limits_reached
        out_of_memory = processes.memory_kills() > self._memory_kills
        reason = processes.exit_reason(process.returncode or 0, over_limit=over_limit, out_of_memory=out_of_memory)
        said = last_lines(self.options.log, self._log_start)
        text = sentence("The {host} stopped without answering: {reason}.", host=self._name, reason=reason)
        if said:
            text = sentence("{text} Its last output:\n{words}", text=text, words=said)
        killed = process.returncode == -9  # SIGKILL; the name does not exist on Windows
        return HostDied(text, killed=killed, counted=killed and (over_limit or out_of_memory))

    # -- waiting ---------------------------------------------------------------------------------------------

    def _patience(self, timeout: float | None, *, loading: bool = False) -> Patience:
        return Patience(timeout, loading=loading, computes=self.options.kind.computes)

    async def _settle(self, call: Pending, patience: Patience) -> None:
        """Wait for the answer; kill the host when its time is used up."""
        if not await settled(
            call.answer, patience, lambda: self.pid, suspension=self._suspension, on_busy=self._on_busy
        ):
            await self._time_out(patience)

    async def _time_out(self, patience: Patience) -> NoReturn:
        if self.pid is not None:
            processes.kill_tree(self.pid)
        await self._end(0.0)
        seconds = float(patience.limit or 0)
        if patience.by_effort:
            raise HostTimeout(
                "The {host} did nothing for {seconds} s and was stopped.", host=self._name, seconds=seconds
            )
        raise HostTimeout(
            "The {host} did not answer within {seconds} s and was stopped.", host=self._name, seconds=seconds
        )


async def _to_the_end(work: Awaitable[None]) -> None:
    """Wait for work that must not be left half done, even if the waiting task is cancelled repeatedly."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()
