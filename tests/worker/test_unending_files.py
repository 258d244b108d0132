"""Endless or blocking files in a data folder cost neither time nor memory."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ControlError, HistoryError, SapoError, SettingsError, TaskError
from sapo_desktop.core.settings import Settings
from sapo_desktop.gui.shell import remembered
from sapo_desktop.learning.counters import Counters
from sapo_desktop.swarm.addresses.address import read_seeds
from sapo_desktop.swarm.addresses.memory import Memory
from sapo_desktop.system.folders import DataFolder, FolderError
from sapo_desktop.system.identity import Keeper
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.worker.control.lock import holder
from sapo_desktop.worker.control.proof import FILE, read_control_file
from sapo_desktop.worker.membership.index_book import IndexBook
from sapo_desktop.worker.store.checkpoints import CheckpointStore

Put = Callable[[Path], None]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def ten_gigabytes(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10**10)


def nested(path: Path) -> None:
    path.write_text('{"a": ' + "[" * 1_000_000)


@pytest.fixture(params=[pipe, device, ten_gigabytes], ids=lambda put: put.__name__)
def put(request: pytest.FixtureRequest) -> Put:
    found: Put = request.param
    return found


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder.open(tmp_path / "node")


Read = Callable[[DataFolder], object]
REFUSED: dict[str, tuple[str, Read, type[Exception], str]] = {
    "settings": (
        "settings.toml", lambda node: settings_file.read(node.settings, now=1.0), SettingsError, "not a settings file",
    ),
    "new settings": (
        "settings.toml", lambda node: settings_file.write(node.settings, Settings()), SettingsError, "could not be",
    ),
    "name": ("node-id", lambda node: node.node_id(), FolderError, "a new one is created"),
    "secret": ("control/own.secret", lambda node: node.secret("own"), FolderError, "a new one is created"),
    "control": (f"control/{FILE}", lambda node: read_control_file(node.control), ControlError, "is damaged"),
    "catalogue": ("tasks.toml", lambda node: load_catalogue(node.root / "tasks.toml"), TaskError, "cannot be read"),
    "seeds": ("seeds.toml", lambda node: read_seeds(node.root / "seeds.toml"), OSError, "no regular file|more than"),
    "used numbers": ("numbers", lambda node: IndexBook(node.root / "numbers"), HistoryError, "Delete it"),
}  # fmt: skip
"""A file of a data folder or of the program, what reads it, and what it says."""


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_node_cannot_do_without_is_refused_and_left_as_it_is(folder: DataFolder, put: Put, case: str) -> None:
    name, read, error, says = REFUSED[case]
    (folder.root / name).unlink(missing_ok=True)
    put(folder.root / name)
    with pytest.raises(error, match=says):
        read(folder)
    assert os.path.lexists(folder.root / name)


def test_without_the_rest_it_goes_on(folder: DataFolder, put: Put) -> None:
    put(folder.settings)
    assert remembered.settings_in(folder) == Settings()
    folder.lock.unlink(missing_ok=True)
    put(folder.lock)
    assert holder(folder) is None
    put(folder.root / "learned")
    assert Memory.read(folder.root / "learned") == Memory()


@pytest.mark.parametrize("content", ["a = " + "[" * 100_000, "a = " + "{a=" * 50_000, ".".join("a" * 50_000) + " = 1"])
def test_settings_nested_without_end_are_set_aside(folder: DataFolder, content: str) -> None:
    folder.settings.write_text(content)
    assert "was damaged" in str(settings_file.read(folder.settings, now=1.0).said)
    folder.settings.write_text(content)
    assert remembered.settings_in(folder) == Settings()


def test_the_closed_identity(tmp_path: Path) -> None:
    ten_gigabytes(tmp_path / "identity")
    with pytest.raises(SapoError, match="not an exported identity"):
        Keeper("0" * 32, tmp_path / "identity").load("a passphrase")


def test_what_is_nested_without_end(tmp_path: Path, folder: DataFolder) -> None:
    nested(tmp_path / "file")
    assert Memory.read(tmp_path / "file") == Memory()
    with pytest.raises(HistoryError, match="Delete it"):
        IndexBook(tmp_path / "file")
    nested(folder.control / FILE)
    with pytest.raises(ControlError, match="is damaged"):
        read_control_file(folder.control)
    nested(folder.root / "window.json")
    assert remembered.recall(folder) == remembered.Remembered()


@pytest.mark.parametrize("name", ["manifest.json", "state.msgpack", "adapter"])
def test_a_checkpoints_files(tmp_path: Path, put: Put, name: str) -> None:
    store = CheckpointStore(tmp_path / "checkpoints", clock=lambda: 1.0)
    for round_number in (1, 2):
        staged = store.begin(round_number)
        (staged / "adapter").write_bytes(b"a")
        store.commit(staged, Counters(round=round_number, instance="abc", seed=7))
    newest = store.get("last")
    assert newest is not None
    (newest.folder / name).unlink()
    put(newest.folder / name)
    found = store.newest_valid()
    assert found.checkpoint is not None and found.checkpoint.number == 1
    assert len(found.damaged) == 1
