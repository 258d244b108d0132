"""The last rounds, read without changing the history: also while a node writes to it, and without a node.

Unreadable data counts as not played: this serves an estimate, and the node reports problems with its history.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import NamedTuple

import msgspec

from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.records import RoundReport
from sapo_desktop.worker.store import rows
from sapo_desktop.worker.store.manifest import RunManifest


class Played(NamedTuple):
    """Rounds of one run, and its conditions."""

    manifest: RunManifest
    reports: list[RoundReport]


def last_played(history: Path, count: int) -> Played | None:
    """Up to `count` of the newest rounds of the last run that count; None if there are none."""
    if not history.exists():
        return None
    try:
        with contextlib.closing(sqlite3.connect(f"{history.absolute().as_uri()}?mode=ro", uri=True)) as db:
            found = db.execute(
                f"SELECT id, report, checkpoint, {rows.MODEL} FROM rounds WHERE lost = 0 "
                "AND run = (SELECT max(run) FROM rounds) ORDER BY round DESC LIMIT ?",
                (count,),
            ).fetchall()
            manifest = db.execute("SELECT manifest FROM runs WHERE id = (SELECT max(run) FROM rounds)").fetchone()
            reports = [rows.read_report(db, *row) for row in found]
        return Played(msgspec.json.decode(manifest[0], type=RunManifest), reports) if reports else None
    except (sqlite3.Error, *UNREADABLE):
        return None
