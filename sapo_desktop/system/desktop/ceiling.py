"""Memory held by the system: what this process and those that it starts may take, however fast they take it.

Linux: a scope of the user's own systemd, in which the kernel ends the process that weighs most once all of it together
is above the limit (control groups, version 2). This process goes in, so whatever it starts from then on begins there;
memory that was taken before is not counted. Windows: the job that the hosts are in; there a request for more memory
fails. macOS has nothing of the kind.

The limit lies above what the user allows (`limit_of`): worker/guest.py looks every two seconds and loads the model with
less, which loses nothing. What is here is for what is faster than that look.
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
"""Bytes: the kernel keeps whole pages, which are smaller, and is asked whether it has just this limit."""
_SETTLE_SECONDS, _STEP_SECONDS = 2.0, 0.05
OWN, TREE = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
"""Where the kernel says in which group this process is, and what it says of all groups."""


class NotHeld(SapoError):
    """The system holds no limit here."""


def limit_of(most: int) -> int:
    """Bytes of the hard limit where the user allows `most`: a quarter more, and 400 MB at least. The system counts
    pages of files too, PyTorch's among them, which the kind look leaves out; and that look needs its two seconds. A
    card's memory has the same room (worker/guest.py)."""
    limit = most + max(most // 4, 400_000_000)
    return limit - limit % _WHOLE


class Ceiling:
    """The limit that is in force. `own`, `tree`: see OWN and TREE."""

    def __init__(self, own: Path = OWN, tree: Path = TREE) -> None:
        self._own, self._tree = own, tree
        self._lock = threading.Lock()
        """A look that was given up ends in its thread, maybe while the next one begins."""
        self._most = 0
        self._scope = ""
        self._holds = False
        """Whether a limit was held once, from when on new processes begin under it."""
        self.refused: Text = ""
        """Why the system does not hold what was asked for last; empty: it does, or nothing was asked for."""

    def follow(self, most: int) -> bool:
        """Allow so many bytes from now on, 0: as many as there are. Whether processes that run already are not counted
        and should be started anew; where the system holds nothing, `refused` says why."""
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
        """Go into a scope with this limit."""
        if "/system.slice/" in self._own.read_text():
            raise NotHeld(sentence("This node is a system service, so the limit is MemoryMax of that service."))
        scope = f"{OWN_SCOPE}{os.getpid()}.scope"
        made = [
            ("Description", ("s", "SAPO Desktop")),
            # Who asks: in a container its own number would be another process's here.
            ("PIDs", ("au", [0])),
            # Delegated, so that systemd does not end all of it where the kernel ends one.
            ("Delegate", ("b", True)),
            ("CollectMode", ("s", "inactive-or-failed")),
            *held,
        ]
        _ask("StartTransientUnit", "ssa(sv)a(sa(sv))", (scope, "fail", made, []))
        self._scope = scope  # from here on there is something to change, whether or not a limit holds in it
        self._wait_until(lambda: control_group(self._own).endswith(f"/{scope}"))

    def _in_force(self) -> int:
        """Bytes, as the kernel has them; 0 where it holds none."""
        try:
            return int((self._tree / control_group(self._own).lstrip("/") / "memory.max").read_text())
        except (OSError, ValueError):
            return 0

    @staticmethod
    def _wait_until(so: Callable[[], bool]) -> None:
        """systemd answers before it is done. Raises NotHeld where it does not come true."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while not so():
            if time.monotonic() > deadline:
                raise NotHeld(sentence("systemd accepted the limit, but the kernel does not apply it."))
            time.sleep(_STEP_SECONDS)


def times_reached(own: Path = OWN, tree: Path = TREE) -> int:
    """How often the limit of our scope was reached with nothing to give back, so that a process of it was ended; 0
    outside of one."""
    group = control_group(own)
    if not group.rpartition("/")[2].startswith(OWN_SCOPE):
        return 0
    return kernel_count(tree / group.lstrip("/") / "memory.events", "oom")


def _ask(method: str, signature: str, body: tuple[Any, ...]) -> None:
    bus.call("SESSION", _NAME, _PATH, f"{_MANAGER}.{method}", signature, body)
