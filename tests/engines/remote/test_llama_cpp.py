"""The remote generator against a real server: llama-cpp-python's own, over a GGUF file that this project wrote.

It takes prompts as text and one answer a request, so prompts must survive being read again.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sapo_desktop.core.errors import HostCancelled
from sapo_desktop.core.resources import resource
from sapo_desktop.engines.gguf.folder import write_folder
from tests.engines.real_models import QUESTION, save_real_model
from tests.engines.remote.real_servers import ask, connected, free_port, running
from tests.engines.tiny import answer, loaded_engine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@contextmanager
def llama_cpp_server(model: Path, log: Path, key: str) -> Iterator[str]:
    """llama-cpp-python's server with keys and values in f32, as exact as it gets there."""
    port = free_port()
    options = {"model": model, "n_ctx": 512, "n_threads": 1, "type_k": 0, "type_v": 0, "logits_all": True}
    line = [sys.executable, "-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", str(port), "--api_key", key]
    for name, value in options.items():
        line += [f"--{name}", str(value)]
    with running(line, port, key, log) as url:
        yield url


def test_the_starter_answers_there_as_it_does_here(tmp_path: Path) -> None:
    folder = resource("starter")
    write_folder(folder, tmp_path / "m.gguf", "F32")
    engine = loaded_engine(folder)
    with llama_cpp_server(tmp_path / "m.gguf", tmp_path / "log", key="secret") as url:
        service, loaded = connected(url, folder, "secret")
        assert loaded.dtype == "openai" and not loaded.learns and loaded.said
        prompts = [f"What is the greatest common divisor of {6 * i} and {9 * i}?" for i in range(2, 10)]
        far, near = (ask(service, prompts, greedy=True), answer(engine, prompts, greedy=True))
        assert far.prompt_tokens == near.prompt_tokens
        assert [g[0].text for g in far.completions] == [g[0].text for g in near.completions]
        assert [g[0].tokens for g in far.completions] == [g[0].tokens for g in near.completions]
        assert {group[0].finish for group in (*far.completions, *near.completions)} == {"closed"}

        drawn = ask(service, prompts[:1], 6, max_tokens=6, seed=3)
        again = ask(service, prompts[:1], 6, max_tokens=6, seed=3)
        assert [c.tokens for c in again.completions[0]] == [c.tokens for c in drawn.completions[0]]


@pytest.mark.parametrize("kind", ["qwen2.5", "llama3", "smollm3"])
def test_prompts_are_read_there_as_they_are_meant(tmp_path: Path, kind: str) -> None:
    """A random model writes halves of characters, which this server drops: one that writes whole ones is looked for."""
    prompts = [f"What is {i} + {i * i}?" for i in range(8)]
    for seed in range(17, 100):
        folder = save_real_model(tmp_path / f"{kind}-{seed}", kind, seed)
        near = answer(loaded_engine(folder), prompts, greedy=True, max_tokens=3)
        if all(group[0].text.isascii() for group in near.completions):
            break
    write_folder(folder, tmp_path / "m.gguf", "F32")
    with llama_cpp_server(tmp_path / "m.gguf", tmp_path / "log", key="secret") as url:
        service, _ = connected(url, folder, "secret")
        far = ask(service, prompts, greedy=True, max_tokens=3)
        texts = [(a[0].text, b[0].text) for a, b in zip(far.completions, near.completions, strict=True)]
        assert all(here.isascii() and there == here for there, here in texts), texts


def test_a_cancel_leaves_it_at_once(tmp_path: Path) -> None:
    folder = save_real_model(tmp_path / "qwen2.5", "qwen2.5")
    write_folder(folder, tmp_path / "m.gguf", "F32")
    with llama_cpp_server(tmp_path / "m.gguf", tmp_path / "log", key="k") as url:
        service, _ = connected(url, folder, "k")
        threading.Timer(0.5, service.cancelled.set).start()
        with pytest.raises(HostCancelled):
            ask(service, [QUESTION] * 400, 8, max_tokens=400)
