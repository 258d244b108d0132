"""History as files for other programs: rounds as CSV, kept answers as JSON lines.

Peers' text is hostile here too: a spreadsheet runs a cell that begins with `=`, and bidi characters make a
reader see another order than is written. Both are defused on the way out; the database keeps what was
received.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sapo_desktop.core.durable import disk_errors_as
from sapo_desktop.core.errors import HistoryError
from sapo_desktop.core.records import RoundReport, StepReport
from sapo_desktop.worker.history import History
from sapo_desktop.worker.messages import Rollout

Cell = str | int | float | None
_PAGE = 500
_STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ROUND = [name for name in RoundReport.__struct_fields__ if name not in ("tasks", "step")]
_STEP = list(StepReport.__struct_fields__)


def write_csv(history: History, path: Path) -> int:
    """Write a line per round that counts (report, step, share solved per task); returns how many.

    Raises:
        HistoryError: the file cannot be written or the history not be read.
    """
    tasks = [mark.task for mark in history.task_totals(2**31)]
    header = [*_ROUND, *(f"step_{name}" for name in _STEP), *(f"solved {task}" for task in tasks)]
    count = 0
    with (
        disk_errors_as(HistoryError, f"{path} could not be written"),
        path.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow([safe_cell(name) for name in header])
        for report in _all_rounds(history):
            writer.writerow([safe_cell(cell) for cell in _cells(report, tasks)])
            count += 1
    return count


def write_rollouts(history: History, path: Path) -> int:
    """Write a JSON object per kept answer, a line each, oldest first; returns how many.

    Raises:
        HistoryError: the file cannot be written or the history not be read.
    """
    count = 0
    with disk_errors_as(HistoryError, f"{path} could not be written"), path.open("wb") as file:
        for rollout in _all_rollouts(history):
            clean = msgspec.structs.replace(
                rollout,
                question=plain_text(rollout.question),
                author=plain_text(rollout.author),
                completion=plain_text(rollout.completion),
            )
            file.write(msgspec.json.encode(clean) + b"\n")
            count += 1
    return count


def safe_cell(cell: Cell) -> Cell:
    """The cell as a spreadsheet may read it: text that would be a formula gets an apostrophe before it."""
    if not isinstance(cell, str):
        return cell
    text = plain_text(cell)
    return f"'{text}" if text.startswith(_STARTS_FORMULA) else text


def plain_text(text: str) -> str:
    """The text without control characters (newline and tab stay), surrogates and bidi controls."""
    return "".join(c for c in text if c in "\n\t" or not (c in _BIDI or unicodedata.category(c) in ("Cc", "Cs")))


def _cells(report: RoundReport, tasks: list[str]) -> Iterator[Cell]:
    yield from (getattr(report, name) for name in _ROUND)
    yield from (getattr(report.step, name, None) for name in _STEP)
    solved = {mark.task: mark.solved for mark in report.tasks}
    yield from (solved.get(task) for task in tasks)


def _all_rounds(history: History) -> Iterator[RoundReport]:
    after, more = 0, True
    while more:
        page = history.rounds(after, _PAGE)
        yield from page.rounds
        after, more = (page.rounds[-1].round if page.rounds else after), page.more


def _all_rollouts(history: History) -> Iterator[Rollout]:
    after, more = 0, True
    while more:
        page = history.rollouts(after, _PAGE)
        yield from page.items
        after, more = (page.items[-1].round if page.items else after), page.more
