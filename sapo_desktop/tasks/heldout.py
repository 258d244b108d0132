"""The two held-out sets: fixed questions that are never trained on.

Both contain only questions of the held-out side of the split (split.py), chosen by canonical content, so a reordered or
reworded twin is held out too. Another hash of the content divides that side again: a quarter for validation, the rest
for test. So the two sets never overlap, however small a task's space is; a set from a small space is smaller than
wanted. The test set is the same for everybody. The validation set follows from a secret of 32 bytes that never leaves
the computer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal, TypeAlias

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Question
from sapo_desktop.tasks.catalogue import Catalogue, Family, TaskKey
from sapo_desktop.tasks.split import canonical, held_out_side

SetName: TypeAlias = Literal["test", "validation"]
AskQuestion: TypeAlias = Callable[[TaskKey, int], Question]

WANTED: dict[SetName, dict[str, int]] = {
    "test": {"first": 16, "easy": 8, "middle": 24, "hard": 24},
    "validation": {"first": 2, "easy": 2, "middle": 6, "hard": 4},
}
"""Number of questions per family and level, for all levels that are trained on unless the user names others. Lower
levels are chosen first, because their space is often part of the next level's."""
PATIENCE = 400
"""Consecutive seeds without a new question after which a space counts as exhausted. One in 8 fresh questions is on
the held-out side, and a quarter of those in validation."""
OWN_WANTED: dict[SetName, int] = {"test": 100, "validation": 16}
"""Questions per level of an own family; a score over eight would tell its owner little."""
PUBLIC_SECRET = bytes(32)


def held_out_set(
    which: SetName,
    secret: bytes,
    catalogue: Catalogue,
    ask: AskQuestion,
    counts: Mapping[str, int] | None = None,
) -> list[Question]:
    """A set in its fixed order. `secret` (32 bytes) matters for validation only. `ask` returns a task's question or
    raises TaskError. `counts`: questions per family and level, instead of the product's."""
    if which == "validation" and len(secret) != 32:
        raise TaskError("The secret of the held-out questions must have 32 bytes, not {count}.", count=len(secret))
    questions: list[Question] = []
    own_secret = secret if which == "validation" else PUBLIC_SECRET
    for family in catalogue.families:
        seen: set[str] = set()
        has = {level.name: level for level in family.levels}
        for name, usual in (counts or WANTED[which]).items():
            if name not in has:
                continue
            task, rows = f"{family.name}/{name}", len(has[name].rows)
            seeds: Iterator[int] = (held_out_seed(which, own_secret, task, attempt) for attempt in itertools.count())
            if rows:  # an own family uses each row once
                seeds = iter(sorted(range(rows), key=partial(held_out_seed, which, own_secret, task)))
            wanted = OWN_WANTED[which] if rows and not counts else usual
            patience = rows or PATIENCE
            questions += _search(which, seeds, family, task, wanted, patience, ask, seen)
    return questions


def _search(
    which: SetName,
    seeds: Iterator[int],
    family: Family,
    task: TaskKey,
    wanted: int,
    patience: int,
    ask: AskQuestion,
    seen: set[str],
) -> list[Question]:
    """Up to `wanted` new questions of a task; `seen` holds the canonical contents already used."""
    found: list[Question] = []
    attempt, last_find = 0, 0
    for seed in seeds:
        if len(found) == wanted or attempt - last_find == patience:
            break
        question = _asked(ask, task, seed)
        attempt += 1
        if question is None or not held_out_side(family.name, question.text):
            continue
        content = canonical(family.name, question.text)
        if part_of(content) == which and content not in seen:
            seen.add(content)
            found.append(question)
            last_find = attempt
    return found


def _asked(ask: AskQuestion, task: TaskKey, seed: int) -> Question | None:
    try:
        return ask(task, seed)
    except TaskError:
        return None  # this seed has no question (for example, a division by zero); the next may


def held_out_seed(which: SetName, secret: bytes, task: TaskKey, attempt: int) -> int:
    """The seed (63 bits) of one try."""
    hashed = digest(b"sapo/heldout/1", which.encode("ascii"), secret, task.encode("ascii"), attempt.to_bytes(8, "big"))
    return int.from_bytes(hashed[:8], "big") & (2**63 - 1)


def part_of(content: str) -> SetName:
    """The set to which held-out content belongs."""
    return "validation" if digest(b"sapo/part/1", content.encode("utf-8"))[0] % 4 == 0 else "test"
