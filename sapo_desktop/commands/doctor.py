"""doctor: what this installation and this node look like, for a person or for a bug report."""

from __future__ import annotations

import platform
import sys
from argparse import Namespace
from datetime import datetime
from pathlib import Path

from sapo_desktop import __version__
from sapo_desktop.commands.context import Context
from sapo_desktop.core.errors import SapoError
from sapo_desktop.worker.messages import Examine, Facts


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
    made = datetime.now().astimezone().isoformat(timespec="seconds")
    lines = [f"SAPO Desktop report, {made}", "", *(f"{name}: {value}" for name, value in facts.items())]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise SapoError(f"{path} could not be written: {error.strerror or error}.") from error
    context.out.emit("written", file=str(path.resolve()), what="report")
    context.out.say(f"Wrote the report to {path}")
