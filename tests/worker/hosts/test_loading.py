"""Before a model is loaded the free memory decides how much is asked of it at once."""

import asyncio
import dataclasses
import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import SettingsError, TooBig
from sapo_desktop.core.fitting import ProductTimes
from sapo_desktop.core.models import HubModel
from sapo_desktop.core.records import TrainerSettings
from sapo_desktop.core.resources import resource
from sapo_desktop.core.sentences import Sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.protocols import TimeProducts
from sapo_desktop.models.describe import describe
from sapo_desktop.models.files.folder import read_folder
from sapo_desktop.models.fit import memory, ways
from sapo_desktop.models.fit.memory import LLAMA_RUNTIME, UNLOADED_RUNTIME
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import Hardware
from sapo_desktop.worker.control.client import appraise as appraise_apart
from sapo_desktop.worker.control.handlers.appraisal import Steady, appraise
from sapo_desktop.worker.control.messages.models import (
    CatalogueIs,
    EstimatesAre,
    FitIs,
    GetCatalogue,
    GetEstimates,
    GetFit,
)
from sapo_desktop.worker.hosts.choice import TORCH_ALONE, EngineChoice, Look, smaller_model
from sapo_desktop.worker.hosts.loading import Fitting
from sapo_desktop.worker.hosts.trainer import EnginePlan
from tests.models.fit.test_fit import MACHINE
from tests.models.fit.test_formats import times
from tests.models.small_models import gguf
from tests.worker.fakes import engine_plan

STARTER = resource("starter")
HELD = UNLOADED_RUNTIME
"""What a host has before a model is loaded."""
LLAMA = EngineChoice(generator="llama.cpp", trains=True)
ANSWERS = EngineChoice(generator="llama.cpp", trains=False)


def machine(free: float) -> Look:
    """A computer with so many MB free."""

    def look(folder: Path) -> Hardware:
        assert folder.is_dir()
        return msgspec.structs.replace(MACHINE, memory_free=int(free * 1e6))

    return look


class Scene:
    """A loader, and what it changed."""

    def __init__(self, free: float, settings: Settings | None = None, cache: Path = Path("nowhere")) -> None:
        self.settings = settings or Settings()
        self.said: list[str] = []
        self.look = machine(free)
        self.cache = cache
        self.measured: list[TimeProducts] = []
        self.gain = 2.0
        """The real gain of bfloat16."""
        self.fitting = self.fresh()

    def fresh(self) -> Fitting:
        """A Fitting as after a start of the node."""
        return Fitting(lambda: self.settings, self.shorten, self.said.append, self.cache, lambda path: self.look(path))

    def fit(self, plan: EnginePlan, held: int = HELD) -> EnginePlan:
        """Fit like an engine."""
        return asyncio.run(self.fitting.fit(plan, held, self.measure))

    async def measure(self, wanted: TimeProducts) -> ProductTimes:
        self.measured.append(wanted)
        return times(wanted.hidden, self.gain)

    def shorten(self, tokens: int) -> None:
        self.settings = msgspec.structs.replace(self.settings, max_tokens=tokens)


def asked(micro_batch: int = 16, **changes: Any) -> EnginePlan:
    return engine_plan(**({"model": STARTER, "trainer": TrainerSettings(micro_batch=micro_batch)} | changes))


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EnginePlan:
    """As if the starter were large enough for its number format to be a question; the cache is `tmp_path`."""
    monkeypatch.setattr(ways, "FLOAT32_PARAMETERS", 0)
    monkeypatch.setattr(memory, "FLOAT32_PARAMETERS", 0)
    return asked()


@pytest.mark.parametrize("says_fast", [True, False])
@pytest.mark.parametrize(("gain", "dtype"), [(2.0, "bfloat16"), (0.5, "float32")])
def test_the_processor_is_measured_before_memory_is_planned_and_once(
    large: EnginePlan, tmp_path: Path, says_fast: bool, gain: float, dtype: str
) -> None:
    scene = Scene(6000, cache=tmp_path)
    scene.look = lambda folder: msgspec.structs.replace(MACHINE, fast_bfloat16=says_fast)
    scene.gain = gain
    first = scene.fit(large)
    assert first.dtype == dtype and scene.measured == [TimeProducts(hidden=192, widest=512)]
    scene.gain = 1 / gain
    assert scene.fit(first).dtype == dtype, "a restart of the engine"
    scene.fitting = scene.fresh()
    assert scene.fit(large).dtype == dtype and len(scene.measured) == 1, "a restart of the node"
    assert scene.said == []


def test_a_run_that_is_gone_on_with_keeps_its_format(large: EnginePlan, tmp_path: Path) -> None:
    scene = Scene(6000, cache=tmp_path)
    assert scene.fit(dataclasses.replace(large, dtype="float32")).dtype == "float32" and scene.measured == []
    assert scene.fit(large).dtype == "bfloat16"
    assert scene.fit(dataclasses.replace(large, dtype="float32")).dtype == "float32"


def test_a_measurement_that_no_disk_takes_holds_until_the_node_ends(large: EnginePlan, tmp_path: Path) -> None:
    scene = Scene(6000, cache=tmp_path / "not there")
    assert [scene.fit(large).dtype for _ in range(2)] == ["bfloat16"] * 2
    assert len(scene.measured) == 1
    assert [str(text).startswith("The processor's measured speed could not be saved") for text in scene.said] == [True]


def test_the_starter_computes_in_float32_unmeasured() -> None:
    scene = Scene(6000)
    assert scene.fit(asked()).dtype == "float32" and scene.measured == []


def test_with_plenty_the_plan_stays_and_with_little_less_is_asked_at_once() -> None:
    scene = Scene(6000)
    plan = scene.fit(asked())
    assert (plan.trainer.micro_batch, plan.batch, scene.said) == (16, 64, [])
    scene.look = machine(75)
    little = scene.fit(plan)
    assert little.trainer.micro_batch < 16 and little.batch < 64, "memory is looked at again before each load"
    assert scene.settings.max_tokens == 0, "answers keep their length"
    scene.look = machine(6000)
    assert scene.fit(little) == plan, "only a moment had no room for it"


def test_what_did_not_fit_before_is_an_upper_bound() -> None:
    scene = Scene(6000)
    plan = scene.fit(asked(micro_batch=2, most_batch=8))
    assert (plan.trainer.micro_batch, plan.batch) == (2, 8)
    plan.bound(batch=4, micro_batch=1)
    plan = scene.fit(plan)
    assert (plan.trainer.micro_batch, plan.batch) == (1, 4)


def test_answers_are_shortened_and_it_is_said() -> None:
    scene = Scene(70, Settings(max_tokens=512))
    scene.fit(asked())
    assert scene.settings.max_tokens < 512
    assert (
        str(scene.said[-1])
        == f"There is not enough memory for longer answers, so they are cut at {scene.settings.max_tokens} tokens."
    )
    before = list(scene.said)
    scene.fit(asked())
    assert scene.said == before  # once, not at every load


def test_llama_cpp_gets_as_many_keys_and_values_as_fit() -> None:
    held = HELD + LLAMA_RUNTIME
    much = Scene(6000).fit(asked(choice=LLAMA), held)
    little = Scene(150).fit(asked(choice=LLAMA), held)
    assert much.cache_bytes > little.cache_bytes > 0
    assert much.trainer.micro_batch == 16 >= little.trainer.micro_batch


def test_a_gguf_file_is_fitted_by_what_its_header_says(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    sizes = {"context_length": 1024, "embedding_length": 64, "attention.head_count": 4, "attention.head_count_kv": 2}
    known = {f"llama.{key}": size for key, size in sizes.items()} | {"llama.feed_forward_length": 96}
    file.write_bytes(gguf(known | {"llama.block_count": 2}))
    plan = asked(model=file, choice=ANSWERS)
    cell = 2 * 2 * 32 * 2  # keys and values, layers, kv heads times width, two bytes
    # 336 of the question and 256 of the answer, padded to 768 tokens; 128 answers at once
    assert Scene(6000).fit(plan, LLAMA_RUNTIME).cache_bytes == 128 * 768 * cell
    assert Scene(15).fit(plan, LLAMA_RUNTIME).cache_bytes < 128 * 768 * cell
    file.write_bytes(gguf(known))  # says nothing of its layers: a fourth of what is free
    assert Scene(6000).fit(plan, LLAMA_RUNTIME).cache_bytes == 1_500_000_000


def test_a_model_that_does_not_fit_is_refused_with_numbers() -> None:
    with pytest.raises(TooBig, match=r"starter does not fit: it answers and learns with PyTorch .* MB|GB are free"):
        Scene(5).fit(asked())


def test_the_largest_smaller_model_on_disk_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DataFolder, "default", classmethod(lambda cls: tmp_path))
    shutil.copytree(STARTER, tmp_path / "models" / "smollm2-135m")  # its files are the starter's: as large, as good
    (tmp_path / "models" / "qwen2.5-0.5b").mkdir()  # damaged: not a way out
    found = smaller_model(10**9, Settings(), TORCH_ALONE, machine(6000))
    assert found is not None and found.path == tmp_path / "models" / "smollm2-135m"
    shutil.rmtree(tmp_path / "models")
    found = smaller_model(10**9, Settings(), TORCH_ALONE, machine(6000))
    assert found is not None and found.path == STARTER
    assert smaller_model(10**9, Settings(), TORCH_ALONE, machine(5)) is None
    assert smaller_model(read_folder(STARTER).parameters, Settings(), TORCH_ALONE, machine(6000)) is None


def test_a_folder_of_ones_own_is_described_by_its_configuration(tmp_path: Path) -> None:
    own = tmp_path / "mine"
    shutil.copytree(STARTER, own)
    assert (describe(own).id, describe(own).shipped, describe(STARTER).shipped) == ("mine", False, True)
    assert describe(own).parameters == read_folder(own).parameters


async def test_questions_about_memory_are_answered_with_and_without_a_process(tmp_path: Path) -> None:
    reply = await appraise_apart(tmp_path / "not there", GetFit(ram=8, vram=0))
    assert isinstance(reply, FitIs) and reply.fit.chosen.fits and reply.fit.chosen.round_seconds
    assert not (tmp_path / "not there").exists()
    reply = appraise(GetCatalogue(), Settings(), tmp_path / "not there")
    assert isinstance(reply, CatalogueIs) and reply.models[0].id == "starter"


def test_models_that_the_catalogue_does_not_have_are_estimated(tmp_path: Path) -> None:
    own = tmp_path / "mine"
    shutil.copytree(STARTER, own)
    hub = HubModel(
        repository="o/x", kind="gguf", architecture="Qwen2ForCausalLM", parameters=494 * 10**6, bytes=5 * 10**8
    )
    asked = GetEstimates(models=[str(own), str(tmp_path / "none"), "\0"], hub=[hub])
    reply = appraise(asked, Settings(models_folder=str(tmp_path)), tmp_path)
    assert isinstance(reply, EstimatesAre) and reply.estimates.keys() == {str(own), "o/x"}
    assert reply.estimates[str(own)].round_seconds > 0


async def test_a_wrong_setting_is_named_by_its_error(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("version = 99\n")
    with pytest.raises(SettingsError, match="newer") as caught:
        await appraise_apart(tmp_path, GetFit())
    assert isinstance(caught.value.text, Sentence), "said in the window's language"


def test_a_node_that_only_answers_has_nothing_to_train_in_pieces_and_fewer_at_once_need_less() -> None:
    plan = Scene(6000).fit(asked(choice=ANSWERS))
    assert plan.trainer.micro_batch == 16
    assert Scene(6000).fit(asked(choice=ANSWERS, most_batch=8)).cache_bytes * 16 == plan.cache_bytes


def test_what_is_not_built_is_not_counted_on_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llama_cpp" else found(name))
    here = appraise(GetFit(), Settings(), tmp_path)
    here = msgspec.json.decode(msgspec.json.encode(here), type=FitIs)  # as a client gets it
    assert isinstance(here, FitIs) and {way.generator for way in here.fit.ways} == {"torch"}
    assert "bootstrap.py llama" in str(here.fit.available.notes[-1])
    there = appraise(GetFit(ram=8, vram=0), Settings(), tmp_path)
    assert isinstance(there, FitIs) and "llama.cpp" in {way.generator for way in there.fit.ways}


@pytest.mark.parametrize(("parts", "free"), [(0, 700), (3, 2000)])
def test_the_sizes_of_the_files_that_are_there_count(tmp_path: Path, parts: int, free: float) -> None:
    names = [f"m-0000{number}-of-0000{parts}.gguf" for number in range(1, parts + 1)] or ["m.gguf"]
    for name in names:
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, 10**9)
    plan = asked(choice=LLAMA, gguf=tmp_path / names[0])
    with pytest.raises(TooBig, match=rf"weights {len(names)}\.0 GB"):
        Scene(free).fit(plan, HELD + LLAMA_RUNTIME)


def test_what_is_said_of_the_memory_stands_still_while_little_moves() -> None:
    steady = Steady()
    assert [steady(free, 100) for free in (60, 55, 65, 49, 52, 60)] == [60, 60, 60, 49, 49, 60]
