"""What ties a process to whoever starts it, until that has attached to it: its input's end, and its last words.

Whoever starts a worker holds the other end of that pipe, and closes it once it has attached. However it dies before
that, the system closes it: so no worker is left behind that nobody knows of.

A worker that ends before its channel answers names its error in the last lines of its log:

    told as data: {"kind":"ModelError","text":{"type":"Sentence",...}}
    ModelError: There is no model 'x': ...

Whoever started it reads the first line, so that the error can be said in another language too; the second one is for
people, and for where the first was cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import threading
from collections.abc import Callable

import msgspec

from sapo_desktop.core.errors import SapoError, error_class
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text

_DATA = "told as data: "
_NAMED_ERROR = re.compile(r"^([A-Z]\w+): (.+)\Z", re.MULTILINE | re.DOTALL)


class _Told(Record, frozen=True, kw_only=True):
    kind: str
    text: Text


def last_words(error: SapoError) -> str:
    """Both lines."""
    kind = type(error).__name__
    told = msgspec.json.encode(_Told(kind=kind, text=error.text)).decode()
    return f"{_DATA}{told}\n{kind}: {error}"


def named_error(said: str) -> SapoError | None:
    """The error that the end of a log names; None where it names none of ours."""
    for line in reversed(said.splitlines()):
        if line.startswith(_DATA):
            try:
                told = msgspec.json.decode(line.removeprefix(_DATA), type=_Told)
            except msgspec.DecodeError:
                break  # cut off
            return error_class(told.kind)(told.text)
    named = _NAMED_ERROR.search(said)
    if named is not None and (named[1] == SapoError.__name__ or error_class(named[1]) is not SapoError):
        return error_class(named[1])(named[2].strip())
    return None


GRACE = 5.0
"""Seconds in which what the starter sent before it let go has arrived, and somebody else may have come."""
OPTION = "--started"
"""Says that standard input is such a pipe."""


def let_go(process: subprocess.Popen[bytes]) -> None:
    """The starter has attached: from now on what attached clients ask for decides how long the process lives."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


class Countdown:
    """Calls `call` after so many seconds, in which the event loop got around to all else that was to do.

    A process that was stopped or starved finds a timer's end together with what arrived meanwhile, and the timer goes
    first: so a worker took whoever had attached for gone. In steps only the first may come too soon.
    """

    _STEPS = 20

    def __init__(self, seconds: float, call: Callable[[], object]) -> None:
        self._step = seconds / self._STEPS
        self._call = call
        self._left = self._STEPS
        self._go_on()

    def cancel(self) -> None:
        self._timer.cancel()

    def _go_on(self) -> None:
        if self._left == 0:
            self._call()
            return
        self._left -= 1
        self._timer = asyncio.get_running_loop().call_later(self._step, self._go_on)


def when_let_go(call: Callable[[], object]) -> None:
    """Have `call` called, on the running event loop, a moment after the starter has let go, or died."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        # A thread, as Windows has no event for the end of such a pipe.
        with contextlib.suppress(OSError):
            while os.read(0, 1024):
                pass
        with contextlib.suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(Countdown, GRACE, call)

    threading.Thread(target=wait, name="starter", daemon=True).start()
