"""The JSON lines of docs/commands.md, made from records and events. Names and meanings here are a promise."""

from __future__ import annotations

from typing import TypeAlias

from sapo_desktop.core.records import EvalReport, RoundReport, SwarmReward
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


def round_fields(report: RoundReport) -> Fields:
    return {
        "round": report.round,
        "reward": share(report.reward),
        "solved": share(report.solved),
        "partial": share(report.partial),
        "swarm_reward": None,  # filled below; stands here for the order that docs/commands.md promises
        "local_groups": report.local_groups,
        "external_groups": report.external_groups,
        "seconds": round(report.seconds, 3),
        "tasks": {mark.task: share(mark.solved) for mark in report.tasks},
        "readable": share(report.readable),
        "step": report.step is not None and not report.step.skipped,
        "external_left_out": report.step.left_out if report.step else 0,
        "checkpoint": report.checkpoint,
        "note": report.note,
        **swarm_fields(report.swarm_reward),
    }


def eval_fields(report: EvalReport) -> Fields:
    return {
        "checkpoint": report.checkpoint,
        "score": share(report.score),
        "partial": share(report.partial),
        "tasks": {mark.task: share(mark.solved) for mark in report.tasks},
        "which": report.which,
        "round": report.round,
        "questions": report.questions,
        "samples": report.samples,
        "temperature": report.temperature,
        "pass_at_k": share(report.pass_at_k),
        "low": share(report.low),
        "high": share(report.high),
        "too_long": report.too_long,
        "seconds": round(report.seconds, 3),
    }


def emit_event(out: Output, event: Event) -> None:
    """Write the line (or lines) that `event` stands for. Progress is for eyes only and writes none."""
    match event:
        case StateChanged(state=state, reason=reason):
            out.emit("state", state=state, reason=reason)
        case Answered():
            out.emit(
                "answer",
                round=event.round,
                task=event.task,
                question=event.question,
                completion=event.completion,
                solved=event.solved,
            )
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
