"""The commands of `bootstrap.py`, once it runs on a supported Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

from installers import reference
from installers.bootstrap import call_through
from installers.environment import is_ready, prepare
from installers.set_up_window import is_wanted, set_up_window
from installers.tool import clean_environment
from installers.trouble import SetupError


def run_command(root: str, arguments: list[str], usage: str) -> int:
    """Runs the command named by the first argument and returns the exit code; with `run` the node replaces this
    process."""
    place = Path(root)
    try:
        match arguments:
            case ["run", *options]:
                started = product([one for one in options if one != reference.NO_MODEL])
                with set_up_window(sys.stderr, is_wanted(started) and not is_ready(place, "run")) as out:
                    python = _set_up(place, out, model=reference.NO_MODEL not in options)
                return _start(python, ["-m", "sapo_desktop", *started])
            case ["relay", *options]:
                return _start(prepare(place, "relay", sys.stderr), ["-m", "sapo_desktop", "relay", *options])
            case ["setup"] | ["setup", reference.NO_MODEL]:
                _set_up(place, sys.stderr, model=not arguments[1:])
                return 0
            case ["setup", "relay" | "test" as purpose]:
                prepare(place, "test" if purpose == "test" else "relay", sys.stderr)
                return 0
            case ["test"] | ["test", "--slow"]:
                return _test(place, slow=len(arguments) == 2)
            case ["llama"]:
                return _llama(place)
            case ["-h" | "--help" | "help"]:
                sys.stdout.write(usage)
                return 0
            case _:
                sys.stderr.write(usage)
                return 2
    except SetupError as error:
        sys.stderr.write(f"\n{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. The same command continues from here.\n")
        return 1


def _set_up(root: Path, out: TextIO, *, model: bool) -> Path:
    """The environment's interpreter. A setup with any work to do downloads a model at its end."""
    ready = is_ready(root, "run")
    python = prepare(root, "run", out)
    if model and not ready:
        reference.fetch(python, out)
    return python


def product(options: list[str]) -> list[str]:
    """What `run` starts: the window, which plays in the terminal if it cannot open or `--terminal` is given. Other
    options (`--rounds`, `--silo`, ...) belong to a single run, in the terminal."""
    words = iter(options)
    for word in words:
        if word == "--data":
            next(words, None)
        elif not word.startswith("--data=") and word not in ("--debug", "--tray", "--terminal"):
            return ["run", *(one for one in options if one != "--terminal")]
    return options


def _start(python: Path, arguments: list[str]) -> int:
    # The node and the processes it starts import modules from the environment, never from the current folder.
    env = {**clean_environment(os.environ), "PYTHONSAFEPATH": "1"}
    if os.name == "nt":  # exec would return the console while the node still runs
        return call_through([str(python), *arguments], env)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(python, [str(python), *arguments], env)


def _test(root: Path, slow: bool) -> int:
    from installers.checks import run_checks
    from installers.llama import provide

    prepare(root, "slow" if slow else "test", sys.stderr)
    provide(root, sys.stderr)
    return run_checks(root, slow, sys.stdout, dict(os.environ))


def _llama(root: Path) -> int:
    from installers.llama import provide

    prepare(root, "run", sys.stderr)
    return 0 if provide(root, sys.stderr) else 1
