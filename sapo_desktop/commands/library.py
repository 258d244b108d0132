"""models: list installed models; download, import and remove models; the hub's token.

A running node is asked, because its settings apply. Otherwise the work is done here, also in a separate process: no
node is started, since it may lack that very model.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.commands.line.prompts import typed_secret
from sapo_desktop.core.errors import NotRunning, SapoError, UsageError, error_class
from sapo_desktop.core.models import Installed, Kept, Remove, Removed, Stage, TakeIn, Transfer
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.sentences import Text, quoted
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.secrets.kept_secrets import hub_token
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.wording import duration, percent, size
from sapo_desktop.view.words import STAGE_WORDS
from sapo_desktop.worker.control import unstarted
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages import models
from sapo_desktop.worker.control.messages.events import Stopping
from sapo_desktop.worker.hosts import librarian

_KEPT = "Complete files are kept. Run the same command to download the rest."


async def download(context: Context, args: Namespace) -> None:
    async def alone(settings: Settings, show: Show) -> Kept:
        data = DataFolder.open(context.folder)
        work = librarian.fetch(settings, data, args.model, args.file, show)
        return await (work if settings.silo else unstarted.while_out_of_silo(work, data.settings))

    await _install(context, args.model, models.DownloadModel(model=args.model, files=args.file), alone)


async def import_(context: Context, args: Namespace) -> None:
    path = str(Path(args.path).expanduser().absolute())  # the node has another working directory

    async def alone(settings: Settings, show: Show) -> Kept:
        folder = str(librarian.models_folder(settings))
        request = TakeIn(folder=folder, path=path, name=args.name)
        return await librarian.ask(request, DataFolder.open(context.folder), show)

    await _install(context, path, models.ImportModel(path=path, name=args.name), alone)


async def remove(context: Context, args: Namespace) -> None:
    removed: Removed | models.ModelRemoved
    async with context.if_running() as node:
        if node is None:
            settings = context.kept()
            librarian.check_unused(settings, args.name)
            request = Remove(folder=str(librarian.models_folder(settings)), name=args.name)
            removed = await librarian.ask(request, DataFolder.open(context.folder))
        else:
            removed = await call(node, models.RemoveModel(name=args.name))
    context.out.emit("removed", name=removed.name, bytes=removed.bytes)
    context.out.say(f"Removed {removed.name} ({size(removed.bytes)}).")


async def cancel(context: Context, args: Namespace) -> None:
    async with context.running() as node:
        text = str((await call(node, models.CancelModelWork())).text)
    context.out.done(text)


async def show(context: Context, args: Namespace) -> None:
    _show(context.out, await context.ask_if_running(models.GetModels()))


async def token(context: Context, args: Namespace) -> None:
    """The keyring belongs to the user, so no node is asked."""
    hub = librarian.endpoint()
    if args.switch == "set":
        await asyncio.to_thread(hub_token.keep, hub, _typed_token(context.out, hub))
        text = f"The token for {hub} is in this computer's keyring. It is sent to that hub only if a model requires it."
    elif await asyncio.to_thread(hub_token.forget, hub):
        text = f"The token for {hub} was deleted here. To revoke it, delete it on the hub's page of tokens."
    else:
        text = f"There was no token for {hub}."
    context.out.done(text)


# -- downloads and imports -------------------------------------------------------------------------------------


async def _install(
    context: Context,
    model: str,
    request: models.DownloadModel | models.ImportModel,
    alone: Callable[[Settings, Show], Awaitable[Kept]],
) -> None:
    """Let the running node do it, or do it here; show progress and result."""
    async with context.if_running() as node:
        with open_transfers(context.out, model) as show:
            if node is None:
                kept = await alone(context.kept(), show)
                installed, path, notes = kept.model, kept.path, kept.notes
            else:
                ended = await _followed(node, model, request, show)
                installed, path, notes = ended.installed, ended.path, ended.notes
    _show_installed(context, installed, path, notes)


async def _followed(
    node: Client, model: str, request: models.DownloadModel | models.ImportModel, show: Show
) -> models.ModelInstalled:
    """The node's work to its end. Ctrl-C here ends it there."""
    await call(node, request)
    try:
        async for event in node.events():
            match event:
                case models.ModelProgressed(transfer=transfer) if event.model == model:
                    show(transfer)
                case models.ModelInstalled() if event.model == model:
                    return event
                case models.ModelFailed(kind=kind, text=text) if event.model == model:
                    raise error_class(kind)(text)
                case Stopping(reason=reason):
                    raise SapoError(f"The node stopped: {reason} {_KEPT}")
                case _:
                    pass
    except asyncio.CancelledError:
        await asyncio.shield(call(node, models.CancelModelWork()))
        raise
    raise NotRunning(f"The node stopped. {_KEPT}")


def _show_installed(context: Context, model: Installed, path: str, notes: Sequence[Text]) -> None:
    context.out.emit("model", **_fields(model), path=path, notes=[str(note) for note in notes])
    context.out.say(f"{model.name} is installed ({size(model.bytes)}) in {path}")
    for note in notes:
        context.out.say(str(note))
    if not model.only_answers:
        context.out.say(f"Let it learn: sapo-desktop run{context.data_option} --model {quoted(model.name)}")


# -- words -----------------------------------------------------------------------------------------------------


def _show(out: Output, found: models.ModelsAre) -> None:
    for model in found.contents.models:
        out.emit("model", **_fields(model), path=str(Path(found.folder) / model.name))
    for part in found.contents.unfinished:
        out.emit("unfinished", name=part.name, bytes=part.bytes)
    for name, reason in found.contents.damaged.items():
        out.emit("damaged", name=name, reason=str(reason))
    rows = [[model.name, model.kind, size(model.bytes), _origin(model)] for model in found.contents.models]
    rows += [[part.name, "unfinished", size(part.bytes), ""] for part in found.contents.unfinished]
    rows += [[name, "damaged", "", str(reason)] for name, reason in found.contents.damaged.items()]
    if rows:
        out.table(["model", "kind", "size", "from"], rows, right=["size"])
        out.say(f"Each has its own folder in {found.folder}")
    else:
        out.say(f"No models are installed in {found.folder}. The starter comes with the app.")
    if found.working is not None:
        out.say(f"In progress: {found.working.model}")


def _fields(model: Installed) -> dict[str, str | int | float]:
    return {
        "name": model.name,
        "kind": model.kind,
        "source": model.source,
        "revision": model.revision,
        "bytes": model.bytes,
        "installed": model.installed,
    }


def _origin(model: Installed) -> str:
    return f"{model.source}@{model.revision[:12]}" if model.revision else model.source


def _typed_token(out: Output, hub: str) -> str:
    """From a terminal without echo, otherwise the first line of standard input, because others can see command
    lines."""
    try:
        line = typed_secret(out, f"Token for {hub}: ").strip() if sys.stdin.isatty() else sys.stdin.readline().strip()
    except EOFError:
        line = ""
    if not line:
        raise UsageError("Type the token in a terminal, or pass it on standard input.")
    return line


# How far a download or import is: the last line in a terminal, a line now and then in a pipe, JSON lines where asked
# for.


_SECONDS_BETWEEN = 10.0
"""Between two plain lines of one stage."""
Show = Callable[[Transfer], None]


@contextlib.contextmanager
def open_transfers(out: Output, model: str) -> Iterator[Show]:
    """What suits `out`, shown while the context is open."""
    if out.json_lines:
        yield _json(out, model)
    elif out.has_last_line:
        try:
            yield lambda transfer: out.passing(transfer_line(transfer))
        finally:
            out.wipe()
    else:
        yield _Lines(out)


def transfer_line(transfer: Transfer) -> str:
    """`downloading model.safetensors: 41%, 1.2 of 2.9 GB, 12 MB/s, 2m 10s left`."""
    if transfer.stage == "waiting":
        return one_line(str(transfer.text))
    words = f"{STAGE_WORDS[transfer.stage].lower()} {transfer.file}".rstrip()
    if not transfer.total:
        return words
    parts = [percent(transfer.done / transfer.total), f"{size(transfer.done)} of {size(transfer.total)}"]
    if transfer.speed:
        parts.append(f"{size(transfer.speed)}/s")
    if transfer.left is not None:
        parts.append(f"{duration(transfer.left)} left")
    return f"{words}: {', '.join(parts)}"


def _json(out: Output, model: str) -> Show:
    def show(transfer: Transfer) -> None:
        out.emit(
            "download",
            model=model,
            stage=transfer.stage,
            file=transfer.file,
            done=transfer.done,
            total=transfer.total,
            speed=round(transfer.speed),
            left=None if transfer.left is None else round(transfer.left),
            text=str(transfer.text),
        )

    return show


class _Lines:
    """A line when the stage changes, and every few seconds."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._stage: Stage | None = None
        self._shown_at = float("-inf")

    def __call__(self, transfer: Transfer) -> None:
        now = time.monotonic()
        if transfer.stage != self._stage or now - self._shown_at >= _SECONDS_BETWEEN:
            self._stage, self._shown_at = transfer.stage, now
            self._out.warn(transfer_line(transfer))
