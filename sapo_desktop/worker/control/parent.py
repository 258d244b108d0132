"""What ties a process to its starter until that has attached: the end of its input, and its last words.

The starter of a worker holds the other end of that pipe, and closes it once it has attached. If it dies before that,
the system closes it, so no unknown worker is left behind.

A worker that ends before its channel answers names its error in the last lines of its log:

    as data: {"kind":"ModelError","text":{"type":"Sentence",...}}
    ModelError: There is no model 'x': ...

The starter reads the first line, so that the error can be translated; the second one is for people, and used if the
first is incomplete.
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

_DATA = "as data: "
_NAMED_ERROR = re.compile(r"^([A-Z]\w+): (.+)\Z", re.MULTILINE | re.DOTALL)


class _Reported(Record, frozen=True, kw_only=True):
    kind: str
    text: Text


def last_words(error: SapoError) -> str:
    """Both lines."""
    kind = type(error).__name__
    data = msgspec.json.encode(_Reported(kind=kind, text=error.text)).decode()
    return f"{_DATA}{data}\n{kind}: {error}"


def named_error(said: str) -> SapoError | None:
    """The error that the end of a log names; None if it names none of ours."""
    for line in reversed(said.splitlines()):
        if line.startswith(_DATA):
            try:
                data = msgspec.json.decode(line.removeprefix(_DATA), type=_Reported)
            except msgspec.DecodeError:
                break  # cut off
            return error_class(data.kind)(data.text)
    named = _NAMED_ERROR.search(said)
    if named is not None and (named[1] == SapoError.__name__ or error_class(named[1]) is not SapoError):
        return error_class(named[1])(named[2].strip())
    return None


GRACE = 5.0
"""Time for messages that the starter sent before it let go, and for other clients to attach."""
OPTION = "--started"
"""Says that standard input is such a pipe."""


def let_go(process: subprocess.Popen[bytes]) -> None:
    """The starter has attached: from now on the attached clients decide how long the process lives."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


class Countdown:
    """Calls `call` after so many seconds in which the event loop could do all its other work.

    After a suspension or starvation, a process finds a timer's end together with everything that arrived meanwhile, and
    the timer runs first: a worker could take an attached client for gone. With several steps, only the first can come
    too early.
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
    """Call `call`, on the running event loop, shortly after the starter has let go or died."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        # A thread, because Windows has no event for the end of such a pipe.
        with contextlib.suppress(OSError):
            while os.read(0, 1024):
                pass
        with contextlib.suppress(RuntimeError):  # the loop has already ended
            loop.call_soon_threadsafe(Countdown, GRACE, call)

    threading.Thread(target=wait, name="starter", daemon=True).start()
