"""Which processes start for each mode, and which files llama.cpp uses."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import HostDied, ModelError, UsageError
from sapo_desktop.core.models import Installed, KeptFile
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines import protocols as p
from sapo_desktop.models.files.store import Store
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.hosts import engine_hosts
from sapo_desktop.worker.hosts.choice import TORCH_ALONE, BaseModel, EngineChoice
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.engine_hosts import start_engine, stop_started
from tests.worker.fakes import engine_plan
from tests.worker.hosts.test_llama_cpp import Recorder

LEARNS = EngineChoice("llama.cpp", trains=True)
ANSWERS = EngineChoice("llama.cpp", trains=False)


class Refusing(Recorder):
    """A trainer's host for a model that cannot be written, or that dies of it."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def call(self, request: Any, timeout: float, on_progress: Any = None, *, loading: bool = False) -> Any:
        if isinstance(request, p.WriteGguf):
            raise self.error
        return await super().call(request, timeout, on_progress, loading=loading)


class Hosting:
    """Starts recorders."""

    def __init__(self, folder: Path, trainer: Recorder | None = None) -> None:
        self.folder = DataFolder.open(folder / "data")
        self.started: dict[str, Recorder] = {}
        self._trainer = trainer or Recorder()

    async def start(self, kind: str) -> Recorder:
        self.started[kind] = self._trainer if kind == "engine" else Recorder()
        return self.started[kind]

    @property
    def alive(self) -> set[str]:
        return {kind for kind, host in self.started.items() if host.pid is not None}


async def started(hosting: Hosting, model: Path, way: EngineChoice, **settings: str) -> Engine:
    chosen = msgspec.convert({"models_folder": str(model.parent)} | settings, Settings)
    plan = engine_plan(model=model, choice=way)
    base = BaseModel(path=model, hash="ab" * 32, parameters=1)
    return await start_engine(hosting, base, chosen, plan)  # type: ignore[arg-type]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder in transformers' layout, under the name of a catalogue's model."""
    folder = tmp_path / "models" / "qwen2.5-0.5b"
    shutil.copytree(resource("starter"), folder)
    return folder


async def test_the_file_is_written_before_anything_is_loaded(tmp_path: Path, model: Path) -> None:
    hosting = Hosting(tmp_path)
    engine = await started(hosting, model, LEARNS)
    assert engine.trains and not engine.answers_ahead and hosting.alive == {"engine", "generator"}
    assert hosting.started["engine"].kinds() == ["WriteGguf"]
    assert engine.plan.gguf is not None and engine.plan.gguf.name == f"{'ab' * 8}-q8_0.gguf"


async def test_a_node_that_only_answers_never_loads_the_model_in_torch(tmp_path: Path, model: Path) -> None:
    hosting = Hosting(tmp_path)
    assert not (await started(hosting, model, ANSWERS)).trains
    assert hosting.started["engine"].kinds() == ["WriteGguf"] and hosting.alive == {"generator"}
    again = Hosting(tmp_path)
    engine = await started(again, model, ANSWERS)
    assert not engine.trains
    assert set(again.started) == {"generator"}, "the file is there now"
    assert engine.plan.gguf is not None
    engine.plan.gguf.write_bytes(b"")
    repaired = Hosting(tmp_path)
    assert not (await started(repaired, model, ANSWERS)).trains
    assert repaired.started["engine"].kinds() == ["WriteGguf"], "what a power cut left is no file"


async def test_torch_answers_too_where_llama_cpp_cannot_take_the_model(tmp_path: Path, model: Path) -> None:
    hosting = Hosting(tmp_path, Refusing(ModelError("Its tokenizer is of another kind.")))
    engine = await started(hosting, model, LEARNS)
    assert engine.answers_ahead and hosting.alive == {"engine"}
    assert (engine.plan.choice.generator, engine.plan.choice.trains) == ("torch", True)
    assert str(engine.plan.choice.note) == "Its tokenizer is of another kind. So PyTorch answers."


@pytest.mark.parametrize(
    ("way", "settings", "error"),
    [
        (LEARNS, {"generator": "llama.cpp"}, ModelError("It cannot be written.")),
        (ANSWERS, {}, ModelError("It cannot be written.")),
        (LEARNS, {}, HostDied("Killed.")),
    ],
)
async def test_what_cannot_be_repaired_is_said_and_leaves_no_process(
    tmp_path: Path, model: Path, way: EngineChoice, settings: dict[str, str], error: Exception
) -> None:
    hosting = Hosting(tmp_path, Refusing(error))
    with pytest.raises(type(error)):
        await started(hosting, model, way, **settings)
    assert hosting.alive == set()


async def test_the_published_file_is_used_where_it_was_downloaded(tmp_path: Path, model: Path) -> None:
    staged = tmp_path / "staged"
    staged.mkdir()
    (staged / "model-q8_0.gguf").write_bytes(b"GGUF")
    manifest = Installed(
        name="qwen2.5-0.5b-q8_0",
        kind="gguf",
        source="somebody/model",
        installed=0.0,
        files={"model-q8_0.gguf": KeptFile(bytes=4, sha256="ab" * 32)},
    )
    published = Store(model.parent).install(staged, manifest) / "model-q8_0.gguf"
    hosting = Hosting(tmp_path)
    engine = await started(hosting, model, LEARNS)
    assert engine.plan.gguf == published and hosting.started["engine"].kinds() == []


async def test_a_host_that_starts_yet_is_given_up_at_once() -> None:
    began = asyncio.Event()

    async def slowly() -> Any:
        began.set()
        await asyncio.Event().wait()

    starting = asyncio.create_task(slowly())
    await began.wait()
    async with asyncio.timeout(10):
        await stop_started([starting])
    assert starting.cancelled()


async def test_torch_alone_is_one_process(tmp_path: Path, model: Path) -> None:
    hosting = Hosting(tmp_path)
    engine = await started(hosting, model, TORCH_ALONE)
    assert engine.trains and engine.answers_ahead
    assert set(hosting.started) == {"engine"}


async def test_before_the_engine_pack_only_what_is_written_already_answers(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_hosts, "can_learn", lambda: False)
    hosting = Hosting(tmp_path)
    with pytest.raises(UsageError, match="set model to starter"):
        await started(hosting, model, ANSWERS)
    assert hosting.started == {}
    shipped = model.with_name("qwen2.5-0.5b-q8_0.gguf")
    shipped.write_bytes(b"GGUF")
    monkeypatch.setattr("sapo_desktop.worker.hosts.llama_cpp.resource", lambda name: model)
    engine = await started(hosting, model, ANSWERS)
    assert engine.plan.gguf == shipped and set(hosting.started) == {"generator"}
