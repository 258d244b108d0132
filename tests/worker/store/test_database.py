"""The database file: migrations run once and completely, a newer one is refused, transactions are atomic."""

import sqlite3
from pathlib import Path

import pytest

from sapo_desktop.core.errors import HistoryError
from sapo_desktop.worker.store.database import OLDEST, STEPS, Database


def test_a_newer_database_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    Database(path, 0, (*STEPS, "CREATE TABLE more (x);")).close()
    newest = OLDEST + len(STEPS)
    versions = f"version {newest + 1}; this one knows {newest}"
    with pytest.raises(HistoryError, match=f"newer SAPO Desktop.*{versions}"):
        Database(path, 0)
    assert [p.name for p in tmp_path.iterdir()] == ["history.db"]


@pytest.mark.parametrize("version", [-1, -(2**31), OLDEST - 1])
def test_a_version_that_nobody_writes_is_damage(tmp_path: Path, version: int) -> None:
    path = tmp_path / "history.db"
    Database(path, 0).close()
    with sqlite3.connect(path) as direct:
        direct.execute(f"PRAGMA user_version = {version}")
    database = Database(path, 7)
    assert f"version {version}" in str(database.said)
    assert (tmp_path / "history.damaged-7.db").exists()
    with database.reading() as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone() == (0,)
    database.close()


def test_steps_are_taken_once_and_keep_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    first = Database(path, 0)
    with first.writing() as db:
        db.execute("INSERT INTO runs (started, seed, model_hash, manifest) VALUES (0, 1, 'ab', '{}')")
    first.close()
    two = (*STEPS, "ALTER TABLE runs ADD note DEFAULT 'x';\nCREATE TABLE more (y); -- a; b\n")
    for _ in range(2):
        database = Database(path, 0, two)
        with database.reading() as db:
            assert db.execute("SELECT note FROM runs").fetchall() == [("x",)]
            assert db.execute("SELECT count(*) FROM runs").fetchone() == (1,)
            assert db.execute("PRAGMA user_version").fetchone() == (OLDEST + len(STEPS) + 1,)
        database.close()


def test_rounds_from_before_the_own_share_was_kept_have_that_of_all_their_tasks(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    first = Database(path, 0, STEPS[:0])
    with first.writing() as db:
        db.execute("INSERT INTO runs (started, seed, model_hash, manifest) VALUES (0, 1, 'ab', '{}')")
        for number, others in ((1, None), (2, 0.5)):
            db.execute(
                "INSERT INTO rounds (run, round, finished, reward, solved, partial, swarm_reward, local_groups, "
                "external_groups, seconds, report) VALUES (1, ?, 0, 0.3, 0.25, 0.3, ?, 1, 0, 1, '{}')",
                (number, others),
            )
    first.close()
    database = Database(path, 0)
    with database.reading() as db:
        assert db.execute("SELECT swarm_mine FROM rounds ORDER BY round").fetchall() == [(None,), (0.25,)]
    database.close()


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    Database(path, 0).close()
    with pytest.raises(HistoryError):
        Database(path, 0, (*STEPS, "CREATE TABLE more (y);\nCREATE TABLE runs (z);"))
    with sqlite3.connect(path) as direct:
        assert direct.execute("PRAGMA user_version").fetchone() == (OLDEST + len(STEPS),)
        assert direct.execute("SELECT count(*) FROM sqlite_master WHERE name = 'more'").fetchone() == (0,)


def test_a_block_that_raises_is_undone(tmp_path: Path) -> None:
    database = Database(tmp_path / "history.db", 0)
    with pytest.raises(KeyError), database.writing() as db:
        db.execute("INSERT INTO names (name) VALUES ('x')")
        raise KeyError
    with database.reading() as db:
        assert db.execute("SELECT count(*) FROM names").fetchone() == (0,)


def test_a_commit_is_synced_and_readers_do_not_wait(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    one, two = Database(path, 0), Database(path, 0)
    with one.writing() as writer:
        writer.execute("INSERT INTO names (name) VALUES ('x')")
        with two.reading() as reader:
            assert reader.execute("SELECT count(*) FROM names").fetchone() == (0,)
        assert writer.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert writer.execute("PRAGMA foreign_keys").fetchone() == (1,)
    with two.reading() as reader:
        assert reader.execute("SELECT count(*) FROM names").fetchone() == (1,)
