"""Models that are on this computer already: taken in whole, checked, and never what could run."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from sapo_desktop.core.errors import DownloadError, ModelError, NoRoom
from sapo_desktop.core.models import Kept, TakeIn, Transfer
from sapo_desktop.models import importing
from sapo_desktop.models.importing import take_in
from sapo_desktop.models.store import Store
from tests.models.small_models import gguf, transformers_files


class Imports:
    """Imports into one folder, and what was reported."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.models = root / "models"
        self.reports: list[Transfer] = []

    def __call__(self, path: Path, name: str | None = None, *, copy: bool = False, free: int = 10**12) -> Kept:
        request = TakeIn(folder=str(self.models), path=str(path), name=name, copy=copy)
        return take_in(request, self.reports.append, lambda folder: free)

    def folder(self, files: dict[str, bytes], name: str = "My model") -> Path:
        made = self.root / name
        made.mkdir()
        for file, content in files.items():
            (made / file).write_bytes(content)
        return made


@pytest.fixture
def imports(tmp_path: Path) -> Imports:
    return Imports(tmp_path)


def test_a_folder_is_taken_in_under_its_name(imports: Imports) -> None:
    path = imports.folder(transformers_files())
    kept = imports(path)
    assert (kept.model.name, kept.model.kind, kept.model.source) == ("My-model", "transformers", str(path))
    assert Store(imports.models).read("My-model") == kept.model
    for file, content in transformers_files().items():
        assert (imports.models / "My-model" / file).read_bytes() == content
        assert kept.model.files[file].sha256 == hashlib.sha256(content).hexdigest()
    done = [report.done for report in imports.reports]
    assert done == sorted(done) and {report.total for report in imports.reports} == {kept.model.bytes}


def test_a_gguf_file_is_taken_in(imports: Imports) -> None:
    path = imports.root / "tiny.Q8_0.gguf"
    path.write_bytes(gguf())
    kept = imports(path)
    assert (kept.model.name, kept.model.kind) == ("tiny.Q8_0", "gguf")
    assert "not be trained" in kept.notes[0]


def test_all_parts_of_a_gguf_model_come_along(imports: Imports) -> None:
    paths = [imports.root / f"tiny-{number + 1:05d}-of-00002.gguf" for number in range(2)]
    for number, path in enumerate(paths):
        path.write_bytes(gguf({"split.no": number, "split.count": 2}))
    assert sorted(imports(paths[1]).model.files) == [path.name for path in paths]
    paths[0].unlink()
    with pytest.raises(ModelError, match=r"missing beside it: tiny-00001-of-00002\.gguf"):
        imports(paths[1], "again")


def test_what_could_run_stays_behind(imports: Imports) -> None:
    files = transformers_files() | {"pytorch_model.bin": b"x", "modeling.py": b"x", "notes.xyz": b"x", ".hidden": b"x"}
    kept = imports(imports.folder(files))
    assert sorted(kept.model.files) == sorted(transformers_files())
    assert "modeling.py, notes.xyz, pytorch_model.bin" in kept.notes[0]


def test_links_of_other_programs_caches_are_followed(imports: Imports) -> None:
    store = imports.folder(transformers_files(), "blobs")
    snapshot = imports.root / "snapshot"
    snapshot.mkdir()
    for file in transformers_files():
        (snapshot / file).symlink_to(store / file)
    imports(snapshot)
    assert not any(path.is_symlink() for path in (imports.models / "snapshot").iterdir())


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds no weights"),
        ({"pytorch_model.bin": b"x"}, "only as pytorch_model.bin"),
        (transformers_files(auto_map={"AutoModel": "x.Y"}), "code of the model's own"),
        (transformers_files() | {"model.safetensors": b"cut"}, "not a whole safetensors file"),
        (transformers_files(architectures=["Strange"]), "Strange"),
        ({"a.gguf": gguf()[:-500]}, "should have"),
        ({"a.gguf": gguf(), "b.gguf": gguf()}, "in 1 GGUF files, and these are 2"),
    ],
)
def test_what_is_no_model_is_refused_and_leaves_nothing(imports: Imports, files: dict[str, bytes], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        imports(imports.folder(files))
    assert Store(imports.models).contents().models == []
    assert not list((imports.models / ".partial").glob("*"))


def test_what_is_not_there_or_no_file_is_refused(imports: Imports) -> None:
    with pytest.raises(ModelError, match="There is nothing at"):
        imports(imports.root / "none")
    pickle = imports.root / "model.bin"
    pickle.write_bytes(b"x")
    with pytest.raises(ModelError, match="can carry programs"):
        imports(pickle)
    folder = imports.folder(transformers_files())
    (folder / "vocab.json").symlink_to(imports.root / "none")
    with pytest.raises(ModelError, match="leads nowhere"):
        imports(folder)
    (folder / "vocab.json").unlink()
    os.mkfifo(folder / "vocab.json")
    with pytest.raises(ModelError, match="is not a file"):
        imports(folder)


def test_a_name_is_taken_once(imports: Imports) -> None:
    path = imports.folder(transformers_files())
    imports(path)
    with pytest.raises(ModelError, match="installed already"):
        imports(path)
    assert imports(path, "other").model.name == "other"
    with pytest.raises(ModelError, match="no name for a model"):
        imports(path, "../x")
    with Store(imports.models).lock("third"), pytest.raises(DownloadError, match="Another process"):
        imports(path, "third")


def test_bytes_are_shared_where_the_disk_can_and_copied_where_asked(imports: Imports) -> None:
    path = imports.folder(transformers_files())
    shared, copied = imports(path, "shared", free=0), imports(path, "copied", copy=True)
    original = (path / "model.safetensors").stat()
    assert (Path(copied.path) / "model.safetensors").stat().st_ino != original.st_ino
    assert (Path(shared.path) / "model.safetensors").read_bytes() == (path / "model.safetensors").read_bytes()


def test_a_copy_needs_room(imports: Imports) -> None:
    with pytest.raises(NoRoom, match="kept free"):
        imports(imports.folder(transformers_files()), copy=True, free=2_000_000_100)


def test_where_nothing_can_be_shared_it_is_copied(imports: Imports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_reflinked", lambda path, target: False)
    monkeypatch.setattr(importing, "_hard_linked", lambda path, target: False)
    kept = imports(imports.folder(transformers_files()))
    assert (Path(kept.path) / "model.safetensors").stat().st_nlink == 1


def test_the_first_kill_leaves_nothing_behind_for_long(imports: Imports) -> None:
    left = Store(imports.models).import_staging("killed")
    left.mkdir(parents=True)
    (left / "model.safetensors").write_bytes(b"half")
    imports(imports.folder(transformers_files()))
    assert not left.exists()
