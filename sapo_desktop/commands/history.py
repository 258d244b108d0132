"""history: the finished rounds as a table or CSV, or the stored answers as JSON lines."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TextIO

from sapo_desktop.commands.line.context import Context, call, status_of
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.records import RoundReport, json_line
from sapo_desktop.terminal.output import written
from sapo_desktop.terminal.wording import amount, duration, percent
from sapo_desktop.view.fields import RoundsFile, fields, round_fields
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages.replies import Status
from sapo_desktop.worker.control.messages.requests import GetHistory, GetSources
from sapo_desktop.worker.control.messages.rollouts import GetRollouts, Rollout

SHOWN_ROUNDS = 20


async def history(context: Context, args: Namespace) -> None:
    context.need_folder()
    async with context.any_node() as node:
        if args.csv is not None:
            await _write_csv(context, node, args.csv)
        elif args.sources:
            await _show_sources(context, node)
        elif args.rollouts is not None:
            await _write_rollouts(context, node, args.rollouts)
        else:
            await _show(context, node)


async def _show(context: Context, node: Client) -> None:
    """The newest rounds; with `--json` all of them."""
    status = await status_of(node)
    after = 0 if context.out.json_lines else max(0, status.round - SHOWN_ROUNDS)
    rows = []
    async for report in _rounds(node, after):
        context.out.emit("round", **round_fields(report))
        rows.append(
            [
                str(report.round),
                f"{report.reward:.2f}",
                percent(report.solved),
                f"{report.partial:.2f}",
                duration(report.seconds),
                "" if report.checkpoint is None else str(report.checkpoint),
                report.note,
            ]
        )
    if not rows:
        _say_none(context, status)
        return
    headers = ["round", "reward", "solved", "partial", "time", "checkpoint", "note"]
    context.out.table(headers, rows, right=headers[:6])


def _say_none(context: Context, status: Status) -> None:
    if status.state == "idle":
        context.out.say(f"No rounds yet. Start with: sapo-desktop run{context.data_option}")
    else:
        context.out.say(f"No round is finished yet. {status.reason.rstrip('.')}.")


async def _show_sources(context: Context, node: Client) -> None:
    """Show sources by author, over all tasks; with `--json` a line per author and task."""
    items = (await call(node, GetSources())).items
    for item in items:
        context.out.emit("source", **fields(item))
    if not items:
        _say_none(context, await status_of(node))
        return
    total = sum(item.weight for item in items) or 1.0
    rows = []
    authors = {(item.origin, item.author) for item in items}
    weights = {one: sum(i.weight for i in items if (i.origin, i.author) == one) for one in authors}
    for origin, author in sorted(authors, key=lambda one: (-weights[one], one)):
        theirs = [item for item in items if (item.origin, item.author) == (origin, author)]
        most = ", ".join(item.task for item in theirs[:3]) + (" ..." if len(theirs) > 3 else "")
        groups = f"{sum(item.groups for item in theirs):,}"
        name = author[:16] or ("others" if origin == "peer" else "this node")
        rows.append([name, origin, groups, percent(weights[origin, author] / total), most])
    headers = ["from", "kind", "groups", "weight", "most on"]
    context.out.table(headers, rows, right=headers[2:4])


async def _write_csv(context: Context, node: Client, name: str) -> None:
    with _writing(context, name) as stream:
        file = RoundsFile(stream, as_csv=True)
        async for report in _rounds(node, 0):
            file.add([report])
    _say_written(context, name, amount(file.count, "round"))


async def _write_rollouts(context: Context, node: Client, name: str) -> None:
    count = 0
    with _writing(context, name) as stream:
        async for rollout in _rollouts(node):
            stream.write(json_line(rollout))
            count += 1
    _say_written(context, name, amount(count, "answer"))


def _say_written(context: Context, name: str, what: str) -> None:
    if name != "-":
        context.out.emit("written", file=str(Path(name).expanduser().resolve()), what=what)
        context.out.say(f"Wrote {what} to {name}")


@contextlib.contextmanager
def _writing(context: Context, name: str) -> Iterator[TextIO]:
    """The file, or stdout for `-`; disk errors become one sentence."""
    if name == "-":
        with written():
            yield context.out.stdout
        return
    try:
        with Path(name).expanduser().open("w", encoding="utf-8", newline="") as stream:
            yield stream
    except OSError as error:
        raise SapoError(f"{name} could not be written: {error.strerror or error}. Choose another file.") from error


async def _rounds(node: Client, after: int) -> AsyncIterator[RoundReport]:
    """All rounds after round `after`, page by page."""
    more = True
    while more:
        page = await call(node, GetHistory(after=after))
        for report in page.rounds:
            yield report
        more = page.more and bool(page.rounds)
        after = page.rounds[-1].round if page.rounds else after


async def _rollouts(node: Client) -> AsyncIterator[Rollout]:
    """All stored answers, page by page; a page ends with a round's last answer."""
    after = 0
    more = True
    while more:
        page = await call(node, GetRollouts(after=after))
        for rollout in page.items:
            yield rollout
        more = page.more and bool(page.items)
        after = page.items[-1].round if page.items else after
