"""tasks list, show, try, add, remove."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from sapo_desktop.commands.line.context import Context, call
from sapo_desktop.commands.line.prompts import typed_line
from sapo_desktop.core.errors import TaskError, UsageError
from sapo_desktop.core.records import Mark
from sapo_desktop.terminal.wording import nearest, percent
from sapo_desktop.view.fields import fields
from sapo_desktop.view.words import VERDICT_WORDS
from sapo_desktop.worker.control.messages.asking import Tried, TryTask
from sapo_desktop.worker.control.messages.replies import TaskInfo, TasksRead
from sapo_desktop.worker.control.messages.requests import AddTasks, ListTasks, ReadTasks, RemoveTasks


async def show_all(context: Context, args: Namespace) -> None:
    found = await context.ask(ListTasks(examples=context.out.json_lines))
    for item in found.items:
        _emit_task(context, item)
    context.out.table(
        ["task", "title", "solved lately", "answers", ""],
        [
            [
                task_name(item),
                item.title,
                percent(item.solved),
                f"{item.answers:,}",
                " ".join(["own"] * item.own + ["in training"] * item.training),
            ]
            for item in found.items
        ],
        right=["solved lately", "answers"],
    )
    for reason in found.left_out:
        context.out.emit("left_out", reason=str(reason))
        context.out.say(f"Left out: {reason}")


async def add(context: Context, args: Namespace) -> None:
    """Add a file; if it can be read in several ways, a person at a terminal chooses."""
    path = Path(args.file).expanduser().absolute()
    how = {"answers": args.answers, "encoding": args.encoding}
    if sys.stdin.isatty() and not context.out.json_lines:
        while (read := await context.ask(ReadTasks(path=str(path), **how))).choices:
            how[read.asked] = _chosen(context, read)
    done = await context.ask(AddTasks(path=str(path), **how))
    context.out.emit("added", family=path.stem, text=str(done.text))
    context.out.say(str(done.text))


def _chosen(context: Context, read: TasksRead) -> str:
    """The value of the choice with the typed number. Raises UsageError for anything else."""
    lines = [str(read.text), ""]
    for number, choice in enumerate(read.choices, 1):
        shown = "; ".join(f"{row.question} → {row.answer}" if row.answer else row.question for row in choice.first)
        lines.append(f"{number}  {choice.label}: {shown}")
    context.out.warn("\n".join(lines))
    typed = typed_line(context.out, f"Read it as [1-{len(read.choices)}, or Enter to add nothing] ").strip()
    if typed not in map(str, range(1, len(read.choices) + 1)):
        raise UsageError("Nothing was added.")
    return read.choices[int(typed) - 1].value


async def remove(context: Context, args: Namespace) -> None:
    done = await context.ask(RemoveTasks(name=args.name))
    context.out.emit("removed", family=args.name, text=str(done.text))
    context.out.say(str(done.text))


async def show(context: Context, args: Namespace) -> None:
    found = await context.ask(ListTasks())
    for item in find_tasks(found.items, args.name):
        _emit_task(context, item)
        if not context.out.json_lines:
            context.out.say("\n".join(_task_lines(item)) + "\n")


async def attempt(context: Context, args: Namespace) -> None:
    """Set one question; the model answers it, or `--answer` does."""
    async with context.any_node() as node:
        tasks = await call(node, ListTasks(examples=False))
        task = task_name(find_tasks(tasks.items, args.name)[0])
        request = TryTask(task=task, seed=args.seed, answer=args.answer, checkpoint=args.checkpoint)
        tried = await call(node, request)
    details = fields(tried, "mark") | {"seed": str(tried.seed)}
    context.out.emit("try", **fields(tried.mark), **details)
    if not context.out.json_lines:
        context.out.say("\n".join(_tried_lines(tried)))


def task_name(item: TaskInfo) -> str:
    return f"{item.family}/{item.level}"


def find_tasks(items: Sequence[TaskInfo], name: str) -> list[TaskInfo]:
    """The task of that name, or all levels of that family; TaskError with the nearest name if there is none."""
    family, slash, level = name.partition("/")
    of_family = [item for item in items if item.family == family]
    if not of_family:
        known = sorted({item.family for item in items})
        hint = nearest(family, known) or " See: sapo-desktop tasks list"
        raise TaskError(f"There is no task {family!r}.{hint}")
    if not slash:
        return of_family
    exact = [item for item in of_family if item.level == level]
    if not exact:
        levels = [item.level for item in of_family]
        hint = nearest(level, levels) or f" It has {', '.join(levels)}."
        raise TaskError(f"{family} has no level {level!r}.{hint}")
    return exact


def _emit_task(context: Context, item: TaskInfo) -> None:
    context.out.emit("task", task=task_name(item), **fields(item))


def _task_lines(item: TaskInfo) -> list[str]:
    settings = ", ".join(f"{key} = {value}" for key, value in item.config.items()) or "its defaults"
    lines = [
        f"{task_name(item)}: {item.title}",
        f"  Settings  {settings}",
        f"  Answers   {item.grammar}",
    ]
    if item.example:
        lines.append("  Example   " + item.example.replace("\n", "\n            "))
    if item.shown:
        lines.append("  Shown     " + item.shown.replace("\n", "\n            "))
    if item.task_id:
        lines.append(f"  Task id   {item.task_id}")
    if item.answers:
        lines.append(f"  Lately    {percent(item.solved)} of my {item.answers:,} answers solved")
    return lines


def _tried_lines(tried: Tried) -> list[str]:
    mark = verdict_words(tried.mark)
    return [
        f"{tried.task}, seed {tried.seed}",
        "",
        tried.question,
        "",
        tried.completion or "(nothing)",
        "",
        f"{mark}. Right: {tried.truth}" if tried.truth else f"{mark}.",
    ]


def verdict_words(mark: Mark) -> str:
    """How an answer was scored."""
    points = f", {mark.partial:.2f}" if mark.verdict == "partial" else ""
    return f"{'✓' if mark.solved else '✗'} {VERDICT_WORDS[mark.verdict].lower()}{points}"
