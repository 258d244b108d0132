"""Restrictions on host processes at system level: no network, no files outside their folders, no other programs.

Strangers' texts and weights pass through the hosts. If one exploits a bug in a library there, it is still in a process
that can reach nobody, learns nothing about the user and leaves nothing behind. A process applies this to itself while
it has one thread, because Landlock applies to the calling thread and its later children. It cannot be removed.

- Linux: files by Landlock (5.13 or newer), which also prevents inspecting other programs and, from 6.12 on,
  signalling them; the network, programs, signals, emptying files and known ways around by a seccomp filter on x86-64
  and ARM.
- macOS: a sandbox profile, which does not restrict reading. Written from the documentation, never run.
- Windows: nothing here; a job object forbids none of this.

Still readable: the program, Python and its libraries, the system's libraries (`SYSTEM`), what the kernel says about
this process and the computer, and the arguments of `confine`: a model, checkpoints, a cache.

Computing on a graphics card needs more, without which NVIDIA's driver fails (error 304): its devices, naming its
threads, and a local listening socket. None of this reaches anybody, because connecting and accepting are forbidden.

Not covered: names, sizes and dates of files, and, in processes that write exports, the permissions of the user's files.
The active restrictions are reported, and `doctor` shows them.
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
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_REMOVING_AND_MAKING = sum(1 << bit for bit in range(4, 13))
_RENAMING_ACROSS = 1 << 13
_BIND_AND_CONNECT = 1 << 0 | 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2

# -- seccomp: linux/seccomp.h, linux/bpf_common.h ---------------------------------------------------------------
_LOAD_WORD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_CALL_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Their offsets in a filter's input."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_X32_CALLS = 0x40000000
"""From here on, x86-64 has the same calls again under other numbers."""
_EMPTIED, _READ_OR_WRITE = 0o1000, 0o3
_SET_OWNER, _SET_OWNER_OF_KIND = 8, 15
"""Set the receiver of a file's signals."""
_LOCAL, _STREAM, _PACKETS, _KINDS_OF_SOCKET = 1, 1, 5, 0xF
"""Local sockets that reach nobody until they are connected; datagrams would."""


SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store", "/etc/ld.so.cache", "/etc/localtime"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys", "/sys"),
)
"""What every program may read and no user wrote, if it exists."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_OF_CARDS = ("/proc/driver", "/proc/devices", "/proc/modules", "/proc/filesystems", "/etc/nvidia")
"""What NVIDIA's driver may also read. Never tried on a card."""


class Calls(NamedTuple):
    """Numbers of the system calls on one processor."""

    architecture: int
    socket: int
    connecting: list[int]
    """Calls that connect a socket to another process: connect, accept, accept4."""
    around: list[int]
    """Ways to make another process, or the system, do what is forbidden."""
    programs: list[int]
    """Calls that start another program."""
    signals: list[int]
    """Calls that signal any process."""
    permissions: list[int]
    """Calls that change a file's permissions or owner."""
    opens: dict[int, int]
    """Calls that open a file -> the index of their flags."""
    tgkill: int
    fcntl: int
    prlimit: int


CALLS = {
    "x86_64": Calls(
        0xC000003E,
        socket=41,
        connecting=[42, 43, 288],
        # ptrace, process_vm_writev, truncate, io_uring_setup, openat2 (its flags are not visible), pidfd_getfd
        around=[101, 311, 76, 425, 437, 438],
        programs=[59, 322],  # execve, execveat
        signals=[62, 129, 200, 297, 424],  # kill, rt_sigqueueinfo, tkill, rt_tgsigqueueinfo, pidfd_send_signal
        # chmod and chown and variants, setxattr and removexattr and variants
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


def confine(
    writes: Sequence[Path], reads: Sequence[Path] = (), *, permissions: bool = False, card: bool = False
) -> Confined:
    """Forbid this process, permanently, the network, programs, and files outside `writes` (existing folders),
    `reads` (as far as they exist) and what every program needs. `permissions`: it may change those of files. `card`:
    allow what a graphics card's driver needs."""
    if _PLATFORM == "darwin":
        return _in_sandbox(writes)
    if _PLATFORM != "linux":
        return _not_held(f"not on {_PLATFORM}")
    if (threads := len([*Path("/proc/self/task").iterdir()])) > 1:
        return _not_held(f"{threads} threads run already")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return _not_held(_refused())
    version = landlock_version(libc)
    files = _keep_to(libc, writes, [*reads, *_program()], version, card)
    filtered = _filter_calls(libc, permissions, card)
    return Confined(
        network=filtered,
        reading=files,
        writing=files if version >= 3 or filtered == HELD else filtered,
        programs=filtered,
        signals=files if version >= 6 else filtered,
    )


def _program() -> list[Path]:
    """The folders of this program, its Python and its libraries."""
    return [Path(place) for place in (sys.prefix, sys.base_prefix, *sys.path) if place]


def landlock_version(libc: ctypes.CDLL) -> int:
    """2 does not cover emptying files, 5 no signals; below 1 there is none."""
    return int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)))


def _keep_to(libc: ctypes.CDLL, writes: Sequence[Path], reads: Sequence[Path], version: int, card: bool) -> str:
    """Apply Landlock to this process; returns the result for `doctor`."""
    if version < 1:
        return _refused()
    reading = _READ_FILE | _READ_FOLDER
    writing = _WRITE_FILE | _REMOVING_AND_MAKING
    writing |= _RENAMING_ACROSS if version >= 2 else 0
    writing |= _TRUNCATE if version >= 3 else 0
    network = _BIND_AND_CONNECT if version >= 4 else 0
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if version >= 6 else 0
    # Older systems know a shorter structure, and accept a longer one if the rest is zero.
    wanted = struct.pack("QQQ", _EXECUTE | reading | writing, network, scoped)
    rules = libc.syscall(_CREATE_RULESET, wanted, ctypes.c_size_t(len(wanted)), ctypes.c_uint32(0))
    if rules < 0:
        return _refused()
    try:
        both = reading | writing & (_WRITE_FILE | _TRUNCATE)
        # Thread names, for a card: only of this process.
        devices = [Path(device) for device in (("/dev", "/proc/self/task") if card else _DEVICES)]
        system = [Path(place) for place in (*SYSTEM, *(_OF_CARDS if card else ()))]
        for places, allowed in ((writes, reading | writing), (devices, both), ([*reads, *system], reading)):
            if not all(_allow(libc, rules, place, allowed) for place in places if place.exists()):
                return _refused()
        return HELD if libc.syscall(_RESTRICT_SELF, rules, ctypes.c_uint32(0)) == 0 else _refused()
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, place: Path, allowed: int) -> bool:
    """Allow that at a path and below it; False if the system refuses."""
    of_files = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
    found = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", allowed if place.is_dir() else allowed & of_files, found)
        return int(libc.syscall(_ADD_RULE, rules, _BENEATH_PATH, rule, ctypes.c_uint32(0))) == 0
    finally:
        os.close(found)


def _filter_calls(libc: ctypes.CDLL, permissions: bool, card: bool) -> str:
    """Apply a seccomp filter to this process; returns the result for `doctor`."""
    calls = CALLS.get(platform.machine())
    if calls is None:
        return f"not on {platform.machine()}"
    steps = filter_of(calls, own=os.getpid(), permissions=permissions, card=card)
    code = ctypes.create_string_buffer(b"".join(steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    return HELD if libc.prctl(_SET_SECCOMP, _FILTER, program, 0, 0) == 0 else _refused()


def filter_of(calls: Calls, *, own: int, permissions: bool = False, card: bool = False) -> list[bytes]:
    """The filter's instructions: these calls, and all of another architecture, are refused; others are allowed.
    `own`: id of the process. `permissions`, `card`: as in `confine`."""
    steps = [
        _step(_LOAD_WORD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, calls.architecture, when=1),
        _step(_RETURN, _REFUSE),
        _step(_LOAD_WORD, _CALL_NUMBER),
        _step(_JUMP_AT_LEAST, _X32_CALLS, when_not=1),
        _step(_RETURN, _REFUSE),
    ]
    refused = calls.around + calls.programs + calls.signals + (calls.connecting if card else [calls.socket])
    for call in refused + ([] if permissions else calls.permissions):
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
        # Landlock 2 only checks reading and writing, and mode 3 means neither.
        emptied = [_EMPTIED, _EMPTIED | _READ_OR_WRITE]
        steps += _by_argument(call, flags, emptied, _REFUSE, _ALLOW, mask=_EMPTIED | _READ_OR_WRITE)
    steps += _by_argument(calls.prlimit, 0, [0, own], _ALLOW, _REFUSE)  # they could end other processes
    steps += _by_argument(calls.tgkill, 0, [own], _ALLOW, _REFUSE)
    steps += _by_argument(calls.fcntl, 1, [_SET_OWNER, _SET_OWNER_OF_KIND], _REFUSE, _ALLOW)
    return [*steps, _step(_RETURN, _ALLOW)]


def _by_argument(
    call: int, place: int, values: Sequence[int], these: int, others: int, *, mask: int = 0xFFFFFFFF
) -> list[bytes]:
    """The result of a call if its argument at that index is one of these, and otherwise."""
    return [
        _step(_JUMP_EQUAL, call, when_not=len(values) + 4),
        _step(_LOAD_WORD, _ARGUMENTS + 8 * place),
        _step(_AND, mask),
        *(_step(_JUMP_EQUAL, value, when=len(values) - at) for at, value in enumerate(values)),
        _step(_RETURN, others),
        _step(_RETURN, these),
    ]


def _step(code: int, value: int, *, when: int = 0, when_not: int = 0) -> bytes:
    """One instruction, with the numbers of instructions to skip if its comparison is true or false."""
    return struct.pack("HBBI", code, when, when_not, value)


def _in_sandbox(writes: Sequence[Path]) -> Confined:
    """macOS: apply a sandbox profile to this process. Never run."""
    library = ctypes.CDLL("/usr/lib/libSystem.dylib", use_errno=True)
    said = ctypes.c_char_p()
    if library.sandbox_init(profile_of(writes).encode(), ctypes.c_uint64(0), ctypes.byref(said)):
        return _not_held(f"refused by the system: {(said.value or b'no reason given').decode(errors='replace')}")
    other = f"not on {_PLATFORM}"
    return Confined(network=HELD, reading=other, writing=HELD, programs=HELD, signals=other)


def profile_of(writes: Sequence[Path]) -> str:
    """The same restrictions in the language of macOS's sandbox."""
    quoted = (str(folder.resolve()).replace("\\", "\\\\").replace('"', '\\"') for folder in (*writes, Path("/dev")))
    places = " ".join(f'(subpath "{folder}")' for folder in quoted)
    lines = ["(version 1)", "(allow default)", "(deny network*)", "(deny file-write*)", f"(allow file-write* {places})"]
    return "\n".join([*lines, "(deny process-exec)"])


def _not_held(why: str) -> Confined:
    return Confined(network=why, reading=why, writing=why, programs=why, signals=why)


def _refused() -> str:
    return f"refused by the system: {os.strerror(ctypes.get_errno())}"
