"""The llama.cpp generator and the torch engine over one model, for the tests of both."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from sapo_desktop.core.records import Sampling
from sapo_desktop.core.resources import resource
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.torch.service import create as create_torch
from tests.builders import as_prompts
from tests.engines.export_models import save_base, starter_like_tokenizer, tiny_model

ROWS = 272
QUESTIONS = [
    "What is the greatest common divisor of 12 and 18?",
    "Spell the word drow",
    "a",
    "What is the greatest common divisor of 7 and 3? " * 3,
]
ASK = """
import json, sys
from pathlib import Path
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.examiner import Examiner
from tests.builders import as_prompts
catalogue = load_catalogue(Path(sys.argv[1]))
examiner = Examiner(catalogue)
seeds = json.loads(sys.argv[2])
print(json.dumps([examiner.question(task, seed).text for task in catalogue.tasks() for seed in seeds]))
"""
needs_llama = pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")


def tiny_folder(folder: Path, architecture: str = "llama") -> Path:
    """A tiny random model with a byte-level tokenizer, as both engines can load it."""
    return save_base(tiny_model(architecture, ROWS), starter_like_tokenizer(), folder)


class Pair:
    """One model in both engines; `sync` hands the trainer's adapter over."""

    def __init__(self, folder: Path, work: Path, weights: p.GgufWeights = "F32", **trainer: object) -> None:
        library = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
        assert library
        from sapo_desktop.engines.llama_cpp.service import create

        torch.set_num_threads(1)
        self.work = work
        self.gguf = work / f"base-{weights}.gguf"
        self.torch = create_torch()
        self.cpp = create()
        settings = msgspec.convert(trainer, p.TrainerSettings)
        self.ask_torch(p.Load(model=str(folder), trainer=settings, threads=1, device="cpu", dtype="float32"))
        self.ask_torch(p.WriteGguf(model=str(folder), file=str(self.gguf), weights=weights))
        self.load(exact=weights == "F32")

    def load(self, path: Path | None = None, **options: Any) -> p.Loaded:
        loaded: p.Loaded = self.ask_cpp(p.LoadGguf(model=str(path or self.gguf), threads=1, **options))
        return loaded

    def ask_torch(self, request: Any) -> Any:
        return self.torch.handle(request, quiet)

    def ask_cpp(self, request: Any, progress: p.Progress = lambda _: None) -> Any:
        """Ask like a host: requests and replies are encoded and decoded."""
        sent = msgspec.msgpack.decode(msgspec.msgpack.encode(request), type=p.GeneratorRequest)
        reply = self.cpp.handle(sent, progress)
        return msgspec.msgpack.decode(msgspec.msgpack.encode(reply), type=request.reply_type())

    def sync(self, folder: Path | None = None) -> None:
        file = str(self.work / "adapter.gguf")
        self.ask_torch(p.WriteAdapter(file=file, folder=None if folder is None else str(folder)))
        self.ask_cpp(p.UseAdapter(file=file))

    def learn(self, made: p.Generated) -> None:
        """One step that moves the adapter well away from zero."""
        batch = [
            p.TrainingSequence(prompt=prompt, tokens=one.tokens, advantage=1.0 if place % 2 else -1.0)
            for prompt, row in zip(made.prompt_tokens, made.completions, strict=True)
            for place, one in enumerate(row)
        ]
        self.ask_torch(p.Step(batch=batch))

    def close(self) -> None:
        engine = self.cpp._engine
        if engine is not None:
            engine.close()


def quiet(_: msgspec.Struct) -> None:
    """Progress that nobody follows."""


def request(answers: int = 4, base: bool = False, questions: list[str] = QUESTIONS, **sampling: Any) -> p.Generate:
    wanted = msgspec.convert({"max_tokens": 24, "seed": 5} | sampling, Sampling)
    return p.Generate(prompts=as_prompts(questions), answers=answers, sampling=wanted, base=base)


def tokens(made: p.Generated) -> list[list[list[int]]]:
    return [[one.tokens for one in row] for row in made.completions]


def worst_gap(first: p.Generated, second: p.Generated) -> float:
    """The largest difference of two log-probabilities of the same tokens."""
    pairs = [
        (a, b)
        for ours, theirs in zip(first.completions, second.completions, strict=True)
        for one, other in zip(ours, theirs, strict=True)
        for a, b in zip(one.logprobs, other.logprobs, strict=True)
    ]
    return max(abs(a - b) for a, b in pairs)


def cancelled_after(service: Any, seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, service.cancelled.set)
    timer.start()
    return timer


def catalogue_questions(seeds: Iterable[int]) -> list[str]:
    """Questions of every task and level, one per seed."""
    found: list[str] = in_a_process(ASK, str(resource("tasks.toml")), json.dumps(list(seeds)))
    return found


def in_a_process(script: str, *words: str) -> Any:
    """What a script prints as JSON; the examiner wants its own process with a fixed hash seed."""
    environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", script, *words], env=environment, capture_output=True, check=True)
    return json.loads(done.stdout)
