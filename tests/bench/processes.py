"""The processes of a program that runs, seen from outside."""

import contextlib
from collections.abc import Iterable, Sequence

import psutil

_ROLES = {"sapo_desktop.worker.main": "worker", "sapo_desktop.worker.membership.relay": "relay"}
_HOST = "sapo_desktop.worker.hosts.host"
_KINDS = ("engine", "examiner", "generator", "librarian")


def family(pid: int) -> list[psutil.Process]:
    """A process, which comes first, and all below it; none where it has ended."""
    with contextlib.suppress(psutil.Error):
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    return []


def cpu_of(processes: Iterable[psutil.Process]) -> float:
    """CPU seconds so far of those that are alive."""
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def by_role(pid: int) -> dict[str, psutil.Process]:
    """A process and those below it, by what they are."""
    found = {}
    for process in family(pid):
        with contextlib.suppress(psutil.Error):  # it ended in between
            found.setdefault(role(process.cmdline()), process)
    return found


def role(words: Sequence[str]) -> str:
    """What a process of the product is, by its command line."""
    if _HOST in words:
        return next((word for word in words if word in _KINDS), "host")
    return next((name for module, name in _ROLES.items() if module in words), "command")
