"""The catalogue's kinds of model, small and random, in everything that an engine does.

Each has the real configuration class, a tokenizer of the real kind and a template of the real shape. `SERVICES`
names the engines; what answers with one of them is trained, kept and exported by torch.
"""

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from sapo_desktop.core.extraction import extract_answer
from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.exporting.export import MergedWeights, lora_factors
from sapo_desktop.engines.gguf.folder import write_folder
from sapo_desktop.engines.gguf.write import write_adapter, write_model
from sapo_desktop.engines.prompts import INSTRUCTIONS
from sapo_desktop.engines.tokenizer import load_tokenizer
from sapo_desktop.engines.torch import service
from sapo_desktop.learning.advantage import group_advantages
from sapo_desktop.models.files.folder import read_folder
from sapo_desktop.models.files.gguf_file import check_gguf
from tests.builders import as_prompt, as_prompts
from tests.engines.export_models import CORPUS, llama, torch_logits
from tests.engines.real_models import KINDS, QUESTION, save_real_model, trained_tokenizer
from tests.engines.tiny import loaded_engine


class LlamaCppBesideTorch:
    """torch learns, llama.cpp answers with the passed adapter, as in worker/hosts/generator.py."""

    def __init__(self, work: Path) -> None:
        from sapo_desktop.engines.llama_cpp import service as llama_cpp_service

        self._work = work
        self._torch, self._cpp = service.create(), llama_cpp_service.create()
        self._stale = True

    def handle(self, request: Any, progress: p.Progress) -> Any:
        if isinstance(request, p.Generate):
            return self._generate(request, progress)
        reply = self._torch.handle(request, progress)
        if isinstance(request, p.Load):
            file = str(self._work / "base.gguf")
            self._torch.handle(p.WriteGguf(model=request.model, file=file, weights="F32"), progress)
            self._cpp.handle(p.LoadGguf(model=file, threads=1, exact=True), progress)
        self._stale = self._stale or isinstance(request, p.Load | p.Step | p.Restore)
        return reply

    def _generate(self, request: p.Generate, progress: p.Progress) -> Any:
        if self._stale:
            file = str(self._work / "adapter.gguf")
            self._torch.handle(p.WriteAdapter(file=file), progress)
            self._cpp.handle(p.UseAdapter(file=file), progress)
            self._stale = False
        return self._cpp.handle(request, progress)


SERVICES = {"torch": lambda work: service.create(), "llama.cpp": LlamaCppBesideTorch}
RIGHT = "It is <answer>42</answer>"
LINEAR = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
needs_llama = pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")


@pytest.fixture(scope="module", params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_real_model(tmp_path_factory.mktemp("real") / kind, kind)


def quiet(_: Any) -> None:
    """Progress that nobody follows."""


def test_the_folder_passes_the_checks_of_a_model(kind: str, folder: Path) -> None:
    found = read_folder(folder)
    assert found.architecture == KINDS[kind].network.__name__
    assert found.context == 1024
    assert len(list(folder.glob("*.safetensors"))) > 1, "in several files, as large models are"


def test_a_question_reads_as_the_template_has_it_without_thinking_on_any_day(kind: str, folder: Path) -> None:
    words = load_tokenizer(folder)
    assert words.backend.decode(words.prompt_tokens(as_prompt(QUESTION))) == KINDS[kind].prompt.replace(
        "SYSTEM", INSTRUCTIONS
    )


def test_text_is_cut_as_tokenizer_json_says_whatever_class_is_named(kind: str, folder: Path) -> None:
    words, plain = load_tokenizer(folder), trained_tokenizer(kind)
    for text in CORPUS:
        assert words.encode_external(text, end=False) in (None, plain.encode(text, add_special_tokens=False).ids), text
    spaced = "a  12"  # GPT2Tokenizer, which SmolLM2 names, would keep the second space with the number
    assert words.encode_external(spaced, end=False) == plain.encode(spaced, add_special_tokens=False).ids


def test_every_end_that_the_model_names_ends_an_answer(kind: str, folder: Path) -> None:
    ends = {trained_tokenizer(kind).token_to_id(text) for text in [KINDS[kind].end, *KINDS[kind].more_ends]}
    assert load_tokenizer(folder).stop_tokens == ends


def test_every_linear_layer_learns(folder: Path) -> None:
    engine = loaded_engine(folder, lora_rank=4)
    layers = engine.lm.model.config.num_hidden_layers
    names = [name.split(".lora_")[0].split(".layers.")[1] for name in engine.policy.trainable()]
    parts = {(int(name.split(".")[0]), name.rsplit(".", 1)[1]) for name in names}
    assert parts == {(layer, part) for layer in range(layers) for part in LINEAR}
    assert all(min(factor.shape) == 4 for factor in engine.policy.trainable().values())


@needs_llama
@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_round_answers_marks_learns_is_kept_and_goes_on(name: str, folder: Path, tmp_path: Path) -> None:
    if name == "llama.cpp":
        pytest.importorskip("llama_cpp")
    engine = SERVICES[name](tmp_path)
    settings = TrainerSettings(lora_rank=4, learning_rate=1e-2, seed=3)
    loaded = engine.handle(p.Load(model=str(folder), trainer=settings, threads=1), quiet)
    assert isinstance(loaded, p.Loaded) and loaded.context == 1024

    ask = p.Generate(prompts=as_prompts([QUESTION, "Spell cat"]), answers=3, sampling=Sampling(max_tokens=24, seed=5))
    made = engine.handle(ask, quiet)
    assert isinstance(made, p.Generated)
    assert all(c.tokens and len(c.tokens) == len(c.logprobs) <= 24 for group in made.completions for c in group)

    batch = learnable(engine, made)
    stepped = engine.handle(p.Step(batch=batch), quiet)
    assert isinstance(stepped, p.Stepped) and not stepped.report.skipped and stepped.report.grad_norm > 0
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    engine.handle(p.Save(folder=str(checkpoint)), quiet)
    trained = engine.handle(ask, quiet)
    assert trained.prompt_tokens == made.prompt_tokens == [load_tokenizer(folder).prompt_tokens(t) for t in ask.prompts]
    further = engine.handle(p.Step(batch=batch), quiet)

    again = SERVICES[name](tmp_path)
    again.handle(p.Load(model=str(folder), trainer=settings, threads=1), quiet)
    assert tokens(again.handle(ask, quiet)) == tokens(made), "the untrained model answers as before"
    again.handle(p.Restore(folder=str(checkpoint)), quiet)
    assert tokens(again.handle(ask, quiet)) == tokens(trained) != tokens(made)
    assert again.handle(p.Step(batch=batch), quiet).report.loss == further.report.loss


def tokens(made: p.Generated) -> list[list[int]]:
    return [completion.tokens for group in made.completions for completion in group]


def learnable(engine: Any, made: p.Generated) -> list[TrainingSequence]:
    """Each question's answers, marked, with one right answer among them: a random model finds none."""
    encoded = engine.handle(p.Encode(texts=[RIGHT], end=True), quiet)
    (right,) = encoded.tokens
    batch = []
    for prompt, group in zip(made.prompt_tokens, made.completions, strict=True):
        texts = [*(c.text for c in group), RIGHT]
        rewards = [float(extract_answer(text) == "42") for text in texts]
        answers = [*(c.tokens for c in group), right]
        for answer, advantage in zip(answers, group_advantages(rewards), strict=True):
            batch.append(TrainingSequence(prompt=prompt, tokens=answer, advantage=advantage))
    return batch


def trained_engine(folder: Path) -> Any:
    """A torch engine some steps away from its start, so that its adapter shows."""
    engine = loaded_engine(folder, lora_rank=4, learning_rate=2e-2)
    prompts = [engine.lm.words.prompt_tokens(as_prompt(QUESTION))]
    answers = [engine.lm.words.encode_external(text, end=True) for text in (RIGHT, "No idea.", "1 2 3")]
    batch = [
        TrainingSequence(prompt=prompts[0], tokens=tokens or [], advantage=advantage)
        for tokens, advantage in zip(answers, [1.0, -1.0, -0.5], strict=True)
    ]
    for _ in range(3):
        engine.trainer.step(batch)
    engine.trainer.begin_average()  # exports have the average, and this one is to be as it answers
    return engine


def test_exports_answer_as_the_engine_does(folder: Path, tmp_path: Path) -> None:
    engine = trained_engine(folder)
    for format in ("peft", "merged", "gguf"):
        engine.export(p.Export(format=format, folder=str(tmp_path / format)))
    tokens = engine.lm.words.prompt_tokens(as_prompt(QUESTION))
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "merged", local_files_only=True).eval()
    expected = torch_logits(engine.policy.model, tokens)
    assert np.abs(torch_logits(merged, tokens) - expected).max() < 1e-4
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "merged", local_files_only=True)
    for text in CORPUS:
        assert tokenizer(text, add_special_tokens=False)["input_ids"] == encode(engine, text)
    rank = json.loads((tmp_path / "peft" / "adapter_config.json").read_text())["r"]
    assert rank == 4


def encode(engine: Any, text: str) -> list[int]:
    return list(engine.lm.tokenizer(text, add_special_tokens=False)["input_ids"])


@needs_llama
def test_gguf_cuts_text_and_ends_answers_as_the_folder_does(kind: str, folder: Path, tmp_path: Path) -> None:
    write_folder(folder, tmp_path / "m.gguf", "F32")
    words, reader = load_tokenizer(folder), gguf.GGUFReader(tmp_path / "m.gguf")
    values = {name: field.contents() for name, field in reader.fields.items()}
    assert values["tokenizer.ggml.pre"] == KINDS[kind].pre
    assert values["tokenizer.ggml.eos_token_id"] == words.end_token
    assert values["tokenizer.ggml.add_bos_token"] is (kind == "llama3")
    assert values["tokenizer.chat_template"] == KINDS[kind].template
    checked = check_gguf([tmp_path / "m.gguf"])
    rows = trained_tokenizer(kind).get_vocab_size() + 6
    assert checked.context == 1024 and checked.shape is not None and checked.shape.vocabulary == rows
    with llama(tmp_path / "m.gguf") as cpp:
        # Like transformers, llama.cpp puts Llama 3's beginning before every text.
        begin = [words.backend.bos_token_id] if kind == "llama3" else []
        for text in [*(t for t in CORPUS if "\U0010ffff" not in t and "e\u0301" not in t), "a  12", "17 + 25"]:
            plain = words.backend(text, add_special_tokens=False)["input_ids"]
            assert cpp.tokenize(text) == [*begin, *plain], text


def test_a_folder_becomes_the_same_file_as_the_loaded_model(folder: Path, tmp_path: Path) -> None:
    write_folder(folder, tmp_path / "folder.gguf", "F16")
    engine = loaded_engine(folder)
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    weights = MergedWeights(engine.policy.model)
    write_model(tmp_path / "loaded.gguf", config, engine.lm.tokenizer, weights, "F16", name=folder.name)
    ours, theirs = (_tensors(tmp_path / name) for name in ("folder.gguf", "loaded.gguf"))
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def _tensors(path: Path) -> dict[str, Any]:
    return {tensor.name: tensor.data for tensor in gguf.GGUFReader(path).tensors}


@needs_llama
def test_logits_in_llama_cpp_equal_transformers_with_base_merged_and_adapter(folder: Path, tmp_path: Path) -> None:
    engine = trained_engine(folder)
    write_folder(folder, tmp_path / "base.gguf", "F32")
    files = written(engine, tmp_path)
    for text in CORPUS[1:6]:
        tokens = [*engine.lm.words.prompt_tokens(as_prompt(text)), *encode(engine, RIGHT)][:250]
        with engine.policy.model.disable_adapter():
            base = torch_logits(engine.policy.model, tokens)
        trained = torch_logits(engine.policy.model, tokens)
        assert np.abs(base - trained).max() > 0.05
        with llama(files["base"]) as cpp:
            close(cpp.logits(tokens), base)
        with llama(files["base"], files["adapter"]) as cpp:
            close(cpp.logits(tokens), trained)
        with llama(files["merged"]) as cpp:
            close(cpp.logits(tokens), trained)


def written(engine: Any, to: Path) -> dict[str, Path]:
    """The engine's adapter and merged weights as F32 files, next to the base that is there."""
    files = {name: to / f"{name}.gguf" for name in ("base", "adapter", "merged")}
    config, model = engine.lm.model.config, engine.policy.model
    factors, scaling = lora_factors(model)
    write_adapter(files["adapter"], config, factors, scaling)
    write_model(files["merged"], config, engine.lm.tokenizer, MergedWeights(model), "F32")
    return files


def close(ours: Any, theirs: Any) -> None:
    assert np.abs(ours - theirs).max() < 1e-4 * np.abs(theirs).max()


def test_gradients_are_those_of_a_plain_pass_through_transformers(folder: Path) -> None:
    engine = trained_engine(folder)
    prompt, tokens = (
        engine.lm.words.prompt_tokens(as_prompt(QUESTION)),
        engine.lm.words.encode_external(RIGHT, end=True),
    )
    parameters = engine.policy.trainable()

    engine.trainer.optimiser.zero_grad()
    logits = engine.policy.model(input_ids=torch.tensor([prompt + tokens])).logits[0, len(prompt) - 1 : -1]
    plain = torch.log_softmax(logits.float(), -1).gather(1, torch.tensor(tokens)[:, None])
    (-plain.sum() / len(tokens)).backward()
    wanted = {name: value.grad.clone() for name, value in parameters.items()}

    engine.trainer.optimiser.zero_grad()
    batch = [TrainingSequence(prompt=prompt, tokens=tokens, advantage=1.0)]
    engine.trainer.accumulate(batch, [0], len(tokens), {})
    for name, value in parameters.items():
        torch.testing.assert_close(value.grad, wanted[name], atol=2e-5, rtol=1e-3, msg=name)
