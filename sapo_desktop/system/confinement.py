"""What a host may no longer do, forbidden below Python: the network, and writing outside the folders it works in.

Texts and weights of strangers pass through the hosts. Should one of them find a hole in a library there, it is still
in a process that can reach nobody and leave nothing behind. The process lays this on itself while it has one thread,
for Landlock holds for the thread that lays it on and all that come after: it cannot be taken off, and everything that
the process starts inherits it.

- Linux: writing by Landlock (5.13 or newer), which also keeps it from tracing other programs and, on newer
  systems, from signalling them; the network and other ways around by a seccomp filter on x86-64 and ARM.
- macOS: a sandbox profile. Written from the documentation, never run.
- Windows: nothing here; a job object forbids neither.

Not covered: reading the user's files. What holds is reported, and `doctor` shows it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from sapo_desktop.core.records import Confined

HELD = "held"
_PLATFORM: str = sys.platform

# -- Landlock: linux/landlock.h; its calls have the same numbers on every processor ------------------------------
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_BENEATH_PATH = 1
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVING_AND_MAKING = sum(1 << bit for bit in range(4, 13))
_RENAMING_ACROSS = 1 << 13
_BIND_AND_CONNECT = 1 << 0 | 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2

# -- seccomp: linux/seccomp.h, linux/bpf_common.h ---------------------------------------------------------------
_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_CALL_NUMBER, _ARCHITECTURE = 0, 4
"""Where they stand in what a filter is shown."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_X32_CALLS = 0x40000000
"""From here on x86-64 has the same calls once more, under other numbers."""


class Calls(NamedTuple):
    """Numbers of the system's calls on one processor."""

    architecture: int
    socket: int
    ptrace: int
    process_vm_writev: int
    execve: int
    execveat: int
    io_uring_setup: int = 425
    pidfd_getfd: int = 438

    @property
    def around(self) -> list[int]:
        """Sockets, and the ways to have another process, or the system, do what is forbidden."""
        return [self.socket, self.ptrace, self.process_vm_writev, self.io_uring_setup, self.pidfd_getfd]

    @property
    def programs(self) -> list[int]:
        """What starts another program."""
        return [self.execve, self.execveat]


CALLS = {
    "x86_64": Calls(0xC000003E, socket=41, ptrace=101, process_vm_writev=311, execve=59, execveat=322),
    "aarch64": Calls(0xC00000B7, socket=198, ptrace=117, process_vm_writev=271, execve=221, execveat=281),
}


def confine(writes: Sequence[Path], *, programs: bool) -> Confined:
    """Forbid this process, for the rest of its life, the network and writing elsewhere than in `writes` (existing
    folders) and to devices; and, unless it needs `programs`, starting any."""
    if _PLATFORM == "darwin":
        return _in_sandbox(writes, programs)
    if _PLATFORM != "linux":
        why = f"not on {_PLATFORM}"
        return Confined(network=why, writing=why, programs=why)
    if (threads := len([*Path("/proc/self/task").iterdir()])) > 1:
        why = f"{threads} threads run already"
        return Confined(network=why, writing=why, programs=why)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        why = _refused()
        return Confined(network=why, writing=why, programs=why)
    writing = _keep_to(libc, writes)
    network = _filter_calls(libc, programs)
    return Confined(network=network, writing=writing, programs="needed" if programs else network)


def _keep_to(libc: ctypes.CDLL, writes: Sequence[Path]) -> str:
    """Lay Landlock on this process; says what became of it."""
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    if version < 1:
        return _refused()
    handled = _WRITE_FILE | _REMOVING_AND_MAKING
    handled |= _RENAMING_ACROSS if version >= 2 else 0
    handled |= _TRUNCATE if version >= 3 else 0
    network = _BIND_AND_CONNECT if version >= 4 else 0
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if version >= 6 else 0
    # Older systems know a shorter one, and take a longer one whose rest is zero for it.
    wanted = struct.pack("QQQ", handled, network, scoped)
    rules = libc.syscall(_CREATE_RULESET, wanted, ctypes.c_size_t(len(wanted)), ctypes.c_uint32(0))
    if rules < 0:
        return _refused()
    try:
        devices = [(Path("/dev"), handled & (_WRITE_FILE | _TRUNCATE))]
        for folder, allowed in [*((folder, handled) for folder in writes), *devices]:
            place = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = struct.pack("=Qi", allowed, place)
                if libc.syscall(_ADD_RULE, rules, _BENEATH_PATH, rule, ctypes.c_uint32(0)):
                    return _refused()
            finally:
                os.close(place)
        return HELD if libc.syscall(_RESTRICT_SELF, rules, ctypes.c_uint32(0)) == 0 else _refused()
    finally:
        os.close(rules)


def _filter_calls(libc: ctypes.CDLL, programs: bool) -> str:
    """Lay a seccomp filter on this process; says what became of it."""
    calls = CALLS.get(platform.machine())
    if calls is None:
        return f"not on {platform.machine()}"
    steps = filter_of(calls, calls.around + ([] if programs else calls.programs))
    code = ctypes.create_string_buffer(b"".join(steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    return HELD if libc.prctl(_SET_SECCOMP, _FILTER, program, 0, 0) == 0 else _refused()


def filter_of(calls: Calls, refused: Iterable[int]) -> list[bytes]:
    """The filter's steps: these calls, and all of another architecture, are not permitted; the others are."""
    refused = list(refused)
    refuse = len(refused) + 1
    """Steps from after the last comparison but one to the refusal."""
    head = [
        _step(_LOAD_WORD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, calls.architecture, when_not=refuse + 2),
        _step(_LOAD_WORD, _CALL_NUMBER),
        _step(_JUMP_AT_LEAST, _X32_CALLS, when=refuse),
    ]
    compared = [_step(_JUMP_EQUAL, call, when=refuse - at - 1) for at, call in enumerate(refused)]
    return [*head, *compared, _step(_RETURN, _ALLOW), _step(_RETURN, _REFUSE)]


def _step(code: int, value: int, *, when: int = 0, when_not: int = 0) -> bytes:
    """One instruction; so many are skipped where its comparison holds, or not."""
    return struct.pack("HBBI", code, when, when_not, value)


def _in_sandbox(writes: Sequence[Path], programs: bool) -> Confined:
    """macOS: lay a sandbox profile on this process. Never run."""
    library = ctypes.CDLL("/usr/lib/libSystem.dylib", use_errno=True)
    said = ctypes.c_char_p()
    if library.sandbox_init(profile_of(writes, programs).encode(), ctypes.c_uint64(0), ctypes.byref(said)):
        why = f"refused by the system: {(said.value or b'no reason given').decode(errors='replace')}"
        return Confined(network=why, writing=why, programs=why)
    return Confined(network=HELD, writing=HELD, programs="needed" if programs else HELD)


def profile_of(writes: Sequence[Path], programs: bool) -> str:
    """The same in the language of macOS's sandbox."""
    quoted = (str(folder.resolve()).replace("\\", "\\\\").replace('"', '\\"') for folder in (*writes, Path("/dev")))
    places = " ".join(f'(subpath "{folder}")' for folder in quoted)
    lines = ["(version 1)", "(allow default)", "(deny network*)", "(deny file-write*)", f"(allow file-write* {places})"]
    return "\n".join([*lines, *([] if programs else ["(deny process-exec)"])])


def _refused() -> str:
    return f"refused by the system: {os.strerror(ctypes.get_errno())}"
