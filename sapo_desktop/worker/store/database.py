"""Opening the history database: SQLite's settings, its tables, and what to do with a damaged file.

WAL with synchronous FULL: a committed round survives a power cut, and readers do not wait for the writer. An unreadable
database is moved aside as a whole, never repaired or deleted; training does not need it to continue.

STEPS upgrade a database from version OLDEST + n to the next; `user_version` is the current one. A released step is
never edited, because existing databases have used it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from sapo_desktop.core.errors import HistoryDamaged, HistoryError, HistoryUnavailable
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.sentences import Text, sentence

SCHEMA = """
CREATE TABLE names (              -- tasks and authors are written once, here
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE runs (               -- one row per start of training
    id         INTEGER PRIMARY KEY,
    started    REAL NOT NULL,
    seed       INTEGER NOT NULL,
    model_hash TEXT NOT NULL,
    manifest   TEXT NOT NULL      -- worker/store/manifest.py, JSON
);
CREATE TABLE rounds (             -- one row per finished round
    id              INTEGER PRIMARY KEY,
    run             INTEGER NOT NULL REFERENCES runs (id),
    round           INTEGER NOT NULL,
    lost            INTEGER NOT NULL DEFAULT 0,   -- 1: after the checkpoint training resumed from
    pruned          INTEGER NOT NULL DEFAULT 0,   -- 1: only a sample of its answers is left
    finished        REAL NOT NULL,
    checkpoint      INTEGER,
    reward          REAL NOT NULL,
    solved          REAL NOT NULL,
    partial         REAL NOT NULL,
    swarm_reward    REAL,
    swarm_low       REAL,         -- what curves are drawn from without reading every report
    swarm_high      REAL,
    swarm_peers     INTEGER,
    silo            INTEGER,
    local_groups    INTEGER NOT NULL,
    external_groups INTEGER NOT NULL,
    seconds         REAL NOT NULL,
    report          TEXT NOT NULL                 -- RoundReport as JSON, without its tasks
);
CREATE UNIQUE INDEX rounds_counted ON rounds (round) WHERE lost = 0;
CREATE INDEX rounds_unpruned ON rounds (round) WHERE pruned = 0;
CREATE INDEX rounds_curve ON rounds (round, reward, solved, swarm_reward, swarm_low, swarm_high, swarm_peers, silo, run)
    WHERE lost = 0;           -- with the run, which knows the model
CREATE TABLE task_marks (
    round_id INTEGER NOT NULL REFERENCES rounds (id),
    place    INTEGER NOT NULL,
    task     INTEGER NOT NULL REFERENCES names (id),
    answers  INTEGER NOT NULL,
    solved   REAL NOT NULL,
    partial  REAL NOT NULL,
    reward   REAL NOT NULL,
    PRIMARY KEY (round_id, place)
) WITHOUT ROWID;
CREATE INDEX task_marks_by_task ON task_marks (task, round_id);
CREATE TABLE groups (             -- what entered training and where it came from; never pruned
    round_id INTEGER NOT NULL REFERENCES rounds (id),
    place    INTEGER NOT NULL,
    task     INTEGER NOT NULL REFERENCES names (id),
    seed     INTEGER NOT NULL,
    origin   TEXT NOT NULL,
    author   INTEGER REFERENCES names (id),
    answers  INTEGER NOT NULL,
    weight   REAL NOT NULL,       -- sum of |advantage| over its answers
    PRIMARY KEY (round_id, place)
) WITHOUT ROWID;
CREATE TABLE questions (          -- pruned together with its rollouts
    round_id INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (round_id, place),
    FOREIGN KEY (round_id, place) REFERENCES groups (round_id, place)
);
CREATE TABLE rollouts (
    round_id  INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    answer    INTEGER NOT NULL,
    text      TEXT NOT NULL,
    solved    INTEGER NOT NULL,
    partial   REAL NOT NULL,
    reward    REAL NOT NULL,
    advantage REAL NOT NULL,
    verdict   TEXT NOT NULL,
    kind      TEXT NOT NULL,      -- who wrote the answer: model or human
    PRIMARY KEY (round_id, place, answer),
    FOREIGN KEY (round_id, place) REFERENCES questions (round_id, place) ON DELETE CASCADE
);
CREATE TABLE checkpoints (        -- what was written when, for the daily limit; also of those deleted since
    id      INTEGER PRIMARY KEY,
    number  INTEGER NOT NULL,
    round   INTEGER NOT NULL,
    written REAL NOT NULL,
    bytes   INTEGER NOT NULL
);
CREATE INDEX checkpoints_written ON checkpoints (written);
CREATE TABLE evals (
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES runs (id),
    round    INTEGER NOT NULL,
    lost     INTEGER NOT NULL DEFAULT 0,
    finished REAL NOT NULL,
    which    TEXT NOT NULL,
    score    REAL NOT NULL,
    report   TEXT NOT NULL        -- EvalReport as JSON
);
CREATE TABLE tries (              -- what became of each task here, until it was first solved
    task          INTEGER PRIMARY KEY REFERENCES names (id),
    answers       INTEGER NOT NULL DEFAULT 0,
    solved        INTEGER NOT NULL DEFAULT 0,
    peer_round    INTEGER,        -- a peer's solved answer that was learned from before
    peer_author   INTEGER REFERENCES names (id),
    peer_text     TEXT,
    peer_question TEXT
);
CREATE TABLE ahas (               -- first solved here after a peer's answer had been learned from
    id            INTEGER PRIMARY KEY,
    task          INTEGER NOT NULL UNIQUE REFERENCES names (id),
    round         INTEGER NOT NULL,
    tries         INTEGER NOT NULL,
    question      TEXT NOT NULL,
    answer        TEXT NOT NULL,
    peer_round    INTEGER NOT NULL,
    peer_author   INTEGER REFERENCES names (id),
    peer_question TEXT NOT NULL,
    peer_answer   TEXT NOT NULL
);
CREATE TABLE totals (             -- counts over all history, so that nobody has to go through it
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO totals VALUES ('rounds', 0), ('answers_own', 0), ('answers_shared', 0), ('used', 0), ('joules', 0);
CREATE TABLE claims (             -- what each peer said last of how many groups of ours it used
    peer   TEXT PRIMARY KEY,
    used   INTEGER NOT NULL,
    told   REAL NOT NULL,
    helped INTEGER NOT NULL DEFAULT 0    -- 1: it ever said that it used any; `used` starts at 0 at each of its starts
) WITHOUT ROWID;
CREATE INDEX claims_told ON claims (told);
"""
"""An empty file gets these tables, of version OLDEST, and then the steps."""
OLDEST = 9
"""The version before the first step: no released folder is older."""
STEPS: tuple[str, ...] = (
    """
-- The share solved here of the tasks that peers were measured on; before, of all tasks of the round.
ALTER TABLE rounds ADD COLUMN swarm_mine REAL;
UPDATE rounds SET swarm_mine = solved WHERE swarm_reward IS NOT NULL;
DROP INDEX rounds_curve;
CREATE INDEX rounds_curve ON rounds (
    round, reward, solved, swarm_reward, swarm_low, swarm_high, swarm_peers, swarm_mine, silo, run
) WHERE lost = 0;
""",
    """
-- What computing took on each day since 1970, in UTC.
CREATE TABLE days (day INTEGER PRIMARY KEY, joules INTEGER NOT NULL);
""",
)


BUSY_SECONDS = 10.0
_SUFFIXES = ("", "-wal", "-shm")
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_DAMAGE_IN_WORDS = ("decode to UTF-8", "malformed JSON")
"""For errors without a code."""
_PASSING = {
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
}
"""Temporary problems of the disk or with other programs."""


class _Unreadable(Exception):
    """Why a database must be set aside."""


class Database:
    """One connection, used by one thread at a time. `said`: remarks on its opening for a person."""

    def __init__(self, path: Path, now: float, steps: Sequence[str] = STEPS) -> None:
        self.path = path
        self.said: Text = ""
        self._lock = threading.RLock()
        self._suspect = path.with_name(path.name + ".suspect")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = self._open(steps)
        except _Unreadable as error:
            aside = self._set_aside(int(now))
            self.said = sentence(
                "The history database was damaged ({error}). It was moved to {name}, and a new one was "
                "created. Checkpoints and training are not affected.",
                error=str(error),
                name=aside.name,
            )
            self._connection = self._open(steps)

    def close(self) -> None:
        """Close; the last connection folds the write-ahead log into the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for the duration of the block.

        Raises:
            HistoryDamaged: its content cannot be read, including rows that SQLite accepts.
            HistoryUnavailable: the disk is full or read-only, or another process holds it too long.
            HistoryError: anything else.
        """
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise self._explained(error) from error
            except UNREADABLE as error:
                raise self._damaged(str(error)) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Like `reading`, in one transaction: everything in the block is stored, or nothing."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # SQLite rolls back by itself when the disk is full
                    connection.execute("ROLLBACK")
                raise

    def _open(self, steps: Sequence[str]) -> sqlite3.Connection:
        # Only a kill leaves the log behind; a check reads the whole file, so it is not done at each start.
        check = self._suspect.exists() or self.path.with_name(self.path.name + "-wal").exists()
        try:
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                if check and (said := self._suspect.read_text(encoding="utf-8") if self._suspect.exists() else ""):
                    raise _Unreadable(said)
                _prepare(connection, check)
                _migrate(connection, self.path, steps)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            if _is_damage(error):
                raise _Unreadable(str(error)) from error
            raise self._explained(error) from error
        self._suspect.unlink(missing_ok=True)
        return connection

    def _set_aside(self, now: int) -> Path:
        aside = self.path.with_name(f"{self.path.stem}.damaged-{now}{self.path.suffix}")
        for suffix in _SUFFIXES:
            part = self.path.with_name(self.path.name + suffix)
            if part.exists():
                part.rename(aside.with_name(aside.name + suffix))
        self._suspect.unlink(missing_ok=True)
        return aside

    def _explained(self, error: sqlite3.Error) -> HistoryError:
        if _is_damage(error):
            return self._damaged(str(error), checked=_code(error) not in _DAMAGE)
        if _code(error) == sqlite3.SQLITE_FULL:
            return HistoryUnavailable(
                "The disk is full. Free some space, so that {path} can be written.", path=str(self.path)
            )
        kind = HistoryUnavailable if _code(error) in _PASSING else HistoryError
        return kind(
            sentence(
                "The history database {path} could not be used ({error}). Check that the disk has space, "
                "that you may write to the folder, and that no other program uses the file.",
                path=str(self.path),
                error=str(error),
            )
        )

    def _damaged(self, what: str, *, checked: bool = True) -> HistoryDamaged:
        """Make the next start check it; if it is already `checked`, because SQLite finds nothing, believe this
        error."""
        self._suspect.write_text(what if checked else "", encoding="utf-8")
        return HistoryDamaged(
            "The history database {path} is damaged ({error}). Start again: it will be moved away and a "
            "new one created.",
            path=str(self.path),
            error=what,
        )


@contextmanager
def looked_at(path: Path, steps: Sequence[str] = STEPS) -> Iterator[sqlite3.Connection]:
    """A read-only connection, also while a node uses the file or starts to. It checks and changes nothing.

    Raises:
        HistoryError: there is no such file, it is unreadable, or another release wrote it.
    """
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)) as connection:
            if _version(connection) != OLDEST + len(steps):
                raise HistoryError("Another release of SAPO Desktop wrote {path}.", path=str(path))
            yield connection
    except (sqlite3.Error, *UNREADABLE) as error:
        raise HistoryError("{path} cannot be read ({error}).", path=str(path), error=str(error)) from error


def _prepare(connection: sqlite3.Connection, check: bool) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    if check:
        (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if result != "ok":
            raise _Unreadable(str(result))


def _migrate(connection: sqlite3.Connection, path: Path, steps: Sequence[str]) -> None:
    newest = OLDEST + len(steps)
    if (version := _version(connection)) > newest:
        raise HistoryError(
            "A newer SAPO Desktop wrote the history database {path} (version {version}; this one knows "
            "{newest}). Install the newer version, or use another data folder.",
            path=str(path),
            version=version,
            newest=newest,
        )
    while (version := _version(connection)) < newest:
        if version and version < OLDEST:  # no release wrote such a version
            raise _Unreadable(f"version {version}")
        connection.execute("BEGIN IMMEDIATE")
        if _version(connection) == version:  # otherwise another process was faster
            for statement in _statements(steps[version - OLDEST] if version else SCHEMA):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1 if version else OLDEST}")
        connection.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    """One at a time: `executescript` would commit before it begins."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_damage(error: sqlite3.Error) -> bool:
    return _code(error) in _DAMAGE or any(said in str(error) for said in _DAMAGE_IN_WORDS)


def _code(error: sqlite3.Error) -> int | None:
    """SQLite's own error code; errors of the Python module itself have none."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
