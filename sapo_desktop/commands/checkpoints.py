"""checkpoints list, back."""

from __future__ import annotations

from argparse import Namespace
from datetime import datetime

from sapo_desktop.commands.line.context import Context
from sapo_desktop.core.errors import UsageError
from sapo_desktop.terminal.json_lines import share
from sapo_desktop.terminal.wording import nearest, percent, size
from sapo_desktop.worker.control.messages.replies import CheckpointInfo, Checkpoints, Ok
from sapo_desktop.worker.control.messages.requests import ListCheckpoints, RollBack


async def show(context: Context, args: Namespace) -> None:
    context.need_folder()
    found = await context.ask(ListCheckpoints(), Checkpoints)
    rows = []
    for item in found.items:
        context.out.emit(
            "checkpoint",
            number=item.number,
            round=item.round,
            created=item.created,
            bytes=item.bytes,
            validation=share(item.validation),
            best=item.best,
            last=item.last,
        )
        names = [name for name, holds in (("best", item.best), ("last", item.last)) if holds]
        rows.append([*_cells(item), ", ".join(names)])
    headers = ["checkpoint", "round", "held-out", "written", "size", ""]
    context.out.table(headers, rows, right=["checkpoint", "round", "held-out", "size"])


def _cells(item: CheckpointInfo) -> list[str]:
    """Number 0 stands for the base: it is part of the model, so nobody wrote it and it takes no room."""
    if item.number == 0:
        return ["base", "0", percent(item.validation), "", ""]
    made = datetime.fromtimestamp(item.created).strftime("%Y-%m-%d %H:%M")
    return [str(item.number), str(item.round), percent(item.validation), made, size(item.bytes)]


async def back(context: Context, args: Namespace) -> None:
    context.need_folder()
    if args.to == "last":
        raise UsageError("The node is at its last checkpoint already: go back to base, best, or a number.")
    checkpoint_name(args.to)
    reply = await context.ask(RollBack(to=args.to), Ok)
    words = str(reply.text) or f"Training goes on from {args.to}."
    context.out.emit("ok", text=words)
    context.out.say(words)


def checkpoint_name(name: str) -> str:
    """`name`, if it can be one; UsageError else."""
    if name in ("base", "best", "last") or (name.isascii() and name.isdigit()):
        return name
    hint = nearest(name, ["base", "best", "last"])
    raise UsageError(f"{name!r} is no checkpoint: write base, best, last or a number.{hint}")
