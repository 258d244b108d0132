"""Who answers and who learns, by settings and model."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import ModelError, UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.way import BaseModel, Way, choose_way, find_model

FOLDER = BaseModel(path=Path("model"), hash="00", parameters=1)
FILE = BaseModel(path=Path("model.gguf"), hash="00", parameters=0)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())


def way(model: BaseModel, **settings: str) -> Way:
    return choose_way(msgspec.convert(settings, Settings), model)


def test_torch_does_both_unless_told_otherwise() -> None:
    assert way(FOLDER) == Way("torch", trains=True)
    assert way(FOLDER, generator="llama.cpp") == Way("llama.cpp", trains=True)
    assert way(FOLDER, trainer="none") == Way("llama.cpp", trains=False)


def test_a_gguf_file_only_answers() -> None:
    assert way(FILE) == Way("llama.cpp", trains=False)


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
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert way(FOLDER) == Way("torch", trains=True)
    with pytest.raises(UsageError, match="not installed"):
        way(FILE)


def test_models_are_found_by_name_folder_and_file(tmp_path: Path) -> None:
    starter = find_model("starter")
    assert starter.parameters > 10**6 and not starter.is_gguf
    file = tmp_path / "m.gguf"
    with pytest.raises(ModelError, match="no GGUF file"):
        find_model(str(file))
    file.write_bytes(b"GGUF")
    assert find_model(str(file)).is_gguf
