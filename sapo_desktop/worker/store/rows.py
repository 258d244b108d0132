"""The rows behind `worker/store/history.py`: what is inserted for a round, read back, drawn as curves, and pruned.

Functions on an open transaction; when one begins and ends is decided there. The tables stand in
`worker/store/database.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from sapo_desktop.core.records import Gain, Group, RoundReport, TaskMark
from sapo_desktop.worker.control.messages.replies import Curve, EvalPoint, Source

Checked = TypeVar("Checked", bound=msgspec.Struct)
MOST_SOURCES = 20_000
"""A message to a client holds some five times as many."""
_ROUNDS_A_STEP = 10
"""Pruning is done a little at every round, so that no round waits for it."""


def insert_round(db: sqlite3.Connection, run: int, report: RoundReport, now: float) -> int:
    bare, swarm = msgspec.structs.replace(report, tasks=[]), report.swarm_reward
    row = db.execute(
        "INSERT INTO rounds (run, round, finished, checkpoint, reward, solved, partial, swarm_reward, swarm_low, "
        "swarm_high, swarm_peers, silo, local_groups, external_groups, seconds, report) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            run,
            report.round,
            now,
            report.checkpoint,
            report.reward,
            report.solved,
            report.partial,
            *((swarm.value, swarm.low, swarm.high, swarm.peers) if swarm else (None, None, None, None)),
            report.silo,
            report.local_groups,
            report.external_groups,
            report.seconds,
            to_json(bare),
        ),
    ).fetchone()
    return int(row[0])


def insert_marks(db: sqlite3.Connection, round_id: int, marks: Sequence[TaskMark]) -> None:
    for place, mark in enumerate(marks):
        db.execute(
            "INSERT INTO task_marks VALUES (?, ?, ?, ?, ?, ?, ?)",
            (round_id, place, name_id(db, mark.task), mark.answers, mark.solved, mark.partial, mark.reward),
        )


def insert_group(db: sqlite3.Connection, round_id: int, place: int, group: Group, advantages: Sequence[float]) -> None:
    question = group.question
    author = name_id(db, group.author) if group.author else None
    db.execute(
        "INSERT INTO groups (round_id, place, task, seed, origin, author, answers, weight) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            round_id,
            place,
            name_id(db, question.task),
            question.seed,
            group.origin,
            author,
            len(group.completions),
            sum(abs(value) for value in advantages),
        ),
    )
    db.execute("INSERT INTO questions VALUES (?, ?, ?)", (round_id, place, storable(question.text)))
    rows = [
        (
            round_id,
            place,
            answer,
            storable(completion.text),
            mark.solved,
            mark.partial,
            mark.reward,
            value,
            mark.verdict,
            completion.kind,
        )
        for answer, (completion, mark, value) in enumerate(zip(group.completions, group.marks, advantages, strict=True))
    ]
    db.executemany(
        "INSERT INTO rollouts (round_id, place, answer, text, solved, partial, reward, advantage, verdict, kind) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def add_to_total(db: sqlite3.Connection, name: str, value: int) -> None:
    db.execute("UPDATE totals SET value = value + ? WHERE name = ?", (value, name))


def name_id(db: sqlite3.Connection, name: str) -> int:
    db.execute("INSERT INTO names (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    return int(db.execute("SELECT id FROM names WHERE name = ?", (name,)).fetchone()[0])


def name_checkpoint(db: sqlite3.Connection, number: int, round_number: int) -> None:
    db.execute("UPDATE rounds SET checkpoint = ? WHERE round = ? AND lost = 0", (number, round_number))


def prune_old(db: sqlite3.Connection, newest: int) -> None:
    """Of rounds up to `newest` keep one group's answers, another place in each; of lost rounds none."""
    rows = db.execute(
        "SELECT id, round, lost FROM rounds WHERE pruned = 0 AND round <= ? ORDER BY round LIMIT ?",
        (newest, _ROUNDS_A_STEP),
    ).fetchall()
    for round_id, round_number, lost in rows:
        (groups,) = db.execute("SELECT count(*) FROM groups WHERE round_id = ?", (round_id,)).fetchone()
        kept = -1 if lost or not groups else round_number % groups
        db.execute("DELETE FROM questions WHERE round_id = ? AND place <> ?", (round_id, kept))
        db.execute("UPDATE rounds SET pruned = 1 WHERE id = ?", (round_id,))


def prune_large(db: sqlite3.Connection, most_bytes: int) -> bool:
    """Above `most_bytes` the oldest kept answers go, those of some rounds at a time; their space is used again, the
    file does not shrink. False where none go."""
    (held,) = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    if held - free_bytes(db) <= most_bytes:
        return False
    gone = db.execute(
        "DELETE FROM questions WHERE round_id IN (SELECT DISTINCT round_id FROM questions "
        "WHERE round_id < (SELECT max(id) FROM rounds) ORDER BY round_id LIMIT ?)",
        (_ROUNDS_A_STEP,),
    )
    return gone.rowcount > 0


def free_bytes(db: sqlite3.Connection) -> int:
    """Of the file: left by what was deleted, and used again."""
    found = db.execute("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size").fetchone()
    return int(found[0])


def read_report(db: sqlite3.Connection, round_id: int, report: str, checkpoint: int | None) -> RoundReport:
    rows = db.execute(
        "SELECT n.name, m.answers, m.solved, m.partial, m.reward FROM task_marks m "
        "JOIN names n ON n.id = m.task WHERE m.round_id = ? ORDER BY m.place",
        (round_id,),
    ).fetchall()
    bare = msgspec.json.decode(report, type=RoundReport)
    return checked(msgspec.structs.replace(bare, tasks=[task_mark(*row) for row in rows], checkpoint=checkpoint))


def read_sources(db: sqlite3.Connection) -> list[Source]:
    """What training was fed from whom, by author and task; groups made here have no author. The most weight first;
    those beyond MOST_SOURCES together, by origin, under no name and no task."""
    rows = db.execute(
        "SELECT t.name, g.origin, coalesce(u.name, ''), count(*), sum(g.answers), sum(g.weight) "
        "FROM groups g JOIN rounds r ON r.id = g.round_id JOIN names t ON t.id = g.task "
        "LEFT JOIN names u ON u.id = g.author WHERE r.lost = 0 "
        "GROUP BY g.origin, u.name, t.name ORDER BY 6 DESC, 3, 1"
    ).fetchall()
    named, rest = rows[:MOST_SOURCES], rows[MOST_SOURCES:]
    for origin in sorted({row[1] for row in rest}):
        sums = map(sum, zip(*(row[3:] for row in rest if row[1] == origin), strict=True))
        named.append(("", origin, "", *sums))
    return [
        checked(Source(task=task, origin=origin, author=author, groups=groups, answers=answers, weight=weight))
        for task, origin, author, groups, answers, weight in named
    ]


def checked(record: Checked) -> Checked:
    """The record, its fields of the types that it declares: SQLite keeps any value in any column. msgspec's
    ValidationError where one is of another, which `Database.reading` says to be damage."""
    return msgspec.convert(msgspec.structs.asdict(record), type(record))


def task_mark(task: str, answers: int, solved: float, partial: float, reward: float) -> TaskMark:
    return checked(TaskMark(task=task, answers=answers, solved=solved, partial=partial, reward=reward))


def to_json(record: msgspec.Struct) -> str:
    return msgspec.json.encode(record).decode()


def storable(text: str) -> str:
    """SQLite stores UTF-8: half a surrogate pair, which a tokenizer can yield, has no place in it."""
    return text.encode("utf-8", "replace").decode()


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
