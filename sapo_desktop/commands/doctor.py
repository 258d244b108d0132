"""doctor: what this installation and this node look like, for a person or for a bug report."""

from __future__ import annotations

import platform
import sys
import time
from argparse import Namespace
from pathlib import Path

from sapo_desktop import __version__
from sapo_desktop.commands.line.context import Context
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.settings import Settings
from sapo_desktop.system import diagnosis
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.logs import log_tail
from sapo_desktop.worker.control.messages.facts import Examine, Facts


async def doctor(context: Context, args: Namespace) -> None:
    """Say what is found. A node that does not start is a finding too, and the reason to fail afterwards."""
    facts = _own_facts(context)
    failure: SapoError | None = None
    try:
        facts |= (await context.ask(Examine(), Facts)).values
    except SapoError as error:
        failure = error
        facts["node"] = f"did not answer: {error}"
    if args.report is not None:
        _write_report(context, Path(args.report).expanduser(), facts)
    else:
        for name, value in facts.items():
            context.out.emit("fact", name=name, value=value)
        context.out.table(["fact", "value"], [[name, value] for name, value in facts.items()])
    if failure is not None:
        raise failure
    context.out.say("The node answers.")


def _own_facts(context: Context) -> dict[str, str]:
    return {
        "command line": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": platform.platform(),
        "data folder": str(context.folder) if context.folder.exists() else f"{context.folder} (not there yet)",
        "terminal": f"{sys.stdout.encoding}, {'interactive' if sys.stdout.isatty() else 'no terminal'}",
    }


def _write_report(context: Context, path: Path, facts: dict[str, str]) -> None:
    """What the window's diagnostics file holds too; also of a node that does not start."""
    folder = DataFolder.at(context.folder)
    log = log_tail(folder.log("worker"), diagnosis.LOG_LINES)
    diagnosis.write_report(path, facts, _settings(folder, facts), log, diagnosis.private_words(folder.root))
    context.out.emit("written", file=str(path.resolve()), what="report")
    context.out.say(f"Wrote the report to {path}. Look through it before you pass it on.")


def _settings(folder: DataFolder, facts: dict[str, str]) -> Settings | None:
    """Those that are kept; None where there are none, or the file is the trouble."""
    if not folder.settings.exists():
        return None
    try:
        return settings_file.read(folder.settings, time.time()).settings
    except SapoError as error:
        facts["settings"] = str(error)
        return None
