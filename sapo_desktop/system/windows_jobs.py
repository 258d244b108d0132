"""Job objects: how Windows ends children with their parent in every case; and its efficiency mode.

One job for this process, created at first use, with KILL_ON_JOB_CLOSE: we hold its only handle, which the system closes
when we end. It can limit the total memory that its processes commit; further requests then fail. Written from
Microsoft's documentation; not run on Windows yet.
"""

from __future__ import annotations

import ctypes
import functools
import sys

_KILL_ON_JOB_CLOSE = 0x2000
_JOB_MEMORY = 0x0200
_EXTENDED_LIMIT_INFORMATION = 9
_POWER_THROTTLING = 4
_EXECUTION_SPEED = 0x1
_PROCESS_SET_INFORMATION = 0x0200
_PROCESS_SET_QUOTA = 0x0100
_PROCESS_TERMINATE = 0x0001


class _BasicLimits(ctypes.Structure):
    _fields_ = [
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    ]


class _ExtendedLimits(ctypes.Structure):
    _fields_ = [
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    ]


class _PowerThrottling(ctypes.Structure):
    _fields_ = [
        ("Version", ctypes.c_uint32),
        ("ControlMask", ctypes.c_uint32),
        ("StateMask", ctypes.c_uint32),
    ]


def _throttling(on: bool) -> _PowerThrottling:
    """Efficiency mode, or the system's choice."""
    mask = _EXECUTION_SPEED if on else 0
    return _PowerThrottling(1, mask, mask)


def _limits(most: int) -> _ExtendedLimits:
    """The job's limits, including `most` bytes of memory; 0: unlimited."""
    limits = _ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE | (_JOB_MEMORY if most else 0)
    limits.JobMemoryLimit = most
    return limits


if sys.platform == "win32":

    def bound_memory(most: int) -> None:
        """Limit the total memory that all tied processes commit; 0: unlimited.

        Raises:
            OSError: Windows refused (the reason is in the error).
        """
        _set(_job(), _limits(most))

    def save_power(pid: int, on: bool) -> None:
        """Run the process on the cores and at the speed that use least power, or leave the choice to the system.

        Raises:
            OSError: Windows refused, as older versions do (the reason is in the error).
        """
        kernel, state = _kernel(), _throttling(on)
        process = kernel.OpenProcess(_PROCESS_SET_INFORMATION, False, pid)
        if not process:
            raise ctypes.WinError(ctypes.get_last_error())
        try:
            size = ctypes.sizeof(state)
            if not kernel.SetProcessInformation(process, _POWER_THROTTLING, ctypes.byref(state), size):
                raise ctypes.WinError(ctypes.get_last_error())
        finally:
            kernel.CloseHandle(process)

    def tie(pid: int) -> None:
        """Put process `pid` into this process's job; its later children are included.

        Raises:
            OSError: Windows refused (the reason is in the error).
        """
        kernel = _kernel()
        process = kernel.OpenProcess(_PROCESS_SET_QUOTA | _PROCESS_TERMINATE, False, pid)
        if not process:
            raise ctypes.WinError(ctypes.get_last_error())
        try:
            if not kernel.AssignProcessToJobObject(_job(), process):
                raise ctypes.WinError(ctypes.get_last_error())
        finally:
            kernel.CloseHandle(process)

    @functools.cache
    def _kernel() -> ctypes.WinDLL:
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = ctypes.c_void_p
        kernel.OpenProcess.restype = handle
        kernel.OpenProcess.argtypes = [ctypes.c_uint32, ctypes.c_int, ctypes.c_uint32]
        kernel.CreateJobObjectW.restype = handle
        kernel.CreateJobObjectW.argtypes = [handle, ctypes.c_wchar_p]
        kernel.SetInformationJobObject.argtypes = [handle, ctypes.c_int, handle, ctypes.c_uint32]
        kernel.SetProcessInformation.argtypes = [handle, ctypes.c_int, handle, ctypes.c_uint32]
        kernel.AssignProcessToJobObject.argtypes = [handle, handle]
        kernel.CloseHandle.argtypes = [handle]
        return kernel

    @functools.cache
    def _job() -> int:
        kernel = _kernel()
        job: int | None = kernel.CreateJobObjectW(None, None)
        if not job:
            raise ctypes.WinError(ctypes.get_last_error())
        _set(job, _limits(0))
        return job

    def _set(job: int, limits: _ExtendedLimits) -> None:
        size = ctypes.sizeof(limits)
        if not _kernel().SetInformationJobObject(job, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), size):
            raise ctypes.WinError(ctypes.get_last_error())
