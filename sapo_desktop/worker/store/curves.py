"""What charts are drawn from: one number a round, over all history, without reading the reports."""

from __future__ import annotations

import sqlite3

import msgspec

from sapo_desktop.core.records import Gain
from sapo_desktop.worker.control.messages.replies import Curve, EvalPoint
from sapo_desktop.worker.store.rows import checked

_COLUMNS = ("round", "reward", "solved", "swarm_reward", "swarm_low", "swarm_high", "swarm_peers", "silo")


def read_curve(db: sqlite3.Connection, after: int, limit: int) -> Curve:
    """The first `limit` counted rounds after round `after`, oldest first, column by column."""
    found = db.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM rounds WHERE lost = 0 AND round > ? ORDER BY round LIMIT ?",
        (after, limit + 1),
    ).fetchall()
    more = len(found) > limit
    found = found[:limit]
    columns = [list(column) for column in zip(*found, strict=True)] or [[] for _ in _COLUMNS]
    *numbers, silo = columns
    values = dict(zip(_COLUMNS, [*numbers, [None if one is None else bool(one) for one in silo]], strict=True))
    return checked(Curve(**values, more=more))


def read_task_curve(db: sqlite3.Connection, task: str) -> list[tuple[int, float]]:
    """The share solved of a task in each round that asked for it, oldest first."""
    found = db.execute(
        "SELECT r.round, sum(m.solved * m.answers) / sum(m.answers) FROM task_marks m "
        "JOIN rounds r ON r.id = m.round_id JOIN names n ON n.id = m.task "
        "WHERE r.lost = 0 AND m.answers > 0 AND n.name = ? GROUP BY r.id ORDER BY r.round",
        (task,),
    ).fetchall()
    return msgspec.convert(found, list[tuple[int, float]])


def read_evals(db: sqlite3.Connection) -> list[EvalPoint]:
    """Every held-out score that counts, oldest first."""
    found = db.execute(
        "SELECT round, which, json_extract(report, '$.checkpoint'), score, json_extract(report, '$.low'), "
        "json_extract(report, '$.high'), json_extract(report, '$.gain') FROM evals WHERE lost = 0 ORDER BY id"
    ).fetchall()
    return [
        checked(
            EvalPoint(
                round=number, which=which, checkpoint=checkpoint, score=score, low=low, high=high, gain=_gain(gain)
            )
        )
        for number, which, checkpoint, score, low, high, gain in found
    ]


def _gain(text: str | None) -> Gain | None:
    return msgspec.json.decode(text, type=Gain) if text else None
