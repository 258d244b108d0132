"""Task ids: 32 bytes that say which questions a task asks and how they are marked.

Two nodes with the same id set the same questions and give the same marks, whatever versions they run: the
id hashes the family, the level's settings, the versions of scorer, grammars and answer rule, and 200
entries made from fixed seeds. Ids are made by the examiner on first use; nothing keeps them, because a
tenth of a second each is cheaper than a file that can be out of date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sapo_desktop.tasks.catalogue import Family, Level
from sapo_desktop.tasks.extraction import ANSWER_RULE
from sapo_desktop.tasks.grammars import GRAMMARS_VERSION
from sapo_desktop.tasks.questions import digest

FINGERPRINT_SEEDS = range(1_000_003, 1_000_003 + 200)


def task_id(family: Family, level: Level, entries: bytes) -> bytes:
    """The id (32 bytes) of a level whose entries have this fingerprint."""
    return digest(
        b"sapo/task/1",
        family.name.encode("ascii"),
        family.dataset.encode("ascii"),
        _canonical(level.config),
        f"{family.grammar} {GRAMMARS_VERSION} {family.scorer} {ANSWER_RULE}".encode("ascii"),
        entries,
    )


def fingerprint(entries: Sequence[Mapping[str, Any] | None]) -> bytes:
    """32 bytes over question and truth of each entry; metadata where no truth is stored; a mark where none
    was made."""
    fields: list[bytes] = [b"sapo/entries/1"]
    for entry in entries:
        if entry is None:
            fields.append(b"none")
            continue
        truth = entry["answer"]
        told = _canonical(entry["metadata"]) if truth is None else str(truth).encode("utf-8", "surrogatepass")
        fields += [entry["question"].encode("utf-8", "surrogatepass"), told]
    return digest(*fields)


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")
