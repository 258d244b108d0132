"""Setup's display while it works: the current step, what is being downloaded, and for how long."""

from __future__ import annotations

import contextlib
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from installers.trouble import CommandFailed

TICK_SECONDS = 1.0
PLAIN_LINE_SECONDS = 15.0
_FETCHED = re.compile(r"^\s*(?:Collecting|Processing)\s+(\S+)")
_BYTES = re.compile(r"^Progress (\d+) of (\d+)$")
"""pip with `--progress-bar raw`."""
_ACTIVITY = re.compile(r"^\s*(Downloading|Building|Preparing|Installing|Prepared|Installed|Using cached)\b\s*(.*)")


class Progress:
    """One line per step; on a terminal the current step's line is updated."""

    def __init__(self, out: TextIO, steps: int, log: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.out = out
        self.steps = steps
        self.log = log
        self.clock = clock
        self.number = 0
        self.title = ""
        self.started = clock()
        self.step_started = self.started
        self.fetched = 0
        self.of = 0
        self.activity = ""
        self._last_plain = 0.0

    @contextlib.contextmanager
    def step(self, title: str, of: int = 0) -> Iterator[None]:
        """A new step; `of` is the number of its packages, if known."""
        self.number += 1
        self.title, self.of, self.fetched, self.activity = title, of, 0, ""
        self.step_started = self._last_plain = self.clock()
        self._show(f"{self._head()} ...", lasting=not self.out.isatty())
        yield
        self._show(f"{self._head()}: done in {_minutes(self.clock() - self.step_started)}", lasting=True)

    def note(self, text: str) -> None:
        """A sentence that stays on the screen."""
        self._show(f"      {text}", lasting=True)

    def run(self, command: Sequence[str], env: Mapping[str, str] | None = None, keep_open: Sequence[int] = ()) -> str:
        """Run a tool of the step, show its progress, log its output, and return that.

        Raises:
            CommandFailed: its exit code is not 0.
        """
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        output: list[str] = []
        options: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "env": env,
        }
        with self.log.open("a", encoding="utf-8") as log, _at_work(command, **options, pass_fds=keep_open) as child:
            log.write(f"\n$ {' '.join(command)}\n")
            threading.Thread(target=_pump, args=(child.stdout, lines), daemon=True).start()
            for line in self._lines(lines):
                if not _BYTES.match(line):
                    log.write(line)
                    output.append(line)
        if child.returncode != 0:
            raise CommandFailed(f"Step {self.number} of {self.steps} ({self.title})", "".join(output), self.log)
        return "".join(output)

    def finished(self) -> None:
        self._show(f"Set up in {_minutes(self.clock() - self.started)}.", lasting=True)

    def _lines(self, lines: queue.SimpleQueue[str | None]) -> Iterator[str]:
        while True:
            try:
                line = lines.get(timeout=TICK_SECONDS)
            except queue.Empty:
                self._tick()
                continue
            if line is None:
                return
            self._note_activity(line)
            self._tick()
            yield line

    def _note_activity(self, line: str) -> None:
        if _FETCHED.match(line):
            self.fetched += 1
        elif moved := _BYTES.match(line):
            self.activity = f"{int(moved[1]) / 1e6:.0f} of {int(moved[2]) / 1e6:.0f} MB"
        elif (match := _ACTIVITY.match(line)) and "finished with status" not in line:
            what = "" if match[1] == "Installing" else _short(match[2])
            self.activity = f"{match[1].lower()} {what}".rstrip()

    def _tick(self) -> None:
        now = self.clock()
        counted = f"{min(self.fetched, self.of)} of {self.of}" if self.of and self.fetched else ""
        done = " ".join(part for part in (counted, self.activity) if part)
        text = f"{self._head()}{f': {done}' if done else ''} ({_minutes(now - self.step_started)})"
        if self.out.isatty():
            self._show(text, lasting=False)
        elif now - self._last_plain >= PLAIN_LINE_SECONDS:
            self._last_plain = now
            self._show(text, lasting=True)

    def _head(self) -> str:
        return f"[{self.number}/{self.steps}] {self.title}"

    def _show(self, text: str, lasting: bool) -> None:
        start = "\r\x1b[K" if self.out.isatty() else ""
        self.out.write(start + (text if lasting else text[:110]) + ("\n" if lasting else ""))
        self.out.flush()


@contextlib.contextmanager
def _at_work(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Ends a tool with the reader of its output: Stop reaches this process alone, Ctrl-C reached the tool as well,
    and on a full disk nobody would wait for it."""
    with contextlib.ExitStack() as stack:
        child = None
        try:
            with _interrupts_wait():  # between its start and its assignment the tool would be left behind
                child = stack.enter_context(
                    subprocess.Popen(command, text=True, encoding="utf-8", errors="replace", **options)
                )
            yield child
        except BaseException:
            if child:
                child.terminate()
            raise


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Delays an interrupt until the end of the block. Only the main thread is ever interrupted, and not if it
    ignores interrupts."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (None, signal.SIG_IGN):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for number in came[:1]:
            signal.raise_signal(number)


def _pump(source: TextIO, lines: queue.SimpleQueue[str | None]) -> None:
    for line in source:
        lines.put(line)
    lines.put(None)


def _short(text: str) -> str:
    """`numpy-2.4.6-cp311-....whl (16.9 MB)` -> `numpy-2.4.6 (16.9 MB)`; addresses lose their host."""
    name, _, size = text.partition(" (")
    name = name.rsplit("/", 1)[-1]
    if name.endswith((".whl", ".metadata")):
        name = "-".join(name.split("-")[:2])
    return f"{name[:60]} ({size}" if size else name[:60]


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
