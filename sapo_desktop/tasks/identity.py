"""Task ids: 32 bytes that identify a task's questions and how they are scored.

Two nodes with the same id make the same questions and give the same scores, whatever versions they run. The id hashes
the family, the level's settings, the versions of scorer, grammars and answer rule, and 200 entries from fixed seeds.
The examiner computes ids at first use (up to 1.5 seconds each). The worker stores them in a small file, since the
examiner cannot write, under a key that changes with catalogue and versions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.extraction import ANSWER_RULE
from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.hashing import digest
from sapo_desktop.tasks.catalogue import Catalogue, Family, Level, TaskKey
from sapo_desktop.tasks.grammars import GRAMMARS_VERSION

PREVIOUS_SECONDS = 30 * 24 * 3600.0
"""How long groups under the previous catalogue's ids are accepted."""
_MOST_BEFORE = 3
FINGERPRINT_SEEDS = range(1_000_003, 1_000_003 + 200)


def task_id(family: Family, level: Level, entries: bytes) -> bytes:
    """The id (32 bytes) of a level whose entries have this fingerprint."""
    return digest(
        b"sapo/task/1",
        family.name.encode("ascii"),
        family.dataset.encode("ascii"),
        _canonical({**level.config, "keep": level.keep} if level.keep else level.config),
        f"{family.grammar} {GRAMMARS_VERSION} {family.scorer} {ANSWER_RULE}".encode("ascii"),
        entries,
    )


def fingerprint(entries: Sequence[Mapping[str, Any] | None]) -> bytes:
    """32 bytes over question and right answer of each entry; the metadata if no right answer is stored, a marker if
    there is no entry."""
    fields: list[bytes] = [b"sapo/entries/1"]
    for entry in entries:
        if entry is None:
            fields.append(b"none")
            continue
        truth = entry["answer"]
        content = _canonical(entry["metadata"]) if truth is None else str(truth).encode("utf-8", "surrogatepass")
        fields += [entry["question"].encode("utf-8", "surrogatepass"), content]
    return digest(*fields)


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def ids_key(catalogue: Catalogue, library_version: str, our_version: str) -> str:
    """Hex key under which stored ids are valid; another catalogue or version has another key."""
    rules = f"{library_version} {our_version} {GRAMMARS_VERSION} {ANSWER_RULE}".encode()
    return digest(b"sapo/ids/1", msgspec.json.encode(catalogue), rules).hex()


def examiner_fingerprint(library_version: str) -> bytes:
    """16 bytes that identify the code that makes questions and scores here; nodes with different ones may differ in
    questions."""
    rules = f"{library_version} {GRAMMARS_VERSION} {ANSWER_RULE}".encode()
    return digest(b"sapo/examiner/1", rules)[:16]


class _Before(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ids that were replaced by others."""

    ids: dict[str, str]
    until: float
    """Unix time of their expiry."""


class _IdsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str
    ids: dict[str, str]
    before: list[_Before] = []
    """The latest last."""


def read_ids(path: Path, key: str) -> dict[TaskKey, bytes]:
    """Read the stored ids; none if the file is missing, has another key, or is damaged (they are then computed
    again)."""
    kept = _read(path)
    return _decoded(kept.ids) if kept.key == key else {}


def read_previous_ids(path: Path, ids: Mapping[TaskKey, bytes], unix_time: float) -> dict[TaskKey, bytes]:
    """The ids that `ids`, all of the current catalogue, replaced within the last 30 days; usually none."""
    for before in reversed(_read(path).before):
        found = _decoded(before.ids)
        if unix_time < before.until and set(found.values()) - set(ids.values()):
            return found
    return {}


def write_ids(path: Path, key: str, ids: Mapping[TaskKey, bytes], unix_time: float) -> None:
    """Store ids for the next start. Ids under another key are kept for 30 days, because they cannot be computed again.
    Replaces the file in one durable step.

    Raises:
        TaskError: it cannot be read or written.
    """
    kept = _read(path)
    before = [one for one in kept.before if unix_time < one.until]
    if kept.ids and kept.key != key:
        # A release that does not change the tasks must not push out the ids from before the last change.
        before = [one for one in before if one.ids != kept.ids]
        before.append(_Before(ids=kept.ids, until=unix_time + PREVIOUS_SECONDS))
    content = _IdsFile(
        key=key, ids={task: value.hex() for task, value in sorted(ids.items())}, before=before[-_MOST_BEFORE:]
    )
    try:
        write_atomically(path, msgspec.json.encode(content))
    except OSError as error:
        raise TaskError(
            "The file of task ids {path} cannot be written: {reason}.", path=str(path), reason=str(error.strerror)
        ) from error


def _read(path: Path) -> _IdsFile:
    try:
        return read_json(path, _IdsFile)
    except (FileNotFoundError, msgspec.DecodeError):
        return _IdsFile(key="", ids={})
    except OSError as error:
        raise TaskError(
            "The file of task ids {path} cannot be read: {reason}.", path=str(path), reason=str(error.strerror)
        ) from error


def _decoded(ids: Mapping[str, str]) -> dict[TaskKey, bytes]:
    """None if one of them is invalid."""
    try:
        found = {task: bytes.fromhex(text) for task, text in ids.items()}
    except ValueError:
        return {}
    return found if all(len(value) == 32 for value in found.values()) else {}
