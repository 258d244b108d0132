"""The rows of `worker/store/history.py`: inserted for a round, read, turned into curves, and pruned.

Functions on an open transaction; history.py decides when one begins and ends. The tables are in
`worker/store/database.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from sapo_desktop.core.records import Group, RoundReport, TaskMark
from sapo_desktop.worker.control.messages.replies import Curve, EvalPoint, ModelRun, Source

Checked = TypeVar("Checked", bound=msgspec.Struct)
Kind = TypeVar("Kind")
MODEL = "(SELECT substr(model_hash, 1, 16) FROM runs WHERE runs.id = run)"
"""Short hash of the model of a row of rounds or evals; the run knows it, also for rows from before they had it."""
AT_WORK = "run IN (SELECT id FROM runs WHERE model_hash = (SELECT model_hash FROM runs ORDER BY id DESC LIMIT 1))"
"""Whether such a row is of the last run's model."""
MOST_SOURCES = 20_000
"""A message to a client can hold about five times as many."""
_ROUNDS_A_STEP = 10
"""Pruning is done a little at every round, so that no round waits for it."""


def insert(db: sqlite3.Connection, table: str, **values: object) -> int:
    """Insert a row with these values by column; returns its id."""
    columns, marks = ", ".join(values), ", ".join("?" * len(values))
    return db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", [*values.values()]).lastrowid or 0


def insert_round(db: sqlite3.Connection, run: int, report: RoundReport, now: float) -> int:
    swarm = report.swarm_reward
    return insert(
        db,
        "rounds",
        run=run,
        round=report.round,
        finished=now,
        checkpoint=report.checkpoint,
        reward=report.reward,
        solved=report.solved,
        partial=report.partial,
        swarm_reward=swarm and swarm.value,
        swarm_low=swarm and swarm.low,
        swarm_high=swarm and swarm.high,
        swarm_peers=swarm and swarm.peers,
        swarm_mine=swarm and swarm.mine,
        silo=report.silo,
        local_groups=report.local_groups,
        external_groups=report.external_groups,
        seconds=report.seconds,
        report=to_json(msgspec.structs.replace(report, tasks=[])),
    )


def insert_marks(db: sqlite3.Connection, round_id: int, marks: Sequence[TaskMark]) -> None:
    for place, mark in enumerate(marks):
        values = msgspec.structs.asdict(mark) | {"task": name_id(db, mark.task)}
        insert(db, "task_marks", round_id=round_id, place=place, **values)


def insert_group(db: sqlite3.Connection, round_id: int, place: int, group: Group, advantages: Sequence[float]) -> None:
    question, where = group.question, {"round_id": round_id, "place": place}
    insert(
        db,
        "groups",
        **where,
        task=name_id(db, question.task),
        seed=question.seed,
        origin=group.origin,
        author=name_id(db, group.author) if group.author else None,
        answers=len(group.completions),
        weight=sum(abs(value) for value in advantages),
    )
    insert(db, "questions", **where, text=storable(question.text))
    for answer, (completion, mark, value) in enumerate(zip(group.completions, group.marks, advantages, strict=True)):
        insert(
            db,
            "rollouts",
            **where,
            answer=answer,
            text=storable(completion.text),
            solved=mark.solved,
            partial=mark.partial,
            reward=mark.reward,
            advantage=value,
            verdict=mark.verdict,
            kind=completion.kind,
        )


def add_to_total(db: sqlite3.Connection, name: str, value: int) -> None:
    db.execute("UPDATE totals SET value = value + ? WHERE name = ?", (value, name))


def name_id(db: sqlite3.Connection, name: str) -> int:
    db.execute("INSERT INTO names (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    return int(db.execute("SELECT id FROM names WHERE name = ?", (name,)).fetchone()[0])


def name_checkpoint(db: sqlite3.Connection, number: int, round_number: int) -> None:
    db.execute("UPDATE rounds SET checkpoint = ? WHERE round = ? AND lost = 0", (number, round_number))


def prune_old(db: sqlite3.Connection, newest: int) -> None:
    """For rounds up to `newest`, keep one group's answers, at a different place in each; for lost rounds none."""
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
    """Above `most_bytes`, delete the oldest stored answers, those of some rounds at a time; the file reuses their
    space but does not shrink. False if none can be deleted."""
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
    """Unused bytes of the file, which are reused."""
    found = db.execute("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size").fetchone()
    return int(found[0])


def read_report(db: sqlite3.Connection, round_id: int, report: str, checkpoint: int | None, model: str) -> RoundReport:
    marks = db.execute(
        "SELECT n.name AS task, m.answers, m.solved, m.partial, m.reward FROM task_marks m "
        "JOIN names n ON n.id = m.task WHERE m.round_id = ? ORDER BY m.place",
        (round_id,),
    )
    bare = msgspec.json.decode(report, type=RoundReport)
    whole = msgspec.structs.replace(bare, tasks=[*records(marks, TaskMark)], checkpoint=checkpoint, model=model)
    return checked(whole)


def read_sources(db: sqlite3.Connection) -> list[Source]:
    """The origin of the training data, by author and task; own groups have no author. Largest weight first; those
    beyond MOST_SOURCES are combined by origin, without name and task."""
    found = db.execute(
        "SELECT t.name AS task, g.origin, coalesce(u.name, '') AS author, count(*) AS groups, "
        "sum(g.answers) AS answers, coalesce(sum(g.weight), 0.0) AS weight "
        "FROM groups g JOIN rounds r ON r.id = g.round_id JOIN names t ON t.id = g.task "
        "LEFT JOIN names u ON u.id = g.author WHERE r.lost = 0 "
        "GROUP BY g.origin, u.name, t.name ORDER BY 6 DESC, 3, 1"
    )
    sources = [*records(found, Source)]
    named, rest = sources[:MOST_SOURCES], sources[MOST_SOURCES:]
    for origin in sorted({one.origin for one in rest}):
        of_it = [one for one in rest if one.origin == origin]
        groups, answers, weight = (sum(getattr(one, key) for one in of_it) for key in ("groups", "answers", "weight"))
        named.append(Source(task="", origin=origin, author="", groups=groups, answers=answers, weight=weight))
    return named


def checked(record: Checked) -> Checked:
    """The record with fields of its declared types, because SQLite stores any value in any column. A mismatch raises
    msgspec's ValidationError, which `Database.reading` reports as damage."""
    # By their stored names, which some fields have in addition to their own.
    names = zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True)
    return msgspec.convert({stored: getattr(record, name) for name, stored in names}, type(record))


def records(rows: sqlite3.Cursor, kind: type[Kind]) -> Iterator[Kind]:
    """A record for each row, its fields from the columns of those names, checked in the same way."""
    names = [column[0] for column in rows.description]
    return (msgspec.convert(dict(zip(names, row, strict=True)), kind) for row in rows)


def to_json(record: msgspec.Struct) -> str:
    return msgspec.json.encode(record).decode()


def storable(text: str) -> str:
    """SQLite stores UTF-8, which cannot contain half a surrogate pair from a tokenizer."""
    return text.encode("utf-8", "replace").decode()


def read_curve_and_scores(db: sqlite3.Connection, after: int, limit: int) -> Curve:
    """A page of rounds; with the first one every held-out score."""
    return msgspec.structs.replace(read_curve(db, after, limit), evals=[] if after else read_evals(db))


def read_curve(db: sqlite3.Connection, after: int, limit: int) -> Curve:
    """The first `limit` counted rounds after round `after`, oldest first, column by column."""
    models = _models(db)
    rows = db.execute(
        "SELECT round, reward, solved, swarm_reward, swarm_low, swarm_high, swarm_peers, swarm_mine, silo, run "
        "FROM rounds WHERE lost = 0 AND round > ? ORDER BY round LIMIT ?",
        (after, limit + 1),
    )
    names, found = [column[0] for column in rows.description], rows.fetchall()
    values = {name: [row[at] for row in found[:limit]] for at, name in enumerate(names)}
    values["silo"] = [None if silo is None else bool(silo) for silo in values["silo"]]
    places = _places_of_runs(db, models)
    values["model"] = [places.get(run) for run in values.pop("run")]
    return msgspec.convert(values | {"models": models, "more": len(found) > limit}, Curve)


def _models(db: sqlite3.Connection) -> list[ModelRun]:
    """All current and former models, in the order of their first runs, with their last names."""
    found = db.execute(
        "SELECT substr(model_hash, 1, 16) AS hash, coalesce(json_extract(manifest, '$.settings.model'), '') AS name, "
        "max(id) AS last, min(id) AS first FROM runs GROUP BY model_hash ORDER BY first"
    ).fetchall()
    return [ModelRun(hash=row[0], name=str(row[1])) for row in found]


def _places_of_runs(db: sqlite3.Connection, models: Sequence[ModelRun]) -> dict[int, int]:
    place = {model.hash: at for at, model in enumerate(models)}
    return {run: place[hash_] for run, hash_ in db.execute("SELECT id, substr(model_hash, 1, 16) FROM runs")}


def read_evals(db: sqlite3.Connection) -> list[EvalPoint]:
    """Every held-out score that counts, oldest first."""
    found = db.execute(f"SELECT report, which, {MODEL} FROM evals WHERE lost = 0 ORDER BY id").fetchall()
    points = [(msgspec.json.decode(report, type=EvalPoint), which, model) for report, which, model in found]
    return [checked(msgspec.structs.replace(point, which=which, model=model)) for point, which, model in points]
