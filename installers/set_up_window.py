"""A small window while `bootstrap.py run` sets up, before the real window's library is installed: three lines, a bar,
Stop.

It is a separate process that reads the terminal's output from its standard input, and says "stop" on its output.
Without tkinter or a display there is no such window, and the terminal continues alone.
"""

from __future__ import annotations

import _thread
import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TextIO

from installers.tool import clean_environment
from installers.trouble import SetupError

ESCAPE = "\r\x1b[K"
"""Rewrites a terminal's line (progress.py)."""
FAILED = "failed: "
END_OF_PART = "\0"
_STEP = re.compile(r"^\[(\d+)/(\d+)\] (?:.*?(?:: | )(\d+) of (\d+)\b)?")


class Followed(io.TextIOBase):
    """The terminal's stream, copied to the window."""

    def __init__(self, out: TextIO, window: IO[str]) -> None:
        self._out = out
        self._window = window

    def isatty(self) -> bool:
        """True, so that the current step's line is updated for the window."""
        return True

    def write(self, text: str) -> int:
        plain = text.removeprefix(ESCAPE)
        if self._out.isatty():
            self._out.write(text)
        elif plain.endswith("\n"):
            self._out.write(plain)
        with contextlib.suppress(OSError):  # it was closed; the terminal continues
            self._window.write(plain.rstrip("\n").replace("\n", " ") + "\n")
            self._window.flush()
        return len(text)

    def flush(self) -> None:
        self._out.flush()


@contextlib.contextmanager
def set_up_window(out: TextIO, wanted: bool, python: str = sys.executable) -> Iterator[TextIO]:
    """The stream for progress. Stop acts like Ctrl-C; after a failure the window stays until it is closed."""
    window = _open(python) if wanted else None
    if window is None or window.stdin is None:
        yield out
        return
    # Stop sends Ctrl-C, which a start in the background may have ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield Followed(out, window.stdin)  # type: ignore[misc]  # a TextIO in all that is asked of it
    except SetupError as error:
        with contextlib.suppress(OSError):
            window.stdin.write(FAILED + str(error).replace("\n", END_OF_PART) + "\n")
            window.stdin.close()
        raise
    else:
        window.communicate()  # it closes at the end of its input


def is_wanted(started: Sequence[str], env: Mapping[str, str] = os.environ) -> bool:
    """Whether the window will be started (commands.product), and there is a display for it."""
    display = sys.platform in ("win32", "darwin") or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    return bool(display) and not {"--terminal", "--tray"} & set(started) and list(started[:1]) != ["run"]


def _open(python: str) -> subprocess.Popen[str] | None:
    root = str(Path(__file__).resolve().parents[1])
    code = f"import sys; sys.path.insert(0, {root!r}); from installers.set_up_window import show; show()"
    window = subprocess.Popen(
        [python, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, encoding="utf-8", env={**clean_environment(os.environ), "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert window.stdout is not None
    if window.stdout.readline() != "ready\n":
        window.wait()
        return None
    threading.Thread(target=_listen, args=(window.stdout,), daemon=True).start()
    return window


def _listen(said: IO[str]) -> None:
    if said.readline() == "stop\n":
        _thread.interrupt_main()


def part_done(line: str) -> float | None:
    """The finished share of everything, if the line says it: `[2/3] Packages: 45 of 90 ...` is a half.

    1.0 when the last step is done, or continues after the last thing that can be counted.
    """
    found = _STEP.match(line)
    if not found:
        return None
    step, steps, count, of = (int(part or 0) for part in found.groups())
    inside = 1.0 if ": done in " in line else count / of if of else 0.0
    return (step - 1 + min(inside, 1.0)) / steps


def is_done(line: str) -> bool:
    """Whether the line says that the last step is done."""
    return ": done in " in line and part_done(line) == 1.0


def show() -> None:
    """The window's process."""
    import queue
    import tkinter
    from tkinter import ttk

    root = tkinter.Tk()
    root.title("SAPO Desktop")
    root.resizable(False, False)
    frame = ttk.Frame(root, padding=24)
    frame.grid()
    ttk.Label(frame, text="Setting up SAPO Desktop", font=("", 14)).grid(sticky="w")
    now, note = (ttk.Label(frame, width=64, wraplength=520) for _ in range(2))
    now.grid(sticky="w", pady=(12, 4))
    bar = ttk.Progressbar(frame, length=520, maximum=1.0)
    bar.grid(sticky="we")
    note.grid(sticky="w", pady=(4, 12))
    note["text"] = "This happens once and takes some minutes. An interrupted setup continues at the next start."

    def stop() -> None:
        print("stop", flush=True)
        root.destroy()

    button = ttk.Button(frame, text="Stop", command=stop)
    button.grid(sticky="e")
    root.protocol("WM_DELETE_WINDOW", stop)
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    def look() -> None:
        while not lines.empty():
            line = lines.get()
            if line is None:
                root.destroy()
                return
            if line.startswith(FAILED):
                now["text"], note["text"] = "It cannot continue.", line.removeprefix(FAILED).replace(END_OF_PART, "\n")
                button.configure(text="Close", command=root.destroy)
                root.protocol("WM_DELETE_WINDOW", root.destroy)
                return
            done = part_done(line)
            (note if done is None else now)["text"] = line.strip()
            if done is None:
                continue
            # Everything countable is done, and the installer is still working: a full bar would look finished.
            is_busy = done >= 1.0 and not is_done(line)
            if is_busy != (str(bar["mode"]) == "indeterminate"):
                bar.configure(mode="indeterminate" if is_busy else "determinate")
                bar.start() if is_busy else bar.stop()
            if not is_busy:
                bar["value"] = done
        root.after(100, look)

    threading.Thread(target=read, daemon=True).start()
    look()
    print("ready", flush=True)
    root.mainloop()
