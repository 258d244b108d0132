"""What is asked of the model: eval, ask, export."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from sapo_desktop.commands.checkpoints import checkpoint_name
from sapo_desktop.commands.line.context import Context
from sapo_desktop.core.errors import UsageError
from sapo_desktop.terminal.json_lines import eval_fields
from sapo_desktop.terminal.plain import eval_line
from sapo_desktop.terminal.wording import duration, percent
from sapo_desktop.worker.control.messages.asking import Ask, Asked
from sapo_desktop.worker.control.messages.replies import Evaluated, Exported
from sapo_desktop.worker.control.messages.requests import Evaluate, ExportModel

MOST_SAMPLES = 64


async def evaluate(context: Context, args: Namespace) -> None:
    name = checkpoint_name(args.checkpoint)
    if args.samples > MOST_SAMPLES:
        raise UsageError(f"At most {MOST_SAMPLES} answers are drawn to each question.")
    if args.temperature and not args.samples:
        raise UsageError("--temperature is for drawn answers: say how many with --samples.")
    request = Evaluate(checkpoint=name, which=args.which, samples=args.samples, temperature=args.temperature)
    report = (await context.ask(request, Evaluated)).report
    context.out.emit("eval", **eval_fields(report))
    context.out.table(
        ["task", "questions", "solved", "partial"],
        [[mark.task, str(mark.answers), percent(mark.solved), f"{mark.partial:.2f}"] for mark in report.tasks],
        right=["questions", "solved", "partial"],
    )
    context.out.say(f"{eval_line(report)}, in {duration(report.seconds)}")
    if report.samples > 1:
        context.out.say(f"{percent(report.pass_at_k)} have a right one among {report.samples} answers.")


async def ask(context: Context, args: Namespace) -> None:
    # What the terminal's encoding could not say is replaced: the control channel carries UTF-8 only.
    question = os.fsencode(args.question).decode("utf-8", "replace").strip()
    if not question:
        raise UsageError('Write a question, such as: sapo-desktop ask "What is 17 + 25?"')
    name = checkpoint_name(args.checkpoint)
    reply = await context.ask(Ask(question=question, checkpoint=name, greedy=not args.sample), Asked)
    context.out.emit(
        "asked",
        question=question,
        checkpoint=name,
        text=reply.text,
        tokens=reply.tokens,
        seconds=round(reply.seconds, 3),
    )
    if not context.out.json_lines:
        context.out.say(reply.text or "(nothing)")


async def export(context: Context, args: Namespace) -> None:
    """The folder is the user's: it is resolved here, since the node has another working directory."""
    folder = Path(args.to).expanduser().resolve()
    name = checkpoint_name(args.checkpoint)
    reply = await context.ask(ExportModel(format=args.format, to=str(folder), checkpoint=name), Exported)
    context.out.emit("exported", format=args.format, checkpoint=name, folder=reply.folder, files=reply.files)
    context.out.say(f"Wrote {', '.join(reply.files)} to {reply.folder}")
