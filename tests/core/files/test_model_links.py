"""Links among a model's files: weights, within what is a model's; everything else lies where it is named."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.model_links import copy_file, hub_caches, real_file


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    key = tmp_path / "home" / "id_ed25519"
    key.parent.mkdir()
    key.write_text("PRIVATE KEY")
    key.chmod(0o600)
    return key


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    return made


def test_a_file_is_where_it_is_named(folder: Path) -> None:
    (folder / "LICENSE").write_text("free")
    assert real_file(folder / "LICENSE", weights=False) == folder.resolve() / "LICENSE"


@pytest.mark.parametrize("weights", [False, True])
def test_a_link_out_of_the_model_is_not_followed(folder: Path, secret: Path, weights: bool) -> None:
    (folder / "LICENSE").symlink_to(secret)
    with pytest.raises(ModelError, match=r"is a link to .*id_ed25519, which is not part of the model"):
        real_file(folder / "LICENSE", weights=weights)
    with pytest.raises(ModelError, match="which is not part of the model"):
        copy_file(folder / "LICENSE", folder / "copy")
    assert not (folder / "copy").exists()


def test_only_weights_may_be_links_within_their_folder_or_in_a_cache(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for place in (folder / "below" / "w", cache / "w"):
        place.parent.mkdir(exist_ok=True)
        place.write_text("weights")
        link = folder / "model.safetensors"
        link.unlink(missing_ok=True)
        link.symlink_to(place)
        assert real_file(link, weights=True, caches=[cache.resolve()]) == place.resolve()
        with pytest.raises(ModelError, match="which is not part of the model"):
            real_file(link, weights=False, caches=[cache.resolve()])


def in_a_hubs_cache(root: Path) -> Path:
    """A snapshot's folder, with one file that is a link into the blobs of its repository."""
    repository = root / "models--owner--name"
    snapshot = repository / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "blobs" / "123").write_text("free")
    (snapshot / "LICENSE").symlink_to("../../blobs/123")
    return snapshot


def test_a_hubs_cache_is_all_links(tmp_path: Path) -> None:
    snapshot = in_a_hubs_cache(tmp_path)
    blob = (snapshot.parents[1] / "blobs" / "123").resolve()
    assert real_file(snapshot / "LICENSE", weights=False) == blob
    (tmp_path / "short").symlink_to(snapshot)
    assert real_file(tmp_path / "short" / "LICENSE", weights=False) == blob


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_only_looks_like_a_hubs_cache_leads_nowhere_else(tmp_path: Path, secret: Path, what: str) -> None:
    snapshot = in_a_hubs_cache(tmp_path)
    blobs = snapshot.parents[1] / "blobs"
    (blobs / "123").unlink()
    if what == "file":
        (blobs / "123").symlink_to(secret)
    else:
        secret.rename(secret.with_name("123"))
        blobs.rmdir()
        blobs.symlink_to(secret.parent)
    with pytest.raises(ModelError, match="which is not part of the model"):
        real_file(snapshot / "LICENSE", weights=False)


def test_links_in_a_circle_or_to_folders_are_no_files(folder: Path) -> None:
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    (folder / "c").symlink_to(folder)
    for name in ("a", "c", "none"):
        with pytest.raises(ModelError, match="is not a file"):
            real_file(folder / name, weights=True)


def test_where_hubs_keep_models(tmp_path: Path) -> None:
    assert hub_caches({"HF_HOME": str(tmp_path)}) == [tmp_path.resolve() / "hub"]
    named = hub_caches({"HF_HUB_CACHE": str(tmp_path / "a"), "XDG_CACHE_HOME": str(tmp_path / "b")})
    assert named == [tmp_path.resolve() / "a", tmp_path.resolve() / "b" / "huggingface" / "hub"]
