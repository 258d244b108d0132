"""Whole nodes whose answers come from llama.cpp: next to the trainer, killed, paused, and without any trainer."""

import json
import sys
from pathlib import Path

import psutil
import pytest

from sapo_desktop.engines.gguf.folder import write_base
from sapo_desktop.models.starter import starter_folder
from sapo_desktop.worker.control.messages.facts import Examine, Facts
from sapo_desktop.worker.control.messages.replies import Status
from sapo_desktop.worker.control.messages.requests import GetStatus, Pause, Quit, Resume
from tests.whole.nodes import (
    ended,
    finished,
    host,
    is_state,
    played,
    reports,
    sapo,
    until,
    wait_gone,
    wait_stopped,
    worker,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk"),
]

HARD = {"tasks": "arc_1d/easy,basic_arithmetic/middle,base_conversion/middle"}
"""Tasks that the starter solves now and then: its groups teach."""
LLAMA = HARD | {"generator": "llama.cpp"}


@pytest.fixture(autouse=True)
def built() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")


def maps(process: psutil.Process) -> str:
    return "\n".join(part.path for part in process.memory_maps())


def test_rounds_are_answered_by_llama_cpp_and_learned_from_by_torch(tmp_path: Path) -> None:
    settings = [f"--set={key}={value}" for key, value in (LLAMA | {"curriculum": "off", "questions": "8"}).items()]
    done = sapo(tmp_path, "run", "--silo", "--rounds", "2", "--seed", "3", *settings, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    rounds = [line for line in lines if line["event"] == "round"]
    assert [line["round"] for line in rounds] == [1, 2]
    assert all(line["step"] for line in rounds)
    weights = list((tmp_path / "cache" / "gguf").iterdir())
    assert [path.name.endswith("-q8_0.gguf") for path in weights] == [True]
    before = weights[0].stat().st_mtime_ns
    # Everything that answers goes the same way, with any state of the adapter, and nothing is converted again.
    answers = {
        name: sapo(tmp_path, "ask", "What is 17 + 25?", "--checkpoint", name).stdout for name in ("base", "last", "1")
    }
    assert all(text.strip() for text in answers.values())
    assert weights[0].stat().st_mtime_ns == before


async def test_no_torch_is_loaded_where_llama_cpp_answers_and_no_llama_where_torch_learns(tmp_path: Path) -> None:
    client = await worker(tmp_path, 2, **LLAMA)
    await until(client, finished(1))
    if sys.platform == "linux":
        generator, trainer = host(client.worker_pid, "generator"), host(client.worker_pid, "engine")
        assert "libllama" in maps(generator) and "libtorch" not in maps(generator)
        assert "libtorch" in maps(trainer) and "libllama" not in maps(trainer)
    facts = await client.call(Examine())
    assert isinstance(facts, Facts) and facts.values["library generator weights"] == "Q8_0"
    await until(client, is_state("idle"))
    await ended(client)


async def test_a_killed_generator_costs_no_round_and_a_killed_trainer_is_brought_back_at_the_newest_checkpoint(
    tmp_path: Path,
) -> None:
    client = await worker(tmp_path, 4, **LLAMA)
    await until(client, finished(1))
    pid = client.worker_pid
    trainer = host(pid, "engine")
    for number in (2, 3):
        dead = host(pid, "generator")
        dead.kill()
        wait_gone(dead.pid)
        await until(client, finished(number))
    assert host(pid, "engine").pid == trainer.pid
    trainer.kill()
    await until(client, is_state("idle"))
    await ended(client)
    assert [report.round for report in reports(tmp_path)] == [1, 2, 3, 4]


async def test_a_pause_suspends_both_and_ending_leaves_no_process(tmp_path: Path) -> None:
    client = await worker(tmp_path, 50, **LLAMA)
    await until(client, finished(1))
    hosts = [host(client.worker_pid, kind) for kind in ("generator", "engine", "examiner")]
    await client.call(Pause())
    for one in hosts:
        wait_stopped(one)
    await client.call(Resume())
    await until(client, finished(2))
    await client.call(Quit())
    await client.close()
    for one in hosts:
        wait_gone(one.pid)


@pytest.mark.parametrize("generator", ["torch", "llama.cpp"])
async def test_a_gguf_file_learns_and_exports_an_adapter(tmp_path: Path, generator: str) -> None:
    model = tmp_path / "starter.gguf"
    write_base(starter_folder(), model, "F16")
    data = tmp_path / "node"
    data.mkdir()
    (data / "settings.toml").write_text(f"version = 1\nmodel = {str(model)!r}\ngenerator = {generator!r}\n")
    client = await worker(data, 2, **HARD)
    await until(client, is_state("idle"))
    await ended(client)
    assert any(report.step is not None for report in reports(data))
    assert not list((data / "cache").glob("gguf/*")), "the file itself answers"
    sapo(data, "export", "--format", "gguf", "--to", str(tmp_path / "out"))
    assert (tmp_path / "out" / "starter-adapter.gguf").exists()


async def test_a_gguf_file_answers_where_nothing_is_to_be_trained(tmp_path: Path) -> None:
    model = tmp_path / "starter.gguf"
    write_base(starter_folder(), model, "F16")
    data = tmp_path / "node"
    data.mkdir()
    (data / "settings.toml").write_text(f"version = 1\nmodel = {str(model)!r}\ntrainer = 'none'\n")
    client = await worker(data, 2, **HARD)
    await until(client, finished(1))
    status = await client.call(GetStatus())
    # How busy the processor is may follow.
    assert isinstance(status, Status) and status.reason.startswith("Answering round 2, without training")
    kinds = {word for child in psutil.Process(client.worker_pid).children() for word in child.cmdline()}
    assert "generator" in kinds and "engine" not in kinds
    host(client.worker_pid, "generator").kill()
    await until(client, is_state("idle"))
    await ended(client)
    assert [(report.round, report.step) for report in reports(data)] == [(1, None), (2, None)]
    assert "nothing was trained" in reports(data)[0].note
    assert sapo(data, "ask", "What is 17 + 25?").stdout.strip()
    refused = sapo(data, "export", "--format", "peft", "--to", str(tmp_path / "out"), check=False)
    assert refused.returncode == 2 and "only answers" in refused.stderr


async def test_training_rests_while_a_node_only_answers_and_goes_on_after(tmp_path: Path) -> None:
    async def trained(**settings: str) -> list[bool]:
        return [report.step is not None for report in await played(tmp_path, 1, **settings)]

    assert await trained(trainer="none", **HARD) == [False]
    assert [path.name.endswith("q8_0.gguf") for path in (tmp_path / "cache" / "gguf").iterdir()] == [True]
    assert await trained(**LLAMA) == [False, True]
    assert await trained(trainer="none", **HARD) == [False, True, False]
    before, after = (tmp_path / "checkpoints" / f"{n:08d}" / "adapter_model.safetensors" for n in (2, 3))
    assert before.read_bytes() == after.read_bytes()
    assert await trained(**HARD) == [False, True, False, True]
