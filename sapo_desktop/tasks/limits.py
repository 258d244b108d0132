"""The limits of the examiner's process, as far as the system can enforce them.

Answers are hostile; grammars are the first defence, and these limits the second. The process applies them to itself
once, after the libraries are loaded, and reports each, so that `doctor` shows which are active.

- time: CPU seconds per question and score by ITIMER_PROF, if the system has it. CPU time, so that a suspended or
  starved examiner gives the same scores. The parent's own time limit and kill are additional, and on Windows the
  only limit.
- memory: 512 MiB of address space (RLIMIT_AS).
- writing: RLIMIT_FSIZE 0 (64 MiB if the log is a plain file), few open files.
- other processes: RLIMIT_NPROC 0 (not for root).
- all of these and the network also by an audit hook, which stops Python code that does not attack the hook itself.

Before that, network, writing and starting programs are forbidden at system level (system/confinement.py). Not
covered: macOS does not enforce RLIMIT_AS; on Windows only the hook is active.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import msgspec

try:
    import resource as _resource
except ImportError:  # on Windows
    resource: Any = None
else:
    resource = _resource

MEMORY = 512 * 1024 * 1024
OPEN_FILES = 64
LOG_BYTES = 64 * 1024 * 1024
"""If the log is a plain file, no file may grow beyond this size."""
_AGAIN = 0.1
_PLATFORM: str = sys.platform
_FORBIDDEN = (
    *("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "subprocess.", "pty."),
    *("os.kill", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"),
    *("os.chmod", "os.chown", "shutil.", "ftplib.", "http.", "smtplib.", "urllib.", "webbrowser."),
    *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"),
)
"""Prefixes of Python's audit events for starting and ending programs, changing files, and the network."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Which limits are active in this process: `held`, or why not."""

    time: str
    memory: str
    writing: str
    processes: str
    hook: str


class TimeLimitReached(BaseException):
    """The CPU time for one question or score is used up. Not an Exception, because libraries swallow those."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitReached after so many CPU-seconds in the block, if the system can (main thread, POSIX)."""
    if not _has_timer():
        yield
        return
    reached = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal reached
        reached = True
        raise TimeLimitReached

    before = signal.signal(signal.SIGPROF, stop)
    # The timer keeps firing: a bare `except:` inside a library may swallow the first signal.
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    if reached:
        raise TimeLimitReached


def _has_timer() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def apply_limits() -> Limits:
    """Limit this process for the rest of its life."""
    sys.dont_write_bytecode = True
    writing = _writing_limit()
    if resource is not None:
        _lower(resource.RLIMIT_NOFILE, OPEN_FILES)
        _lower(resource.RLIMIT_CORE, 0)
    return Limits(
        time="held" if _has_timer() else "no CPU timer here; the parent's time limit holds",
        memory=_memory_limit(),
        writing=writing,
        processes=_process_limit(),
        hook=_add_hook(),
    )


def _memory_limit() -> str:
    if resource is None or _PLATFORM == "darwin":
        return f"not on {_PLATFORM}"
    return _lower(resource.RLIMIT_AS, MEMORY)


def _writing_limit() -> str:
    if resource is None:
        return f"not on {_PLATFORM}"
    # A log that is a plain file would be limited to 0 as well.
    for stream in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(stream).st_mode):
                said = _lower(resource.RLIMIT_FSIZE, LOG_BYTES)
                return (
                    f"Python's audit hook; files up to {LOG_BYTES >> 20} MiB, for the log" if said == "held" else said
                )
    return _lower(resource.RLIMIT_FSIZE, 0)


def _process_limit() -> str:
    if resource is None:
        return f"not on {_PLATFORM}"
    said = _lower(resource.RLIMIT_NPROC, 0)
    return said if os.geteuid() != 0 else "Python's audit hook alone, because the system does not limit root"


def _lower(which: int, value: int) -> str:
    _, most = resource.getrlimit(which)
    new = value if most == resource.RLIM_INFINITY else min(value, most)
    try:
        resource.setrlimit(which, (new, new))
    except (ValueError, OSError) as error:
        return f"refused by the system: {error}"
    return "held"


def _add_hook() -> str:
    sys.addaudithook(_refuse)
    return "held"


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        writes = isinstance(flags, int) and flags & _WRITING
        if writes or (isinstance(mode, str) and any(letter in mode for letter in "wax+")):
            raise PermissionError("The examiner may not write files.")
    elif event.startswith(_FORBIDDEN):
        raise PermissionError(f"The examiner may not do this: {event}.")
