"""Process handling that differs between platforms: groups, ending together, suspending, resuming, priority.

All hosts and workers are started with these options, so a whole tree can be suspended or ended by the id of its first
process. Run on Linux; the Windows and macOS branches are written from documentation. Nothing here starts a process or
waits for one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.system import installation

_PR_SET_PDEATHSIG = 1
KERNEL_COUNTERS = Path("/proc/vmstat")
"""Where Linux counts events since its start."""


def group_options() -> dict[str, Any]:
    """Options for subprocess: a separate group, so that Ctrl-C in a terminal only reaches the parent.

    On Linux also a separate session, because it may schedule by session (autogroup), and then a process can lower its
    priority without the rest of its family. On macOS the session stays the parent's: when that dies, POSIX wakes and
    ends the stopped members of the group. Linux has its own call for that (`die_with_parent`).
    """
    return {"process_group": 0} if sys.platform == "darwin" else session_options()


def session_options() -> dict[str, Any]:
    """Options for subprocess: a process that outlives its terminal."""
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    else:
        return {"start_new_session": True}


def python_command(module: str) -> list[str]:
    """The command for one of our modules. `-P`: a file in the current folder must not replace a library."""
    return [installation.interpreter(), "-P", "-m", module]


def python_environment(values: Mapping[str, str], inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """`inherited` with `values` on top, and a path to our package in spite of `-P`, and to the engine pack if there
    is one. A crash of the interpreter itself writes its stack to the log."""
    merged = {**inherited, "PYTHONUTF8": "1", "PYTHONFAULTHANDLER": "1", **values}
    before = merged.get("PYTHONPATH", "").split(os.pathsep)
    found = [str(installation.ROOT), str(installation.engine_pack() or ""), *before]
    merged["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, found)))
    return merged


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process when process `parent` ends; ends it now if that already happened.

    Linux only (the signal follows the thread that started us, so parents start children from their main thread). On
    macOS the end of the parent's pipe does this. Windows: see `tie_to_this_process`.
    """
    if sys.platform == "linux":
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"prctl(PR_SET_PDEATHSIG) failed: {os.strerror(code)}")
    # The parent may have died before the call above; then there is nobody to serve.
    if sys.platform != "win32" and os.getppid() != parent:
        raise SystemExit("The process that started this one has stopped.")


def give_memory_first() -> None:
    """Linux: make the kernel kill this process before the user's programs and before its parent if memory runs out,
    because it can be restarted. Its children inherit this."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a container may refuse
            Path("/proc/self/oom_score_adj").write_text("500")


def tie_to_this_process(pid: int) -> None:
    """Windows: kill child `pid` and its children when this process ends (elsewhere the child does it)."""
    if sys.platform == "win32":
        from sapo_desktop.system import windows_jobs

        windows_jobs.tie(pid)


def give_way(pid: int, low: bool) -> bool:
    """Lower the priority of process `pid` and its children below all other programs, or restore it; False if the system
    refuses. Does nothing if it has ended.

    Most systems let a program lower a priority but not raise it again.
    """
    import psutil

    try:
        first = psutil.Process(pid)
        family = [pid, *(child.pid for child in first.children(recursive=True))]
    except psutil.NoSuchProcess:
        return True
    for process in family:
        try:
            _set_priority(process, low)
        except PermissionError:
            return False
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue  # it ended meanwhile
    _set_session_priority(pid, low)
    _set_disk_priority(family, low)
    return True


def _set_disk_priority(family: Sequence[int], low: bool) -> None:
    """Lower the disk priority, too, if the system has one; a refusal does not matter."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        for pid in family:
            if sys.platform == "linux":
                psutil.Process(pid).ionice(psutil.IOPRIO_CLASS_IDLE if low else psutil.IOPRIO_CLASS_NONE)
            elif sys.platform == "win32":
                psutil.Process(pid).ionice(psutil.IOPRIO_VERYLOW if low else psutil.IOPRIO_NORMAL)


def _set_session_priority(pid: int, low: bool) -> None:
    """If Linux groups processes by session, a nice value counts only within its session. A session that our process
    leads may be lowered; the terminal's, with other programs in it, not."""
    # Refused in some containers, and for a tenth of a second after another change: then the nice value must suffice.
    with contextlib.suppress(OSError):
        if sys.platform == "linux" and os.getsid(pid) == pid:
            Path(f"/proc/{pid}/autogroup").write_text("19" if low else "0")


def _set_priority(pid: int, low: bool) -> None:
    if sys.platform == "win32":
        import psutil

        try:
            psutil.Process(pid).nice(psutil.IDLE_PRIORITY_CLASS if low else psutil.NORMAL_PRIORITY_CLASS)
        except psutil.AccessDenied as error:
            raise PermissionError(str(error)) from error
        from sapo_desktop.system import windows_jobs

        with contextlib.suppress(OSError):  # it only saves power; the class above sets the priority
            windows_jobs.save_power(pid, low)
        return
    # On Linux each thread has its own niceness; elsewhere the process has one.
    threads = Path(f"/proc/{pid}/task")
    try:
        numbers = [int(thread.name) for thread in threads.iterdir()] if sys.platform == "linux" else [pid]
    except FileNotFoundError as error:
        raise ProcessLookupError(str(error)) from error  # it ended meanwhile
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, number, 19 if low else 0)


class Effort(NamedTuple):
    """A process's use of resources since its start."""

    cpu: float
    """Seconds of processor time."""
    read: int
    """Bytes read from disks, 0 if the system does not report it."""


def effort(pid: int) -> Effort:
    """The use of process `pid` so far; zeros if it is gone."""
    import psutil

    # On Windows a virtual environment's python.exe is a launcher whose child does the work, unless it is this process.
    if sys.platform == "win32" and pid != os.getpid():
        return _done_by(_windows_tree(pid))
    try:
        return _done_by([psutil.Process(pid)])
    except psutil.NoSuchProcess:
        return Effort(0.0, 0)


def _done_by(family: Sequence[Any]) -> Effort:
    """The use of these psutil processes without their children."""
    import psutil

    cpu, read = 0.0, 0
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            times = process.cpu_times()
            cpu += times.user + times.system
            read += process.io_counters().read_bytes if hasattr(process, "io_counters") else 0
    return Effort(cpu, read)


def family_cpu() -> float:
    """Seconds of processor time used by this process and all its children."""
    import psutil

    this = psutil.Process()
    return _done_by([this, *this.children(recursive=True)]).cpu


class Processors(NamedTuple):
    """The computer's processor time since its start, in seconds over all processors."""

    busy: float
    total: float

    def share_since(self, before: Processors) -> float:
        """The busy share since `before`, 0 to 1."""
        return (self.busy - before.busy) / max(1e-9, self.total - before.total)


def processors() -> Processors:
    """The current counters."""
    import psutil

    times = psutil.cpu_times()
    total = float(sum(times[:8]))  # guests are included in the first two
    return Processors(total - times.idle - getattr(times, "iowait", 0.0), total)


def own_memory(pid: int) -> int:
    """Private bytes of process `pid`, without file pages if the system distinguishes them; 0 if it is gone."""
    import psutil

    try:
        memory = psutil.Process(pid).memory_info()
    except psutil.NoSuchProcess:
        return 0
    if sys.platform == "win32":
        return int(memory.private)
    return int(memory.rss - getattr(memory, "shared", 0))


def resident_memory(pid: int) -> int:
    """Bytes of memory of process `pid`, including mapped files; 0 if it is gone."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def suspend(pid: int) -> None:
    """Suspend the process and its group (Windows: its children). Does nothing if it has ended."""
    if sys.platform == "win32":
        _to_windows_tree(pid, methodcaller("suspend"))
    else:
        _signal_group(pid, signal.SIGSTOP)


def resume(pid: int) -> None:
    """Resume a suspended process and its group."""
    if sys.platform == "win32":
        _to_windows_tree(pid, methodcaller("resume"))
    else:
        _signal_group(pid, signal.SIGCONT)


def terminate_tree(pid: int) -> None:
    """Ask the process and its group to end (on Windows, end them)."""
    if sys.platform == "win32":
        kill_tree(pid)
    else:
        _signal_group(pid, signal.SIGTERM)


def kill_tree(pid: int) -> None:
    """Kill the process and its group (Windows: its children), also suspended ones."""
    if sys.platform == "win32":
        _to_windows_tree(pid, methodcaller("kill"))
    else:
        _signal_group(pid, signal.SIGKILL)


def wait_gone(pid: int, seconds: float) -> bool:
    """Whether process `pid`, not our child, ends within so many seconds or has already ended."""
    import psutil

    try:
        psutil.Process(pid).wait(seconds)
    except psutil.TimeoutExpired:
        return False
    except psutil.NoSuchProcess:
        pass
    return True


def memory_kills(counters: Path = KERNEL_COUNTERS) -> int:
    """How many processes the kernel killed for lack of memory since its start, of the computer or of a control
    group; 0 if unknown. `counters`: Linux's file."""
    return kernel_count(counters, "oom_kill")


def kernel_count(path: Path, key: str) -> int:
    """The number for a key in one of Linux's files of keys and numbers; 0 if it is missing."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{key} ")), 0)


def exit_reason(code: int, *, over_limit: bool = False, out_of_memory: bool = False) -> Text:
    """A child's exit code in words; as in subprocess, negative for a signal. `over_limit`: whether its memory limit
    was reached (system/desktop/ceiling.py). `out_of_memory`: whether the kernel killed processes for lack of memory
    since the child's last request."""
    if code >= 0:
        return sentence("it stopped with exit code {code}", code=str(code))
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if name == "SIGKILL" and over_limit:
        return sentence("it was killed (SIGKILL), because this node exceeded the memory that you allow (memory_most)")
    if name == "SIGKILL" and out_of_memory:
        return sentence("it was killed (SIGKILL), because the computer ran out of memory")
    if name == "SIGKILL":
        return sentence("it was killed (SIGKILL), perhaps because the computer ran out of memory")
    return sentence("it was stopped by {name}", name=name)


def _signal_group(pid: int, number: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)


def _windows_tree(pid: int) -> list[Any]:
    """The process and its children from psutil, parent first; empty if it is gone."""
    import psutil

    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _to_windows_tree(pid: int, act: Callable[[Any], object]) -> None:
    """Apply it to each; errors of a process that is ending are ignored."""
    import psutil

    for process in _windows_tree(pid):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            act(process)
