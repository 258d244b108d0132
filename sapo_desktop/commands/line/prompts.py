"""What a person types at a command's prompt. Ctrl-C at a prompt ends the command.

Questions go to standard error, so that standard output stays the command's result. The input is not validated here.
Passphrases come from the environment for scripts; otherwise they are typed without echo. Consent to publishing is asked
once, stored in the settings, and withdrawn by `settings set share off`.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import sys
import textwrap
from collections.abc import Iterator

from msgspec import structs

from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.commands.line.signals import interruptible
from sapo_desktop.core.consent import WHAT_IS_PUBLISHED
from sapo_desktop.core.errors import PassphraseNeeded, UsageError
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.terminal.output import Output

_LONGEST_LINE = 64 * 1024
"""Maximum characters of input, far more than any caller expects."""


def typed_line(out: Output, prompt: str) -> str:
    """One line from standard input, empty at its end; only a terminal shows the prompt.

    Raises:
        UsageError: it is not text.
    """
    try:
        with _at_prompt(out):
            if sys.stdin.isatty():
                out.stderr.write(prompt)
                out.stderr.flush()
            return sys.stdin.readline(_LONGEST_LINE)
    except UnicodeDecodeError as error:
        raise UsageError(
            "This terminal sent characters that cannot be read, so nothing was done. Type it again, or set it to UTF-8."
        ) from error


def typed_secret(out: Output, prompt: str) -> str:
    """One line without echo. Raises EOFError if nobody can type it."""
    with _at_prompt(out):
        return getpass.getpass(prompt)


def as_utf8(text: str) -> str:
    """Undecodable characters of the terminal are replaced: the control channel carries UTF-8 only."""
    return os.fsencode(text).decode("utf-8", "replace")


@contextlib.contextmanager
def _at_prompt(out: Output) -> Iterator[None]:
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        out.stderr.write("\n")  # the next output begins on a new line
        raise


PASSPHRASE = "SAPO_PASSPHRASE"


def typed_passphrase(context: Context, *, twice: bool = False) -> str:
    """The passphrase of the environment, otherwise a typed one; a new one (`twice`) must be repeated.

    Raises:
        UsageError: nobody can type one, a new one is too short, or the two differ.
    """
    if given := os.environ.get(PASSPHRASE):
        return given
    try:
        typed = typed_secret(context.out, "Passphrase: ")
        if twice:
            _check_length(typed)
            if typed_secret(context.out, "Once more: ") != typed:
                raise UsageError("The two passphrases differ; nothing was changed. Type the same one twice.")
    except EOFError as error:
        raise UsageError(f"A passphrase is needed: type it in a terminal, or set {PASSPHRASE}.") from error
    return typed


def _check_length(passphrase: str) -> None:
    from sapo_desktop.system.identity import SHORTEST_PASSPHRASE  # imports the keyring's libraries: not at every start

    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise UsageError(f"The passphrase needs at least {SHORTEST_PASSPHRASE} characters; nothing was changed.")


async def ask_with_passphrase(
    context: Context,
    request: Request[ReplyType],
    *,
    twice: bool = False,
) -> ReplyType:
    """Send a request with the passphrase of the environment, if any; if one is needed and missing, ask for it."""
    async with context.any_node() as node:
        try:
            return await call(node, structs.replace(request, passphrase=os.environ.get(PASSPHRASE)))
        except PassphraseNeeded as needed:
            context.out.warn(str(needed))
            typed = typed_passphrase(context, twice=twice)
            return await call(node, structs.replace(request, passphrase=typed))


_HERE = (
    "In a terminal: `sapo-desktop answer` asks you a question, `sapo-desktop settings set share off` ends sharing, "
    "`sapo-desktop identity new` draws another identity."
)
_WIDTH = 115


def ask_consent(context: Context) -> None:
    """Ask a person at a terminal; in a script `--share` itself is consent. UsageError if it is refused."""
    context.out.warn("\n".join(textwrap.fill(text, _WIDTH) for text in (*WHAT_IS_PUBLISHED, _HERE)))
    if not (sys.stdin.isatty() and context.out.stderr.isatty()):
        return
    if typed_line(context.out, "Publish answers from now on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing is shared. Without --share the node draws others' answers and learns from them.")
