"""Models of other programs, in the layout of each: found, used where they lie, never written to."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.models import FoundModels
from sapo_desktop.models.describe import describe
from sapo_desktop.models.files.locate import locate
from sapo_desktop.models.found import find, places_here
from tests.models.small_models import gguf, transformers_files

COMMIT = "c0ffee" * 6 + "c0ff"


class Home:
    """A home in which programs keep models."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, path: str, content: bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        return target

    def hub(self, cache: str, repository: str, files: dict[str, bytes]) -> Path:
        """A repository as huggingface_hub keeps it: every file a link to a blob named by its hash."""
        folder = self.root / cache / f"models--{repository.replace('/', '--')}"
        snapshot = folder / "snapshots" / COMMIT
        snapshot.mkdir(parents=True)
        for name, content in files.items():
            blob = folder / "blobs" / hashlib.sha256(content).hexdigest()
            blob.parent.mkdir(exist_ok=True)
            blob.write_bytes(content)
            (snapshot / name).symlink_to(Path("..", "..", "blobs", blob.name))
        self.put(f"{folder.relative_to(self.root)}/refs/main", COMMIT.encode())
        return snapshot

    def ollama(self, models: str, name: str, tag: str, content: bytes, host: str = "registry.ollama.ai") -> Path:
        digest = hashlib.sha256(content).hexdigest()
        layers = [
            {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}", "size": len(content)},
            {"mediaType": "application/vnd.ollama.image.template", "digest": f"sha256:{'0' * 64}", "size": 5},
        ]
        manifest = {"schemaVersion": 2, "config": {"digest": f"sha256:{'1' * 64}"}, "layers": layers}
        self.put(f"{models}/manifests/{host}/{name}/{tag}", json.dumps(manifest).encode())
        return self.put(f"{models}/blobs/sha256-{digest}", content)

    def find(self, platform: str = "linux", **environment: str) -> FoundModels:
        places = places_here(environment, self.root, platform)
        return find([place for place in places if place.folder.is_relative_to(self.root)])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def named(found: FoundModels) -> list[tuple[str, str]]:
    return [(one.program, one.name) for one in found.models]


def test_hugging_faces_cache_has_folders_and_gguf_files_behind_links(home: Home) -> None:
    home.hub(".cache/huggingface/hub", "someone/small", transformers_files())
    home.hub(".cache/huggingface/hub", "someone/small-GGUF", {"small.Q8_0.gguf": gguf(), "mmproj-small.gguf": gguf()})
    home.hub(".cache/huggingface/hub", "someone/pictures", {"model.bin": b"x", "config.json": b"{}"})
    found = home.find()
    assert named(found) == [("Hugging Face", "someone/small"), ("Hugging Face", "someone/small-GGUF/small.Q8_0.gguf")]
    folder, file = found.models
    assert (folder.kind, file.kind) == ("transformers", "gguf") and folder.bytes > 200_000
    assert not folder.only_answers and found.notes == []


def test_the_caches_own_variables_are_heeded(home: Home) -> None:
    home.hub("elsewhere/hub", "someone/small", transformers_files())
    assert named(home.find(HF_HOME=str(home.root / "elsewhere"))) == [("Hugging Face", "someone/small")]
    home.put("lama/a.gguf", gguf())
    assert named(home.find(LLAMA_CACHE=str(home.root / "lama"))) == [("llama.cpp", "a.gguf")]
    home.ollama("oll", "library/tiny", "latest", gguf())
    assert named(home.find(OLLAMA_MODELS=str(home.root / "oll"))) == [("Ollama", "tiny:latest")]


def test_ollamas_blobs_are_found_by_their_manifests_and_used_by_their_path(home: Home) -> None:
    blob = home.ollama(".ollama/models", "library/llama3.2", "1b", gguf())
    home.ollama(".ollama/models", "someone/own", "q4", gguf(rows=32))
    home.ollama(".ollama/models", "someone/small-GGUF", "Q8_0", gguf(rows=96), host="hf.co")
    found = home.find()
    assert set(named(found)) == {
        ("Ollama", "llama3.2:1b"),
        ("Ollama", "someone/own:q4"),
        ("Ollama", "hf.co/someone/small-GGUF:Q8_0"),
    }
    path = next(one.path for one in found.models if one.name == "llama3.2:1b")
    assert locate(path, home.root / "models") == blob
    with pytest.raises(ModelError, match="shape"):  # read as a GGUF file, which this small one is hardly
        describe(blob)


@pytest.mark.parametrize(
    ("platform", "folders"),
    [
        (
            "linux",
            {
                "LM Studio": ".lmstudio/models/someone/small-GGUF",
                "Jan": ".config/Jan/data/llamacpp/models/small",
                "GPT4All": ".local/share/nomic.ai/GPT4All",
                "llama.cpp": ".cache/llama.cpp",
            },
        ),
        (
            "darwin",
            {
                "LM Studio": ".lmstudio/models/someone/small-GGUF",
                "Jan": "Library/Application Support/Jan/data/llamacpp/models/small",
                "GPT4All": "Library/Application Support/nomic.ai/GPT4All",
                "llama.cpp": "Library/Caches/llama.cpp",
            },
        ),
        (
            "win32",
            {
                "LM Studio": ".lmstudio/models/someone/small-GGUF",
                "Jan": "AppData/Roaming/Jan/data/llamacpp/models/small",
                "GPT4All": "AppData/Local/nomic.ai/GPT4All",
                "llama.cpp": "AppData/Local/llama.cpp",
            },
        ),
    ],
)
def test_folders_of_gguf_files_are_found_on_each_system(home: Home, platform: str, folders: dict[str, str]) -> None:
    for folder in folders.values():
        home.put(f"{folder}/model.gguf", gguf())
        home.put(f"{folder}/mmproj.gguf", gguf())
    found = home.find(platform)
    assert [one.program for one in found.models] == list(folders)
    assert [one.path for one in found.models] == [str(home.root / folder / "model.gguf") for folder in folders.values()]
    assert found.models[0].name == "someone/small-GGUF/model.gguf"


def test_lm_studio_may_have_been_moved(home: Home) -> None:
    home.put("disk/lm/models/someone/small/model.gguf", gguf())
    home.put(".lmstudio-home-pointer", str(home.root / "disk" / "lm").encode())
    assert named(home.find()) == [("LM Studio", "someone/small/model.gguf")]


def test_all_parts_are_one_model(home: Home) -> None:
    for part in (1, 2):
        metadata: dict[str, object] = {"split.no": part - 1, "split.count": 2}
        home.put(f".cache/llama.cpp/big-0000{part}-of-00002.gguf", gguf(metadata))
    found = home.find()
    assert len(found.models) + len(found.notes) == 1


def test_a_kind_that_only_answers_says_so(home: Home) -> None:
    home.put(".cache/llama.cpp/other.gguf", gguf({"general.architecture": "gemma3"}))
    (one,) = home.find().models
    assert "not learn" in str(one.only_answers)


def test_what_is_half_written_is_one_sentence(home: Home) -> None:
    cache = ".cache/huggingface/hub/models--someone--half"
    home.put(f"{cache}/blobs/abc.12345678.incomplete", b"half")
    home.put(f"{cache}/refs/main", COMMIT.encode())
    home.put(".local/share/nomic.ai/GPT4All/incomplete-small.gguf", b"half")
    home.put(".lmstudio/models/someone/small/small.gguf.part", b"half")
    home.put(".config/Jan/data/llamacpp/models/small/model.gguf", gguf()[:-500])
    home.ollama(".ollama/models", "library/gone", "latest", gguf()).unlink()
    home.put(".ollama/models/manifests/registry.ollama.ai/library/broken/latest", b"{")
    found = home.find()
    assert found.models == []
    said = [str(note) for note in found.notes]
    assert len(said) == 6 and all(note.count(". ") <= 1 for note in said)
    for program in ("Hugging Face", "GPT4All", "LM Studio", "Jan", "Ollama"):
        assert any(program in note for note in said)


def test_links_in_circles_and_names_that_lead_out_are_no_models(home: Home) -> None:
    folder = home.put(".cache/llama.cpp/a.gguf", gguf()).parent
    (folder / "loop").symlink_to(folder)
    layers = [{"mediaType": "application/vnd.ollama.image.model", "digest": "../../../../secret"}]
    home.put(".ollama/models/manifests/registry.ollama.ai/library/evil/latest", json.dumps({"layers": layers}).encode())
    found = home.find()
    assert named(found) == [("llama.cpp", "a.gguf")] and len(found.notes) == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.allowed_skip("root may read everything")
def test_a_folder_that_may_not_be_read_is_said(home: Home) -> None:
    folder = home.put(".cache/llama.cpp/a.gguf", gguf()).parent
    folder.chmod(0)
    try:
        assert "cannot be read" in str(home.find().notes[0])
    finally:
        folder.chmod(0o700)


def test_nothing_is_written(home: Home) -> None:
    home.hub(".cache/huggingface/hub", "someone/small", transformers_files())
    home.ollama(".ollama/models", "library/tiny", "latest", gguf())
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in home.root.rglob("*"))
    home.find()
    assert sorted((str(path), path.lstat().st_mtime_ns) for path in home.root.rglob("*")) == before


def test_one_that_vanished_is_said(home: Home) -> None:
    blob = home.ollama(".ollama/models", "library/tiny", "latest", gguf())
    blob.unlink()
    with pytest.raises(ModelError, match=r"is missing.*the program that stores it.*models find"):
        locate(str(blob), home.root / "models")
