"""Task ids change with everything that changes a question or a score, and can be kept in a file."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import TaskError
from sapo_desktop.tasks.catalogue import Catalogue, Family, Level
from sapo_desktop.tasks.identity import fingerprint, ids_key, read_ids, read_previous_ids, task_id, write_ids

LEVEL = Level(name="easy", config={"max_value": 9, "min_value": 1})
FAMILY = Family(
    name="gcd",
    title="Greatest common divisor",
    dataset="gcd",
    grammar="integer",
    scorer=1,
    reasoning=True,
    levels=(LEVEL,),
)
ENTRIES: list[dict[str, Any]] = [{"question": "1, 2?", "answer": "1", "metadata": {}}]
IDS = {"gcd/easy": bytes(range(32))}


def identity(**changes: Any) -> bytes:
    return task_id(msgspec.structs.replace(FAMILY, **changes), LEVEL, fingerprint(ENTRIES))


def test_an_id_has_32_bytes_and_repeats() -> None:
    assert len(identity()) == 32
    assert identity() == identity()


@pytest.mark.parametrize("changes", [{"name": "lcm"}, {"dataset": "lcm"}, {"grammar": "word"}, {"scorer": 2}])
def test_what_changes_marks_changes_the_id(changes: dict[str, Any]) -> None:
    assert identity(**changes) != identity()


@pytest.mark.parametrize("changes", [{"title": "GCD"}, {"reasoning": False}])
def test_what_is_only_shown_does_not(changes: dict[str, Any]) -> None:
    assert identity(**changes) == identity()


def test_the_order_of_settings_does_not_count_but_their_values_do() -> None:
    def with_config(config: dict[str, Any]) -> bytes:
        return task_id(FAMILY, Level(name="easy", config=config), fingerprint(ENTRIES))

    assert with_config({"min_value": 1, "max_value": 9}) == identity()
    assert with_config({"min_value": 1, "max_value": 8}) != identity()


def test_the_fingerprint_takes_metadata_where_no_truth_is_stored() -> None:
    def of(answer: str | None, premises: list[str]) -> bytes:
        return fingerprint([{"question": "?", "answer": answer, "metadata": {"premises": premises}}])

    assert of(None, ["P"]) != of(None, ["Q"])
    assert of("P", ["P"]) == of("P", ["Q"])
    assert fingerprint([None]) != fingerprint([])


def test_kept_ids_come_back_under_their_key_only(tmp_path: Path) -> None:
    path = tmp_path / "ids.json"
    write_ids(path, "key", IDS, 0.0)
    assert read_ids(path, "key") == IDS
    assert read_ids(path, "other") == {}
    assert [item.name for item in tmp_path.iterdir()] == ["ids.json"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"key":"key","ids":{"a":"xy"}}', b'{"key":"key","ids":{"a":"00"}}']
)
def test_a_missing_or_damaged_file_holds_nothing(tmp_path: Path, content: bytes) -> None:
    assert read_ids(tmp_path / "none.json", "key") == {}
    path = tmp_path / "ids.json"
    path.write_bytes(content)
    assert read_ids(path, "key") == {}


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be written"):
        write_ids(tmp_path / "missing" / "ids.json", "key", IDS, 0.0)


def test_kept_ids_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut after that must not take the former ids along."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    write_ids(tmp_path / "ids.json", "key", IDS, 0.0)
    assert (tmp_path / "ids.json").stat().st_ino in synced


def test_the_ids_before_a_change_are_kept_for_thirty_days(tmp_path: Path) -> None:
    path, day = tmp_path / "ids.json", 24 * 3600.0
    old, new = IDS, {task: bytes(31) + b"n" for task in IDS}
    write_ids(path, "one", old, 0.0)
    assert read_previous_ids(path, old, 0.0) == {}
    write_ids(path, "two", new, 10 * day)
    assert read_ids(path, "two") == new
    assert read_previous_ids(path, new, 39 * day) == old
    assert read_previous_ids(path, new, 41 * day) == {}
    # Releases that change nothing of the tasks push nothing out.
    for number in range(5):
        write_ids(path, f"again {number}", new, 11 * day + number)
    assert read_previous_ids(path, new, 39 * day) == old
    # And one that goes back finds the ids between.
    write_ids(path, "back", old, 12 * day)
    assert read_previous_ids(path, old, 13 * day) == new


def test_the_key_changes_with_catalogue_and_versions() -> None:
    catalogue = Catalogue(families=(FAMILY,))
    other = Catalogue(families=(msgspec.structs.replace(FAMILY, scorer=2),))
    keys = {ids_key(catalogue, "1", "1"), ids_key(other, "1", "1"), ids_key(catalogue, "2", "1")}
    assert len(keys | {ids_key(catalogue, "1", "2")}) == 4
