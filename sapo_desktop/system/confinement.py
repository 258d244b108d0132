"""What a host may no longer do, forbidden below Python: the network, writing outside its folders, ending programs.

Texts and weights of strangers pass through the hosts. Should one of them find a hole in a library there, it is still
in a process that can reach nobody and leave nothing behind. The process lays this on itself while it has one thread,
for Landlock holds for the thread that lays it on and all that come after: it cannot be taken off, and everything that
the process starts inherits it.

- Linux: writing by Landlock (5.13 or newer), which also keeps it from tracing other programs and, from 6.12 on, from
  signalling them; the network, emptying files and other ways around by a seccomp filter on x86-64 and ARM. Who starts
  no programs ends none by that filter either, on older systems too, and gives no file other permissions.
- macOS: a sandbox profile. Written from the documentation, never run.
- Windows: nothing here; a job object forbids neither.

Who computes on a graphics card needs two more things, without which NVIDIA's driver does not begin (error 304): to name
its threads, and a local socket to which it listens. Nobody is reached by it: connecting and accepting are forbidden.

Not covered: reading the user's files, and their permissions where programs are needed. What holds is reported, and
`doctor` shows it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Sequence
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
_LOAD_WORD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_CALL_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where they stand in what a filter is shown."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_X32_CALLS = 0x40000000
"""From here on x86-64 has the same calls once more, under other numbers."""
_EMPTIED, _READ_OR_WRITE = 0o1000, 0o3
_SET_OWNER, _SET_OWNER_OF_KIND = 8, 15
"""Of a file: whom its signals go to."""
_LOCAL, _STREAM, _PACKETS, _KINDS_OF_SOCKET = 1, 1, 5, 0xF
"""Sockets within this computer that reach nobody before they are connected; datagrams do."""


class Calls(NamedTuple):
    """Numbers of the system's calls on one processor."""

    architecture: int
    socket: int
    connecting: list[int]
    """What brings a socket and another process together: connect, accept, accept4."""
    around: list[int]
    """The ways to have another process, or the system, do what is forbidden."""
    programs: list[int]
    """What starts another program."""
    signals: list[int]
    """What signals one, whoever it is."""
    permissions: list[int]
    """What changes those of a file, or its owner."""
    opens: dict[int, int]
    """What opens a file, and which of its arguments are the flags."""
    tgkill: int
    fcntl: int
    prlimit: int


CALLS = {
    "x86_64": Calls(
        0xC000003E,
        socket=41,
        connecting=[42, 43, 288],
        # ptrace, process_vm_writev, truncate, io_uring_setup, openat2 (its flags are not shown), pidfd_getfd
        around=[101, 311, 76, 425, 437, 438],
        programs=[59, 322],  # execve, execveat
        signals=[62, 129, 200, 297, 424],  # kill, rt_sigqueueinfo, tkill, rt_tgsigqueueinfo, pidfd_send_signal
        # chmod and chown with their kin, setxattr and removexattr with theirs
        permissions=[90, 91, 92, 93, 94, 188, 189, 190, 197, 198, 199, 260, 268, 452, 463, 466],
        opens={2: 1, 257: 2},
        tgkill=234,
        fcntl=72,
        prlimit=302,
    ),
    "aarch64": Calls(
        0xC00000B7,
        socket=198,
        connecting=[203, 202, 242],
        around=[117, 271, 45, 425, 437, 438],
        programs=[221, 281],
        signals=[129, 138, 130, 240, 424],
        permissions=[5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 452, 463, 466],
        opens={56: 2},
        tgkill=131,
        fcntl=25,
        prlimit=261,
    ),
}


def confine(writes: Sequence[Path], *, programs: bool, card: bool = False) -> Confined:
    """Forbid this process, for the rest of its life, the network and writing elsewhere than in `writes` (existing
    folders) and to devices; and, unless it needs `programs`, starting any, ending any and changing permissions.
    `card`: what a graphics card's driver needs stays allowed."""
    if _PLATFORM == "darwin":
        return _in_sandbox(writes, programs)
    if _PLATFORM != "linux":
        return _not_held(f"not on {_PLATFORM}")
    if (threads := len([*Path("/proc/self/task").iterdir()])) > 1:
        return _not_held(f"{threads} threads run already")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return _not_held(_refused())
    version = landlock_version(libc)
    writing = _keep_to(libc, writes, version, card)
    filtered = _filter_calls(libc, programs, card)
    other = "programs are needed, and this Linux is older than 6.12" if programs else filtered
    return Confined(
        network=filtered,
        writing=writing if version >= 3 or filtered == HELD else filtered,
        programs="needed" if programs else filtered,
        signals=writing if version >= 6 else other,
    )


def landlock_version(libc: ctypes.CDLL) -> int:
    """2 does not cover emptying files, 5 no signals; below 1 there is none."""
    return int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)))


def _keep_to(libc: ctypes.CDLL, writes: Sequence[Path], version: int, card: bool) -> str:
    """Lay Landlock on this process; says what became of it."""
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
        files = handled & (_WRITE_FILE | _TRUNCATE)
        there = [Path("/dev"), *([Path("/proc/self/task")] if card else [])]  # names of threads: this process's alone
        for folder, allowed in [*((folder, handled) for folder in writes), *((folder, files) for folder in there)]:
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


def _filter_calls(libc: ctypes.CDLL, programs: bool, card: bool) -> str:
    """Lay a seccomp filter on this process; says what became of it."""
    calls = CALLS.get(platform.machine())
    if calls is None:
        return f"not on {platform.machine()}"
    steps = filter_of(calls, programs=programs, own=os.getpid(), card=card)
    code = ctypes.create_string_buffer(b"".join(steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    return HELD if libc.prctl(_SET_SECCOMP, _FILTER, program, 0, 0) == 0 else _refused()


def filter_of(calls: Calls, *, programs: bool, own: int, card: bool = False) -> list[bytes]:
    """The filter's steps: these calls, and all of another architecture, are not permitted; the others are. `own`: id
    of the process; `card`: as of `confine`."""
    steps = [
        _step(_LOAD_WORD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, calls.architecture, when=1),
        _step(_RETURN, _REFUSE),
        _step(_LOAD_WORD, _CALL_NUMBER),
        _step(_JUMP_AT_LEAST, _X32_CALLS, when_not=1),
        _step(_RETURN, _REFUSE),
    ]
    refused = calls.around + (calls.connecting if card else [calls.socket])
    for call in refused + ([] if programs else calls.programs + calls.signals + calls.permissions):
        steps += [_step(_JUMP_EQUAL, call, when_not=1), _step(_RETURN, _REFUSE)]
    if card:
        steps += [
            _step(_JUMP_EQUAL, calls.socket, when_not=4),
            _step(_LOAD_WORD, _ARGUMENTS),
            _step(_JUMP_EQUAL, _LOCAL, when=1),
            _step(_RETURN, _REFUSE),
            _step(_LOAD_WORD, _CALL_NUMBER),
            *_by_argument(calls.socket, 1, [_STREAM, _PACKETS], _ALLOW, _REFUSE, mask=_KINDS_OF_SOCKET),
        ]
    for call, flags in calls.opens.items():
        # Landlock 2 looks at what is to be read or written alone, and 3 stands for neither.
        emptied = [_EMPTIED, _EMPTIED | _READ_OR_WRITE]
        steps += _by_argument(call, flags, emptied, _REFUSE, _ALLOW, mask=_EMPTIED | _READ_OR_WRITE)
    steps += _by_argument(calls.prlimit, 0, [0, own], _ALLOW, _REFUSE)  # the limits of others end them, too
    if not programs:
        steps += _by_argument(calls.tgkill, 0, [own], _ALLOW, _REFUSE)
        steps += _by_argument(calls.fcntl, 1, [_SET_OWNER, _SET_OWNER_OF_KIND], _REFUSE, _ALLOW)
    return [*steps, _step(_RETURN, _ALLOW)]


def _by_argument(
    call: int, place: int, values: Sequence[int], these: int, others: int, *, mask: int = 0xFFFFFFFF
) -> list[bytes]:
    """What becomes of a call whose argument at that place is one of these, and with others."""
    return [
        _step(_JUMP_EQUAL, call, when_not=len(values) + 4),
        _step(_LOAD_WORD, _ARGUMENTS + 8 * place),
        _step(_AND, mask),
        *(_step(_JUMP_EQUAL, value, when=len(values) - at) for at, value in enumerate(values)),
        _step(_RETURN, others),
        _step(_RETURN, these),
    ]


def _step(code: int, value: int, *, when: int = 0, when_not: int = 0) -> bytes:
    """One instruction; so many are skipped where its comparison holds, or not."""
    return struct.pack("HBBI", code, when, when_not, value)


def _in_sandbox(writes: Sequence[Path], programs: bool) -> Confined:
    """macOS: lay a sandbox profile on this process. Never run."""
    library = ctypes.CDLL("/usr/lib/libSystem.dylib", use_errno=True)
    said = ctypes.c_char_p()
    if library.sandbox_init(profile_of(writes, programs).encode(), ctypes.c_uint64(0), ctypes.byref(said)):
        return _not_held(f"refused by the system: {(said.value or b'no reason given').decode(errors='replace')}")
    needed = "needed" if programs else HELD
    return Confined(network=HELD, writing=HELD, programs=needed, signals=f"not on {_PLATFORM}")


def profile_of(writes: Sequence[Path], programs: bool) -> str:
    """The same in the language of macOS's sandbox."""
    quoted = (str(folder.resolve()).replace("\\", "\\\\").replace('"', '\\"') for folder in (*writes, Path("/dev")))
    places = " ".join(f'(subpath "{folder}")' for folder in quoted)
    lines = ["(version 1)", "(allow default)", "(deny network*)", "(deny file-write*)", f"(allow file-write* {places})"]
    return "\n".join([*lines, *([] if programs else ["(deny process-exec)"])])


def _not_held(why: str) -> Confined:
    return Confined(network=why, writing=why, programs=why, signals=why)


def _refused() -> str:
    return f"refused by the system: {os.strerror(ctypes.get_errno())}"
