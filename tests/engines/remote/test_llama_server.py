"""The remote generator against a real llama-server, over GGUF files that this project wrote.

`SAPO_LLAMA_SERVER` names the program; docs/remote.md says how it is built.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import HostCancelled, HostError
from sapo_desktop.core.records import Completion, Sampling
from sapo_desktop.core.resources import resource
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.gguf.folder import write_folder
from sapo_desktop.engines.tokenizer import load_tokenizer
from sapo_desktop.engines.torch.service import Service as TorchService
from tests.engines.real_models import QUESTION, save_real_model
from tests.engines.remote.real_servers import ask, connected, fetched, free_port, running
from tests.engines.tiny import answer, loaded_engine, sequences, token_logprobs_of

PROGRAM = os.environ.get("SAPO_LLAMA_SERVER", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.allowed_skip("llama-server is a program of its own, built by hand (docs/remote.md)"),
    pytest.mark.skipif(not PROGRAM, reason="SAPO_LLAMA_SERVER names no llama-server"),
]
KEY = "secret"
SLOTS, ROOM = 4, 512
QUESTIONS = [f"What is the greatest common divisor of {6 * i} and {9 * i}?" for i in range(2, 10)]
CLOSE = 1e-3
"""How far a log-probability may be from torch's."""


@contextmanager
def llama_server(model: Path, work: Path, *more: str) -> Iterator[str]:
    """llama-server with keys and values in f32 and plain attention, as exact as it gets."""
    port = free_port()
    exact = ["--threads", "1", "--cache-type-k", "f32", "--cache-type-v", "f32", "--flash-attn", "off"]
    room = ["--ctx-size", str(SLOTS * ROOM), "--parallel", str(SLOTS)]
    line = [PROGRAM, "--model", str(model), "--host", "127.0.0.1", "--port", str(port), "--api-key", KEY]
    with running([*line, *exact, *room, *more], port, KEY, work / "server.log") as url:
        yield url


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the starter."""
    work = tmp_path_factory.mktemp("llama-server")
    write_folder(resource("starter"), work / "m.gguf", "F32")
    with llama_server(work / "m.gguf", work) as url:
        yield url


def all_weighted(made: p.Generated, engine: Any) -> list[Completion]:
    """The answers, after their log-probabilities were compared with torch's."""
    answers = [one for group in made.completions for one in group]
    batch = sequences(made, [0.0] * len(made.completions[0]))
    for one, values in zip(answers, token_logprobs_of(engine, batch), strict=True):
        assert one.logprobs == pytest.approx(values.tolist(), abs=CLOSE), one.text
    return answers


def test_the_starter_answers_there_as_it_does_here(starter: str) -> None:
    engine = loaded_engine(resource("starter"))
    service, loaded = connected(starter, resource("starter"), KEY)
    assert loaded.dtype == "llama-server" and not loaded.learns and loaded.context == ROOM
    assert [text for text in loaded.said if "nothing is learned" not in str(text)] == []
    far, near = (ask(service, QUESTIONS, greedy=True), answer(engine, QUESTIONS, greedy=True))
    assert far.prompt_tokens == near.prompt_tokens
    assert [g[0].tokens for g in far.completions] == [g[0].tokens for g in near.completions]
    assert all(group[0].finish == "stop" for group in far.completions)


def test_many_answers_at_once_each_with_its_own_log_probabilities(starter: str) -> None:
    """More requests than the server has slots, of two questions, whole answers with their ends and cut ones."""
    engine = loaded_engine(resource("starter"))
    service, _ = connected(starter, resource("starter"), KEY)
    answers = all_weighted(ask(service, QUESTIONS[:2], 24, max_tokens=20, seed=3), engine)
    assert len(answers) == 48 and len({tuple(one.tokens) for one in answers}) > 8
    assert {one.finish for one in answers} == {"stop", "length"}
    again = ask(service, QUESTIONS[:2], 24, max_tokens=20, seed=3)
    assert [one.tokens for group in again.completions for one in group] == [one.tokens for one in answers]


def test_a_wrong_key_is_refused_in_words(starter: str) -> None:
    with pytest.raises(HostError, match="does not accept the key"):
        connected(starter, resource("starter"), "wrong")


@pytest.mark.parametrize("kind", ["qwen2.5", "qwen3", "llama3", "smollm2", "smollm3"])
def test_prompts_are_read_there_as_they_are_meant_and_ids_come_back_as_sampled(tmp_path: Path, kind: str) -> None:
    """A random model writes halves of characters too; their tokens are told without probabilities."""
    folder = save_real_model(tmp_path / kind, kind)
    write_folder(folder, tmp_path / "m.gguf", "F32")
    engine = loaded_engine(folder)
    with llama_server(tmp_path / "m.gguf", tmp_path) as url:
        service, _ = connected(url, folder, KEY)
        prompts = [f"What is {i} + {i * i}?" for i in range(16)]
        far = ask(service, prompts, greedy=True, max_tokens=6)
        near = answer(engine, prompts, greedy=True, max_tokens=6)
        special = load_tokenizer(folder).backend.all_special_ids
        assert [g[0].tokens for g in far.completions] == [_ended(g[0].tokens, special) for g in near.completions]
        drawn = ask(service, prompts[:4], 8, max_tokens=3, seed=5)
    told = 0
    for place, group in enumerate(drawn.completions):
        for one in group:
            alone = p.Generated(prompt_tokens=[drawn.prompt_tokens[place]], completions=[[one]], seconds=0, batch=1)
            told += bool(one.logprobs) and bool(all_weighted(alone, engine))
    assert told > 8, "most answers are whole characters"


def _ended(tokens: list[int], special: list[int]) -> list[int]:
    """Up to the first special token: llama.cpp ends there, torch at those that the model names."""
    return next((tokens[: place + 1] for place, token in enumerate(tokens) if token in special), tokens)


def test_a_cancel_ends_the_computing(tmp_path: Path) -> None:
    folder = save_real_model(tmp_path / "qwen2.5", "qwen2.5")
    write_folder(folder, tmp_path / "m.gguf", "F32")
    with llama_server(tmp_path / "m.gguf", tmp_path) as url:
        service, _ = connected(url, folder, KEY)
        request = p.Generate(prompts=[QUESTION] * 400, answers=8, sampling=Sampling(max_tokens=400))
        with pytest.raises(HostCancelled):
            service.handle(request, lambda _: service.cancelled.set())
        # It looks once a second whether anybody still waits.
        deadline = time.monotonic() + 20
        while any(slot["is_processing"] for slot in fetched(f"{url}/slots", KEY)):
            assert time.monotonic() < deadline, "it computes on for nobody"
            time.sleep(0.2)


def test_the_adapter_that_it_was_started_with_stays_out(tmp_path: Path) -> None:
    folder = save_real_model(tmp_path / "qwen2.5", "qwen2.5")
    write_folder(folder, tmp_path / "m.gguf", "F32")
    learned = _adapter(folder, tmp_path / "adapter.gguf")
    with llama_server(tmp_path / "m.gguf", tmp_path, "--lora", str(tmp_path / "adapter.gguf")) as url:
        service, loaded = connected(url, folder, KEY)
        assert any("left out" in str(text) for text in loaded.said)
        far = ask(service, QUESTIONS, greedy=True, max_tokens=6)
    near = answer(loaded_engine(folder), QUESTIONS, greedy=True, max_tokens=6)
    assert [g[0].tokens for g in far.completions] == [g[0].tokens for g in near.completions]
    assert [g[0].tokens for g in learned.completions] != [g[0].tokens for g in near.completions]


def _adapter(folder: Path, file: Path) -> p.Generated:
    """Write an adapter in llama.cpp's form; returns what is answered with it."""
    torch, quiet, greedy = TorchService(), lambda _: None, Sampling(greedy=True, max_tokens=6)
    trainer = p.TrainerSettings(learning_rate=0.05)
    torch.handle(p.Load(model=str(folder), trainer=trainer, threads=1, device="cpu"), quiet)
    made = torch.handle(p.Generate(prompts=QUESTIONS[:1], answers=2, sampling=Sampling(max_tokens=6)), quiet)
    assert isinstance(made, p.Generated)
    torch.handle(p.Step(batch=sequences(made, [1.0, -1.0])), quiet)
    torch.handle(p.WriteAdapter(file=str(file)), quiet)
    answered = torch.handle(p.Generate(prompts=QUESTIONS, answers=1, sampling=greedy), quiet)
    assert isinstance(answered, p.Generated)
    return answered
