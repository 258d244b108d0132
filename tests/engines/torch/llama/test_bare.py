"""A Llama as weights alone against the same through transformers and peft: names, numbers, files."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from sapo_desktop.core.resources import resource
from sapo_desktop.engines.protocols import Export
from sapo_desktop.engines.torch.adam import Adam
from sapo_desktop.engines.torch.llama.bare import BareLlama, load_bare
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.engines.torch.state import restore_trainer, save_trainer
from tests.engines.tiny import answer, engine_in_modules, learn, loaded_engine, same, weights

CPU = torch.device("cpu")
METHODS = pytest.mark.parametrize("method", ["lora", "full"])


def pair(folder: Path, **settings: object) -> tuple[TorchEngine, TorchEngine]:
    bare, modules = loaded_engine(folder, **settings), engine_in_modules(folder, **settings)
    assert bare.policy.bare and not modules.policy.bare
    return bare, modules


@METHODS
def test_both_learn_the_same_bit_for_bit_and_under_the_same_names(llama: Path, method: str) -> None:
    bare, modules = pair(llama, method=method, learning_rate=1e-2, seed=3)
    assert list(weights(bare)) == list(weights(modules))
    assert same(weights(bare), weights(modules))
    assert learn(bare) == learn(modules)
    assert same(weights(bare), weights(modules))
    for base in (False, True):
        first, second = (answer(each, ["a", "12+3"], 3, max_tokens=20, seed=8, base=base) for each in (bare, modules))
        assert first.completions == second.completions
    assert bare.lm.parameters == modules.lm.parameters and bare.loaded().trainable == modules.loaded().trainable


@METHODS
def test_the_starter_is_read_alike(method: str) -> None:
    bare, modules = pair(resource("starter"), method=method)
    assert same(weights(bare), weights(modules))
    first, second = (answer(each, ["What is 17 + 25?"], 2, max_tokens=40, seed=8) for each in (bare, modules))
    assert first.completions == second.completions


@METHODS
@pytest.mark.parametrize("way", ["to modules", "to bare"])
def test_a_checkpoint_of_one_is_the_others(llama: Path, tmp_path: Path, method: str, way: str) -> None:
    engines = pair(llama, method=method, learning_rate=1e-2)
    source, target = engines if way == "to modules" else reversed(engines)
    learn(source)
    save_trainer(source.trainer, tmp_path)
    restore_trainer(target.trainer, tmp_path)
    assert same(weights(source), weights(target))
    assert learn(source) == learn(target)  # the optimiser continues as well


@pytest.mark.parametrize("format", ["peft", "merged"])
def test_exports_are_the_same(llama: Path, tmp_path: Path, format: str) -> None:
    folders = []
    for number, engine in enumerate(pair(llama, learning_rate=1e-2)):
        learn(engine)
        folders.append(tmp_path / str(number))
        engine.export(Export(format=format, folder=str(folders[-1])))
    first, second = ({file.name for file in folder.iterdir()} for folder in folders)
    assert first == second
    (name,) = (name for name in first if name.endswith(".safetensors"))
    assert same(*(load_file(folder / name) for folder in folders))


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "mistral"},
        {"hidden_act": "gelu"},
        {"attention_bias": True},
        {"mlp_bias": True},
        {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}},
        {"layer_types": ["full_attention", "sliding_attention"]},
        {"quantization_config": {"bits": 4}},
        {"num_hidden_layers": 10**12},
        {"num_attention_heads": 8},
        {"hidden_size": 10**12},
    ],
)
def test_what_is_no_plain_llama_is_left_to_transformers(llama: Path, tmp_path: Path, change: dict[str, object]) -> None:
    folder = tmp_path / "model"
    shutil.copytree(llama, folder)
    values = json.loads((folder / "config.json").read_text())
    assert isinstance(load_bare(folder, CPU, 10**6), BareLlama)
    (folder / "config.json").write_text(json.dumps(values | change))
    assert load_bare(folder, CPU, 10**6) is None


def test_a_large_or_damaged_one_is_left_to_transformers(llama: Path, tmp_path: Path) -> None:
    assert load_bare(llama, CPU, 1000) is None
    folder = tmp_path / "model"
    shutil.copytree(llama, folder)
    (folder / "model.safetensors").write_bytes(b"\x00" * 40)
    assert load_bare(folder, CPU, 10**6) is None


def test_adam_moves_as_torchs_does() -> None:
    random = torch.Generator().manual_seed(1)
    starts = [torch.randn(3, 5, generator=random), torch.randn(7, generator=random)]
    ours, theirs = ([torch.nn.Parameter(start.clone()) for start in starts] for _ in range(2))
    first, second = Adam(ours, 1e-2), torch.optim.Adam(theirs, lr=1e-2, betas=(0.9, 0.999), eps=1e-8)
    for step in range(5):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.randn(one.shape, generator=random)
            other.grad = one.grad.clone()
        if step == 3:
            ours[1].grad = theirs[1].grad = None  # no gradient, no step
        first.step()
        second.step()
        assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
    assert all(torch.equal(value, second.state[theirs[0]][name]) for name, value in first.state[ours[0]].items())


def test_the_starter_answers_and_learns_without_torchs_compiler_and_transformers() -> None:
    code = """
import sys
from sapo_desktop.core.records import Prompt, Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines.protocols import Generate, Load
from sapo_desktop.engines.torch.service import TorchEngine
engine = TorchEngine(Load(model=sys.argv[1], trainer=TrainerSettings(), threads=1))
asked = Generate(prompts=[Prompt(question="What is 1 + 1?")], answers=2, sampling=Sampling(max_tokens=4))
assert engine.generate(asked, lambda _: None, lambda: False).completions
assert not engine.trainer.step([TrainingSequence(prompt=[5], tokens=[6, 7], advantage=1.0)]).skipped
heavy = ["torch._dynamo", "sympy", "peft", "accelerate", "gguf", "transformers", "jinja2", "PIL"]
print([name for name in heavy if name in sys.modules])
"""
    command = [sys.executable, "-c", code, str(resource("starter"))]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == "[]"
