"""Imports of models on this computer: complete, checked, and never code."""

import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import DownloadError, ModelError, NoRoom
from sapo_desktop.core.models import Kept, KeptFile, TakeIn, Transfer
from sapo_desktop.models.files import importing
from sapo_desktop.models.files.importing import take_in
from sapo_desktop.models.files.store import Store
from tests.models.small_models import gguf, safetensors, transformers_files, zeros


class Imports:
    """Imports into one folder, and what was reported."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.models = root / "models"
        self.reports: list[Transfer] = []

    def __call__(self, path: Path, name: str | None = None, *, free: int = 10**12) -> Kept:
        request = TakeIn(folder=str(self.models), path=str(path), name=name)
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
    assert "can answer but not learn" in str(kept.notes[0]) and kept.model.only_answers


def test_all_parts_of_a_gguf_model_come_along(imports: Imports) -> None:
    paths = [imports.root / f"tiny-{number + 1:05d}-of-00002.gguf" for number in range(2)]
    for number, path in enumerate(paths):
        path.write_bytes(gguf({"split.no": number, "split.count": 2}))
    assert sorted(imports(paths[1]).model.files) == [path.name for path in paths]
    paths[0].unlink()
    with pytest.raises(ModelError, match=r"missing next to it: tiny-00001-of-00002\.gguf"):
        imports(paths[1], "again")
    with pytest.raises(ModelError, match="contains several models"):
        imports(imports.folder({"a.gguf": gguf(), "b.gguf": gguf()}))
    assert not list((imports.models / ".partial").glob("*"))


def test_what_could_run_stays_behind(imports: Imports) -> None:
    files = transformers_files() | {"pytorch_model.bin": b"x", "modeling.py": b"x", "notes.xyz": b"x", ".hidden": b"x"}
    kept = imports(imports.folder(files))
    assert sorted(kept.model.files) == sorted(transformers_files())
    assert "modeling.py, notes.xyz, pytorch_model.bin" in str(kept.notes[0])


def test_links_of_a_hubs_cache_are_followed(imports: Imports) -> None:
    repository = imports.root / "models--owner--name"
    snapshot = repository / "snapshots" / "main"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    for number, (file, content) in enumerate(transformers_files().items()):
        (repository / "blobs" / str(number)).write_bytes(content)
        (snapshot / file).symlink_to(f"../../blobs/{number}")
    kept = imports(snapshot)
    assert not any(path.is_symlink() for path in Path(kept.path).iterdir())
    assert sorted(kept.model.files) == sorted(transformers_files())


def test_a_link_that_leads_out_of_the_model_is_not_followed(imports: Imports) -> None:
    """`LICENSE -> a private key` would be copied, and every export would carry it on."""
    secret = imports.root / "id_ed25519"
    secret.write_text("PRIVATE KEY")
    secret.chmod(0o600)
    folder = imports.folder(transformers_files())
    for name in ("LICENSE", "vocab.json", "model-2.safetensors"):
        (folder / name).symlink_to(secret)
        with pytest.raises(ModelError, match=rf"{name} is a link to .*id_ed25519, which is not part of the model"):
            imports(folder)
        (folder / name).unlink()
    assert Store(imports.models).contents().models == []
    kept = [path.read_bytes() for path in imports.models.rglob("*") if path.is_file()]
    assert not any(b"PRIVATE KEY" in content for content in kept)


def test_a_gguf_file_that_a_person_names_may_be_a_link_its_other_parts_may_not(imports: Imports) -> None:
    stored = imports.root / "stored"
    stored.write_bytes(gguf())
    (imports.root / "mine.gguf").symlink_to(stored)
    assert imports(imports.root / "mine.gguf").model.kind == "gguf"
    beside = imports.folder({})
    for number in range(2):
        part = imports.root / f"part{number}"
        part.write_bytes(gguf({"split.no": number, "split.count": 2}))
        (beside / f"tiny-0000{number + 1}-of-00002.gguf").symlink_to(part)
    with pytest.raises(ModelError, match="which is not part of the model"):
        imports(beside / "tiny-00001-of-00002.gguf")


def test_a_copy_is_for_nobody_who_could_not_read_the_original(imports: Imports) -> None:
    folder = imports.folder(transformers_files())
    (folder / "README.md").chmod(0o600)
    (folder / "config.json").chmod(0o644)
    before = os.umask(0o022)
    try:
        kept = Path(imports(folder).path)
    finally:
        os.umask(before)
    assert (kept / "README.md").stat().st_mode & 0o777 == 0o600
    assert (kept / "config.json").stat().st_mode & 0o777 == 0o644


def test_what_takes_a_files_place_is_not_imported(imports: Imports, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = imports.folder(transformers_files())
    secret = imports.root / "id_ed25519"
    secret.write_text("PRIVATE KEY")
    bring = importing._bring

    def exchange(*arguments: Any) -> dict[str, KeptFile]:
        (folder / "README.md").unlink()
        (folder / "README.md").symlink_to(secret)
        return bring(*arguments)

    monkeypatch.setattr(importing, "_bring", exchange)
    with pytest.raises(ModelError, match=r"could not be imported \(it is a link"):
        imports(folder)
    assert Store(imports.models).contents().models == []


def test_what_is_not_there_or_no_file_is_refused(imports: Imports) -> None:
    with pytest.raises(ModelError, match="There is nothing at"):
        imports(imports.root / "none")
    pickle = imports.root / "model.bin"
    pickle.write_bytes(b"x")
    with pytest.raises(ModelError, match="files of that kind can contain programs"):
        imports(pickle)
    folder = imports.folder(transformers_files())
    (folder / "vocab.json").symlink_to(imports.root / "none")
    with pytest.raises(ModelError, match="Put the file itself there"):
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
    with pytest.raises(ModelError, match="' cannot be a model's name"):
        imports(path, "../x")
    with Store(imports.models).lock("third"), pytest.raises(DownloadError, match="Another process"):
        imports(path, "third")


ENDLESS = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"


def _templates(source: str) -> bytes:
    """A tokenizer's settings with two templates."""
    tools = {"name": "tool_use", "template": "{{ messages[0].content }}"}
    return json.dumps({"chat_template": [tools, {"name": "default", "template": source}]}).encode()


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were copied, on a disk that cannot share their bytes."""
    names: list[str] = []

    def opened(path: Path, target: Path) -> Iterator[bytes]:
        names.append(target.name)
        yield from copying(path, target)

    copying = importing._copied
    monkeypatch.setattr(importing, "_reflinked", lambda path, target: False)
    monkeypatch.setattr(importing, "_copied", opened)
    return names


def test_a_change_of_the_original_leaves_the_model_as_it_is(imports: Imports) -> None:
    path = imports.folder(transformers_files())
    kept = imports(path)
    with (path / "model.safetensors").open("r+b") as file:
        file.write(b"other")
    assert (Path(kept.path) / "model.safetensors").read_bytes() == transformers_files()["model.safetensors"]


def test_there_has_to_be_room_for_all_of_it_before_anything_is_copied(imports: Imports, copied: list[str]) -> None:
    path = imports.folder(transformers_files() | {"model-2.safetensors": safetensors(50_000)})
    with pytest.raises(NoRoom, match=r"My-model needs 400 KB more.*must stay free"):
        imports(path, free=2_000_300_000)
    assert copied == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds no weights"),
        ({"pytorch_model.bin": b"x"}, "only as pytorch_model.bin"),
        (transformers_files(auto_map={"AutoModel": "x.Y"}), "This model needs to run its own code"),
        (transformers_files(architectures=["Strange"]), "Strange"),
        (transformers_files() | {"model.safetensors": b"cut"}, "is not a complete safetensors file"),
        (transformers_files() | {"model.safetensors": safetensors()[:-1]}, "should have"),
        (transformers_files() | {"model.safetensors.index.json": b'{"weight_map": {"a": "b.safetensors"}}'}, "lacks"),
        ({"b-00001-of-00002.gguf": gguf(), "b-00002-of-00002.gguf": gguf()[:-500]}, "should have"),
        (transformers_files() | {"chat_template.jinja": b"{% if x %}"}, "chat template cannot be read: unexpected end"),
        (
            transformers_files() | {"chat_template.jinja": b"{{ bos_token }}Hi"},
            "The model's chat template changes the question",
        ),
        (transformers_files() | {"tokenizer_config.json": _templates("{% for %}")}, "chat template cannot be read"),
        ({"a.gguf": gguf({"tokenizer.chat_template": "{{ messages[0]. }}"})}, "chat template cannot be read"),
        ({"a.gguf": gguf({"tokenizer.chat_template": ENDLESS})}, "takes too much time or memory"),
    ],
)
def test_what_is_no_model_is_refused_uncopied_and_leaves_nothing(
    imports: Imports, copied: list[str], files: dict[str, bytes], said: str
) -> None:
    with pytest.raises(ModelError, match=said):
        imports(imports.folder(files))
    assert not any(name.endswith((".safetensors", ".gguf", ".bin")) for name in copied)
    assert Store(imports.models).contents().models == []
    assert not list((imports.models / ".partial").glob("*"))


def test_the_progress_is_reported_while_it_is_copied(imports: Imports, copied: list[str]) -> None:
    path = imports.folder(transformers_files() | {"model.safetensors": zeros(1_000_000)})
    staged = Store(imports.models).import_staging("My-model") / "model.safetensors"
    sizes: list[int] = []

    def report(transfer: Transfer) -> None:
        if transfer.file == "model.safetensors" and staged.exists():
            sizes.append(staged.stat().st_size)

    take_in(TakeIn(folder=str(imports.models), path=str(path)), report, clock=itertools.count().__next__)
    assert sizes == sorted(sizes) and sizes[0] < 2_000_000 and len(sizes) > 3


def test_the_first_kill_leaves_nothing_behind_for_long(imports: Imports) -> None:
    left = Store(imports.models).import_staging("killed")
    left.mkdir(parents=True)
    (left / "model.safetensors").write_bytes(b"half")
    imports(imports.folder(transformers_files()))
    assert not left.exists()


def test_several_gguf_models_in_a_folder_are_not_copied_but_named(imports: Imports) -> None:
    path = imports.folder({"m.Q8_0.gguf": gguf(), "m.Q4_0.gguf": gguf(rows=32), "mmproj-m.gguf": gguf()})
    with pytest.raises(ModelError, match=r"contains several models.*m\.Q4_0\.gguf, m\.Q8_0\.gguf"):
        imports(path)
    assert imports.reports == [] and not imports.models.joinpath("My-model").exists()
    (path / "m.Q4_0.gguf").unlink()
    assert list(imports(path).model.files) == ["m.Q8_0.gguf"]


def test_a_refusal_names_the_file_where_the_person_has_it(imports: Imports) -> None:
    path = imports.folder(transformers_files() | {"config.json": b"{"})
    with pytest.raises(ModelError) as caught:
        imports(path)
    assert str(path / "config.json") in str(caught.value) and ".partial" not in str(caught.value)
    (path / "config.json").write_bytes(b"\xef\xbb\xbf" + transformers_files()["config.json"])
    with pytest.raises(ModelError, match="a BOM"):
        imports(path)


def test_a_folder_of_a_hubs_cache_keeps_the_models_name(imports: Imports) -> None:
    cache = imports.root / "models--owner--small"
    snapshot = cache / "snapshots" / "0123456789abcdef"
    snapshot.mkdir(parents=True)
    for file, content in transformers_files().items():
        (snapshot / file).write_bytes(content)
    assert imports(snapshot).model.name == "owner--small"
    assert imports(cache, "again").model.source == str(snapshot)
    (imports.root / "models--empty" / "snapshots").mkdir(parents=True)
    with pytest.raises(ModelError, match="no finished download"):
        imports(imports.root / "models--empty")
