"""What is deleted, and what never is."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.system import erasing, folders
from sapo_desktop.system.folders import DataFolder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """A node's, with a letter of the user's in it; its models are in another one."""
    monkeypatch.setattr(folders.platformdirs, "user_data_dir", lambda *name, **more: str(tmp_path / "own"))
    made = DataFolder.open(tmp_path / "node")
    (made.checkpoints / "one").mkdir()
    for path in (made.history, made.settings, made.control / "identity", made.root / "letter.txt"):
        path.write_text("x")
    (tmp_path / "own" / "models" / "small").mkdir(parents=True)
    return made


def there(folder: DataFolder) -> set[str]:
    return {path.name for path in folder.root.iterdir()}


@pytest.mark.parametrize(
    ("what", "gone"),
    [
        ("learned", {"checkpoints", "cache", "history.sqlite"}),
        ("identity", {"control", "node-id"}),
        ("models", set()),
        ("everything", {"checkpoints", "cache", "history.sqlite", "control", "node-id", "settings.toml", "logs"}),
    ],
)
def test_only_what_was_named_goes_and_nothing_of_the_users(
    folder: DataFolder, what: erasing.What, gone: set[str]
) -> None:
    before = there(folder)
    erasing.erase(folder, [what])
    assert before - there(folder) == gone and "letter.txt" in there(folder)
    assert folders.shared_models().is_dir() == (what != "models"), "other nodes of the user need them"
    if "control" not in gone:
        DataFolder.open(folder.root)  # it continues as a node


def test_everything_of_the_users_own_node_is_with_the_models(folder: DataFolder) -> None:
    own = DataFolder.open(DataFolder.default())
    assert folders.shared_models() in erasing.places(own, ["everything"])
    assert folders.shared_models() not in erasing.places(own, ["learned", "identity"])
    assert folders.shared_models() not in erasing.places(folder, ["everything"])


def test_an_empty_folder_goes_too_and_one_of_no_node_is_left_alone(folder: DataFolder, tmp_path: Path) -> None:
    (folder.root / "letter.txt").unlink()
    erasing.erase(folder, ["everything"])
    erasing.leave(folder)
    assert not folder.root.exists()
    (tmp_path / "photos" / "cache").mkdir(parents=True)
    with pytest.raises(UsageError, match="no node's folder"):
        erasing.erase(DataFolder.at(tmp_path / "photos"), ["everything"])
    assert (tmp_path / "photos" / "cache").is_dir()


def test_a_folder_next_to_the_program_makes_it_portable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "PORTABLE", tmp_path / "sapo-data")
    assert DataFolder.default() != tmp_path / "sapo-data"
    (tmp_path / "sapo-data").mkdir()
    assert DataFolder.at(None).root == tmp_path / "sapo-data" and folders.shared_models().parent.name == "sapo-data"
