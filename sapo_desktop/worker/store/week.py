"""Totals of the last seven days: rounds, right answers, what was learned, who was helped, and the energy."""

from __future__ import annotations

import sqlite3

from sapo_desktop.worker.control.messages.replies import Week
from sapo_desktop.worker.store.rows import AT_WORK, checked

DAY = 86_400
_DAYS = 7


def read_week(db: sqlite3.Connection, now: float) -> Week:
    """Until `now`, in Unix time."""
    since = now - _DAYS * DAY
    first = _first_round(db, since)
    rounds, solved = db.execute(
        "SELECT count(DISTINCT r.id), coalesce(sum(m.answers * m.solved), 0) FROM rounds r "
        "LEFT JOIN task_marks m ON m.round_id = r.id WHERE r.id >= ? AND r.lost = 0",
        (first,),
    ).fetchone()
    (helped,) = db.execute("SELECT count(*) FROM claims WHERE helped AND told > ?", (since,)).fetchone()
    (joules,) = db.execute("SELECT coalesce(sum(joules), 0) FROM days WHERE day > ?", (since // DAY,)).fetchone()
    before, score = _scores(db, since)
    found = Week(rounds=rounds, solved=round(solved), helped=helped, joules=joules, score_before=before, score=score)
    return checked(found)


def _first_round(db: sqlite3.Connection, since: float) -> int:
    """The oldest row of these days; a nonexistent one if there is none."""
    first = 1 << 62
    for row, finished in db.execute("SELECT id, finished FROM rounds ORDER BY id DESC"):
        if finished <= since:
            break
        first = row
    return first


def _scores(db: sqlite3.Connection, since: float) -> tuple[float | None, float | None]:
    """For the current model and equal questions: the score before these days, or its first one, and the newest. None
    before, if that is the only one."""
    of_line = (
        f"FROM evals WHERE lost = 0 AND which = 'validation' AND {AT_WORK} AND finished {{}} ? "
        "AND json_extract(report, '$.line') = ? AND id != ? ORDER BY {} LIMIT 1"
    )
    newest = db.execute(
        f"SELECT score, json_extract(report, '$.line'), finished, id FROM evals WHERE lost = 0 "
        f"AND which = 'validation' AND {AT_WORK} ORDER BY round DESC, id DESC LIMIT 1"
    ).fetchone()
    if newest is None or newest[2] <= since:
        return None, None
    score, line, _, row = newest
    before = db.execute("SELECT score " + of_line.format("<=", "id DESC"), (since, line, row)).fetchone()
    before = before or db.execute("SELECT score " + of_line.format(">", "round, id"), (since, line, row)).fetchone()
    return before[0] if before is not None else None, score
