"""Which folder a model's name stands for."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.models import Installed, KeptFile, ModelKind
from sapo_desktop.core.resources import resource
from sapo_desktop.models.files.locate import locate
from sapo_desktop.models.files.store import Store


def put(models: Path, name: str, kind: ModelKind = "transformers") -> Path:
    store = Store(models)
    staged = store.import_staging(name)
    staged.mkdir(parents=True)
    name_of_file = "a.gguf" if kind == "gguf" else "a.json"
    (staged / name_of_file).write_bytes(b"{}")
    files = {name_of_file: KeptFile(bytes=2, sha256="0" * 64)}
    return store.install(staged, Installed(name=name, kind=kind, source="here", installed=1.0, files=files))


def test_a_name_is_the_starter_an_installed_model_or_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models, folder = tmp_path / "models", tmp_path / "some folder"
    folder.mkdir()
    assert locate("starter", models) == resource("starter")
    small, repository = put(models, "small"), put(models, "owner--name")
    assert locate("small", models) == small
    assert locate("owner/name", models) == repository
    assert locate(str(folder), models) == folder
    monkeypatch.chdir(tmp_path)
    assert locate("some folder", models) == folder
    assert locate("./some folder", models) == folder


def test_the_working_directory_takes_nobodys_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = put(tmp_path / "models", "small")
    (tmp_path / "here" / "small").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert locate("small", tmp_path / "models") == installed
    assert locate("./small", tmp_path / "models") == tmp_path / "here" / "small"


@pytest.mark.parametrize("name", ["none", "owner/none", "../none", "/none", "a b", "~nobody/x"])
def test_what_is_not_there_is_said_with_what_to_do(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ModelError,
        match=r"here is no model .* import another one|is missing.*Choose another",
    ):
        locate(name, tmp_path / "models")


def test_a_gguf_model_is_its_file(tmp_path: Path) -> None:
    folder = put(tmp_path / "models", "quantised", "gguf")
    file = tmp_path / "x.gguf"
    file.write_bytes(b"GGUF")
    assert locate("quantised", tmp_path / "models").parent == folder
    assert locate(str(file), tmp_path / "models") == file


def test_a_damaged_model_is_said_to_be_one(tmp_path: Path) -> None:
    (put(tmp_path / "models", "small") / "a.json").unlink()
    with pytest.raises(ModelError, match="is missing or has the wrong size"):
        locate("small", tmp_path / "models")
