"""Comparison of two models by their newest greedy answers to the same held-out questions, with their untrained
answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from sapo_desktop.core.records import EvalReport, Gain
from sapo_desktop.core.statistics import paired_difference
from sapo_desktop.worker.control.messages.replies import Compared, Comparison

_NEWEST = 40
"""Reports of a model to read: more than one verdict's worth on either set."""


class _Key(NamedTuple):
    """The questions of one task."""

    which: str
    task: str
    print: str


Answers = Mapping[_Key, Sequence[bool]]
"""Which of them are solved."""


class _Answered(NamedTuple):
    now: Answers
    base: Answers


def read_comparisons(db: sqlite3.Connection) -> list[Comparison]:
    """The last run's model compared with each that learned here before, except those without common questions."""
    found = db.execute(
        "SELECT substr(model_hash, 1, 16) AS hash, coalesce(json_extract(manifest, '$.settings.model'), ''), max(id) "
        "FROM runs GROUP BY model_hash ORDER BY max(id) DESC"
    ).fetchall()
    answered = [(hash_, str(name), _answered(db, hash_)) for hash_, name, _ in found]
    if not answered:
        return []
    hash_, name, ours = answered[0]
    made = []
    for other_hash, other_name, theirs in answered[1:]:
        shared = _most_shared(ours.now, theirs.now)
        if not shared:
            continue
        mine, other = ([solved for key in shared for solved in one.now[key]] for one in (ours, theirs))
        difference = paired_difference(mine, other)
        made.append(
            Comparison(
                questions=len(mine),
                which=shared[0].which,
                ours=_compared(hash_, name, ours, shared),
                other=_compared(other_hash, other_name, theirs, shared),
                difference=Gain(value=difference.value, low=difference.low, high=difference.high),
            )
        )
    return made


def _answered(db: sqlite3.Connection, model: str) -> _Answered:
    """The newest answers to each task's questions."""
    now: dict[_Key, Sequence[bool]] = {}
    base: dict[_Key, Sequence[bool]] = {}
    newest = (
        "SELECT report FROM evals WHERE lost = 0 AND which IN ('validation', 'test') AND round {} 0 AND run IN "
        "(SELECT id FROM runs WHERE substr(model_hash, 1, 16) = ?) ORDER BY id DESC LIMIT ?"
    )
    for into, sign in ((now, ">"), (base, "=")):
        for (text,) in db.execute(newest.format(sign), (model, _NEWEST)):
            for key, solved in _by_task(msgspec.json.decode(text, type=EvalReport)):
                into.setdefault(key, solved)
    return _Answered(now, base)


def _by_task(report: EvalReport) -> Iterator[tuple[_Key, Sequence[bool]]]:
    at = 0
    for mark, print_ in zip(report.tasks, report.prints, strict=False):  # none in reports from before they were stored
        yield _Key(report.which, mark.task, print_), report.solved[at : at + mark.answers]
        at += mark.answers


def _most_shared(one: Answers, other: Answers) -> list[_Key]:
    """The questions that both answered, from the set with more of them."""
    sets = [[key for key in one if key in other and key.which == which] for which in ("validation", "test")]
    return max(sets, key=lambda keys: sum(len(one[key]) for key in keys))


def _compared(hash_: str, name: str, answered: _Answered, shared: Sequence[_Key]) -> Compared:
    return Compared(hash=hash_, name=name, now=_share(answered.now, shared) or 0.0, base=_share(answered.base, shared))


def _share(answers: Answers, keys: Sequence[_Key]) -> float | None:
    """Share solved of these questions; None if some were not asked."""
    if not all(key in answers for key in keys):
        return None
    solved = [one for key in keys for one in answers[key]]
    return sum(solved) / len(solved)
