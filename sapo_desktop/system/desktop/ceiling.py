"""A memory limit enforced by the system for this process and its children, however fast they allocate.

Linux: a scope of the user's systemd, in which the kernel kills the largest process once all together exceed the limit
(control groups, version 2). This process joins the scope, so its later children start there; memory used before does
not count. Windows: the job of the hosts, in which allocations fail. macOS has no such limit.

The limit is higher than the user's (`limit_of`): worker/guest.py checks every two seconds and reloads the model with
less, which loses nothing. This is for growth that is faster than that check.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.system import windows_jobs
from sapo_desktop.system.hardware import OWN_SCOPE, control_group
from sapo_desktop.system.presence import bus
from sapo_desktop.system.processes import kernel_count

_NAME, _PATH = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
_MANAGER = f"{_NAME}.Manager"
_NO_LIMIT = 2**64 - 1
_WHOLE = 2**20
"""Bytes: the kernel rounds to whole (smaller) pages, and its limit is compared with ours."""
_SETTLE_SECONDS, _STEP_SECONDS = 2.0, 0.05
OWN, TREE = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
"""Files in which the kernel names this process's group, and the folder of all groups."""


class NotHeld(SapoError):
    """The system enforces no limit here."""


def limit_of(most: int) -> int:
    """Bytes of the hard limit if the user allows `most`: a quarter more, at least 400 MB. The system also counts
    pages of files, including PyTorch's, which the regular check omits, and that check needs its two seconds. A
    card's memory has the same margin (worker/guest.py)."""
    limit = most + max(most // 4, 400_000_000)
    return limit - limit % _WHOLE


class Ceiling:
    """The current limit. `own`, `tree`: see OWN and TREE."""

    def __init__(self, own: Path = OWN, tree: Path = TREE) -> None:
        self._own, self._tree = own, tree
        self._lock = threading.Lock()
        """An abandoned call may still end in its thread while the next one begins."""
        self._most = 0
        self._scope = ""
        self._holds = False
        """Whether a limit was ever active, so that new processes start under it."""
        self.refused: Text = ""
        """Why the system does not enforce the last requested limit; empty if it does, or there is none."""

    def follow(self, most: int) -> bool:
        """Set the limit in bytes; 0: none. Returns whether running processes are not counted and should be
        restarted. If the system enforces nothing, `refused` says why."""
        with self._lock:
            if most == self._most:
                return False
            self._most, self.refused = most, ""
            try:
                if sys.platform == "win32":
                    windows_jobs.bound_memory(limit_of(most) if most else 0)
                    return False
                return self._follow_linux(most)
            except (SapoError, OSError) as error:
                self.refused = error.text if isinstance(error, SapoError) else str(error)
                return False

    def _follow_linux(self, most: int) -> bool:
        if not most and not self._scope:
            return False
        if sys.platform != "linux":
            raise NotHeld(sentence("This system cannot limit memory."))
        limit = limit_of(most) if most else _NO_LIMIT
        held = [("MemoryMax", ("t", limit)), ("MemorySwapMax", ("t", 0 if most else _NO_LIMIT))]
        if not self._scope:
            self._begin(held)
        else:
            _ask("SetUnitProperties", "sba(sv)", (self._scope, True, held))
        if not most:
            return False
        self._wait_until(lambda: self._in_force() == limit)
        begins, self._holds = not self._holds, True
        return begins

    def _begin(self, held: list[tuple[str, tuple[str, Any]]]) -> None:
        """Join a scope with this limit."""
        if "/system.slice/" in self._own.read_text():
            raise NotHeld(sentence("This node is a system service, so the limit is MemoryMax of that service."))
        scope = f"{OWN_SCOPE}{os.getpid()}.scope"
        made = [
            ("Description", ("s", "SAPO Desktop")),
            # systemd uses the caller's id: in a container, our own number would name another process.
            ("PIDs", ("au", [0])),
            # Delegated, so that systemd does not stop the whole scope when the kernel kills one process.
            ("Delegate", ("b", True)),
            ("CollectMode", ("s", "inactive-or-failed")),
            *held,
        ]
        _ask("StartTransientUnit", "ssa(sv)a(sa(sv))", (scope, "fail", made, []))
        self._scope = scope  # from here on there is something to change, whether or not a limit is active in it
        self._wait_until(lambda: control_group(self._own).endswith(f"/{scope}"))

    def _in_force(self) -> int:
        """Bytes, as the kernel reports them; 0 if it enforces none."""
        try:
            return int((self._tree / control_group(self._own).lstrip("/") / "memory.max").read_text())
        except (OSError, ValueError):
            return 0

    @staticmethod
    def _wait_until(so: Callable[[], bool]) -> None:
        """systemd answers before it is done. Raises NotHeld if the limit does not appear."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while not so():
            if time.monotonic() > deadline:
                raise NotHeld(sentence("systemd accepted the limit, but the kernel does not apply it."))
            time.sleep(_STEP_SECONDS)


def times_reached(own: Path = OWN, tree: Path = TREE) -> int:
    """How often our scope reached its limit with nothing to reclaim, so that one of its processes was killed; 0
    without a scope."""
    group = control_group(own)
    if not group.rpartition("/")[2].startswith(OWN_SCOPE):
        return 0
    return kernel_count(tree / group.lstrip("/") / "memory.events", "oom")


def _ask(method: str, signature: str, body: tuple[Any, ...]) -> None:
    bus.call("SESSION", _NAME, _PATH, f"{_MANAGER}.{method}", signature, body)
