"""A whole node with the starter, killed in every way that matters (tests/attack/node/kills.py: two hundred times)."""

from pathlib import Path

import psutil
import pytest

from sapo_desktop.worker.control.messages.asking import Ask, Asked
from sapo_desktop.worker.control.messages.events import PhaseChanged, RoundFinished
from sapo_desktop.worker.control.messages.replies import Status
from sapo_desktop.worker.control.messages.requests import GetStatus, Pause, Quit, Resume
from sapo_desktop.worker.hosts.ahead import FILE as AHEAD
from tests.whole.nodes import (
    ended,
    finished,
    host,
    is_state,
    played,
    reports,
    rewards,
    until,
    wait_gone,
    wait_stopped,
    worker,
    write_no_more_today,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def adapter(data: Path, number: int) -> dict[str, bytes]:
    """The files of a checkpoint that training continues from."""
    folder = data / "checkpoints" / f"{number:08d}"
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".safetensors"}


@pytest.mark.parametrize("threads", ["1", "2"])
async def test_a_killed_and_resumed_run_equals_an_unbroken_one_bit_for_bit(tmp_path: Path, threads: str) -> None:
    """With two threads the next round is answered during each step, by the adapter before it."""
    broken, unbroken = tmp_path / "broken", tmp_path / "unbroken"
    await played(unbroken, 4, threads=threads)
    client = await worker(broken, 4, threads=threads)
    await until(client, finished(2))
    psutil.Process(client.worker_pid).kill()
    wait_gone(client.worker_pid)
    await client.close()
    reached = max(report.round for report in reports(broken) if report.checkpoint)
    await played(broken, 4 - reached, threads=threads)
    assert rewards(broken) == rewards(unbroken)
    assert adapter(broken, 4) == adapter(unbroken, 4)
    assert len(adapter(broken, 4)) >= 2
    ahead = [path.parent.name for path in (broken / "checkpoints").glob(f"*/{AHEAD}")]
    assert bool(ahead) == (threads == "2")


@pytest.mark.parametrize("kind", ["engine", "examiner"])
async def test_a_killed_host_is_started_again_and_no_round_is_lost(tmp_path: Path, kind: str) -> None:
    client = await worker(tmp_path, 3)
    await until(client, finished(1))
    host(client.worker_pid, kind).kill()
    await until(client, is_state("idle"))
    await client.close()
    assert [report.round for report in reports(tmp_path)] == [1, 2, 3]


async def test_a_pause_stops_all_computing_and_requests_still_work(tmp_path: Path) -> None:
    client = await worker(tmp_path, 100)
    await until(client, lambda event: isinstance(event, PhaseChanged) and event.phase == "generate")
    engine = host(client.worker_pid, "engine")
    examiner = host(client.worker_pid, "examiner")
    await client.call(Pause())
    wait_stopped(engine)
    wait_stopped(examiner)
    asked = await client.call(Ask(question="What is 3 + 4?"))
    assert isinstance(asked, Asked) and asked.tokens > 0
    status = await client.call(GetStatus())
    assert isinstance(status, Status) and status.state == "paused"
    await client.call(Resume())
    await until(client, lambda event: isinstance(event, RoundFinished))
    await client.call(Quit())
    await client.close()


async def test_a_worker_whose_terminal_is_gone_ends_and_goes_on_at_the_next_start(tmp_path: Path) -> None:
    client = await worker(tmp_path, 100)
    await until(client, finished(1))
    await ended(client)
    before = [report.round for report in reports(tmp_path)]
    after = [report.round for report in await played(tmp_path, 1)]
    assert after[: len(before)] == before
    assert after == list(range(1, len(after) + 1))
    assert len(after) == len(before) + 1


async def test_quitting_keeps_the_rounds_that_the_write_allowance_left_without_a_checkpoint(tmp_path: Path) -> None:
    write_no_more_today(tmp_path)
    client = await worker(tmp_path, 100)
    await until(client, finished(2))
    await until(client, lambda event: isinstance(event, PhaseChanged) and event.phase == "generate")
    await client.call(Quit())
    wait_gone(client.worker_pid)
    await client.close()
    kept = reports(tmp_path)
    last = len(kept)
    assert [report.round for report in kept if report.checkpoint] == [last], "written on the way out, and only then"
    assert adapter(tmp_path, last)
