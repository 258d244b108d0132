"""`sapo-desktop`: parses the command line, runs one command, and turns failures into one sentence and an exit code.

0 done, 1 failed with a reason, 2 wrong usage. The commands are in `commands/`; this module imports nothing slow, so
that `--help` and `status` answer at once.
"""

from __future__ import annotations

import asyncio
import faulthandler
import importlib
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.sentences import quoted
from sapo_desktop.terminal.output import Output, written

if TYPE_CHECKING:
    from sapo_desktop.commands.line.context import Context
    from sapo_desktop.commands.line.door import Door

Command = Callable[["Context", Namespace], Awaitable[None]]


def main(arguments: Sequence[str] | None = None, door: Door | None = None) -> int:
    """Run one command; returns the exit code. `door`: another way to reach nodes (tests)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    if arguments is None:
        faulthandler.enable()
    out = Output("--json" in words)
    debug = "--debug" in words
    try:
        try:
            return _main(words, out, door)
        finally:
            _flush()
    except SapoError as error:
        if debug:
            traceback.print_exc()
        out.warn(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        out.warn("Interrupted.")
        return 1
    except BrokenPipeError:
        return 1  # the reader has ended (`... | head`), which is no failure
    except Exception as error:  # noqa: BLE001  the process's edge: a bug is shown as one
        if debug:
            traceback.print_exc()
        what = f"{type(error).__name__}: {error}"
        out.warn(f"This is a bug in SAPO Desktop: {what}. Please report it, with what the command says with --debug.")
        return 1


def _flush() -> None:
    """Write the buffered output. If that fails, drop it: Python would try again at exit, complain, and end with 120."""
    try:
        with written():
            sys.stdout.flush()
    except (BrokenPipeError, SapoError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _open_streams() -> None:
    """Under pythonw, and after `>&-`, some are missing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  for as long as we run


def _main(words: list[str], out: Output, door: Door | None) -> int:
    from sapo_desktop.commands.line.parser import build_parser

    parser = build_parser()
    link = words.pop(0) if words and words[0].startswith("sapo://") else ""
    args = parser.parse_args(words)
    _check_encoding(words, getattr(args, "function", ""))
    if not hasattr(args, "function"):
        why = _why_in_terminal(args)
        if not why:
            return _window(args, out, link)
        if link:
            raise UsageError(f"{why} To follow the link in the terminal: sapo-desktop run --invite {quoted(link)}")
        _agree_to_terminal(args, out, why)
        args = parser.parse_args([*(word for word in words if word != "--terminal"), "run"])
    elif link or args.tray:
        raise UsageError(f"With a command no window opens: leave out {'the link' if link else '--tray'}.")
    try:
        asyncio.run(_run_command(args, out, door))
    except OSError as error:
        raise _explained(error, args) from error
    return 0


def _check_encoding(words: Sequence[str], function: str) -> None:
    """Names and values are stored and sent as UTF-8; a question to the model may contain anything."""
    if function in ("model:ask", "answer:answer"):
        return
    for word in words:
        if word.encode("utf-8", "replace").decode() != word:
            raise UsageError(f"{word!r} is no UTF-8: rename the file, or set the terminal to UTF-8.")


def _explained(error: OSError, args: Namespace) -> Exception:
    """A refusal of the operating system as a sentence; other errors unchanged."""
    from sapo_desktop.system.folders import explained

    if error.errno is None or isinstance(error, BrokenPipeError):
        return error
    folder, name = _data_folder(args), error.filename
    if name is None:
        return SapoError(f"Something could not be read or written: {error.strerror}.")
    if isinstance(name, str) and Path(name).is_relative_to(folder):
        return explained(error, folder)
    return SapoError(f"{name}: {error.strerror}.")


def _why_in_terminal(args: Namespace) -> str:
    """Why a start without a command opens no window but plays in the terminal; empty if it opens one.

    Raises:
        SapoError: neither is possible as requested.
    """
    from sapo_desktop.system.desktop.display import TERMINAL, why_no_window

    if args.tray and args.terminal:
        raise UsageError("--tray is for the window: leave out --terminal, or --tray.")
    if args.terminal or getattr(args, "json", False):
        return "No window, as asked."
    why = why_no_window()
    if why and args.tray:
        raise SapoError(f"{why} {TERMINAL}")
    return why


def _agree_to_terminal(args: Namespace, out: Output, why: str) -> None:
    """Say that rounds are played in the terminal. A person who expected a window is asked first.

    Raises:
        SapoError: the person refused; names the command to type.
    """
    from sapo_desktop.system.desktop.display import TERMINAL, expects_window

    if args.terminal or getattr(args, "json", False) or not expects_window():
        out.warn(f"{why} Playing in the terminal.")
        return
    if sys.stdin.isatty() and out.stderr.isatty():
        from sapo_desktop.commands.line.prompts import typed_line

        out.warn(why)
        if typed_line(out, "Play in the terminal instead? [y/N] ").strip().lower() in ("y", "yes"):
            return
        why = "Nothing was started."
    raise SapoError(f"{why} {TERMINAL}{_data_option(args)}")


def _window(args: Namespace, out: Output, link: str) -> int:
    if sys.stderr.isatty():
        out.warn("Opening the window. Ctrl-C here quits it, as its menu does; --terminal plays here instead.")
    from sapo_desktop.gui.shell.app import main as show_window

    return show_window(_data_folder(args), hidden=args.tray, link=link)


async def _run_command(args: Namespace, out: Output, door: Door | None) -> None:
    from sapo_desktop.commands.line.context import Context
    from sapo_desktop.commands.line.door import Door

    module, _, name = args.function.partition(":")
    command: Command = getattr(importlib.import_module(f"sapo_desktop.commands.{module}"), name)
    await command(Context(_data_folder(args), _data_option(args), out, door or Door()), args)


def _data_option(args: Namespace) -> str:
    """The option that names the same data folder in another command."""
    given = getattr(args, "data", None)
    return "" if given is None else f" --data {quoted(given)}"


def _data_folder(args: Namespace) -> Path:
    """The data folder that the user named, or the user's own; nothing is created."""
    from sapo_desktop.system.folders import DataFolder

    given = getattr(args, "data", None)
    if given == "":
        raise UsageError("--data needs a folder.")
    return DataFolder.at(None if given is None else Path(given)).root
