"""The history of a data folder: rounds, scores, answers, in SQLite.

A round is stored in one transaction before its checkpoint is written, and the checkpoint's number is added afterwards.
So a kill at any moment leaves at most rounds without a checkpoint, and `reconcile` marks those lost when training
resumes before them. They stay in the file but never count. All answers are kept for the last 200 rounds, and one group
per round before that; where each group came from is kept forever.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import HistoryDamaged, HistoryError
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.records import EvalReport, Group, Learned, Record, RoundReport, TaskMark
from sapo_desktop.worker.control.messages import replies
from sapo_desktop.worker.control.messages.rollouts import GetRollouts, Rollouts
from sapo_desktop.worker.store import ahas, comparison, rows, week
from sapo_desktop.worker.store import rollouts as kept_rollouts
from sapo_desktop.worker.store.database import Database
from sapo_desktop.worker.store.manifest import RunManifest

DAY = 86400.0
MOST_PEERS = 4096
"""Peers whose last number is kept; the one that reported longest ago is dropped first."""
WHOLE_ROUNDS = 200
MOST_BYTES = 1_000_000_000
_WORTH_COPYING = 8
"""A file is compacted if that frees the requested space, or this share of it."""
ALL_ROLLOUTS = GetRollouts()


class Written(Record, frozen=True):
    """One checkpoint in the history."""

    time: float
    bytes: int


class Totals(Record, frozen=True):
    """Counts over the whole history."""

    rounds: int = 0
    """The number of rounds that count."""
    answers_own: int = 0
    """Scored ones, including lost rounds."""
    answers_shared: int = 0
    used: int = 0
    """Groups of ours that peers say they used."""
    joules: int = 0
    """Energy used for computing."""


class Latest(Record, frozen=True):
    """The last round and the scores so far, as sent to clients."""

    last: RoundReport | None = None
    rounds: int = 0
    answers_own: int = 0
    validation: float | None = None
    """The newest score, however many questions were asked again since the previous one."""
    validation_round: int = 0
    base_validation: float | None = None
    learned: Learned | None = None

    def after_round(self, report: RoundReport) -> Latest:
        """Updated after clients got this round."""
        answers = self.answers_own + sum(mark.answers for mark in report.tasks)
        return msgspec.structs.replace(self, last=report, rounds=self.rounds + 1, answers_own=answers)

    def after_eval(self, report: EvalReport) -> Latest:
        """Updated after clients got this score."""
        now = self if report.learned is None else msgspec.structs.replace(self, learned=report.learned)
        if report.which != "validation" or report.samples:
            return now
        base = report.score if report.round == 0 else self.base_validation
        now = msgspec.structs.replace(now, base_validation=base)
        if report.round < self.validation_round:  # an older checkpoint that somebody wanted scored
            return now
        return msgspec.structs.replace(now, validation=report.score, validation_round=report.round)


class History:
    """The history database at `path`, created if necessary. One writer at a time; any number of readers.

    Raises:
        HistoryError: the file cannot be used. A damaged one is set aside instead, and `said` reports it.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time, most_bytes: int = MOST_BYTES) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        self._database = Database(path, clock())
        self.said = self._database.said

    @classmethod
    def for_node(cls, path: Path, *, most_bytes: int = MOST_BYTES) -> History:
        """Open it for a starting node: what that reads first is readable, or the file is set aside now."""
        history = cls(path, most_bytes=most_bytes)
        try:
            history.latest()
        except HistoryDamaged:
            history.close()
            return cls(path, most_bytes=most_bytes)
        return history

    def close(self) -> None:
        self._database.close()

    # -- writing --------------------------------------------------------------------------------

    def begin_run(self, manifest: RunManifest) -> int:
        """Record that training starts under these conditions; returns the run's id."""
        with self._database.writing() as db:
            return rows.insert(
                db,
                "runs",
                started=self._clock(),
                seed=manifest.seed,
                model_hash=manifest.model_sha256,
                manifest=rows.to_json(manifest),
            )

    def record_round(
        self, run: int, report: RoundReport, groups: Sequence[Group], advantages: Sequence[Sequence[float]]
    ) -> None:
        """Store a finished round: its report, the origin of its groups, and their answers.

        `advantages`: per group, per answer.

        Raises:
            HistoryError: the round is there already (`reconcile` first), or the database cannot be written.
        """
        try:
            with self._database.writing() as db:
                round_id = rows.insert_round(db, run, report, self._clock())
                rows.insert_marks(db, round_id, report.tasks)
                for place, (group, values) in enumerate(zip(groups, advantages, strict=True)):
                    rows.insert_group(db, round_id, place, group, values)
                ahas.note_round(db, report, groups, advantages)
                rows.add_to_total(db, "rounds", 1)
                rows.add_to_total(db, "answers_own", sum(mark.answers for mark in report.tasks))
                rows.prune_old(db, report.round - WHOLE_ROUNDS)
                rows.prune_large(db, self._most_bytes)
        except HistoryError as error:
            if isinstance(error.__cause__, sqlite3.IntegrityError):
                raise HistoryError(
                    "Round {round} is already in the history. Reconcile first.", round=str(report.round)
                ) from error
            raise

    def shrink(self, by: int) -> bool:
        """Delete the oldest stored answers until the file can shrink by so many bytes, and shrink it; the newest
        round's answers stay. False if that would free too little."""
        size, more = self._database.path.stat().st_size, True
        while more:
            with self._database.writing() as db:
                more = rows.prune_large(db, size - by)
        with self._database.reading() as db:
            if rows.free_bytes(db) < min(by, size // _WORTH_COPYING):
                return False
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return True

    def record_checkpoint(self, number: int, round_number: int, size: int) -> None:
        """Record that a checkpoint of `size` bytes was written after that round."""
        with self._database.writing() as db:
            rows.insert(db, "checkpoints", number=number, round=round_number, written=self._clock(), bytes=size)
            rows.name_checkpoint(db, number, round_number)

    def record_eval(self, run: int, report: EvalReport) -> None:
        """Store a held-out score."""
        with self._database.writing() as db:
            rows.insert(
                db,
                "evals",
                run=run,
                round=report.round,
                finished=self._clock(),
                which=report.kind,
                score=report.score,
                report=rows.to_json(report),
            )

    def reconcile(self, round_number: int, checkpoint: int | None = None) -> int:
        """Make history agree with the checkpoint that training resumes from; returns how many rounds are lost.

        `round_number`: the checkpoint's round, 0 for the base. `checkpoint`: its number, recorded here if a kill came
        between writing it and `record_checkpoint`.
        """
        with self._database.writing() as db:
            lost = db.execute("UPDATE rounds SET lost = 1 WHERE round > ? AND lost = 0", (round_number,)).rowcount
            db.execute("UPDATE evals SET lost = 1 WHERE round > ? AND lost = 0", (round_number,))
            ahas.forget_after(db, round_number)
            rows.add_to_total(db, "rounds", -lost)
            if checkpoint is not None:
                rows.name_checkpoint(db, checkpoint, round_number)
            return lost

    def note_shared(self, answers: int) -> None:
        """Count own published answers."""
        with self._database.writing() as db:
            rows.add_to_total(db, "answers_shared", answers)

    def note_joules(self, joules: int) -> None:
        """Add used energy."""
        with self._database.writing() as db:
            rows.add_to_total(db, "joules", joules)
            db.execute(
                "INSERT INTO days (day, joules) VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET joules = joules + ?",
                (int(self._clock() // week.DAY), joules, joules),
            )

    def note_claims(self, claims: Mapping[str, int], gained: int) -> None:
        """Store the last numbers of peers (hex keys), the oldest report first, and add their growth."""
        with self._database.writing() as db:
            rows.add_to_total(db, "used", gained)
            # In their order, because the clock may be too coarse.
            for peer, used in claims.items():
                db.execute(
                    "INSERT INTO claims (peer, used, told, helped) VALUES (?, ?, ?, ?) ON CONFLICT (peer) DO UPDATE "
                    "SET used = excluded.used, told = excluded.told, helped = max(helped, excluded.helped)",
                    (peer, used, self._clock(), used > 0),
                )
            db.execute(
                "DELETE FROM claims WHERE peer IN (SELECT peer FROM claims ORDER BY told DESC, peer LIMIT -1 OFFSET ?)",
                (MOST_PEERS,),
            )

    # -- reading --------------------------------------------------------------------------------

    def last_manifest(self) -> RunManifest | None:
        """The conditions of the latest round, None before the first.

        A manifest that an older release wrote and this one cannot read counts as none: it is only for comparison.
        """
        with self._database.reading() as db:
            row = db.execute(
                "SELECT manifest FROM runs WHERE id IN (SELECT run FROM rounds) ORDER BY id DESC LIMIT 1"
            ).fetchone()
        try:
            return msgspec.json.decode(row[0], type=RunManifest) if row else None
        except UNREADABLE:
            return None

    def totals(self) -> Totals:
        """Counts over the whole history, without reading all rows."""
        with self._database.reading() as db:
            found = db.execute("SELECT name, value FROM totals").fetchall()
            return msgspec.convert(dict(found), Totals)

    def claims(self) -> dict[str, int]:
        """Each peer's last statistics, oldest report first."""
        with self._database.reading() as db:
            found = db.execute("SELECT peer, used FROM claims ORDER BY told, peer").fetchall()
            return msgspec.convert(dict(found), dict[str, int])

    def helped(self) -> set[str]:
        """Number of peers that ever said they used a group of ours."""
        with self._database.reading() as db:
            found = db.execute("SELECT peer FROM claims WHERE helped").fetchall()
            return msgspec.convert({peer for (peer,) in found}, set[str])

    def latest(self) -> Latest:
        """The last round and the scores that count, of the last run's model."""
        totals, last = self.totals(), self.last_rounds(1, f"AND {rows.AT_WORK}")
        reached, score = self._validation()
        return Latest(
            last=last[0] if last else None,
            rounds=totals.rounds,
            answers_own=totals.answers_own,
            validation=score,
            validation_round=reached,
            base_validation=self._validation("AND round = 0")[1],
            learned=self._learned(),
        )

    def _learned(self) -> Learned | None:
        """The newest one."""
        with self._database.reading() as db:
            found = db.execute(
                f"SELECT json_extract(report, '$.learned') FROM evals WHERE lost = 0 AND {rows.AT_WORK} "
                "AND json_extract(report, '$.learned') IS NOT NULL ORDER BY id DESC LIMIT 1"
            ).fetchone()
            return msgspec.json.decode(found[0], type=Learned) if found else None

    def rounds(self, after: int = 0, limit: int = 1000) -> replies.History:
        """Up to `limit` finished rounds after round `after` that count, oldest first."""
        with self._database.reading() as db:
            found = db.execute(
                f"SELECT id, report, checkpoint, {rows.MODEL} FROM rounds WHERE lost = 0 AND round > ? "
                "ORDER BY round LIMIT ?",
                (after, limit + 1),
            ).fetchall()
            reports = [rows.read_report(db, *row) for row in found[:limit]]
        return replies.History(rounds=reports, more=len(found) > limit)

    def last_rounds(self, count: int, of: str = "") -> list[RoundReport]:
        """The newest `count` rounds that count and meet this condition, oldest first."""
        with self._database.reading() as db:
            found = db.execute(
                f"SELECT id, report, checkpoint, {rows.MODEL} FROM rounds WHERE lost = 0 {of} "
                "ORDER BY round DESC LIMIT ?",
                (count,),
            ).fetchall()
            return [rows.read_report(db, *row) for row in reversed(found)]

    def rollouts(self, wanted: GetRollouts = ALL_ROLLOUTS) -> Rollouts:
        """A page of stored answers."""
        with self._database.reading() as db:
            return kept_rollouts.read_page(db, wanted)

    def curve(self, after: int = 0, limit: int = 50_000) -> replies.Curve:
        """One point per round after round `after`, at most `limit`; with the first page every held-out score."""
        with self._database.reading() as db:
            return rows.read_curve_and_scores(db, after, limit)

    def ahas(self) -> list[replies.Aha]:
        """Tasks first solved here after learning from a peer's answer, newest first."""
        with self._database.reading() as db:
            return ahas.read_ahas(db)

    def comparisons(self) -> list[replies.Comparison]:
        """The last run's model compared with each other one, on the same held-out questions."""
        with self._database.reading() as db:
            return comparison.read_comparisons(db)

    def week(self) -> replies.Week:
        """Totals of the last seven days."""
        with self._database.reading() as db:
            return week.read_week(db, self._clock())

    def sources(self) -> list[replies.Source]:
        """Where the groups in training came from, by author and task; without lost rounds."""
        with self._database.reading() as db:
            return rows.read_sources(db)

    def evals(self, which: str | None = None) -> list[EvalReport]:
        """Held-out scores that count, oldest first; `which`: only `validation`, `test`, or one of them `(sampled)`."""
        with self._database.reading() as db:
            found = db.execute(
                "SELECT report FROM evals WHERE lost = 0 AND which = coalesce(?, which) ORDER BY id", (which,)
            ).fetchall()
            return [msgspec.json.decode(row[0], type=EvalReport) for row in found]

    def _validation(self, of: str = "") -> tuple[int, float | None]:
        """The newest round with a validation score of the last run's model that meets this condition, and its newest
        score."""
        with self._database.reading() as db:
            row = db.execute(
                f"SELECT round, score FROM evals WHERE lost = 0 AND which = 'validation' {of} AND {rows.AT_WORK} "
                "ORDER BY round DESC, id DESC LIMIT 1"
            ).fetchone()
            return (0, None) if row is None else msgspec.convert(row, tuple[int, float])

    def checkpoint_scores(self) -> dict[str, float]:
        """Validation scores that count, the newest of each checkpoint, without those between two checkpoints. The
        base is that of the last run's model."""
        with self._database.reading() as db:
            found = db.execute(
                "SELECT json_extract(report, '$.checkpoint'), score FROM evals "
                "WHERE lost = 0 AND which = 'validation' AND json_extract(report, '$.checkpoint') != '' "
                f"AND (round > 0 OR {rows.AT_WORK}) ORDER BY id"
            ).fetchall()
            return msgspec.convert(dict(found), dict[str, float])

    def task_totals(self, last_rounds: int) -> list[TaskMark]:
        """Scores per task over the newest `last_rounds` rounds of the last run's model, by name; shares weighted by
        answers."""
        with self._database.reading() as db:
            found = db.execute(
                "SELECT n.name AS task, sum(m.answers) AS answers, "
                "sum(m.solved * m.answers) / sum(m.answers) AS solved, "
                "sum(m.partial * m.answers) / sum(m.answers) AS partial, "
                "sum(m.reward * m.answers) / sum(m.answers) AS reward "
                "FROM task_marks m JOIN names n ON n.id = m.task WHERE m.answers > 0 AND m.round_id IN "
                f"(SELECT id FROM rounds WHERE lost = 0 AND {rows.AT_WORK} ORDER BY round DESC LIMIT ?) "
                "GROUP BY n.name ORDER BY n.name",
                (last_rounds,),
            )
            return [*rows.records(found, TaskMark)]

    def checkpoints_written(self, since: float) -> list[Written]:
        """Checkpoints written since that Unix time, oldest first: the initial state of WriteBudget."""
        with self._database.reading() as db:
            found = db.execute(
                "SELECT written AS time, bytes FROM checkpoints WHERE written >= ? ORDER BY written, id", (since,)
            )
            return [*rows.records(found, Written)]
