"""Task ids: 32 bytes that say which questions a task asks and how they are marked.

Two nodes with the same id set the same questions and give the same marks, whatever versions they run: the
id hashes the family, the level's settings, the versions of scorer, grammars and answer rule, and 200
entries made from fixed seeds. Ids are made by the examiner on first use (up to a second and a half each);
the worker keeps them in a small file, since the examiner may not write, under a key that changes with
catalogue and versions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.hashing import digest
from sapo_desktop.tasks.catalogue import Catalogue, Family, Level, TaskKey
from sapo_desktop.tasks.extraction import ANSWER_RULE
from sapo_desktop.tasks.grammars import GRAMMARS_VERSION

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


def ids_key(catalogue: Catalogue, library_version: str, our_version: str) -> str:
    """Hex key under which kept ids are valid: another catalogue or version has another key."""
    rules = f"{library_version} {our_version} {GRAMMARS_VERSION} {ANSWER_RULE}".encode()
    return digest(b"sapo/ids/1", msgspec.json.encode(catalogue), rules).hex()


class _IdsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str
    ids: dict[str, str]


def read_ids(path: Path, key: str) -> dict[TaskKey, bytes]:
    """The kept ids; none where the file is missing, for another key, or damaged (they are then made
    anew)."""
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=_IdsFile)
        ids = {task: bytes.fromhex(text) for task, text in kept.ids.items()}
    except (FileNotFoundError, msgspec.DecodeError, ValueError):
        return {}
    except OSError as error:
        raise TaskError(f"The file of task ids {path} cannot be read: {error.strerror}.") from error
    return ids if kept.key == key and all(len(value) == 32 for value in ids.values()) else {}


def write_ids(path: Path, key: str, ids: Mapping[TaskKey, bytes]) -> None:
    """Keep ids for the next start; replaces the file in one step. Raises TaskError where it cannot."""
    content = _IdsFile(key=key, ids={task: value.hex() for task, value in sorted(ids.items())})
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.write_bytes(msgspec.json.encode(content))
        fresh.replace(path)
    except OSError as error:
        raise TaskError(f"The file of task ids {path} cannot be written: {error.strerror}.") from error
