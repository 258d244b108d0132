"""Which engine answers and which learns, by settings and model; silo forbids another server."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import ModelError, NoEnginePack, UsageError
from sapo_desktop.core.records import Completion, Group, Mark, Question
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.mixing import training_sequences
from sapo_desktop.system.hardware import Gpu
from sapo_desktop.system.secrets import kept_secrets
from sapo_desktop.system.secrets.kept_secrets import remote_key
from sapo_desktop.worker.hosts import choice
from sapo_desktop.worker.hosts.choice import BaseModel, EngineChoice, choose_engine, find_model
from sapo_desktop.worker.hosts.generator import Server
from tests.models.fit.test_fit import MACHINE
from tests.models.small_models import gguf
from tests.worker.hosts.test_server import LOAD, RemoteHost

FOLDER = BaseModel(path=resource("starter"), hash="00", parameters=1)
FILE = BaseModel(path=Path("model.gguf"), hash="00", parameters=0, only_answers="a gemma3: it can answer but not learn")


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())


REMOTE = {"generator": "remote", "silo": False, "remote_url": "http://gpu:8000"}
LEARNS = REMOTE | {"remote_adapters": "/shared"}


def way(model: BaseModel, free: float = 6000, cards: Sequence[Gpu] = (), **settings: object) -> EngineChoice:
    """`free`: megabytes of memory."""
    machine = msgspec.structs.replace(MACHINE, memory_free=int(free * 1e6), gpus=[*cards])
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


def test_torch_does_both_unless_set_otherwise() -> None:
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


def test_a_changed_graphics_card_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "other_engine", lambda: "linux-cuda")
    assert way(FOLDER) == EngineChoice("torch", trains=True, note=choice.OTHER_PACK)
    assert way(FOLDER, trainer="none").note == "", "what only answers has no pack to exchange"


def test_a_gguf_file_learns_where_the_trainer_computes_its_kind(tmp_path: Path) -> None:
    assert way(FILE) == EngineChoice("llama.cpp", trains=False)
    sizes = {"block_count": 2, "embedding_length": 64, "attention.head_count": 4, "feed_forward_length": 96}
    entries = {f"llama.{key}": size for key, size in (sizes | {"context_length": 1024}).items()}
    (tmp_path / "m.gguf").write_bytes(gguf(entries))
    model = find_model(str(tmp_path / "m.gguf"), tmp_path)
    assert model.parameters > 2 * 64 * 96 * 3
    assert way(model) == EngineChoice("torch", trains=True)
    assert way(model, generator="llama.cpp") == EngineChoice("llama.cpp", trains=True)


@pytest.mark.parametrize(
    ("model", "settings", "reason"),
    [
        (FILE, {"trainer": "torch"}, "not learn"),
        (FILE, {"generator": "torch"}, "llama.cpp answers"),
        (FOLDER, {"trainer": "none", "generator": "torch"}, "llama.cpp answers"),
        (FOLDER, {"method": "full", "generator": "llama.cpp"}, "Set method to lora"),
        (FOLDER, REMOTE | {"silo": True}, "In silo nothing leaves this computer"),
        (FOLDER, REMOTE | {"remote_url": ""}, "Set remote_url"),
        (FOLDER, REMOTE | {"trainer": "torch"}, "Set remote_adapters"),
        (FOLDER, LEARNS | {"method": "full"}, "but not all weights"),
        (FILE, REMOTE, "model folder"),
    ],
)
def test_what_does_not_go_together_is_refused(model: BaseModel, settings: dict[str, Any], reason: str) -> None:
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
    with pytest.raises(ModelError, match="is missing"):
        find_model(str(file), tmp_path)
    file.write_bytes(gguf())
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
    path.write_bytes(gguf())
    assert find_model(str(path), tmp_path).hash == hashlib.sha256(gguf()).hexdigest()


def test_an_installed_application_answers_until_it_has_its_engine_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else object())
    found = way(FOLDER)
    assert (found.generator, found.trains) == ("llama.cpp", False)
    assert "sapo-desktop engine install" in str(found.note)
    assert way(FOLDER, trainer="none") == EngineChoice("llama.cpp", trains=False), "as asked: nothing to say"
    insisting: list[dict[str, str]] = [{"trainer": "torch"}, {"generator": "torch"}]
    for settings in insisting:
        with pytest.raises(NoEnginePack, match="Get the engine pack"):
            way(FOLDER, **settings)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name == "PySide6" else None)
    for model in (FOLDER, FILE):
        with pytest.raises(UsageError, match=r"engine pack|llama\.cpp is not installed"):
            way(model)


def test_a_clone_that_was_set_up_for_a_relay_says_what_a_node_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for generator in ("auto", "remote"):
        with pytest.raises(UsageError, match=r"a relay needs.*bootstrap\.py setup"):
            way(FOLDER, generator=generator)


def test_without_a_shared_folder_it_only_answers_and_with_one_it_learns() -> None:
    assert way(FOLDER, **REMOTE) == EngineChoice(generator="remote", trains=False)
    assert way(FOLDER, **LEARNS) == EngineChoice(generator="remote", trains=True)
    assert way(FOLDER, **LEARNS, trainer="none") == EngineChoice(generator="remote", trains=False)


def test_where_the_trainer_does_not_fit_the_server_still_answers_and_it_is_said() -> None:
    found = way(FOLDER, 5, **LEARNS)
    assert (found.generator, found.trains) == ("remote", False)
    assert "starter does not fit: it answers through a server, learns with PyTorch" in str(found.note)
    assert "only answers" in str(found.note)
    # For a user who insists on learning, the loader refuses and says so.
    assert way(FOLDER, 5, **LEARNS, trainer="torch") == EngineChoice(generator="remote", trains=True)
    # The reserve is given up before learning is.
    assert way(FOLDER, 500, **LEARNS) == EngineChoice(generator="remote", trains=True)


def test_a_trainer_that_no_card_holds_learns_on_the_processor() -> None:
    full = Gpu("card", 8 * 2**30, 2**20)
    free = Gpu("card", 8 * 2**30, 8 * 2**30)
    assert way(FOLDER, cards=[full], **LEARNS) == EngineChoice(generator="remote", trains=True, device="cpu")
    assert way(FOLDER, cards=[free], **LEARNS) == EngineChoice(generator="remote", trains=True, device="cuda")


async def test_threads_are_no_business_of_a_server(tmp_path: Path) -> None:
    host = RemoteHost()
    server = Server(host, LOAD, tmp_path / "adapters")  # type: ignore[arg-type]
    await server.start()
    await server.configure(4)
    await server.start()
    assert host.asked == [LOAD]


def test_an_answer_without_log_probabilities_carries_no_weight() -> None:
    question = Question(task="gcd/easy", seed=1, text="?", hash=b"")
    mark = Mark(solved=True, partial=1.0, reward=1.0, answer="1", verdict="solved")
    answers = [
        Completion(tokens=[1, 2], logprobs=[-0.5, -0.25], text="a", finish="stop"),
        Completion(tokens=[3], logprobs=[], text="b", finish="stop"),
    ]
    group = Group(question=question, completions=answers, marks=[mark, mark])
    batch = training_sequences([group], [[7]], [[1.0, -1.0]], off_policy=True)
    assert [one.sampler_logprobs for one in batch] == [[-0.5, -0.25], None]


def test_the_key_comes_from_the_environment_before_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, str] = {}

    class Keyring:
        def load(self, user: str) -> str | None:
            return kept.get(user)

        def keep(self, user: str, secret: str) -> None:
            kept[user] = secret

        def forget(self, user: str) -> bool:
            return kept.pop(user, None) is not None

    monkeypatch.setattr(kept_secrets, "opened", lambda advice: Keyring())
    monkeypatch.delenv(remote_key.variable, raising=False)
    assert remote_key.load("http://gpu:8000") is None
    remote_key.keep("http://gpu:8000/v1/", "from-keyring")
    assert remote_key.load("http://gpu:8000") == "from-keyring"
    assert remote_key.load("http://other:8000") is None
    monkeypatch.setenv(remote_key.variable, "from-environment")
    assert remote_key.load("http://gpu:8000") == "from-environment"
    monkeypatch.setenv(remote_key.variable, "two words\n")
    with pytest.raises(UsageError, match="one word"):
        remote_key.load("http://gpu:8000")
    assert remote_key.forget("http://gpu:8000")
    assert kept == {}
