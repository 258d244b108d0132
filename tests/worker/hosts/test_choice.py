"""Who answers and who learns, by settings and model."""

import hashlib
import importlib.util
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import ModelError, UsageError
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.hosts.choice import BaseModel, EngineChoice, choose_engine, find_model
from tests.models.fit.test_fit import MACHINE
from tests.models.small_models import gguf

FOLDER = BaseModel(path=resource("starter"), hash="00", parameters=1)
FILE = BaseModel(path=Path("model.gguf"), hash="00", parameters=0)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())


def way(model: BaseModel, free: float = 6000, **settings: str) -> EngineChoice:
    """`free`: megabytes of memory."""
    machine = msgspec.structs.replace(MACHINE, memory_free=int(free * 1e6))
    return choose_engine(msgspec.convert(settings, Settings), model, lambda path: machine)


@pytest.fixture
def half_a_billion(tmp_path: Path) -> BaseModel:
    """The shape of Qwen2.5 0.5B, without weights."""
    config = {
        "architectures": ["Qwen2ForCausalLM"],
        "num_hidden_layers": 24,
        "hidden_size": 896,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "intermediate_size": 4864,
        "vocab_size": 151936,
        "tie_word_embeddings": True,
        "max_position_embeddings": 32768,
    }
    (tmp_path / "config.json").write_bytes(msgspec.json.encode(config))
    return BaseModel(path=tmp_path, hash="00", parameters=494_000_000)


def test_torch_does_both_unless_told_otherwise() -> None:
    assert way(FOLDER) == EngineChoice("torch", trains=True)
    assert way(FOLDER, generator="llama.cpp") == EngineChoice("llama.cpp", trains=True)
    assert way(FOLDER, trainer="none") == EngineChoice("llama.cpp", trains=False)


def test_free_memory_decides_what_is_left_open(half_a_billion: BaseModel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert way(half_a_billion) == EngineChoice("torch", trains=True)
    assert way(half_a_billion, generator="llama.cpp") == EngineChoice("llama.cpp", trains=True)
    assert way(half_a_billion, method="full", free=30_000) == EngineChoice("torch", trains=True)
    weak = way(half_a_billion, free=1500)
    assert (weak.generator, weak.trains) == ("llama.cpp", False) and "only answers" in str(weak.note)
    # The loader, which has smaller models, is to say that it does not fit.
    assert way(half_a_billion, free=1500, trainer="torch").trains
    assert way(half_a_billion, free=100) == EngineChoice("torch", trains=True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llama_cpp" else object())
    assert way(half_a_billion) == EngineChoice("torch", trains=True)


def test_a_gguf_file_only_answers() -> None:
    assert way(FILE) == EngineChoice("llama.cpp", trains=False)


@pytest.mark.parametrize(
    ("model", "settings", "reason"),
    [
        (FILE, {"trainer": "torch"}, "cannot be trained"),
        (FILE, {"generator": "torch"}, "llama.cpp answers"),
        (FOLDER, {"trainer": "none", "generator": "torch"}, "llama.cpp answers"),
        (FOLDER, {"method": "full", "generator": "llama.cpp"}, "Set method to lora"),
    ],
)
def test_what_does_not_go_together_is_refused(model: BaseModel, settings: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        way(model, **settings)


def test_where_llama_cpp_is_missing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llama_cpp" else object())
    assert way(FOLDER) == EngineChoice("torch", trains=True)
    with pytest.raises(UsageError, match="not installed"):
        way(FILE)


def test_models_are_found_by_name_folder_and_file(tmp_path: Path) -> None:
    starter = find_model("starter", tmp_path)
    assert starter.parameters > 10**6 and not starter.is_gguf
    file = tmp_path / "m.gguf"
    with pytest.raises(ModelError, match="There is no model"):
        find_model(str(file), tmp_path)
    file.write_bytes(b"GGUF")
    assert find_model(str(file), tmp_path).is_gguf


def test_a_model_in_parts_is_known_by_all_of_them(tmp_path: Path) -> None:
    first, second = (tmp_path / f"m-0000{number}-of-00002.gguf" for number in (1, 2))
    for number, path in enumerate((first, second)):
        path.write_bytes(gguf({"split.no": number, "split.count": 2}))
    whole = find_model(str(first), tmp_path)
    assert find_model(str(second), tmp_path).hash == whole.hash
    second.write_bytes(second.read_bytes()[:-1] + b"x")
    assert find_model(str(first), tmp_path).hash != whole.hash
    second.unlink()
    with pytest.raises(ModelError, match=r"m-00002-of-00002\.gguf cannot be read"):
        find_model(str(first), tmp_path)


def test_one_file_is_known_by_its_own_hash(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    assert find_model(str(path), tmp_path).hash == hashlib.sha256(b"GGUF").hexdigest()


def test_an_installed_application_answers_until_it_has_its_engine_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else object())
    found = way(FOLDER)
    assert (found.generator, found.trains) == ("llama.cpp", False)
    assert "sapo-desktop engine install" in str(found.note)
    assert way(FOLDER, trainer="none") == EngineChoice("llama.cpp", trains=False), "as asked: nothing to say"
    insisting: list[dict[str, str]] = [{"trainer": "torch"}, {"generator": "torch"}]
    for settings in insisting:
        with pytest.raises(UsageError, match="Get the engine pack"):
            way(FOLDER, **settings)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for model in (FOLDER, FILE):
        with pytest.raises(UsageError, match=r"engine pack|llama\.cpp is not installed"):
            way(model)
