"""A restored trainer continues as if it had never stopped."""

from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import CheckpointError, NotWritten
from sapo_desktop.core.records import TrainerSettings
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.engines.torch.state import LIVE_FILE, reset_trainer, restore_trainer, save_trainer
from sapo_desktop.worker.hosts.trainer import trained_in
from tests.engines.tiny import answer, learn, loaded_engine, same, sequences, weights


@pytest.mark.parametrize("method", ["lora", "full"])
def test_resumed_equals_unbroken_bit_for_bit(llama: Path, tmp_path: Path, method: str) -> None:
    unbroken = loaded_engine(llama, method=method, updates=2)
    learn(unbroken, range(2))
    files = save_trainer(unbroken.trainer, tmp_path)
    assert sorted(files) == sorted(path.name for path in tmp_path.iterdir())
    expected = learn(unbroken, range(2, 5))

    resumed = loaded_engine(llama, method=method, updates=2)
    restore_trainer(resumed.trainer, tmp_path)
    assert learn(resumed, range(2, 5)) == expected
    assert same(weights(resumed), weights(unbroken))


def test_a_checkpoint_before_the_first_step(llama: Path, tmp_path: Path) -> None:
    engine = loaded_engine(llama)
    start = weights(engine)
    save_trainer(engine.trainer, tmp_path)
    learn(engine, range(2))
    restore_trainer(engine.trainer, tmp_path)
    assert same(weights(engine), start)
    assert not engine.trainer.optimiser.state


def test_weights_only_goes_on_from_the_average_without_the_optimiser(llama: Path, tmp_path: Path) -> None:
    engine = loaded_engine(llama)
    learn(engine, range(2))
    save_trainer(engine.trainer, tmp_path)
    average = {name: value.clone() for name, value in engine.trainer.average.items()}
    assert not same(weights(engine), average)
    learn(engine, range(2, 3))
    restore_trainer(engine.trainer, tmp_path, weights_only=True)
    assert same(weights(engine), average) and same(engine.trainer.average, average)
    assert not engine.trainer.optimiser.state


def test_a_checkpoint_of_a_version_without_an_average_is_what_it_learned(llama: Path, tmp_path: Path) -> None:
    engine = loaded_engine(llama)
    learn(engine, range(2))
    save_trainer(engine.trainer, tmp_path, averaged=False)
    (tmp_path / LIVE_FILE).unlink()
    live = weights(engine)
    reset_trainer(engine.trainer)
    restore_trainer(engine.trainer, tmp_path)
    assert same(weights(engine), live) and same(engine.trainer.average, live)
    assert engine.trainer.optimiser.state


def test_a_damaged_live_file_changes_nothing(llama: Path, tmp_path: Path) -> None:
    engine = loaded_engine(llama)
    learn(engine, range(1))
    save_trainer(engine.trainer, tmp_path)
    (tmp_path / LIVE_FILE).write_bytes(b"no tensors")
    learn(engine, range(1, 2))
    now = weights(engine)
    with pytest.raises(CheckpointError, match=r"live\.safetensors"):
        restore_trainer(engine.trainer, tmp_path)
    assert same(weights(engine), now)


def test_steps_are_those_behind_the_weights(llama: Path, tmp_path: Path) -> None:
    """A roll-back goes back in steps too, though the optimiser's memory starts empty; a skipped step is none."""
    engine = loaded_engine(llama, updates=2)
    learn(engine, range(3))
    save_trainer(engine.trainer, tmp_path)
    learn(engine, range(3, 5))
    made = answer(engine, ["what is 1+1?"], 2, max_tokens=12, seed=9)
    skipped = engine.trainer.step(sequences(made, [0.0, 0.0]))
    assert (skipped.steps, skipped.skipped) == (10, True)
    restore_trainer(engine.trainer, tmp_path, weights_only=True)
    assert engine.trainer.steps == 6
    learn(engine, range(1))
    save_trainer(engine.trainer, tmp_path)
    reset_trainer(engine.trainer)
    assert engine.trainer.steps == 0
    restore_trainer(engine.trainer, tmp_path)
    assert engine.trainer.steps == 8
    assert {float(state["step"]) for state in engine.trainer.optimiser.state.values()} == {2.0}


def test_a_roll_back_resumes_bit_for_bit(llama: Path, tmp_path: Path) -> None:
    unbroken = loaded_engine(llama)
    learn(unbroken, range(2))
    save_trainer(unbroken.trainer, tmp_path)
    restore_trainer(unbroken.trainer, tmp_path, weights_only=True)
    learn(unbroken, range(2, 3))
    save_trainer(unbroken.trainer, tmp_path)
    resumed = loaded_engine(llama)
    restore_trainer(resumed.trainer, tmp_path)
    assert resumed.trainer.steps == 3
    assert learn(resumed, range(3, 5)) == learn(unbroken, range(3, 5))
    assert same(weights(resumed), weights(unbroken))


def test_a_state_of_the_version_before_counts_its_optimisers_steps(llama: Path, tmp_path: Path) -> None:
    engine = loaded_engine(llama)
    learn(engine, range(2))
    save_trainer(engine.trainer, tmp_path)
    (tmp_path / "trainer.json").write_bytes(msgspec.json.encode({"version": 1, "method": "lora", "steps": 2}))
    restore_trainer(engine.trainer, tmp_path)
    assert engine.trainer.steps == 2
    assert {float(state["step"]) for state in engine.trainer.optimiser.state.values()} == {2.0}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_checkpoint_says_in_which_format_it_was_trained(llama: Path, tmp_path: Path, dtype: str) -> None:
    engine = TorchEngine(Load(model=str(llama), trainer=TrainerSettings(), threads=1, device="cpu", dtype=dtype))
    save_trainer(engine.trainer, tmp_path)
    assert trained_in(tmp_path) == dtype


def test_the_learning_rate_set_last_holds_after_a_restore(llama: Path, tmp_path: Path) -> None:
    engine = loaded_engine(llama)
    save_trainer(engine.trainer, tmp_path)
    engine.trainer.configure(5e-5, None)
    restore_trainer(engine.trainer, tmp_path)
    assert engine.trainer.optimiser.learning_rate == 5e-5


@pytest.mark.parametrize("method", ["lora", "full"])
def test_reset_forgets_everything(llama: Path, method: str) -> None:
    engine, fresh = loaded_engine(llama, method=method), loaded_engine(llama, method=method)
    learn(engine, range(2))
    reset_trainer(engine.trainer)
    assert learn(engine, range(2)) == learn(fresh, range(2))
    assert same(weights(engine), weights(fresh))


def test_nothing_is_pickled(llama: Path, tmp_path: Path) -> None:
    engine = loaded_engine(llama)
    learn(engine, range(1))
    files = save_trainer(engine.trainer, tmp_path)
    assert {Path(name).suffix for name in files} == {".safetensors", ".json"}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("trainer.json", b"{"),
        ("trainer.json", b'{"method": "lora"}'),
        ("trainer.json", msgspec.json.encode({"version": 99, "method": "lora", "steps": 1})),
        ("trainer.json", msgspec.json.encode({"method": "full", "steps": 1})),
        ("optimizer.safetensors", b""),
        ("adapter_model.safetensors", None),
        ("adapter_model.safetensors", b"\0" * 40),
    ],
)
def test_what_does_not_fit_changes_nothing(llama: Path, tmp_path: Path, file: str, content: bytes | None) -> None:
    engine = loaded_engine(llama)
    learn(engine, range(1))
    save_trainer(engine.trainer, tmp_path)
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(content)
    learn(engine, range(1, 2))
    before = weights(engine)
    with pytest.raises(CheckpointError):
        restore_trainer(engine.trainer, tmp_path)
    assert same(weights(engine), before)
    assert engine.trainer.optimiser.state


@pytest.mark.parametrize("method", ["lora", "full"])
@pytest.mark.parametrize("taken", ["weights", "optimizer.safetensors", "trainer.json"])
def test_a_disk_that_takes_no_more_is_a_checkpoint_error(llama: Path, tmp_path: Path, method: str, taken: str) -> None:
    engine = loaded_engine(llama, method=method)
    weights_file = "weights.safetensors" if method == "full" else "adapter_model.safetensors"
    (tmp_path / (weights_file if taken == "weights" else taken)).mkdir()  # stands for a full disk
    with pytest.raises(NotWritten, match="could not be saved"):
        save_trainer(engine.trainer, tmp_path)
