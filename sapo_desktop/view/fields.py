"""Records as JSON objects and rows of CSV, for the terminal's lines and for files that the window saves. Names and
meanings here are a promise (docs/commands.md).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from typing import TextIO, TypeAlias

import msgspec

from sapo_desktop.core.records import EvalReport, RoundReport, SwarmReward
from sapo_desktop.core.sentences import Sentence

JsonValue = str | int | float | bool | None | Sequence["JsonValue"] | dict[str, "JsonValue"]
Fields: TypeAlias = "dict[str, JsonValue]"


def share(value: float | None) -> float | None:
    """A share or reward with six places: enough for any count of answers, and short."""
    return None if value is None else round(value, 6)


def swarm_fields(measured: SwarmReward | None) -> Fields:
    """The share that peers solve with its 95% interval, their count, and the share solved here of the same tasks;
    nulls where it was not measured."""
    if measured is None:
        return {"swarm_reward": None, "swarm_low": None, "swarm_high": None, "swarm_peers": 0, "swarm_mine": None}
    return {
        "swarm_reward": share(measured.value),
        "swarm_low": share(measured.low),
        "swarm_high": share(measured.high),
        "swarm_peers": measured.peers,
        "swarm_mine": share(measured.mine),
    }


def fields(record: msgspec.Struct, *without: str) -> Fields:
    """A record as it is, under its own names."""
    names = (name for name in record.__struct_fields__ if name not in without)
    return {name: _plain(getattr(record, name)) for name in names}


def _plain(value: object) -> JsonValue:
    """For JSON: sentences in English, numbers with six places."""
    match value:
        case Sentence():
            return str(value)
        case float():
            return round(value, 6)
        case msgspec.Struct():
            return fields(value)
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case str() | int() | None:
            return value
        case _:
            return str(value)


def round_fields(report: RoundReport) -> Fields:
    return fields(report) | {
        "tasks": {mark.task: share(mark.solved) for mark in report.tasks},
        "step": report.step is not None and not report.step.skipped,
        "external_left_out": report.step.left_out if report.step else 0,
        **swarm_fields(report.swarm_reward),
    }


def eval_fields(report: EvalReport) -> Fields:
    """All but what stands for each answer and each task's questions."""
    return fields(report, "solved", "prints") | {
        "tasks": {mark.task: share(mark.solved) for mark in report.tasks},
        "pass_at_k": share(report.pass_at_k),
    }


CSV_COLUMNS = (
    "round",
    "reward",
    "solved",
    "partial",
    "swarm_reward",
    "swarm_low",
    "swarm_high",
    "swarm_peers",
    "swarm_mine",
    "local_groups",
    "external_groups",
    "zero_advantage_groups",
    "answer_tokens",
    "truncated",
    "generate_seconds",
    "mark_seconds",
    "train_seconds",
    "seconds",
    "checkpoint",
    "note",
)


class RoundsFile:
    """Writes finished rounds to a stream, page by page: CSV, or a JSON object a line."""

    def __init__(self, stream: TextIO, *, as_csv: bool) -> None:
        self._stream = stream
        self._table = csv.writer(stream) if as_csv else None
        self.count = 0
        if self._table:
            self._table.writerow(CSV_COLUMNS)

    def add(self, reports: Iterable[RoundReport]) -> None:
        for report in reports:
            self.count += 1
            if self._table:
                cells = msgspec.structs.asdict(report) | swarm_fields(report.swarm_reward)
                self._table.writerow([cells[column] for column in CSV_COLUMNS])
            else:
                self._stream.write(json.dumps(round_fields(report)) + "\n")
