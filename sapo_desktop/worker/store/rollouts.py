"""Pages of stored answers, filtered: functions on an open transaction, as in worker/store/rows.py.

An answer's id combines its round's row, its group's place and its own place, so ids need no column, grow with every
answer that counts, and lead straight to their place in the table, however long the history is.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec

from sapo_desktop.worker.control.messages.rollouts import GetRollouts, Rollout, Rollouts
from sapo_desktop.worker.store.rows import records, storable

_GROUPS, _ANSWERS = 1 << 12, 1 << 8
"""Upper bounds: groups in a round, answers in a group."""
_PAGE_BYTES = 4_000_000
"""Bytes of texts in a page; a message holds 16 MiB."""
# CROSS JOIN makes SQLite follow the order of the table, so that a page stops where it is full.
_SELECT = f"""
SELECT (a.round_id * {_GROUPS} + a.place) * {_ANSWERS} + a.answer AS id, r.round, t.name AS task,
       CAST(g.seed AS TEXT) AS seed,
       q.text AS question, g.origin, coalesce(u.name, '') AS author, a.text AS completion, a.solved, a.partial,
       a.reward, a.advantage, a.verdict, a.kind
FROM rollouts a CROSS JOIN rounds r ON r.id = a.round_id
JOIN questions q ON q.round_id = a.round_id AND q.place = a.place
JOIN groups g ON g.round_id = a.round_id AND g.place = a.place
JOIN names t ON t.id = g.task LEFT JOIN names u ON u.id = g.author
WHERE r.lost = 0"""


def read_page(db: sqlite3.Connection, wanted: GetRollouts) -> Rollouts:
    """Newest first, up to `limit` answers; oldest first, whole rounds up to `limit`, at least one."""
    conditions, values = _conditions(wanted)
    way = "DESC" if wanted.newest_first else "ASC"
    order = f"ORDER BY a.round_id {way}, a.place {way}, a.answer {way}"
    with contextlib.closing(db.execute(f"{_SELECT} {' '.join(conditions)} {order}", values)) as rows:
        return _page(map(_rollout, records(rows, dict[str, Any])), wanted)


def _page(rollouts: Iterable[Rollout], wanted: GetRollouts) -> Rollouts:
    """As many of them as fit into a page."""
    items: list[Rollout] = []
    size = begun = 0
    for one in rollouts:
        if items and one.round != items[-1].round:
            begun = len(items)
        size += len(one.question) + len(one.completion)
        if len(items) >= wanted.limit or size > _PAGE_BYTES:
            if wanted.newest_first and items:
                return Rollouts(items=items, more=True)
            if begun:
                return Rollouts(items=items[:begun], more=True)
        items.append(one)
    return Rollouts(items=items, more=False)


def _conditions(wanted: GetRollouts) -> tuple[list[str], dict[str, Any]]:
    conditions: list[str] = []
    values: dict[str, Any] = {}
    if wanted.after > 0:
        # Rows of rounds that count grow with their rounds: repeated rounds came later.
        conditions.append(
            "AND a.round_id > (SELECT coalesce(max(id), 0) FROM rounds WHERE lost = 0 AND round <= :after)"
        )
        values["after"] = wanted.after
    if wanted.before is not None:
        conditions.append("AND (a.round_id, a.place, a.answer) < (:round_id, :place, :answer)")
        rest, answer = divmod(max(0, wanted.before), _ANSWERS)
        round_id, place = divmod(rest, _GROUPS)
        values |= {"round_id": round_id, "place": place, "answer": answer}
    if wanted.task:
        conditions.append("AND (t.name = :task OR instr(t.name, :task || '/') = 1)")
        values["task"] = wanted.task
    if wanted.origin:
        conditions.append("AND g.origin = :origin")
        values["origin"] = wanted.origin
    if wanted.verdict:
        conditions.append("AND a.verdict = :verdict")
        values["verdict"] = wanted.verdict
    if wanted.search:
        conditions.append("AND (instr(lower(a.text), lower(:search)) OR instr(lower(q.text), lower(:search)))")
        values["search"] = storable(wanted.search)
    return conditions, values


def _rollout(values: dict[str, Any]) -> Rollout:
    return msgspec.convert(values | {"solved": bool(values["solved"])}, Rollout)
