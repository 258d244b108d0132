r"""The remote generator against a real llama-server, over GGUF files that this project wrote.

`SAPO_LLAMA_SERVER` names the program. To build it (llama.cpp is in vendor/ of what is unpacked):

    pip download --no-deps --no-binary :all: llama-cpp-python==0.3.36
    cmake -S vendor/llama.cpp -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_OPENMP=OFF \
        -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON -DLLAMA_OPENSSL=OFF \
        -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
        -DLLAMA_BUILD_APP=OFF
    cmake --build build --target llama-server
    SAPO_LLAMA_SERVER=build/bin/llama-server python -m pytest -m slow tests/engines/remote/test_llama_server.py
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sapo_desktop.core.errors import HostCancelled, HostError
from sapo_desktop.core.records import Sampling
from sapo_desktop.core.resources import resource
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.gguf.folder import write_folder
from tests.builders import as_prompts
from tests.engines.real_models import QUESTION, save_real_model
from tests.engines.remote.real_servers import ask, connected, fetched, free_port, running
from tests.engines.tiny import answer, loaded_engine

PROGRAM = os.environ.get("SAPO_LLAMA_SERVER", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.allowed_skip("llama-server is a program of its own, built by hand (as above)"),
    pytest.mark.skipif(not PROGRAM, reason="SAPO_LLAMA_SERVER names no llama-server"),
]
KEY = "secret"
SLOTS, ROOM = 4, 512
QUESTIONS = [f"What is the greatest common divisor of {6 * i} and {9 * i}?" for i in range(2, 10)]


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


def test_the_starter_answers_there_as_it_does_here(starter: str) -> None:
    engine = loaded_engine(resource("starter"))
    service, loaded = connected(starter, resource("starter"), KEY)
    assert loaded.dtype == "llama-server" and not loaded.learns and loaded.context == ROOM
    assert [text for text in loaded.said if "nothing is learned" not in str(text)] == []
    far, near = (ask(service, QUESTIONS, greedy=True), answer(engine, QUESTIONS, greedy=True))
    assert far.prompt_tokens == near.prompt_tokens
    assert [g[0].tokens for g in far.completions] == [g[0].tokens for g in near.completions]
    assert {group[0].finish for group in (*far.completions, *near.completions)} == {"closed"}


def test_a_wrong_key_is_refused_in_words(starter: str) -> None:
    with pytest.raises(HostError, match="does not accept the key"):
        connected(starter, resource("starter"), "wrong")


@pytest.mark.parametrize("kind", ["qwen2.5", "qwen3", "llama3", "smollm2", "smollm3"])
def test_prompts_are_read_there_as_they_are_meant(tmp_path: Path, kind: str) -> None:
    folder = save_real_model(tmp_path / kind, kind)
    write_folder(folder, tmp_path / "m.gguf", "F32")
    engine = loaded_engine(folder)
    with llama_server(tmp_path / "m.gguf", tmp_path) as url:
        service, _ = connected(url, folder, KEY)
        prompts = [f"What is {i} + {i * i}?" for i in range(16)]
        far = ask(service, prompts, greedy=True, max_tokens=6)
        near = answer(engine, prompts, greedy=True, max_tokens=6)
    same = [
        a[0].text == b[0].text for a, b in zip(far.completions, near.completions, strict=True) if b[0].text.isascii()
    ]
    assert same and all(same), "a random model writes halves of characters too, which differ in a text"


def test_a_cancel_ends_the_computing(tmp_path: Path) -> None:
    folder = save_real_model(tmp_path / "qwen2.5", "qwen2.5")
    write_folder(folder, tmp_path / "m.gguf", "F32")
    with llama_server(tmp_path / "m.gguf", tmp_path) as url:
        service, _ = connected(url, folder, KEY)
        request = p.Generate(prompts=as_prompts([QUESTION] * 400), answers=8, sampling=Sampling(max_tokens=400))
        with pytest.raises(HostCancelled):
            service.handle(request, lambda _: service.cancelled.set())
        # It looks once a second whether anybody still waits.
        deadline = time.monotonic() + 20
        while any(slot["is_processing"] for slot in fetched(f"{url}/slots", KEY)):
            assert time.monotonic() < deadline, "it computes on for nobody"
            time.sleep(0.2)
