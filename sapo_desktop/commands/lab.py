"""lab paper, table, plot: many nodes in one process, and their results. The work is done in that process."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from sapo_desktop.commands.line.context import Context
from sapo_desktop.commands.settings import typed_values
from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.system import processes
from sapo_desktop.terminal.wording import duration

_TELL_EVERY = 10
"""Rounds between two lines for people."""
_ENVIRONMENT = {
    # As for the examiner: some questions depend on the hash seed. The libraries' threads would make a second run
    # differ.
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    "PYTHONHASHSEED": "0",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
}


async def choose(context: Context, args: Namespace) -> None:
    """`lab` without a subcommand."""
    raise UsageError("Choose what the lab should do: lab paper, lab table or lab plot. See sapo-desktop lab --help")


async def paper(context: Context, args: Namespace) -> None:
    """Play the arms that are not finished."""
    values = typed_values(args.values, pairs=True) if args.values else {}
    typed = {"tasks": args.tasks, "questions": args.questions}
    request = {
        "type": "paper",
        "out": args.out,
        "nodes": args.nodes,
        "rounds": args.rounds,
        "seeds": [_seed(word) for word in _some("seeds", args.seeds)],
        "mixes": _some("mix", args.mix),
        "weightings": _some("weighting", args.weighting),
        "kind": args.kind,
        "liars": args.liars,
        "levels": _words(args.levels),
        "values": values | {key: str(value) for key, value in typed.items() if value is not None},
        "budget": args.budget,
        "models": _words(args.models),
        "score_every": args.score_every,
        "held_out": args.held_out,
    }
    async for event in _events(request):
        _emit(context, event)
        if event["event"] == "arm":
            context.out.say(f"{event['arm']}: {event['said']}, at round {event['round']}.")
        elif event["round"] % _TELL_EVERY == 0:
            context.out.say(
                f"{event['arm']}: round {event['round']} of {event['rounds']}, reward {event['reward']:.3f}, "
                f"{duration(event['cpu_seconds'])} of computing per round"
            )


async def table(context: Context, args: Namespace) -> None:
    """A line for each way of learning."""
    asked = {"type": "table", "out": args.folder, "at": args.at, "against": args.against}
    asked |= {"reach": args.reach or 0.0, "by_seed": args.by_seed, "of": args.of or ""}
    asked |= dict(zip(("first", "last"), args.rounds, strict=True))
    lines = [event async for event in _events(asked)]
    for line in lines:
        _emit(context, line)
    columns = ["mix", "weighting", "nodes", "rounds", "seeds", "reward", "cumulative", f"to {args.against}"]
    columns += ["greedy", "more", "sampled", "more", "pass@4", "teach", "CPU s", "answers", "trained on"]
    rows = [_cells(line) for line in lines]
    if args.reach:
        columns += [f"{args.reach:g} after ({args.at})", "times as soon"]
        rows = [[*row[:-1], *_soon(line), row[-1]] for row, line in zip(rows, lines, strict=True)]
    if args.firsts:
        columns += ["first node solves", "median node", "last node", "times as soon"]
        rows = [[*row[:-1], *_firsts(line), row[-1]] for row, line in zip(rows, lines, strict=True)]
    context.out.table([*columns, ""], rows, right=columns[2:])


async def plot(context: Context, args: Namespace) -> None:
    """Draw the arms into the folder."""
    async for event in _events({"type": "plot", "out": args.folder}):
        _emit(context, event)
        context.out.say(f"Wrote {event['file']}.")


async def _events(request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """The events of the lab's process; SapoError if it fails."""
    process = await asyncio.create_subprocess_exec(
        *processes.python_command("sapo_desktop.lab"),
        json.dumps({**request, "out": str(Path(request["out"]).expanduser().absolute())}),
        stdout=asyncio.subprocess.PIPE,
        env=processes.python_environment(_ENVIRONMENT),
    )
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "failed":
                raise (UsageError if event["exit_code"] == 2 else SapoError)(event["text"])
            yield event
        if await process.wait():
            raise SapoError(
                f"The lab's process stopped: {processes.exit_reason(process.returncode or 0)}. Run the same "
                "command to continue."
            )
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def _emit(context: Context, event: dict[str, Any]) -> None:
    context.out.emit(event["event"], **{key: value for key, value in event.items() if key != "event"})


def _cells(line: dict[str, Any]) -> list[str]:
    details = [
        ",".join(line["models"]),
        line["kind"] if line["kind"] != "equal" else "",
        f"{line['liars']:.0%} lie" if line["liars"] else "",
    ]
    details += [f"{key}={value}" for key, value in line["settings"].items()]
    return [
        line["mix"],
        line["weighting"],
        str(line["nodes"]),
        f"{line['rounds']:g}",
        ",".join(map(str, line["seed_list"])),
        f"{line['reward']:.3f}",
        f"{line['cumulative']:.2f}",
        _with_interval(line, "ratio"),
        _way(line["greedy_first"], line["greedy"]),
        _with_interval(line, "greedy_more", "+.3f"),
        _way(line["sampled_first"], line["sampled"]),
        _with_interval(line, "sampled_more", "+.3f"),
        "" if line["pass_at_k"] is None else f"{line['pass_at_k']:.3f}",
        f"{line['informative']:.0%}",
        f"{line['cpu_seconds']:,.0f}",
        f"{line['answers']:,.0f}",
        f"{line['samples']:,.0f}",
        " ".join(filter(None, details)),
    ]


def _soon(line: dict[str, Any]) -> list[str]:
    reached = line["reached"]
    return ["not by all" if reached is None else f"{reached:,.1f}", _with_interval(line, "sooner")]


def _firsts(line: dict[str, Any]) -> list[str]:
    rounds = ["" if line[name] is None else f"{line[name]:.1f}" for name in ("first", "median", "last")]
    return [*rounds, _with_interval(line, "median_sooner")]


def _with_interval(line: dict[str, Any], field: str, form: str = ".3f") -> str:
    value, low, high = line[field], line[f"{field}_low"], line[f"{field}_high"]
    if value is None:
        return ""
    return f"{value:{form}}" + ("" if low is None else f" ({low:{form}} to {high:{form}})")


def _way(first: float | None, last: float | None) -> str:
    return "" if first is None or last is None else f"{first:.3f} to {last:.3f}"


def _words(text: str) -> list[str]:
    return [word for word in text.replace(",", " ").split() if word]


def _some(option: str, text: str) -> list[str]:
    if words := _words(text):
        return words
    raise UsageError(f"--{option} is empty, so nothing would be played.")


def _seed(word: str) -> int:
    if not word.isdecimal() or len(word) > 9:
        raise UsageError(f"--seeds takes whole numbers, separated by commas, not {word!r}.")
    return int(word)
