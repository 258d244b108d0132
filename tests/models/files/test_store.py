"""The models folder: what is in it, what is damaged, and what is removed."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sapo_desktop.core.errors import DownloadError, ModelError
from sapo_desktop.core.models import Installed, KeptFile, Unfinished
from sapo_desktop.models.files.store import KnownHash, Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "models")


def put(store: Store, name: str, content: bytes = b"12345") -> Path:
    """A model of one file, installed."""
    staged = store.import_staging(name)
    staged.mkdir(parents=True)
    (staged / "a.gguf").write_bytes(content)
    files = {"a.gguf": KeptFile(bytes=len(content), sha256="0" * 64)}
    return store.install(staged, Installed(name=name, kind="gguf", source="here", installed=1.0, files=files))


def test_an_empty_folder_is_not_made_by_looking(store: Store) -> None:
    assert store.contents().models == [] and not store.root.exists()
    with pytest.raises(ModelError, match="No model 'x' is installed"):
        store.read("x")


def test_what_is_installed_unfinished_and_damaged_is_kept_apart(store: Store) -> None:
    put(store, "good")
    for name in ("cut", "gone", "newer", "none"):
        put(store, name)
    (store.root / "cut" / "a.gguf").write_bytes(b"123")
    (store.root / "gone" / "a.gguf").unlink()
    manifest = json.loads((store.root / "newer" / "manifest.json").read_text())
    (store.root / "newer" / "manifest.json").write_text(json.dumps(manifest | {"format": 2}))
    (store.root / "none" / "manifest.json").write_text("{")
    half = store.staging("half") / "files"
    half.mkdir(parents=True)
    (half / "b.gguf").write_bytes(b"1234567")
    killed = store.import_staging("killed")
    killed.mkdir(parents=True)
    (killed / "c.gguf").write_bytes(b"123")
    found = store.contents()
    assert [model.name for model in found.models] == ["good"]
    assert found.unfinished == [Unfinished(name="half", bytes=7), Unfinished(name="killed", bytes=3)]
    assert sorted(found.damaged) == ["cut", "gone", "newer", "none"]
    assert "newer SAPO Desktop" in str(found.damaged["newer"])


def test_a_manifest_that_leads_out_of_the_folder_is_damaged(store: Store) -> None:
    path = put(store, "odd") / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["model"]["files"] = {"../../secret": {"bytes": 1, "sha256": "0" * 64}}
    path.write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match="is missing or has the wrong size"):
        store.read("odd")


def test_what_is_left_of_a_download_and_an_import_counts_as_one(store: Store) -> None:
    for folder, content in ((store.staging("x"), b"12"), (store.import_staging("x"), b"345")):
        folder.mkdir(parents=True)
        (folder / "a").write_bytes(content)
    (store.root / ".partial" / ".DS_Store").write_text("what a file manager leaves")
    assert store.contents().unfinished == [Unfinished(name="x", bytes=5)]
    assert store.remove("x") == 5 and store.contents().unfinished == []


def test_removing_frees_the_bytes_of_model_and_rest(store: Store) -> None:
    put(store, "model")
    (store.staging("model") / "files").mkdir(parents=True)
    (store.staging("model") / "files" / "b").write_bytes(b"12")
    assert store.remove("model") > 7
    assert store.contents().models == [] and store.contents().unfinished == []
    assert list((store.root / ".partial").iterdir()) == []
    with pytest.raises(ModelError, match="No model"):
        store.remove("model")


def test_a_folder_that_is_no_model_is_never_removed(store: Store) -> None:
    """The models folder may be set to any folder, a home for instance."""
    precious = store.root / "Documents" / "letter.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("precious")
    for manifest in (None, '{"name": "an extension", "version": "1.0"}', "[1]"):
        if manifest is not None:
            (precious.parent / "manifest.json").write_text(manifest)
        with pytest.raises(ModelError, match=r"Documents is not one of this app's models.*left unchanged"):
            store.remove("Documents")
    (store.staging("Documents") / "files").mkdir(parents=True)
    store.remove("Documents")
    assert precious.read_text() == "precious" and store.contents().unfinished == []


@pytest.mark.parametrize(
    "manifest",
    [b"", b"{", b"\0\0", b'{"\xff": 1, "model": 1}', b'{"format": 2, "other": []}', b'{"format": 1, "model": {}}'],
)
def test_a_model_of_ours_is_removed_whatever_its_manifest_has_become(store: Store, manifest: bytes) -> None:
    (put(store, "model") / "manifest.json").write_bytes(manifest)
    with pytest.raises(ModelError, match=r"[Rr]emove the model"):
        store.read("model")
    store.remove("model")
    assert not (store.root / "model").exists()


def test_only_a_model_with_damaged_files_is_replaced(store: Store) -> None:
    path = put(store, "model")
    with pytest.raises(ModelError, match="installed already"):
        put(store, "model", b"other")
    shutil.rmtree(store.import_staging("model"))
    (path / "a.gguf").write_bytes(b"123")
    put(store, "model", b"other")
    assert (path / "a.gguf").read_bytes() == b"other"
    for manifest, said in ((None, "Move it away"), ("{", "Remove the model"), ('{"format": 9}', "newer SAPO Desktop")):
        (path / "manifest.json").unlink(missing_ok=True)
        if manifest is not None:
            (path / "manifest.json").write_text(manifest)
        with pytest.raises(ModelError, match=said):
            put(store, "model", b"third")
        shutil.rmtree(store.import_staging("model"))
        assert (path / "a.gguf").read_bytes() == b"other"


@pytest.mark.parametrize("name", ["", "..", ".", "../x", "a/b", "/etc", "a b", ".hidden", "-x", "con", "x" * 129, "C:"])
def test_a_name_stays_within_the_folder(store: Store, name: str) -> None:
    with pytest.raises(ModelError, match="' cannot be a model's name"):
        store.folder(name)


def test_first_hashes_are_kept_for_good(store: Store) -> None:
    first, other = (KnownHash(sha256=digit * 64, bytes=1, first=1.0) for digit in "ab")
    with store.lock("x"):
        store.fix("o/n", "c", {"f": first}, branch=True)
        store.fix("o/n", "d", {}, branch=True)
        store.fix("o/n", "c", {"f": other, "g": other}, branch=False)
    assert store.known_commit("o/n") == "c" and store.known_commit("o/m") is None
    assert store.known_hash("o/n", "c", "f") == first and store.known_hash("o/n", "c", "g") == other
    (store.root / "first-seen.json").write_text("[")
    with pytest.raises(ModelError, match="Delete it to start over"):
        store.known_hash("o/n", "c", "f")


@pytest.mark.parametrize("put_there", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_what_never_ends_or_begins_in_the_folder_is_damaged(store: Store, put_there: Callable[[Path], None]) -> None:
    """The folder may be anybody's: a home, a shared disk."""
    path = put(store, "model") / "manifest.json"
    path.unlink()
    put_there(path)
    put_there(store.root / "first-seen.json")
    assert "cannot be read" in str(store.contents().damaged["model"])
    for act in (lambda: store.known_commit("o/n"), lambda: store.remove("model")):
        with pytest.raises(ModelError, match=r"Delete it to start over|is not one of"):
            act()


def test_a_model_in_use_elsewhere_is_left_alone(store: Store) -> None:
    put(store, "model")
    with store.lock("model"), pytest.raises(DownloadError, match="Another process is using the model '"):
        store.remove("model")
    assert store.remove("model") > 0
