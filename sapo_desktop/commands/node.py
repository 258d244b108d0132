"""Commands to a running node: status, pause, resume, finish, quit, silo."""

from __future__ import annotations

import time
from argparse import Namespace
from datetime import datetime
from typing import NamedTuple

from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.core.errors import NotRunning
from sapo_desktop.core.link.requests import Request
from sapo_desktop.core.why import in_english
from sapo_desktop.terminal.swarm_words import relay_fields, relay_lines, swarm_line, swarm_lines
from sapo_desktop.terminal.wording import amount, duration, parse_duration, parse_until, percent, size
from sapo_desktop.view.fields import fields, round_fields
from sapo_desktop.worker.control.client import Client
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import (
    RelayStatus,
    StartingStatus,
    Status,
)
from sapo_desktop.worker.control.messages.requests import (
    Finish,
    GetCurve,
    GetHistory,
    GetSettings,
    GetStatus,
    Pause,
    Quit,
    Resume,
    SetSilo,
)

_COMMAND = " In a terminal: "
"""Marks a reason that ends in a command (core/sentences.py): a period would be typed along."""


async def status(context: Context, args: Namespace) -> None:
    try:
        async with context.running() as node:
            reply = await node.call(GetStatus(wait=False))
            learning = await _learning(node, reply) if isinstance(reply, Status) else _Learning()
    except NotRunning:
        context.out.emit("status", running=False, data=str(context.folder))
        raise
    if isinstance(reply, RelayStatus):
        context.out.emit("relay", **relay_fields(reply))
        context.out.say("\n".join(relay_lines(reply)))
        return
    if isinstance(reply, StartingStatus):
        reason = in_english(reply.why, time.time())
        context.out.emit("status", running=True, data=str(context.folder), state="starting", reason=reason)
        context.out.say(f"{reason} (for {duration(reply.uptime)}, process {reply.pid}).")
        return
    _emit_status(context, reply, learning)
    if not context.out.json_lines:
        context.out.say("\n".join(_status_lines(context, reply, learning)))


async def pause(context: Context, args: Namespace) -> None:
    """Pause at once; the reply says until when."""
    now = datetime.now().astimezone()
    seconds = None
    until = ""
    if args.span:
        seconds = parse_duration(args.span)
        until = f" for {duration(seconds)}, until {_moment(now.timestamp() + seconds, now)}"
    elif args.until:
        moment = parse_until(args.until, now)
        seconds = moment.timestamp() - now.timestamp()
        until = f" until {_moment(moment.timestamp(), now)}"
    await _tell(context, Pause(seconds=seconds), f"Paused{until}. Continue at once: sapo-desktop resume")


async def resume(context: Context, args: Namespace) -> None:
    """Continue; the reply says until when, if something holds the node back."""
    await _tell(context, Resume(anyway=parse_duration(args.anyway) if args.anyway else None), "Training continues.")


async def finish(context: Context, args: Namespace) -> None:
    await _tell(context, Finish(), "This round is finished, then the node pauses.")


async def quit_node(context: Context, args: Namespace) -> None:
    """End the node. If none runs, that is no failure."""
    try:
        await _tell(
            context,
            Quit(finish_round=args.finish),
            "The node stops after this round." if args.finish else "The node stops.",
        )
    except NotRunning:
        context.out.emit("ok", text="")
        context.out.say(f"No node runs in {context.folder}.")


async def silo(context: Context, args: Namespace) -> None:
    context.out.done(str((await context.ask(SetSilo(on=args.switch == "on"))).text))


async def _tell(context: Context, request: Request[Ok], words: str) -> None:
    async with context.running() as node:
        reply = await call(node, request)
    context.out.done(str(reply.text) or words)


class _Learning(NamedTuple):
    """Whether it learns, and how long things take, in the window's words."""

    sentence: str = ""
    times: str = ""
    round_left: float | None = None
    score_left: float | None = None


async def _learning(node: Client, found: Status) -> _Learning:
    """From what the window would know, without old rounds."""
    # Only if a node answers: it imports numpy.
    from sapo_desktop.view.learning import learning_sentence, round_left, score_left, time_sentence
    from sapo_desktop.view.link import Attached
    from sapo_desktop.view.viewmodel import KEPT_ROUNDS, View

    view = View()
    settings = await call(node, GetSettings())
    scores = await call(node, GetCurve(limit=1))
    recent = await call(node, GetHistory(after=max(0, found.round - KEPT_ROUNDS)))
    view.take(Attached(status=found, settings=settings, curve=scores))
    view.take_history(recent.rounds)
    return _Learning(str(learning_sentence(view)), str(time_sentence(view)), round_left(view), score_left(view))


def _moment(timestamp: float, now: datetime) -> str:
    """`14:30`, with the day if it is not today."""
    moment = datetime.fromtimestamp(timestamp).astimezone()
    return moment.strftime("%H:%M" if moment.date() == now.date() else "%A %d %B, %H:%M")


def _emit_status(context: Context, found: Status, learning: _Learning) -> None:
    values = fields(found, "why", "learned", "updates") | {
        "held": None if found.held is None else in_english(found.held, time.time()),
        "learns": learning.sentence,
        "round_left": learning.round_left,
        "score_left": learning.score_left,
        "peers": len(found.swarm.links),
        "swarm": swarm_line(found.swarm),
        "until": getattr(found.why, "until", None),
        "last": None if found.last is None else round_fields(found.last),
    }
    context.out.emit("status", running=True, data=str(context.folder), **values)


def _energy(found: Status) -> str:
    """Its energy over the whole history, and the resulting gain."""
    said = f"{found.usage.joules / 3.6e6:,.3f} kWh"
    if found.price_per_kwh:
        said += f" for {found.price_per_kwh * found.usage.joules / 3.6e6:,.2f}"
    if not found.usage.measured:
        said += " (estimated)"
    if found.validation is not None and found.base_validation is not None:
        said += f"; {100 * (found.validation - found.base_validation):+.1f} points held-out"
    return f"{said}; {found.swarm.used_total:,} groups that peers used" if not found.silo else said


def _status_lines(context: Context, found: Status, learning: _Learning) -> list[str]:
    mode = "silo" if found.silo else f"swarm, {amount(len(found.swarm.links), 'peer')}"
    lines = [
        found.reason if found.reason.endswith((".", "!", "?")) or _COMMAND in found.reason else f"{found.reason}.",
        *([f"Start     would wait. {in_english(found.held, time.time())}"] if found.held else []),
        f"Learns    {learning.sentence}",
        *([f"Time      {learning.times}"] if learning.times else []),
        f"Model     {found.model} on {found.device}, seed {found.seed}; {mode}; mix {found.mix}",
    ]
    left = "" if found.rounds_left is None else f", {found.rounds_left:,} to go"
    rate = "" if found.rounds_per_hour is None else f", {found.rounds_per_hour:,.0f} an hour"
    lines.append(f"Rounds    {found.round:,}{left}{rate}")
    if found.last is not None:
        lines.append(
            f"Reward    {found.last.reward:.2f} in round {found.last.round}, {percent(found.last.solved)} solved"
        )
    if found.answers_own:
        lines.append(f"Answers   {found.answers_own:,} given, {found.answers_shared:,} of them shared")
    if not found.silo:
        lines += swarm_lines(found.swarm)
    if found.validation is not None:
        lines.append(f"Held-out  base {percent(found.base_validation)}, now {percent(found.validation)}")
    if found.checkpoint is not None:
        lines.append(f"Kept      checkpoint {found.checkpoint} in {context.folder}")
    taken = found.usage
    lines.append(f"Takes     {taken.cores:.2f} cores, {size(taken.memory)} of memory, {taken.watts:.0f} W")
    if taken.joules:
        lines.append(f"Energy    {_energy(found)}")
    if found.resume_in is not None:
        lines.append(f"Resumes   in {duration(found.resume_in)}")
    lines.append(f"Process   {found.pid}, version {found.version}, up {duration(found.uptime)}")
    return lines
