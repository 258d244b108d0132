"""Atomic writes keep the old content if anything fails, and report the failure."""

import errno
import os
from pathlib import Path

import pytest

from sapo_desktop.core.errors import SettingsError
from sapo_desktop.core.files.durable import (
    disk_errors_as,
    remove_leftovers,
    remove_tree,
    replace_durably,
    sync_tree,
    write_atomically,
)


def test_content_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for data in (b"one", b""):
        write_atomically(path, data)
        assert path.read_bytes() == data
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_failure_keeps_the_old_content_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fails(descriptor: int) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="input/output"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_files_are_synced_before_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "deep").write_bytes(b"x")
    (tmp_path / "flat").write_bytes(b"x")
    order: list[str] = []
    monkeypatch.setattr("sapo_desktop.core.files.durable.sync_file", lambda path: order.append(path.name))
    monkeypatch.setattr("sapo_desktop.core.files.durable.sync_folder", lambda path: order.append(path.name))
    sync_tree(tmp_path)
    assert sorted(order) == sorted(["deep", "flat", "b", "a", tmp_path.name])
    assert order.index("deep") < order.index("b") < order.index("a") < order.index(tmp_path.name)


def test_a_file_is_synced_before_it_gets_its_name_and_the_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, path = tmp_path / "file.part", tmp_path / "file"
    part.write_bytes(b"x")
    order: list[tuple[str, bool]] = []
    for name in ("sync_file", "sync_folder"):
        monkeypatch.setattr(
            f"sapo_desktop.core.files.durable.{name}", lambda synced: order.append((synced.name, path.exists()))
        )
    replace_durably(part, path)
    assert order == [("file.part", False), (tmp_path.name, True)]


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "the disk is full: free some space"), (errno.EACCES, "check the folder and its permissions")],
)
def test_errors_of_the_disk_say_what_to_do(number: int, words: str) -> None:
    with pytest.raises(SettingsError) as caught, disk_errors_as(SettingsError, "It could not be written"):
        raise OSError(number, os.strerror(number))
    assert str(caught.value).startswith("It could not be written (")
    assert words in str(caught.value)


def test_only_leftovers_of_that_file_are_removed(tmp_path: Path) -> None:
    for name in (".a.json-1", ".a.json", ".b.json-1", "a.json"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "a.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".a.json", ".b.json-1", "a.json"]


def test_removing_what_is_not_there_is_fine(tmp_path: Path) -> None:
    remove_tree(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []
