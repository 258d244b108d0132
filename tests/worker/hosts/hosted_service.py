"""A tiny service for the tests of hosts: echoes, waits, prints, breaks in every way a real one could."""

import os
import signal
import threading
from collections.abc import Callable

import msgspec

from sapo_desktop.core.errors import HostCancelled, ModelError
from sapo_desktop.core.link import service
from sapo_desktop.core.link.frames import pack
from sapo_desktop.core.link.requests import Request
from sapo_desktop.core.sentences import sentence


class Said(msgspec.Struct, frozen=True, tag=True):
    text: str


class Values(msgspec.Struct, frozen=True, tag=True):
    values: dict[str, str]


class Step(msgspec.Struct, frozen=True, tag=True):
    number: int


class Say(Request[Said], frozen=True):
    text: str


class Work(Request[Said], frozen=True):
    """Report progress, then wait until cancelled; a deaf service never looks."""

    deaf: bool = False


class Break(Request[Said], frozen=True):
    how: str


class Environment(Request[Values], frozen=True):
    names: list[str]


REQUEST = Say | Work | Break | Environment
PROGRESS = Step


class Service(service.Service[REQUEST]):
    def __init__(self) -> None:
        super().__init__()
        self.versions["tiny"] = "1"

    def handle(self, request: REQUEST, progress: service.Progress) -> Said | Values:
        match request:
            case Say(text=text):
                return Said(text)
            case Work(deaf=deaf):
                progress(Step(1))
                if deaf:
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    threading.Event().wait()
                while not self.cancelled.wait(0.01):
                    self.between()
                raise HostCancelled("Cancelled as asked.")
            case Environment(names=names):
                return Values({name: os.environ.get(name, "") for name in names} | {"nice": str(os.nice(0))})
            case Break(how=how):
                return broken(how)

    def handle_aside(
        self, request: REQUEST, progress: service.Progress, should_stop: Callable[[], bool]
    ) -> Said | Values:
        if isinstance(request, Work):
            progress(Step(2))
            while not should_stop():
                self.cancelled.wait(0.01)
            raise HostCancelled("Given up.")
        return self.handle(request, progress)


def broken(how: str) -> Said:
    match how:
        case "print":
            print("printed by Python")
            os.write(1, b"printed by a library\n")
        case "explained":
            raise ModelError(sentence("The model {name} is missing; download it.", name="little"))
        case "bug":
            raise ZeroDivisionError("one over nothing")
        case "memory":
            raise MemoryError
        case "exit":
            print("last words")
            os._exit(7)
        case "huge":
            return Said("x" * (64 * 1024 * 1024 + 1))
        case "garbage":
            # What a library that kept its own copy of the old standard output would do.
            os.write(frames_descriptor(), b"\xff\xff\xff\xff not a frame")
            threading.Event().wait()
        case "no text":
            os.write(frames_descriptor(), pack(b"\x81\xa4\xff\xff\xff\xff\x01"))
            threading.Event().wait()
        case "wrong type":
            return Say("not a reply")  # type: ignore[return-value]
    return Said("done")


def frames_descriptor() -> int:
    """The descriptor of the host's frames: the only pipe above 2 that it can write to."""
    import fcntl
    import stat

    for descriptor in range(3, 20):
        try:
            mode = os.fstat(descriptor).st_mode
            writable = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
        except OSError:
            continue
        if stat.S_ISFIFO(mode) and writable:
            return descriptor
    raise AssertionError("no pipe for frames")


def create() -> Service:
    print("the service starts")
    return Service()


def create_broken() -> Service:
    raise ModelError("This service cannot start.")
