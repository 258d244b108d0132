"""Commands about the model: eval, ask, export; checkpoints list, back."""

from __future__ import annotations

from argparse import Namespace
from datetime import datetime
from pathlib import Path

from sapo_desktop.commands.line.context import Context
from sapo_desktop.commands.line.prompts import as_utf8
from sapo_desktop.core.errors import UsageError
from sapo_desktop.terminal.views import eval_line
from sapo_desktop.terminal.wording import amount, duration, nearest, percent, size
from sapo_desktop.view.completion import parted, without_tags
from sapo_desktop.view.fields import eval_fields, fields
from sapo_desktop.worker.control.messages.asking import Ask
from sapo_desktop.worker.control.messages.replies import CheckpointInfo
from sapo_desktop.worker.control.messages.requests import (
    Evaluate,
    ExportModel,
    GetComparisons,
    ListCheckpoints,
    RollBack,
)


async def checkpoints(context: Context, args: Namespace) -> None:
    context.need_folder()
    found = await context.ask(ListCheckpoints())
    rows = []
    for item in found.items:
        context.out.emit("checkpoint", **fields(item))
        names = [name for name, holds in (("best", item.best), ("last", item.last)) if holds]
        rows.append([*_cells(item), ", ".join(names)])
    headers = ["checkpoint", "round", "held-out", "written", "size", ""]
    context.out.table(headers, rows, right=["checkpoint", "round", "held-out", "size"])


async def compare(context: Context, args: Namespace) -> None:
    """The current model compared with each that learned here before, on the same held-out questions."""
    context.need_folder()
    found = (await context.ask(GetComparisons())).items
    for one in found:
        context.out.emit("comparison", **fields(one))
        for model in (one.ours, one.other):
            context.out.say(f"{model.name}: {percent(model.base)} -> {percent(model.now)}")
        low, value, high = (100 * part for part in (one.difference.low, one.difference.value, one.difference.high))
        context.out.say(
            f"  on the same {amount(one.questions, 'held-out question')} ({one.which}); {one.ours.name} over "
            f"{one.other.name}: {value:+.0f} points ({low:+.0f} to {high:+.0f})"
        )
    if not found:
        context.out.say(
            "No two models have answered the same held-out questions here yet. To ask each the same: "
            f"sapo-desktop eval{context.data_option} --test"
        )


def _cells(item: CheckpointInfo) -> list[str]:
    """Number 0 stands for the base: it is part of the model, so it has no time and no size."""
    if item.number == 0:
        return ["base", "0", percent(item.validation), "", ""]
    made = datetime.fromtimestamp(item.created).strftime("%Y-%m-%d %H:%M")
    return [str(item.number), str(item.round), percent(item.validation), made, size(item.bytes)]


async def back(context: Context, args: Namespace) -> None:
    context.need_folder()
    if args.to == "last":
        raise UsageError("The node is at its last checkpoint already. Go back to base, best, or a number.")
    checkpoint_name(args.to)
    reply = await context.ask(RollBack(to=args.to))
    context.out.done(str(reply.text))


def checkpoint_name(name: str) -> str:
    """`name` if it is valid; otherwise raises UsageError."""
    if name in ("base", "best", "last") or (name.isascii() and name.isdigit()):
        return name
    hint = nearest(name, ["base", "best", "last"])
    raise UsageError(f"{name!r} is not a checkpoint. Write base, best, last or a number.{hint}")


_MOST_SAMPLES = 64


async def evaluate(context: Context, args: Namespace) -> None:
    name = checkpoint_name(args.checkpoint)
    if args.samples > _MOST_SAMPLES:
        raise UsageError(f"At most {_MOST_SAMPLES} answers can be sampled per question. Ask for fewer with --samples.")
    if args.temperature and not args.samples:
        raise UsageError("--temperature is for sampled answers. Say how many with --samples.")
    if args.level and args.which != "test":
        raise UsageError("--level is for the test questions. There are too few validation questions of each level.")
    request = Evaluate(
        checkpoint=name,
        which=args.which,
        level=args.level,
        tasks=args.tasks,
        samples=args.samples,
        temperature=args.temperature,
    )
    report = (await context.ask(request)).report
    context.out.emit("eval", **eval_fields(report))
    context.out.table(
        ["task", "questions", "solved", "partial"],
        [[mark.task, str(mark.answers), percent(mark.solved), f"{mark.partial:.2f}"] for mark in report.tasks],
        right=["questions", "solved", "partial"],
    )
    context.out.say(f"{eval_line(report)}, in {duration(report.seconds)}")
    if report.too_long:
        are = "is" if report.too_long == 1 else "are"
        context.out.say(
            f"{amount(report.too_long, 'question')} {are} too long for this model, so counted as not solved."
        )
    if name == "last" and not report.round:
        context.out.say("No round was finished here: this is the untrained model.")
    if report.samples > 1:
        context.out.say(f"{percent(report.pass_at_k)} have a right one among {report.samples} answers.")


async def ask(context: Context, args: Namespace) -> None:
    question = as_utf8(args.question).strip()
    if not question:
        raise UsageError('Write a question, such as: sapo-desktop ask "What is 17 + 25?"')
    name = checkpoint_name(args.checkpoint)
    reply = await context.ask(Ask(question=question, checkpoint=name, greedy=not args.sample))
    context.out.emit(
        "asked",
        question=question,
        checkpoint=name,
        text=reply.text,
        tokens=reply.tokens,
        seconds=round(reply.seconds, 3),
    )
    if not context.out.json_lines:
        answer, steps = parted(reply.text)
        said = [part for part in (steps, answer) if part] or [without_tags(reply.text) or "(nothing)"]
        context.out.say("\n".join(said))


async def export(context: Context, args: Namespace) -> None:
    """The folder is the user's: it is resolved here, because the node has another working directory."""
    folder = Path(args.to).expanduser().resolve()
    name = checkpoint_name(args.checkpoint)
    reply = await context.ask(ExportModel(format=args.format, to=str(folder), checkpoint=name))
    context.out.emit("exported", format=args.format, checkpoint=name, folder=reply.folder, files=reply.files)
    context.out.say(f"Wrote {', '.join(reply.files)} to {reply.folder}")
