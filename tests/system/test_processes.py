"""Whole trees of processes are stopped, woken and ended together."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, Self

import psutil
import pytest

from sapo_desktop.system import processes

AUTOGROUP = Path("/proc/self/autogroup")
TREE = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print(child.pid, flush=True)
input()
"""


def until(condition: Callable[[], bool]) -> None:
    """A signal takes effect when its process is next scheduled, and no event tells when."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.fixture
def tree() -> Iterator[list[psutil.Process]]:
    first = subprocess.Popen(
        [sys.executable, "-c", TREE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **processes.group_options()
    )
    assert first.stdout is not None
    second = int(first.stdout.readline())
    yield [psutil.Process(first.pid), psutil.Process(second)]
    processes.kill_tree(first.pid)
    first.wait()
    for stream in (first.stdin, first.stdout):
        stream.close()


def test_suspend_and_resume(tree: list[psutil.Process]) -> None:
    processes.suspend(tree[0].pid)
    until(lambda: all(process.status() == psutil.STATUS_STOPPED for process in tree))
    processes.resume(tree[0].pid)
    until(lambda: all(process.status() != psutil.STATUS_STOPPED for process in tree))


@pytest.mark.parametrize("end", [processes.terminate_tree, processes.kill_tree])
def test_ending_reaches_all(tree: list[psutil.Process], end: Callable[[int], None]) -> None:
    end(tree[0].pid)
    # The second one may stay a zombie until its new parent looks.
    until(lambda: not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in tree))


def test_what_is_gone_needs_no_signal() -> None:
    done = subprocess.Popen([sys.executable, "-c", ""], **processes.group_options())
    assert done.wait() == 0
    processes.suspend(done.pid)
    processes.kill_tree(done.pid)
    assert not psutil.pid_exists(done.pid)


@pytest.mark.parametrize(
    ("code", "text"),
    [(0, "exit code 0"), (3, "exit code 3"), (-9, "out of memory"), (-11, "SIGSEGV"), (-99, "signal 99")],
)
def test_exit_codes_in_words(code: int, text: str) -> None:
    assert text in str(processes.exit_reason(code))


def test_a_setting_above_the_limit_is_reported() -> None:
    assert "memory_most" in str(processes.exit_reason(-9, over_limit=True))
    assert "SIGSEGV" in str(processes.exit_reason(-11, over_limit=True))


def test_the_kernels_own_count_says_whether_it_was_memory(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_text("nr_free_pages 90\noom_kill 3\ndrop_pagecache 0\n")
    assert processes.memory_kills(tmp_path / "vmstat") == 3
    (tmp_path / "vmstat").write_text("nr_free_pages 90\n")
    assert processes.memory_kills(tmp_path / "vmstat") == processes.memory_kills(tmp_path / "none") == 0
    assert "perhaps" in str(processes.exit_reason(-9))
    assert str(processes.exit_reason(-9, out_of_memory=True)).endswith("because the computer ran out of memory")
    assert "memory_most" in str(processes.exit_reason(-9, over_limit=True, out_of_memory=True)), "the nearer reason"


def test_our_package_is_found_from_anywhere(tmp_path: object) -> None:
    line = [*processes.python_command("sapo_desktop.worker.hosts.host"), "--help"]
    done = subprocess.run(line, cwd=str(tmp_path), env=processes.python_environment({}), capture_output=True)
    assert done.returncode == 0


@pytest.mark.allowed_skip("only Linux may group processes by session, and only where it is built in")
@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this system does not group processes by session")
@pytest.mark.parametrize("leads", [True, False])
def test_giving_way_lowers_the_session_of_a_process_that_leads_one_and_no_other(leads: bool) -> None:
    options = processes.group_options() if leads else {}
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, **options)
    group = Path(f"/proc/{child.pid}/autogroup")
    # Empty where this session has no group of its own, as in some containers.
    before = group.read_text().split()[-1:]
    expected = ["19"] if leads and before else before

    def lowered() -> bool:
        # Linux refuses a second change within a tenth of a second to everybody but root.
        assert processes.give_way(child.pid, True)
        return group.read_text().split()[-1:] == expected

    until(lowered)
    assert psutil.Process(child.pid).ionice().ioclass == psutil.IOPRIO_CLASS_IDLE
    assert child.stdin is not None
    child.stdin.close()
    child.wait()


GIVING_WAY = """
import os, subprocess, sys, threading, time
from pathlib import Path
from sapo_desktop.system import processes

child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
def nice(pid):
    return sorted({os.getpriority(os.PRIO_PROCESS, int(one.name)) for one in Path(f"/proc/{pid}/task").iterdir()})
print(processes.give_way(os.getpid(), True), nice(os.getpid()), nice(child.pid))
print(processes.give_way(os.getpid(), False), nice(os.getpid()), nice(child.pid))
child.kill()
"""


@pytest.mark.allowed_skip("only on Linux each thread has a niceness of its own")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no threads to check")
def test_giving_way_reaches_every_thread_and_child_and_is_taken_back_where_the_system_lets_it() -> None:
    line = [sys.executable, "-c", GIVING_WAY]
    low, again = subprocess.check_output(line, env=processes.python_environment({}), text=True).splitlines()
    assert low == "True [19] [19]"
    assert again in ("True [0] [0]", "False [19] [19]")


def test_a_system_that_lets_no_program_take_back_its_priority_is_not_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(processes, "_set_priority", refuse)
    assert not processes.give_way(os.getpid(), False)


def test_the_memory_that_a_process_occupies(tree: list[psutil.Process]) -> None:
    assert processes.resident_memory(tree[0].pid) > 2**20
    assert processes.resident_memory(2**22 - 1) == 0


class WindowsProcess:
    """This process with a launcher below it, whose child does the work."""

    SECONDS: ClassVar = {os.getpid(): 1.0, 11: 0.25, 12: 5.0}

    def __init__(self, pid: int | None = None) -> None:
        self.pid = os.getpid() if pid is None else pid

    def children(self, recursive: bool) -> list[Self]:
        below = {os.getpid(): [11, 12], 11: [12]}
        return [type(self)(pid) for pid in below.get(self.pid, [])]

    def cpu_times(self) -> SimpleNamespace:
        return SimpleNamespace(user=self.SECONDS[self.pid], system=0.0)


def test_on_windows_a_hosts_time_is_its_launchers_childs_and_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(psutil, "Process", WindowsProcess)
    assert processes.effort(11).cpu == 5.25
    assert processes.effort(os.getpid()).cpu == 1.0, "its hosts are counted separately"
    assert processes.family_cpu() == 6.25


@pytest.mark.parametrize("act", ["suspend", "resume", "kill"])
def test_on_windows_the_rest_of_a_tree_is_reached_where_a_child_just_ended(
    act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = []

    class Ending(WindowsProcess):
        def act(self) -> None:
            if self.pid == 11:
                raise psutil.NoSuchProcess(11)
            if self.pid == 12:
                raise psutil.AccessDenied(12)  # it is ending
            reached.append(self.pid)

        def children(self, recursive: bool) -> list[Self]:
            return [type(self)(pid) for pid in (11, 12, 13)]

    setattr(Ending, act, Ending.act)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(psutil, "Process", Ending)
    {"suspend": processes.suspend, "resume": processes.resume, "kill": processes.kill_tree}[act](os.getpid())
    assert reached == [os.getpid(), 13]


def test_what_a_process_has_done_grows_while_it_computes() -> None:
    before = processes.effort(os.getpid())
    used = processes.processors()
    spent = time.process_time()
    while time.process_time() - spent < 0.05:
        pass
    assert processes.effort(os.getpid()).cpu > before.cpu
    assert processes.family_cpu() >= processes.effort(os.getpid()).cpu - 0.05
    assert 0.0 <= processes.processors().share_since(used) <= 1.0
    assert processes.effort(2**22 - 1) == (0.0, 0)
    assert processes.wait_gone(2**22 - 1, 1.0)
