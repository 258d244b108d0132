"""What stands at the place of a data folder's file and never ends, or never begins, costs neither time nor memory."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ControlError, HistoryError, SapoError, SettingsError, TaskError
from sapo_desktop.core.settings import Settings
from sapo_desktop.gui.shell import remembered
from sapo_desktop.learning.counters import Counters
from sapo_desktop.swarm.addresses.restart_file import Memory
from sapo_desktop.swarm.addresses.seeds import read_seeds
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


def test_the_settings(folder: DataFolder, put: Put) -> None:
    put(folder.settings)
    with pytest.raises(SettingsError, match="is no settings file"):
        settings_file.read(folder.settings, now=1.0)
    assert folder.settings.exists(), "left as it is"
    with pytest.raises(SettingsError, match="could not be written"):
        settings_file.write(folder.settings, Settings())
    assert remembered.settings_in(folder) == Settings()


@pytest.mark.parametrize("content", ["a = " + "[" * 100_000, "a = " + "{a=" * 50_000, ".".join("a" * 50_000) + " = 1"])
def test_settings_nested_without_end_are_set_aside(folder: DataFolder, content: str) -> None:
    folder.settings.write_text(content)
    assert "was damaged" in str(settings_file.read(folder.settings, now=1.0).said)
    folder.settings.write_text(content)
    assert remembered.settings_in(folder) == Settings()


def test_the_nodes_name_and_secrets(folder: DataFolder, put: Put) -> None:
    (folder.root / "node-id").unlink()
    for name, read in (("node-id", folder.node_id), ("control/own.secret", lambda: folder.secret("own"))):
        put(folder.root / name)
        with pytest.raises(FolderError, match="remove it and a new one is drawn"):
            read()


def test_the_control_file_and_the_lock(folder: DataFolder, put: Put) -> None:
    put(folder.control / FILE)
    with pytest.raises(ControlError, match="is damaged"):
        read_control_file(folder.control)
    folder.lock.unlink(missing_ok=True)
    put(folder.lock)
    assert holder(folder) is None


def test_the_closed_identity(tmp_path: Path) -> None:
    ten_gigabytes(tmp_path / "identity")
    with pytest.raises(SapoError, match="is no exported identity"):
        Keeper("0" * 32, tmp_path / "identity").load("a passphrase")


def test_the_lists_that_ship_with_the_program(tmp_path: Path, put: Put) -> None:
    put(tmp_path / "file")
    with pytest.raises(TaskError, match="cannot be read"):
        load_catalogue(tmp_path / "file")
    with pytest.raises(OSError, match=r"no regular file|more than"):
        read_seeds(tmp_path / "file")


def test_what_is_learned_again(tmp_path: Path, put: Put) -> None:
    put(tmp_path / "file")
    assert Memory.read(tmp_path / "file") == Memory()
    with pytest.raises(HistoryError, match="Delete it"):
        IndexBook(tmp_path / "file")


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
