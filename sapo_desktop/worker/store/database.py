"""Opening the history database: settings of SQLite, migrations, and what to do with a damaged file.

WAL with synchronous FULL: a committed round survives a power cut, and readers do not wait for the writer. A
database that cannot be read is moved aside whole, never repaired or deleted; training needs none of it to go
on.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sapo_desktop.core.errors import HistoryDamaged, HistoryError, HistoryUnavailable
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.worker.store.migrations import STEPS

BUSY_SECONDS = 10.0
_SUFFIXES = ("", "-wal", "-shm")
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PASSING = {
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
}
"""What the disk or another program does, and may stop doing."""


class _Unreadable(Exception):
    """Why a database has to be set aside."""


class Database:
    """One connection, used by one thread at a time. `said`: what a person should know about its opening."""

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
                "The history database was damaged ({error}). It was moved to {name} and a new one begun; checkpoints "
                "and training are not affected.",
                error=str(error),
                name=aside.name,
            )
            self._connection = self._open(steps)

    def close(self) -> None:
        """Close; the last to do so folds the write-ahead log into the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for the length of the block.

        Raises:
            HistoryDamaged: what is in it cannot be read, rows that SQLite holds for whole included.
            HistoryUnavailable: the disk is full or may not be written, or another process holds it too long.
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
        """As `reading`, in one transaction: all of the block is stored, or nothing."""
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
        # Only a kill leaves the log behind; a check reads the whole file, so not at each start.
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
        kind = HistoryUnavailable if _code(error) in _PASSING else HistoryError
        return kind(
            sentence(
                "The history database {path} could not be used ({error}): check that the disk has space, "
                "that the folder may be written, and that no other program holds the file.",
                path=str(self.path),
                error=str(error),
            )
        )

    def _damaged(self, what: str, *, checked: bool = True) -> HistoryDamaged:
        """Have the next start look into it; where it is `checked` already, since SQLite finds nothing, believe this."""
        self._suspect.write_text(what if checked else "", encoding="utf-8")
        return HistoryDamaged(
            sentence(
                "The history database {path} is damaged ({error}). Start again: it will be set aside and a "
                "new one begun.",
                path=str(self.path),
                error=what,
            )
        )


def _prepare(connection: sqlite3.Connection, check: bool) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    if check:
        (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if result != "ok":
            raise _Unreadable(str(result))


def _migrate(connection: sqlite3.Connection, path: Path, steps: Sequence[str]) -> None:
    version = _version(connection)
    if version > len(steps):
        raise HistoryError(
            sentence(
                "A newer SAPO Desktop wrote the history database {path} (version {version}, this one knows "
                "{newest}): install the newer version, or use another data folder.",
                path=str(path),
                version=version,
                newest=len(steps),
            )
        )
    while version < len(steps):
        connection.execute("BEGIN IMMEDIATE")
        version = _version(connection)  # again: another process may have been quicker
        if version < len(steps):
            for statement in _statements(steps[version]):
                connection.execute(statement)
            version += 1
            connection.execute(f"PRAGMA user_version = {version}")
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
    return _code(error) in _DAMAGE or "decode to UTF-8" in str(error)


def _code(error: sqlite3.Error) -> int | None:
    """SQLite's own code of it; errors of the Python module itself carry none."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
