"""Where a model name leads, and that a damaged starter is noticed."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.models import starter
from sapo_desktop.models.starter import starter_folder, verified

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "resources" / "starter"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_bytes(b"{}")
    write_manifest(folder, {name: digest(folder / name) for name in ("model.safetensors", "config.json")})
    monkeypatch.setattr(starter, "resource", lambda name: tmp_path / "resources" / name)
    verified.cache_clear()
    return folder


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write_manifest(folder: Path, files: dict[str, str]) -> None:
    (folder / "manifest.json").write_text(json.dumps({"files": files, "recipe": "1"}), encoding="utf-8")


def test_starter_is_the_shipped_folder(shipped: Path) -> None:
    assert starter_folder() == shipped


def test_git_never_changes_the_line_ends_of_a_shipped_file(tmp_path: Path) -> None:
    """Git for Windows gives a clone those of Windows, which have other hashes."""
    shutil.copy(ROOT / ".gitattributes", tmp_path)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    files = json.loads((ROOT / "resources" / "starter" / "manifest.json").read_text())["files"]
    names = [f"resources/starter/{name}" for name in files]
    said = subprocess.check_output(["git", "check-attr", "text", *names], cwd=tmp_path, text=True)
    assert said.count("text: unset\n") == len(names)


def test_it_is_read_once_per_process(shipped: Path) -> None:
    starter_folder()
    (shipped / "model.safetensors").unlink()
    assert starter_folder() == shipped


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_changed_or_missing_file_is_noticed(shipped: Path, name: str) -> None:
    (shipped / name).write_bytes(b"other")
    with pytest.raises(ModelError, match="not the one that was shipped"):
        starter_folder()
    (shipped / name).unlink()
    with pytest.raises(ModelError, match=f"{name} is missing"):
        starter_folder()


def test_a_manifest_that_says_nothing_is_not_trusted(shipped: Path) -> None:
    write_manifest(shipped, {})
    with pytest.raises(ModelError, match="lists no files"):
        starter_folder()
    write_manifest(shipped, {"../starter/config.json": digest(shipped / "config.json")})
    with pytest.raises(ModelError, match="is missing"):
        starter_folder()
    (shipped / "manifest.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        starter_folder()
    (shipped / "manifest.json").unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        starter_folder()
