"""The JSON lines of docs/commands.md, made from records and events. Names and meanings here are a promise."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from sapo_desktop.core.records import EvalReport, RoundReport, SwarmReward
from sapo_desktop.core.sentences import Sentence
from sapo_desktop.terminal.output import JsonValue, Output
from sapo_desktop.worker.control.messages.events import (
    Answered,
    EvalFinished,
    Event,
    RoundFinished,
    SettingsChanged,
    StateChanged,
    SwarmChanged,
)
from sapo_desktop.worker.control.messages.facts import Notice

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


def emit_event(out: Output, event: Event) -> None:
    """Write the line (or lines) that `event` stands for. Progress is for eyes only and writes none."""
    match event:
        case StateChanged(state=state, reason=reason):
            out.emit("state", state=state, reason=reason)
        case Answered():
            out.emit("answer", **fields(event))
        case RoundFinished(report=report):
            out.emit("round", **round_fields(report))
            if report.checkpoint is not None:
                out.emit("checkpoint", number=report.checkpoint, round=report.round)
        case EvalFinished(report=report):
            out.emit("eval", **eval_fields(report))
        case Notice(level=level, text=text):
            out.emit("notice", level=level, text=str(text))
        case SwarmChanged(state=state, reason=reason, peers=peers):
            out.emit("swarm", state=state, reason=str(reason), peers=peers)
        case SettingsChanged(now=changed):
            out.emit("settings", silo=changed.settings.silo, mix=changed.settings.mix)
        case _:
            pass
