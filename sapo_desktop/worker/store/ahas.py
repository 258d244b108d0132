"""Tasks that this node first solved after learning from a peer's answer to them. (The timing does not prove the cause.)

A task counts if at least 64 own tries did not solve it, then an external group with a solved answer and an advantage
entered training, and an own answer in a later round solved it. Functions on an open transaction, as in
worker/store/rows.py.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from sapo_desktop.core.records import Group, RoundReport
from sapo_desktop.worker.control.messages.replies import Aha
from sapo_desktop.worker.store.rows import name_id, records, storable

FEWEST_TRIES = 64


def note_round(
    db: sqlite3.Connection, report: RoundReport, groups: Sequence[Group], advantages: Sequence[Sequence[float]]
) -> None:
    """Count the tries of a finished round, then record the peers' answers that it learned from."""
    for mark in report.tasks:
        task = name_id(db, mark.task)
        answers, solved, peer_round = _tried(db, task)
        if not solved and mark.solved > 0 and peer_round is not None and answers >= FEWEST_TRIES:
            _first_solved(db, task, report.round, answers, _solution(groups, mark.task))
        db.execute(
            "UPDATE tries SET answers = answers + ?, solved = solved + ? WHERE task = ?",
            (mark.answers, round(mark.solved * mark.answers), task),
        )
    for group, values in zip(groups, advantages, strict=True):
        if group.origin == "peer" and any(values):
            _learned_from(db, group, report.round)


def forget_after(db: sqlite3.Connection, round_number: int) -> None:
    """Later rounds were lost, and are marked so: undo what was tried and solved in them."""
    db.execute(
        "UPDATE tries SET (answers, solved) = (SELECT coalesce(sum(m.answers), 0), "
        "coalesce(sum(CAST(round(m.solved * m.answers) AS INTEGER)), 0) FROM task_marks m "
        "JOIN rounds r ON r.id = m.round_id WHERE r.lost = 0 AND m.task = tries.task) "
        "WHERE task IN (SELECT m.task FROM task_marks m JOIN rounds r ON r.id = m.round_id "
        "WHERE r.lost = 1 AND r.round > ?)",
        (round_number,),
    )
    db.execute("DELETE FROM ahas WHERE round > ?", (round_number,))
    db.execute(
        "UPDATE tries SET peer_round = NULL, peer_author = NULL, peer_text = NULL, peer_question = NULL "
        "WHERE peer_round > ?",
        (round_number,),
    )


def read_ahas(db: sqlite3.Connection) -> list[Aha]:
    """Newest first."""
    found = db.execute(
        "SELECT t.name AS task, a.round, a.tries, a.question, a.answer, a.peer_round, coalesce(u.name, '') AS peer, "
        "a.peer_question, a.peer_answer FROM ahas a JOIN names t ON t.id = a.task "
        "LEFT JOIN names u ON u.id = a.peer_author ORDER BY a.round DESC, a.id DESC"
    )
    return [*records(found, Aha)]


def _tried(db: sqlite3.Connection, task: int) -> tuple[int, int, int | None]:
    db.execute("INSERT INTO tries (task) VALUES (?) ON CONFLICT DO NOTHING", (task,))
    answers, solved, peer_round = db.execute(
        "SELECT answers, solved, peer_round FROM tries WHERE task = ?", (task,)
    ).fetchone()
    return answers, solved, peer_round


def _solution(groups: Sequence[Group], task: str) -> tuple[str, str]:
    """Question and text of an own answer that solved the task in this round."""
    for group in groups:
        if group.origin == "own" and group.question.task == task:
            for completion, mark in zip(group.completions, group.marks, strict=True):
                if mark.solved:
                    return storable(group.question.text), storable(completion.text)
    return "", ""  # the mix left out its group


def _first_solved(db: sqlite3.Connection, task: int, number: int, tries: int, solution: tuple[str, str]) -> None:
    db.execute(
        "INSERT INTO ahas (task, round, tries, question, answer, peer_round, peer_author, peer_question, peer_answer) "
        "SELECT task, ?, ?, ?, ?, peer_round, peer_author, peer_question, peer_text FROM tries WHERE task = ? "
        "ON CONFLICT DO NOTHING",
        (number, tries, *solution, task),
    )


def _learned_from(db: sqlite3.Connection, group: Group, number: int) -> None:
    """Record the first solved answer of a peer to a task that is unsolved here."""
    text = next((done.text for done, mark in zip(group.completions, group.marks, strict=True) if mark.solved), None)
    task = name_id(db, group.question.task)
    _, solved, peer_round = _tried(db, task)
    if text is None or solved or peer_round is not None:
        return
    author = name_id(db, group.author) if group.author else None
    db.execute(
        "UPDATE tries SET peer_round = ?, peer_author = ?, peer_text = ?, peer_question = ? WHERE task = ?",
        (number, author, storable(text), storable(group.question.text), task),
    )
