"""The JSON lines of docs/commands.md, made from records and events. Names and meanings here are a promise."""

from __future__ import annotations

from sapo_desktop.terminal.output import Output
from sapo_desktop.view.fields import eval_fields, fields, round_fields
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


def emit_event(out: Output, event: Event) -> None:
    """Write the line or lines for `event`. Progress is only for display and writes none."""
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
