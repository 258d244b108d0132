"""A command's output: people read stdout; with `--json`, programs do and people read stderr.

A JSON line is one object with `event` first, ASCII only, flushed at once. Text is cleaned of anything that a model or
peer may have put into it. rich is imported when the first table is printed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Literal, TextIO

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.plain_text import clean, one_line
from sapo_desktop.terminal.invocation import as_started
from sapo_desktop.view.fields import JsonValue

_PIPE_WIDTH = 10_000


_IN_ASCII = str.maketrans({"✓": "+", "✗": "x", "→": "->", "…": "..."})
"""Replacements for our characters, for a stream that cannot show them."""


def printable(text: str, stream: TextIO) -> str:
    """`text` in a form that `stream` can show: clean, with our commands as they are typed here."""
    encoding = stream.encoding or "ascii"
    text = as_started(clean(text))
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_IN_ASCII)
    return text.encode(encoding, "replace").decode(encoding)


@contextlib.contextmanager
def written() -> Iterator[None]:
    """Raise SapoError if the output cannot be written, for example to a file on a full disk."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise SapoError(f"The output could not be written: {error.strerror}.") from error


class Output:
    """The two streams of one command. Without arguments: this process's own."""

    def __init__(self, json_lines: bool, stdout: TextIO | None = None, stderr: TextIO | None = None) -> None:
        self.json_lines = json_lines
        self.stdout = stdout or sys.stdout
        self.stderr = stderr or sys.stderr
        self._drawn = 0
        """Characters of the current temporary line."""

    @property
    def words(self) -> TextIO:
        """The stream for people."""
        return self.stderr if self.json_lines else self.stdout

    def say(self, text: str) -> None:
        """Print a sentence (or lines) for a person; part of the result."""
        self.wipe()
        with written():
            print(printable(text, self.words), file=self.words, flush=True)

    def warn(self, text: str) -> None:
        """Print a sentence that is not part of the result: always to stderr."""
        self.wipe()
        print(printable(text, self.stderr), file=self.stderr, flush=True)

    @property
    def has_last_line(self) -> bool:
        """Whether it writes to a terminal, which can overwrite a line."""
        return self.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def passing(self, text: str) -> None:
        """Show the progress in one temporary line, in a terminal only; further output replaces it."""
        if self.has_last_line:
            room = shutil.get_terminal_size().columns - 1
            line = printable(one_line(text), self.stderr)[:room]
            self.stderr.write(f"\r{line:<{min(self._drawn, room)}}")
            self.stderr.flush()
            self._drawn = len(line)

    def wipe(self) -> None:
        """Remove the temporary line."""
        if self._drawn:
            self.stderr.write(f"\r{'':<{self._drawn}}\r")
            self.stderr.flush()
            self._drawn = 0

    def emit(self, event: str, /, **fields: JsonValue) -> None:
        """One JSON line; nothing without `--json`."""
        if self.json_lines:
            line = json.dumps({"event": event, **fields}, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
            with written():
                self.stdout.write(line + "\n")
                self.stdout.flush()

    def done(self, text: str) -> None:
        """Print the one sentence with a command's result."""
        self.emit("ok", text=text)
        self.say(text)

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
        """A table for people; columns named in `right` are aligned right. Nothing with `--json`.

        In a terminal it fits the width, in a pipe nothing is cut. Cells are plain text, never markup.
        """
        if self.json_lines:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        console = Console(file=self.stdout, highlight=False, emoji=False, markup=False)
        if not console.is_terminal:
            console.width = _PIPE_WIDTH
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for header in headers:
            whole = header in right or not console.is_terminal
            side: Literal["right", "left"] = "right" if header in right else "left"
            table.add_column(Text(header), justify=side, no_wrap=whole, overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(one_line(cell), self.stdout)) for cell in row))
        with written():
            console.print(table)
