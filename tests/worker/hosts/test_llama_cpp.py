"""Trainer and generator in two hosts, and a generator alone; the hosts are recorders."""

import asyncio
import dataclasses
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import HostDied, ModelError, NotWritten, UsageError
from sapo_desktop.core.records import Sampling, TrainerSettings
from sapo_desktop.engines import protocols as p
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.worker.hosts.engine import Engine, Measure
from sapo_desktop.worker.hosts.llama_cpp import GgufBase, LlamaCpp
from sapo_desktop.worker.hosts.trainer import UNTRAINED, EnginePlan, Kept, Trainer
from tests.builders import as_prompts, loaded, step_report
from tests.models.small_models import gguf
from tests.worker.fakes import engine_plan, generated
from tests.worker.test_node import SETTINGS, Scene

LOADED = loaded(parameters=7, dtype="F16", context=99, versions={"it": "1"})


class Recorder:
    """A host: notes what it is asked, writes the files it is to write, and dies on request."""

    def __init__(self) -> None:
        self.pid: int | None = 1
        self.asked: list[Any] = []
        self.is_closed = False
        self.restarts = 0
        self.deaths: list[HostDied] = []
        self.right = 1
        """Right answers to each question."""

    def suspend(self) -> None:
        pass

    def resume(self) -> None:
        pass

    async def call(self, request: Any, timeout: float, on_progress: Any = None, *, loading: bool = False) -> Any:
        if self.pid is None:
            raise HostDied("It is not running.")
        self.asked.append(request)
        match request:
            case p.Load() | p.LoadGguf():
                return LOADED
            case p.Generate():
                if self.deaths:
                    self.pid = None
                    raise self.deaths.pop()
                return generated(request.prompts, request.answers, self.right)
            case p.Step():
                return p.Stepped(report=step_report())
            case p.Encode():
                return p.Encoded(tokens=[[1]])
            case p.WriteGguf(file=file) | p.WriteAdapter(file=file) | p.Quantise(target=file):
                Path(file).write_bytes(gguf())
        return p.Done()

    async def restart(self) -> None:
        if self.is_closed:
            raise HostDied("It was ended.")
        self.restarts += 1
        self.pid = 1 + self.restarts

    async def stop(self) -> None:
        self.pid = None

    async def close(self) -> None:
        self.is_closed = True
        await self.stop()

    def kinds(self, since: int = 0) -> list[str]:
        return [type(one).__name__ for one in self.asked[since:]]

    def caches(self, since: int = 0) -> list[int]:
        """Bytes for keys and values with which a model was to be loaded."""
        return [one.cache_bytes for one in self.asked[since:] if isinstance(one, p.LoadGguf)]


class Split:
    """A split engine over two recorders, loaded."""

    def __init__(self, folder: Path, weights: str = "f16", right: int = 1) -> None:
        """`right`: of what the generator answers."""
        self.trainer, self.generator = Recorder(), Recorder()
        self.generator.right = right
        self.base = GgufBase(Path("model"), folder / "gguf" / f"base-{weights}.gguf", weights)
        plan = engine_plan(threads=2, cache_bytes=2**30)
        self.handed_over = folder / "adapters"
        trainer = Trainer(self.trainer)  # type: ignore[arg-type]
        generator: Any = self.generator
        answers = LlamaCpp(generator, self.base, plan, self.handed_over, trainer, self.base_of)
        self.engine = Engine(trainer, plan, answers)
        asyncio.run(self.engine.load(None))

    def base_of(self, another: ModelFolder) -> GgufBase:
        return GgufBase(another.path, self.base.file.with_name(f"{another.hash[:4]}.gguf"), self.base.weights)

    def answer(self) -> p.Generated:
        return asyncio.run(self.engine.generate(["1+1?"], 2, Sampling()))

    def answer_with(self, checkpoint: Path | None, live: bool = False) -> None:
        asyncio.run(self.engine.generate_with(checkpoint, as_prompts(["1+1?"]), Sampling(), live=live))

    def step(self) -> None:
        asyncio.run(self.engine.step([]))

    def adapters(self) -> list[str]:
        """Files that the generator had to answer with, in order."""
        return [Path(str(one.file)).name for one in self.generator.asked if isinstance(one, p.UseAdapter)]


class Fits:
    """Grants so many bytes of cache."""

    def __init__(self, cache_bytes: int) -> None:
        self.cache_bytes = cache_bytes
        self.held = 0

    async def fit(self, asked: EnginePlan, held: int, measure: Measure) -> EnginePlan:
        self.held = held
        return dataclasses.replace(asked, cache_bytes=self.cache_bytes)


@pytest.fixture
def split(tmp_path: Path) -> Split:
    return Split(tmp_path)


def test_the_base_is_written_once_and_kept(tmp_path: Path) -> None:
    assert Split(tmp_path).trainer.kinds() == ["WriteGguf", "Load", "Generate"]
    assert Split(tmp_path).trainer.kinds() == ["Load", "Generate"]


def test_llama_cpp_is_not_used_where_it_answers_otherwise_than_the_trainer(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="gives other answers than"):
        Split(tmp_path, right=0)
    assert not list((tmp_path / "gguf").iterdir()), "the next start writes it again"


def test_what_a_power_cut_left_of_the_base_is_written_again(tmp_path: Path) -> None:
    file = Split(tmp_path).base.file
    whole = file.read_bytes()
    for left in (b"", bytes(len(whole)), whole[:-1]):
        file.write_bytes(left)
        assert Split(tmp_path).trainer.kinds() == ["WriteGguf", "Load", "Generate"]
        assert file.read_bytes() == whole


async def test_a_file_that_came_as_it_is_is_never_written_nor_are_others_next_to_it_removed(tmp_path: Path) -> None:
    (tmp_path / "another.gguf").write_bytes(b"somebody's")
    base = GgufBase(tmp_path / "gone.gguf", tmp_path / "gone.gguf", "", written_here=False)
    trainer: Any = Recorder()
    await base.convert(trainer, trainer, 1)
    assert trainer.asked == [] and [path.name for path in tmp_path.iterdir()] == ["another.gguf"]


def test_fewer_bits_are_made_from_plain_weights_and_files_of_other_models_go(tmp_path: Path) -> None:
    Split(tmp_path)
    made = Split(tmp_path, "q4_k_m")
    assert made.trainer.kinds() == ["WriteGguf", "Load", "Generate"]
    assert made.generator.kinds() == ["Quantise", "LoadGguf", "Generate"]
    assert [path.name for path in (tmp_path / "gguf").iterdir()] == ["base-q4_k_m.gguf"]


def test_float32_weights_are_computed_with_exactly(tmp_path: Path) -> None:
    made = Split(tmp_path, "f32")
    assert isinstance(made.trainer.asked[0], p.WriteGguf) and made.trainer.asked[0].weights == "F32"
    assert isinstance(made.generator.asked[0], p.LoadGguf) and made.generator.asked[0].exact


def test_the_adapter_goes_over_after_each_step_and_only_then(split: Split) -> None:
    split.answer()
    split.answer()
    split.step()
    split.answer()
    assert split.adapters() == ["adapter-00000001.gguf", "adapter-00000002.gguf"]
    assert split.trainer.kinds(since=3) == ["WriteAdapter", "Step", "WriteAdapter"]
    assert [path.name for path in split.handed_over.iterdir()] == ["adapter-00000002.gguf"]


def test_another_checkpoint_answers_without_touching_the_trainer(split: Split, tmp_path: Path) -> None:
    split.answer()
    checkpoint = tmp_path / "7"
    checkpoint.mkdir()
    split.answer_with(checkpoint)
    split.answer_with(None, live=True)
    written = [one.folder for one in split.trainer.asked if isinstance(one, p.WriteAdapter)]
    assert written == [None, str(checkpoint), None]
    assert not {"Save", "Restore"} & set(split.trainer.kinds())
    split.answer_with(None)
    assert isinstance(split.generator.asked[-1], p.Generate) and split.generator.asked[-1].base


def test_a_restored_checkpoint_goes_over_before_the_next_answer(split: Split, tmp_path: Path) -> None:
    split.answer()
    asyncio.run(split.engine.restore(tmp_path))
    split.answer()
    assert len(split.adapters()) == 2


def test_a_generator_that_dies_is_brought_back_with_model_and_adapter_and_asks_for_less_memory(split: Split) -> None:
    split.answer()
    split.generator.deaths = [HostDied("Killed.", killed=True, counted=True)]
    before = len(split.generator.asked)
    assert split.answer().completions
    assert split.generator.restarts == 1 and split.trainer.restarts == 0
    assert split.generator.kinds(before) == ["Generate", "LoadGguf", "UseAdapter", "Generate"]
    assert split.generator.caches() == [2**30, 2**29]
    assert split.adapters() == ["adapter-00000001.gguf"] * 2


def test_a_kill_that_nobody_counted_as_one_for_memory_asks_for_less_the_second_time(split: Split) -> None:
    for _ in range(3):
        split.answer()
        split.generator.deaths = [HostDied("Killed.", killed=True)]
    assert split.generator.caches() == [2**30, 2**30, 2**29]


@pytest.mark.parametrize(("granted", "left"), [(20 * 2**20, 20 * 2**20), (2**31, 2**30)])
def test_what_killed_it_once_is_an_upper_bound_and_less_is_never_more_than_before(
    split: Split, granted: int, left: int
) -> None:
    split.engine.fitting = Fits(granted).fit
    asyncio.run(split.engine.restart(None))
    split.generator.deaths = [HostDied("Killed.", killed=True, counted=True)]
    split.answer()
    asyncio.run(split.engine.restart(None))
    assert split.generator.caches()[-1] == left


async def test_before_each_load_the_cache_is_cut_to_the_memory_that_is_free(split: Split) -> None:
    fits = Fits(2**20)
    split.engine.fitting = fits.fit
    split.trainer.pid = split.generator.pid = os.getpid()
    before = len(split.generator.asked)
    await split.engine.load(None)
    assert split.generator.caches(before) == [2**20], "a generator that is alive has to give memory back as well"
    assert fits.held > 2 * 10 * 2**20, "what both processes hold already counts as free"
    await split.engine.load(None)
    assert split.generator.kinds().count("LoadGguf") == 2, "nothing is gained by loading it again"


def test_a_smaller_model_is_converted_for_the_generator_too(split: Split) -> None:
    small = ModelFolder(
        path=Path("small"),
        architecture="LlamaForCausalLM",
        parameters=1,
        vocabulary=8,
        context=64,
        hash="ab" * 32,
    )
    split.answer()
    split.engine.use_model(small, TrainerSettings())
    before, asked = len(split.generator.asked), len(split.trainer.asked)
    asyncio.run(split.engine.load(None))
    split.answer()
    written = split.base.file.with_name("abab.gguf")
    assert split.generator.restarts == 1, "the old model's memory is given back before the new one comes"
    assert split.engine.plan.gguf == written
    assert [one.model for one in split.trainer.asked[asked:] if isinstance(one, p.Load)] == ["small"]
    assert [one.file for one in split.trainer.asked if isinstance(one, p.WriteGguf)][-1] == str(written)
    assert [one.model for one in split.generator.asked[before:] if isinstance(one, p.LoadGguf)] == [str(written)]


def test_a_generator_that_died_between_two_answers_loads_its_model_again_wherever_it_is_revived(split: Split) -> None:
    split.answer()
    split.generator.pid = None
    asyncio.run(split.engine.restart(None))
    before = len(split.generator.asked)
    split.answer()
    assert split.generator.kinds(before - 1) == ["LoadGguf", "UseAdapter", "Generate"]


def test_a_generator_that_keeps_dying_is_an_error(split: Split) -> None:
    split.generator.deaths = [HostDied("It died.")] * 3
    with pytest.raises(HostDied):
        split.answer()
    assert split.generator.restarts == 2


async def test_running_means_that_the_trainer_holds_its_state(split: Split) -> None:
    split.generator.pid = None
    assert split.engine.running
    split.trainer.pid = None
    assert not split.engine.running
    await split.engine.restart(None)
    assert split.engine.running and split.trainer.restarts == 1
    await split.engine.stop()
    assert split.trainer.pid is None and split.generator.pid is None


async def test_who_still_waits_for_engines_that_were_closed_starts_neither_again(
    split: Split, caplog: pytest.LogCaptureFixture
) -> None:
    await split.engine.close()
    with pytest.raises(HostDied):
        await split.engine.generate(["1+1?"], 2, Sampling())
    assert (split.trainer.pid, split.generator.pid, split.generator.restarts) == (None, None, 0)
    assert "It restarts automatically" not in caplog.text


async def test_versions_of_both_are_reported_and_threads_reach_both(split: Split) -> None:
    assert split.engine.versions == {"it": "1", "generator weights": "F16"}
    await split.engine.configure(threads=4)
    assert isinstance(split.trainer.asked[-1], p.Configure) and isinstance(split.generator.asked[-1], p.Configure)


def answering(folder: Path) -> tuple[Engine, Recorder]:
    """An engine that only answers."""
    recorder: Any = Recorder()
    plan = engine_plan()
    base = GgufBase(folder / "m.gguf", folder / "m.gguf", "f16", written_here=False)
    return Engine(Kept(folder / "kept"), plan, LlamaCpp(recorder, base, plan, folder / "adapters")), recorder


async def test_a_node_without_a_trainer_answers_and_refuses_the_rest(tmp_path: Path) -> None:
    engine, recorder = answering(tmp_path)
    await engine.load(None)
    await engine.generate(["1+1?"], 2, Sampling())
    await engine.encode(as_prompts(["1+1?"]), ["2"])
    await engine.configure(learning_rate=0.5)
    for refused in (
        engine.step([]),
        engine.restore(None),
        engine.export("peft", tmp_path, None, live=True),
        engine.generate_with(tmp_path, as_prompts(["1+1?"]), Sampling()),
    ):
        with pytest.raises(UsageError, match=r"only answers, with the base model.*Set trainer to auto"):
            await refused
    assert recorder.kinds() == ["LoadGguf", "Generate", "Encode"]
    assert engine.plan.trainer.learning_rate == 0.5 and not engine.trains


async def test_its_checkpoints_say_that_nothing_was_trained_and_a_trainer_begins_at_the_base(tmp_path: Path) -> None:
    engine, _ = answering(tmp_path)
    checkpoint = tmp_path / "1"
    checkpoint.mkdir()
    await engine.load(None)
    await engine.save(checkpoint)
    assert [path.name for path in checkpoint.iterdir()] == [UNTRAINED]
    trainer = Recorder()
    await Engine(Trainer(trainer), engine_plan()).load(checkpoint)  # type: ignore[arg-type]
    assert trainer.asked[-1] == p.Restore(folder=None)


async def test_what_was_trained_before_goes_from_checkpoint_to_checkpoint_unchanged(tmp_path: Path) -> None:
    engine, _ = answering(tmp_path)
    before, after = tmp_path / "1", tmp_path / "2"
    before.mkdir()
    after.mkdir()
    for name in ("adapter", "state.msgpack", "manifest.json"):
        (before / name).write_text(name)
    await engine.load(before)
    (before / "adapter").unlink()  # pruned meanwhile
    await engine.save(after)
    assert [path.name for path in after.iterdir()] == ["adapter"]


async def test_a_node_that_only_answers_and_holds_too_much_is_loaded_again_with_less_at_once(tmp_path: Path) -> None:
    engine, recorder = answering(tmp_path)
    scene = Scene(tmp_path, SETTINGS, 1e9, engine=engine)
    engine.plan.batch = 8

    async def fit(asked: EnginePlan, held: int, measure: Measure) -> EnginePlan:
        return dataclasses.replace(asked, cache_bytes=(asked.most_batch or 8) * 2**20)

    engine.fitting = fit
    await engine.load(None)
    scene.node.orders.start(None)
    scene.node.orders.pause(None)
    await scene.node.shrink("Too much.")
    async with scene.node.awake(), scene.node.awake():
        await engine.generate(["1+1?"], 2, Sampling())
    assert recorder.caches() == [8 * 2**20, 4 * 2**20]
    assert scene.notices() == [
        "The model gives at most 4 answers at once, the most that fits into memory.",
        "Too much. The model is reloaded with smaller batches.",
    ]
    assert scene.node.counters.micro_batch == 0
    await scene.node.close()


async def test_a_full_disk_is_said_where_what_was_trained_before_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _ = answering(tmp_path)
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(NotWritten, match="the disk is full"):
        await engine.save(tmp_path)


def test_a_full_disk_is_said_where_an_adapter_is_handed_over(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    split.answer()
    split.step()
    monkeypatch.setattr(Path, "unlink", full)
    with pytest.raises(NotWritten, match="the disk is full"):
        split.answer()


def full(*_: object, **__: object) -> None:
    """What every write meets on a disk without room."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
