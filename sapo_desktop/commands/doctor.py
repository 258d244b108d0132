"""doctor: the state of this installation and node, for a person or a bug report; engine: the engine pack of an
installed application; updates: whether a newer version exists."""

from __future__ import annotations

import asyncio
import platform
import sys
from argparse import Namespace
from pathlib import Path

from sapo_desktop import __version__
from sapo_desktop.commands.line.context import NO_RELAY, START_RELAY, Context, call
from sapo_desktop.core.errors import NotRunning, SapoError, UsageError
from sapo_desktop.core.records import Check
from sapo_desktop.core.sentences import quoted
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.system import diagnosis, installation, processes
from sapo_desktop.system.checks import computer_checks, last_written, relay_checks
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import other_engine
from sapo_desktop.system.logs import log_tail
from sapo_desktop.terminal.wording import size
from sapo_desktop.view.fields import fields
from sapo_desktop.worker.control.messages.facts import COMPUTING, Examine, Facts, GetUpdates, notice_line
from sapo_desktop.worker.control.notices import KeptNotices
from sapo_desktop.worker.control.unstarted import while_out_of_silo
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.hosts.updates import Looker

_SEND = "Follow the advice above. If that does not help, send a report: sapo-desktop doctor --report FILE"


async def doctor(context: Context, args: Namespace) -> None:
    """Print the findings. A node that does not start is a finding too, and makes the command fail."""
    facts, folder = _own_facts(context), DataFolder.at(context.folder)
    kept = _settings(context, facts)
    settings = kept or Settings()
    standing = Looker(folder).standing(settings)
    failure: SapoError | None = None
    relays = installation.only_relays()
    written = last_written(folder)
    try:
        found = await _of_the_relay(context) if relays else await context.ask(Examine())
        facts |= found.values
        heard = found.checks
    except SapoError as error:
        failure = error
        heard = [Check("node", "bad", f"It did not answer: {error}", _SEND)]
    if relays or "relay" in facts:
        del facts["engine pack"]
        here = await asyncio.to_thread(relay_checks, folder, written, standing)
    else:
        here = await asyncio.to_thread(computer_checks, folder, written, models_folder(settings), settings, standing)
    checks = [*here, *heard]
    if args.report is not None:
        _write_report(context, Path(args.report).expanduser(), checks, facts, kept)
    else:
        _show(context, checks, facts)
    if failure is not None:
        raise failure
    if failed := [check.name for check in checks if check.state == "bad"]:
        raise SapoError(f"Problems: {', '.join(failed)}. Each comes with advice.")
    waiting = next((check.found for check in checks if check.name == COMPUTING and check.state != "good"), "")
    if waiting:
        context.out.say(f"Nothing is broken, but this node is not computing now. {waiting}")
    else:
        context.out.say(f"Nothing keeps this {'relay' if relays or 'relay' in facts else 'node'} from working.")


async def _of_the_relay(context: Context) -> Facts:
    """The findings of a running relay; none is started, and a node could not be."""
    try:
        async with context.running() as relay:
            return await call(relay, Examine())
    except NotRunning:
        said = Check("relay", "limited", NO_RELAY, START_RELAY)
        return Facts(values={}, checks=[said])


def _show(context: Context, checks: list[Check], facts: dict[str, str]) -> None:
    out = context.out
    for check in checks:
        out.emit("check", **fields(check))
    for name, value in facts.items():
        out.emit("fact", name=name, value=value)
    if not out.json_lines:
        out.say("\n".join(line for check in checks for line in diagnosis.check_lines(check)) + "\n")
        out.table(["fact", "value"], [[name, value] for name, value in facts.items()])


def _own_facts(context: Context) -> dict[str, str]:
    return {
        "command line": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": platform.platform(),
        "engine pack": _engine_fact(),
        "data folder": str(context.folder) if context.folder.exists() else f"{context.folder} (not created yet)",
        "terminal": f"{sys.stdout.encoding}, {'interactive' if sys.stdout.isatty() else 'no terminal'}",
    }


def _write_report(
    context: Context, path: Path, checks: list[Check], facts: dict[str, str], settings: Settings | None
) -> None:
    """The same file as the window's diagnostics, also for a node that does not start."""
    folder = DataFolder.at(context.folder)
    log = log_tail(folder.log("worker"), diagnosis.LOG_LINES)
    said = [notice_line(one) for one in KeptNotices(folder.notices).newest()[-diagnosis.NOTICES :]]
    private = diagnosis.private_words(folder.root)
    diagnosis.save_report(path, diagnosis.report(checks, facts, settings, log, private, said=said))
    context.out.emit("written", file=str(path.resolve()), what="report")
    context.out.say(f"Wrote the report to {path}. Look through it before you share it.")


def _settings(context: Context, facts: dict[str, str]) -> Settings | None:
    """The stored settings; None if there are none, or their file is the problem."""
    if not DataFolder.at(context.folder).settings.exists():
        return None
    try:
        return context.kept()
    except SapoError as error:
        facts["settings"] = str(error)
        return None


async def engine(context: Context, args: Namespace) -> None:
    """Whether the engine pack is installed."""
    fact = _engine_fact()
    context.out.emit("engine", learns=installation.can_learn(), fact=fact)
    context.out.say(f"{fact[:1].upper()}{fact[1:]}.")


async def install_engine(context: Context, args: Namespace) -> None:
    """Install or replace the engine pack; an interrupted installation continues."""
    _installed_only()
    source = ["--from", str(_absolute(args.source))] if args.source else []
    await _engine_pack("install", str(installation.engine_folder()), *source)
    context.out.emit("installed", engine=str(installation.engine_folder()))
    context.out.say("Nodes started from now on can learn.")


async def fetch_engine(context: Context, args: Namespace) -> None:
    """Fill a folder, for a USB stick."""
    _installed_only()
    folder = str(_absolute(args.folder))
    await _engine_pack("fetch", folder)
    context.out.emit("written", file=folder, what="engine pack")
    context.out.say(f"On the other computer: sapo-desktop engine install --from {quoted(args.folder)}")


async def remove_engine(context: Context, args: Namespace) -> None:
    """Delete the engine pack of this user."""
    _installed_only()
    await _engine_pack("remove", str(installation.engine_folder()))
    context.out.done("The engine pack was removed. Nodes started from now on only answer.")


def _engine_fact() -> str:
    if installation.payload() is None:
        return "part of this installation" if installation.can_learn() else "missing: set this clone or wheel up again"
    found = installation.engine_pack()
    if found is None:
        return "missing, or from another version: sapo-desktop engine install"
    other = other_engine()
    return f"in {found}" + (f"; the one for {other} fits this computer now: sapo-desktop engine install" * bool(other))


def _installed_only() -> None:
    if installation.payload() is None:
        raise UsageError(
            "Only an installed application has an engine pack. In a clone: python3 installers/bootstrap.py setup"
        )


# -- newer versions --------------------------------------------------------------------------------------------


async def updates(context: Context, args: Namespace) -> None:
    """Print the standing of this version; `check`: ask first. The running node is asked, because its settings apply."""
    look = getattr(args, "action", None) == "check"
    try:
        async with context.running() as node:
            found = (await call(node, GetUpdates(look=look))).standing
    except NotRunning:
        found = await _alone(context, look)
    _show_standing(context, found)


async def _alone(context: Context, look: bool) -> Standing:
    if not look:
        return Looker(DataFolder.at(context.folder)).known(context.kept())
    settings, data = context.kept(), DataFolder.open(context.folder)
    return await while_out_of_silo(Looker(data).look(settings), data.settings)


def _show_standing(context: Context, found: Standing) -> None:
    out = context.out
    out.emit("updates", **fields(found))
    out.say(str(found.text))
    if not found.version:
        return
    out.say(f"\n{found.changelog.strip()}\n")
    rows = [[file.name, file.system, size(file.bytes)] for file in found.files]
    out.table(["file", "system", "size"], rows, right=["size"])
    if found.page:
        out.say(f"Where to get it: {found.page}")


def _absolute(folder: str) -> Path:
    return Path(folder).expanduser().absolute()


async def _engine_pack(*words: str) -> None:
    """Run a separate process, which shows its progress on standard error."""
    process = await asyncio.create_subprocess_exec(
        *processes.python_command("installers.engine_pack"), *words, env=processes.python_environment({})
    )
    try:
        if await process.wait():
            raise SapoError("The engine pack is damaged; see the reason above.")
    finally:
        if process.returncode is None:  # Ctrl-C reaches it too, and it prints a last message
            await process.wait()
