"""What ties a process to whoever starts it, until that has attached to it: the end of its standard input.

Whoever starts a worker holds the other end of that pipe, and closes it once it has attached. However it dies before
that, the system closes it: so no worker is left behind that nobody knows of.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable

GRACE = 5.0
"""Seconds in which what the starter sent before it let go has arrived, and somebody else may have come."""
OPTION = "--started"
"""Says that standard input is such a pipe."""


def let_go(process: subprocess.Popen[bytes]) -> None:
    """The starter has attached: from now on what attached clients ask for decides how long the process lives."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


def when_let_go(call: Callable[[], object]) -> None:
    """Have `call` called, on the running event loop, a moment after the starter has let go, or died."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        # A thread, as Windows has no event for the end of such a pipe.
        with contextlib.suppress(OSError):
            while os.read(0, 1024):
                pass
        with contextlib.suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(loop.call_later, GRACE, call)

    threading.Thread(target=wait, name="starter", daemon=True).start()
