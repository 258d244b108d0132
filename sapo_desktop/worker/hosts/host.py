"""A host: the process in which one service (examiner, engine) works for the worker.

`python -m sapo_desktop.worker.hosts.host KIND --parent PID` speaks frames over its original standard input and output.
Before anything heavy is imported these are moved, so that libraries print to standard error, the log. Requests are
handled one by one on the main thread (signals and timers only work there); a second thread reads frames and passes
cancellations on. The process ends with its parent: at the end of its input, and by the kernel if possible
(system/processes.py). `--service MODULE:FUNCTION` instead of KIND runs a service that is not in the table of
worker/hosts/protocol.py.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import platform
import queue
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from sapo_desktop import __version__
from sapo_desktop.core.errors import HostError
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.link.frames import FrameError, FrameWriter, next_frame
from sapo_desktop.core.link.handlers import failure
from sapo_desktop.core.link.requests import Call, Note, Reply, ToServer, encode, packed
from sapo_desktop.core.link.service import Progress, Service
from sapo_desktop.system import processes
from sapo_desktop.system.confinement import confine
from sapo_desktop.worker.hosts.protocol import KINDS, HostKind, Ready, decoder, find, kind_of_service


class Pipes(NamedTuple):
    read: BinaryIO
    write: BinaryIO


def take_pipes() -> Pipes:
    """Reserve standard input and output for frames; prints then go to standard error, and reads find nothing."""
    frames_in, frames_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Pipes(os.fdopen(frames_in, "rb"), os.fdopen(frames_out, "wb"))


class Desk:
    """Passes requests and cancellations from the reader thread to the main thread."""

    def __init__(self, cancelled: threading.Event) -> None:
        self._requests: queue.SimpleQueue[Call] = queue.SimpleQueue()
        self._cancelled = cancelled
        self._lock = threading.Lock()
        self._current = 0
        self._asides: dict[int, Call] = {}
        """The requests that were not started."""
        self._aside = 0
        """The one that is answered between two steps of the current request."""
        self._aside_cancelled = threading.Event()
        self._given_up: set[int] = set()

    def put(self, message: ToServer) -> None:
        with self._lock:
            if isinstance(message, Call):
                if message.aside:
                    self._asides[message.id] = message
                self._requests.put(message)
            elif message.id == self._current:
                self._cancelled.set()
            elif message.id == self._aside:
                self._aside_cancelled.set()
            elif message.id > self._current:
                self._given_up.add(message.id)

    def next(self) -> Call:
        """Wait for the next request and make it the current one; if it was already cancelled, it starts as
        cancelled."""
        while True:
            request = self._requests.get()
            with self._lock:
                if request.aside and self._asides.pop(request.id, None) is None:
                    continue  # it was answered during another one
                self._current = request.id
                self._begin(request, self._cancelled)
                return request

    def next_aside(self) -> Call | None:
        """A request that can be answered between two steps of the current one; None if there is none, or if the
        current one is cancelled and must end soon."""
        with self._lock:
            if not self._asides or self._cancelled.is_set():
                return None
            request = self._asides.pop(next(iter(self._asides)))
            self._aside = request.id
            self._begin(request, self._aside_cancelled)
            return request

    def aside_done(self) -> None:
        with self._lock:
            self._aside = 0

    def is_given_up(self) -> bool:
        """Whether the answer is no longer needed: it, or the request it interrupted, was cancelled."""
        return self._cancelled.is_set() or (self._aside != 0 and self._aside_cancelled.is_set())

    def _begin(self, request: Call, cancelled: threading.Event) -> None:
        cancelled.clear()
        if request.id in self._given_up:
            self._given_up.discard(request.id)
            cancelled.set()


def read_requests(stream: BinaryIO, desk: Desk) -> None:
    """Read frames until the parent ends or sends something else; then end this process at once."""
    frames: msgspec.msgpack.Decoder[ToServer] = msgspec.msgpack.Decoder(ToServer)
    code = 0
    try:
        while (payload := next_frame(stream)) is not None:
            desk.put(frames.decode(payload))
    except (FrameError, OSError, *UNREADABLE) as error:
        print(f"The worker sent an invalid frame, so this host ends: {error}", file=sys.stderr)
        code = 1
    finally:
        # Not sys.exit: the main thread may be in a computation of minutes that nobody waits for any more.
        _end(code)


def serve(kind: HostKind, service: Service[object], desk: Desk, writer: FrameWriter) -> None:
    """Answer requests, one after the other, until the process ends."""
    requests = decoder(kind.request)

    def answer(call: Call, handle: Callable[[object, Progress], object]) -> None:
        try:
            reply = handle(requests.decode(call.body), _progress(call.id, writer))
            writer.write(encode(Reply(id=call.id, body=packed(reply))))
        except BrokenPipeError:
            _end(0)
        except Exception as error:  # noqa: BLE001 - the edge of the process: each error becomes a reply
            writer.write(encode(failure(call.id, error, HostError)))

    def between() -> None:
        while (call := desk.next_aside()) is not None:
            try:
                answer(call, lambda body, progress: service.handle_aside(body, progress, desk.is_given_up))
            finally:
                desk.aside_done()

    service.between = between
    while True:
        answer(desk.next(), service.handle)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one host until its parent ends."""
    pipes = take_pipes()
    faulthandler.enable(sys.stderr)
    options = _parse(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker handles Ctrl-C
    processes.die_with_parent(options.parent)
    processes.give_memory_first()
    writer = FrameWriter(pipes.write)
    kind = kind_of_service(options.service) if options.service else KINDS[options.kind]
    try:
        service: Service[object] = find(kind.create)()
        desk = Desk(service.cancelled)
        # After the libraries are loaded, so that Python may cache their bytecode, and before any request.
        confined = None
        if not kind.network:
            confined = confine(options.writes, options.reads, permissions=kind.permissions, card=options.card)
    except Exception as error:  # the worker gets the reason
        writer.write(encode(failure(0, error, HostError)))
        raise SystemExit(1) from error
    threading.Thread(target=read_requests, args=(pipes.read, desk), daemon=True).start()
    versions = {"python": platform.python_version(), "sapo-desktop": __version__}
    ready = Ready(kind=kind.name, pid=os.getpid(), versions=versions | service.versions, confined=confined)
    writer.write(encode(Reply(id=0, body=packed(ready))))
    serve(kind, service, desk, writer)


def _progress(call: int, writer: FrameWriter) -> Progress:
    def progress(message: msgspec.Struct) -> None:
        writer.write(encode(Note(id=call, body=packed(message))))

    return progress


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sapo_desktop.worker.hosts.host", description=__doc__)
    parser.add_argument("kind", nargs="?", choices=sorted(KINDS))
    parser.add_argument("--service", metavar="MODULE:FUNCTION")
    parser.add_argument("--parent", type=int, required=True, metavar="PID")
    parser.add_argument("--writes", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument("--reads", type=Path, action="append", default=[], metavar="PATH")
    parser.add_argument("--card", action="store_true")
    return parser.parse_args(arguments)


def _end(code: int) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
