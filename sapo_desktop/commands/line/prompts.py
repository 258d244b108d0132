"""What a person types when a command asks. Ctrl-C at a prompt ends the command.

Questions go to standard error, so that standard output stays the command's result. What is typed is not judged here.
"""

from __future__ import annotations

import contextlib
import getpass
import sys
from collections.abc import Iterator

from sapo_desktop.commands.line.signals import interruptible
from sapo_desktop.core.errors import UsageError
from sapo_desktop.terminal.output import Output

_LONGEST_LINE = 64 * 1024
"""Characters read of what is typed; whoever asks expects far fewer."""


def typed_line(out: Output, prompt: str) -> str:
    """One line from standard input, empty at its end; only a terminal is shown the prompt.

    Raises:
        UsageError: it is no text.
    """
    try:
        with _at_prompt(out):
            if sys.stdin.isatty():
                out.stderr.write(prompt)
                out.stderr.flush()
            return sys.stdin.readline(_LONGEST_LINE)
    except UnicodeDecodeError as error:
        raise UsageError("What was typed is no text in this terminal's encoding: nothing was done with it.") from error


def typed_secret(out: Output, prompt: str) -> str:
    """One line that is not shown while it is typed. Raises EOFError where there is nobody to type it."""
    with _at_prompt(out):
        return getpass.getpass(prompt)


@contextlib.contextmanager
def _at_prompt(out: Output) -> Iterator[None]:
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        out.stderr.write("\n")  # what is said next begins a line of its own
        raise
