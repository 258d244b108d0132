"""What platforms do differently with processes: own groups, dying together, stopping, going on, giving way.

Every host and every worker is started with the options from here, so a whole tree can be suspended or ended
by the process id of its first process. Run on Linux; the Windows and macOS branches are written from their
documentation. No process is started here and none is waited for.
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
"""Where Linux counts what happened since it started."""


def group_options() -> dict[str, Any]:
    """Options for subprocess: a group of its own, so that Ctrl-C in a terminal stays with the parent.

    On Linux a session of its own too: it may share the processor out by session (autogroup), and then one process gives
    way to others without the rest of its family. On macOS the session stays the parent's: when that dies, POSIX wakes
    and ends the stopped members of the group, for which Linux has a call of its own (`die_with_parent`).
    """
    return {"process_group": 0} if sys.platform == "darwin" else session_options()


def session_options() -> dict[str, Any]:
    """Options for subprocess: a process that outlives the terminal it was started from."""
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    else:
        return {"start_new_session": True}


def python_command(module: str) -> list[str]:
    """How to run one of our modules. `-P`: a file in the current folder must not pass for a library."""
    return [installation.interpreter(), "-P", "-m", module]


def python_environment(values: Mapping[str, str], inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What is `inherited` with `values` on top, and a path on which our package is found in spite of
    `-P`, and the engine pack where there is one. A crash of the interpreter itself leaves its stack in the log."""
    merged = {**inherited, "PYTHONUTF8": "1", "PYTHONFAULTHANDLER": "1", **values}
    before = merged.get("PYTHONPATH", "").split(os.pathsep)
    found = [str(installation.ROOT), str(installation.engine_pack() or ""), *before]
    merged["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, found)))
    return merged


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when process `parent` ends; ends it now if that has happened.

    Linux only (the signal follows the thread that started us, so parents start children from their main
    thread). macOS has no such call: there the end of the pipe from the parent does it. Windows: see
    `tie_to_this_process`.
    """
    if sys.platform == "linux":
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"prctl(PR_SET_PDEATHSIG) failed: {os.strerror(code)}")
    # The parent may have died before the call above; a child of someone else has nobody to serve.
    if sys.platform != "win32" and os.getppid() != parent:
        raise SystemExit("The process that started this one has stopped.")


def give_memory_first() -> None:
    """Linux: have the kernel end this process before the user's own programs, and before the one that started it, where
    memory runs out; it can be started again. Whatever it starts follows it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a container may refuse
            Path("/proc/self/oom_score_adj").write_text("500")


def tie_to_this_process(pid: int) -> None:
    """Windows: have child `pid` and its children killed when this process ends (else the child does it)."""
    if sys.platform == "win32":
        from sapo_desktop.system import windows_jobs

        windows_jobs.tie(pid)


def give_way(pid: int, low: bool) -> bool:
    """Let every other program go before process `pid` and its children, or no longer; False where the system refuses.
    Gone already: nothing.

    Most systems let a program lower a priority and not raise it again.
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
    """Disks too are for others first, where the system has such a class; it is no matter where it refuses."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        for pid in family:
            if sys.platform == "linux":
                psutil.Process(pid).ionice(psutil.IOPRIO_CLASS_IDLE if low else psutil.IOPRIO_CLASS_NONE)
            elif sys.platform == "win32":
                psutil.Process(pid).ionice(psutil.IOPRIO_VERYLOW if low else psutil.IOPRIO_NORMAL)


def _set_session_priority(pid: int, low: bool) -> None:
    """Where Linux groups processes by session, a nice value counts only inside its session. One that a process of ours
    leads is ours to lower; the terminal's, with other programs in it, is not."""
    # Refused in some containers, and to everybody for a tenth of a second after another's change: then the nice value
    # has to do.
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

        with contextlib.suppress(OSError):  # it only saves power; the class above is what others go before
            windows_jobs.save_power(pid, low)
        return
    # On Linux each thread has a niceness of its own; elsewhere the process has one.
    threads = Path(f"/proc/{pid}/task")
    try:
        numbers = [int(thread.name) for thread in threads.iterdir()] if sys.platform == "linux" else [pid]
    except FileNotFoundError as error:
        raise ProcessLookupError(str(error)) from error  # it ended meanwhile
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, number, 19 if low else 0)


class Effort(NamedTuple):
    """What a process has done since it began."""

    cpu: float
    """Seconds of processor time."""
    read: int
    """Bytes read from disks, 0 where the system does not tell."""


def effort(pid: int) -> Effort:
    """What process `pid` has done so far; nothing where it is gone."""
    import psutil

    # On Windows a virtual environment's python.exe is a launcher: the work is its child's. This process is none.
    if sys.platform == "win32" and pid != os.getpid():
        return _done_by(_windows_tree(pid))
    try:
        return _done_by([psutil.Process(pid)])
    except psutil.NoSuchProcess:
        return Effort(0.0, 0)


def _done_by(family: Sequence[Any]) -> Effort:
    """What these processes, as psutil sees them, have done without their children."""
    import psutil

    cpu, read = 0.0, 0
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            times = process.cpu_times()
            cpu += times.user + times.system
            read += process.io_counters().read_bytes if hasattr(process, "io_counters") else 0
    return Effort(cpu, read)


def family_cpu() -> float:
    """Seconds of processor time that this process and all its children have used so far."""
    import psutil

    this = psutil.Process()
    return _done_by([this, *this.children(recursive=True)]).cpu


class Processors(NamedTuple):
    """The computer's processors since it began, in seconds over all of them."""

    busy: float
    total: float

    def share_since(self, before: Processors) -> float:
        """The share of them that computed since `before`, 0 to 1."""
        return (self.busy - before.busy) / max(1e-9, self.total - before.total)


def processors() -> Processors:
    """What the processors did so far."""
    import psutil

    times = psutil.cpu_times()
    total = float(sum(times[:8]))  # guests are counted in the first two already
    return Processors(total - times.idle - getattr(times, "iowait", 0.0), total)


def own_memory(pid: int) -> int:
    """Bytes that process `pid` holds for itself, without pages of files where the system tells those apart; 0 where it
    is gone."""
    import psutil

    try:
        memory = psutil.Process(pid).memory_info()
    except psutil.NoSuchProcess:
        return 0
    if sys.platform == "win32":
        return int(memory.private)
    return int(memory.rss - getattr(memory, "shared", 0))


def resident_memory(pid: int) -> int:
    """Bytes of memory that process `pid` occupies now, mapped files included; 0 where it is gone."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def suspend(pid: int) -> None:
    """Stop the process and its group (Windows: its children) where they stand. Gone already: nothing."""
    if sys.platform == "win32":
        _to_windows_tree(pid, methodcaller("suspend"))
    else:
        _signal_group(pid, signal.SIGSTOP)


def resume(pid: int) -> None:
    """Let a suspended process and its group go on."""
    if sys.platform == "win32":
        _to_windows_tree(pid, methodcaller("resume"))
    else:
        _signal_group(pid, signal.SIGCONT)


def terminate_tree(pid: int) -> None:
    """Ask the process and its group to end (Windows knows no asking: they are ended)."""
    if sys.platform == "win32":
        kill_tree(pid)
    else:
        _signal_group(pid, signal.SIGTERM)


def kill_tree(pid: int) -> None:
    """End the process and its group (Windows: its children) at once; stopped ones too."""
    if sys.platform == "win32":
        _to_windows_tree(pid, methodcaller("kill"))
    else:
        _signal_group(pid, signal.SIGKILL)


def wait_gone(pid: int, seconds: float) -> bool:
    """Whether process `pid`, no child of ours, has ended within so many seconds, or had ended before."""
    import psutil

    try:
        psutil.Process(pid).wait(seconds)
    except psutil.TimeoutExpired:
        return False
    except psutil.NoSuchProcess:
        pass
    return True


def memory_kills(counters: Path = KERNEL_COUNTERS) -> int:
    """How many processes the kernel ended since it started because memory ran out, of the computer or of a control
    group; 0 where it does not say. `counters`: where Linux does."""
    return kernel_count(counters, "oom_kill")


def kernel_count(path: Path, key: str) -> int:
    """What Linux says of a key in one of its files with a key and a number a line; 0 where it does not say."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{key} ")), 0)


def exit_reason(code: int, *, over_limit: bool = False, out_of_memory: bool = False) -> Text:
    """The exit code of a child, negative for a signal as subprocess gives it, in words. `over_limit`: whether the limit
    of memory that it is under was reached (system/desktop/ceiling.py). `out_of_memory`: whether the kernel ended
    processes because memory ran out, since the child was asked for what it did last."""
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
    """The process and its children as psutil sees them, parent first; empty where it is gone."""
    import psutil

    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _to_windows_tree(pid: int, act: Callable[[Any], object]) -> None:
    """Do it to each of them; one that is ending meanwhile is refused, or gone."""
    import psutil

    for process in _windows_tree(pid):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            act(process)
