"""Clients with a real worker process (a small one, served_worker.py): found, started, outlived, killed."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from sapo_desktop.core.errors import ControlError, FolderInUse, NotRunning, SapoError, UsageError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.system import processes
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control import channel
from sapo_desktop.worker.control import client as client_module
from sapo_desktop.worker.control.client import (
    Client,
    _early_end,
    connect,
    connect_or_start,
    start_and_connect,
    start_worker,
)
from sapo_desktop.worker.control.messages.asking import Ask
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Stopping
from sapo_desktop.worker.control.messages.requests import GetSettings, GetStatus, Pause, Quit
from sapo_desktop.worker.control.proof import FILE
from sapo_desktop.worker.hosts import patience
from sapo_desktop.worker.hosts.patience import Sight


@pytest.fixture(autouse=True)
def small_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    script = str(Path(__file__).with_name("served_worker.py"))
    monkeypatch.setattr(processes, "python_command", lambda module: [sys.executable, "-P", script])


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[DataFolder]:
    """A node's folder; the worker that a test may leave in it is ended."""
    folder = DataFolder.open(tmp_path / "a node")
    yield folder
    with contextlib.suppress(NotRunning):
        async with await connect(folder.root) as client:
            await client.call(Quit())
            assert [event async for event in client.events()]


async def test_a_worker_is_started_once_and_then_found(folder: DataFolder) -> None:
    first = await connect_or_start(folder.root, {})
    second = await connect_or_start(folder.root, {})
    process = first.client.process
    assert first.started and not second.started and process is not None
    assert first.client.worker_pid == second.client.worker_pid == process.pid
    assert (await second.client.call(Ask(question="who?"))).text == "who?"
    with pytest.raises(UsageError, match="No settings"):
        await first.client.call(GetSettings())
    await first.client.close()
    await second.client.call(Quit())
    assert [type(event) async for event in second.client.events()] == [Stopping]
    assert await asyncio.to_thread(process.wait, 5) == 0
    await second.client.close()
    assert not (folder.control / FILE).exists()


async def test_two_that_start_at_the_same_time_meet(folder: DataFolder) -> None:
    a, b = await asyncio.gather(connect_or_start(folder.root, {}), connect_or_start(folder.root, {}))
    assert a.client.worker_pid == b.client.worker_pid
    assert [a.started, b.started].count(True) == 1
    await a.client.close()
    await b.client.close()
    await stop(folder, a.client.process or b.client.process)


@pytest.mark.parametrize("left", ["", " 4194305"])
async def test_who_starts_next_to_a_worker_that_is_just_ending_starts_again(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    """Its lock file names nobody any more, or, where it was killed, a process that is no more."""
    folder.lock.write_text(left)
    endings = iter([FolderInUse(sentence("Another worker already runs."))])

    async def started(root: Path, words: Sequence[str], *, owner: bool, stay: bool) -> Client:
        for error in endings:
            raise error
        return await start_and_connect(root, words, owner=owner, stay=stay)

    monkeypatch.setattr(client_module, "start_and_connect", started)
    client, was_started = await connect_or_start(folder.root, {})
    assert was_started and next(endings, None) is None
    await client.close()


async def test_a_killed_worker_is_noticed_and_its_leavings_are_in_nobodys_way(folder: DataFolder) -> None:
    client, _ = await connect_or_start(folder.root, {})
    process = client.process
    assert process is not None
    waiting = asyncio.create_task(anext(client.events(), None))
    process.kill()
    assert await waiting is None
    with pytest.raises(ControlError, match="The worker has stopped"):
        await client.call(Pause())
    await client.close()
    process.wait()
    assert (folder.control / FILE).exists(), "kill -9 leaves its file"
    with pytest.raises(NotRunning):
        await connect(folder.root)
    client, started = await connect_or_start(folder.root, {})
    assert started and await client.call(Pause()) == Ok()
    await client.close()
    await stop(folder, client.process)


async def test_a_second_worker_on_the_folder_says_who_has_it(folder: DataFolder) -> None:
    process = await start_worker(folder.root)
    with pytest.raises(FolderInUse, match=f"Process {process.pid} already runs"):
        await start_worker(folder.root)
    await stop(folder, process)


async def test_a_start_that_is_given_up_leaves_no_worker(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: asyncio.Queue[subprocess.Popen[bytes]] = asyncio.Queue()

    async def answers(data: DataFolder, process: subprocess.Popen[bytes]) -> bool:
        seen.put_nowait(process)
        return False

    monkeypatch.setattr(client_module, "_answers", answers)
    starting = asyncio.create_task(start_worker(folder.root))
    process = await seen.get()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert await asyncio.to_thread(process.wait, 20) is not None
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("mode", "words"), [("break", r"(?s)exit code 3.*the reason is here"), ("explain", r"^The starter is missing\.$")]
)
async def test_a_worker_that_ends_early_leaves_its_last_words(folder: DataFolder, mode: str, words: str) -> None:
    with pytest.raises(SapoError, match=words):
        await start_worker(folder.root, [mode])


@pytest.mark.skipif(sys.platform == "win32", reason="sessions")
async def test_the_worker_is_out_of_reach_of_the_terminals_signals(folder: DataFolder) -> None:
    process = await start_worker(folder.root)
    assert os.getsid(process.pid) == process.pid != os.getsid(0)
    await stop(folder, process)


async def test_a_stopped_worker_is_named(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    process = await start_worker(folder.root)
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(channel, "PROOF_SECONDS", 0.1)
    with pytest.raises(ControlError, match=f"process {process.pid}.*does not answer"):
        await connect(folder.root)
    monkeypatch.undo()
    os.kill(process.pid, signal.SIGCONT)
    await stop(folder, process)


async def test_a_starved_worker_is_waited_for(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    process = await start_worker(folder.root)
    os.kill(process.pid, signal.SIGSTOP)
    looks = 0

    def look(pid: int, at: float, *, loading: bool) -> Sight:
        nonlocal looks
        looks += 1
        if looks == 12:
            os.kill(pid, signal.SIGCONT)
        return Sight(at, processes.Effort(0.001 * looks, 0), 0.0, processes.Processors(looks, looks))

    monkeypatch.setattr(channel, "PROOF_SECONDS", 0.3)
    monkeypatch.setattr(channel, "PROOF_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(patience, "look", look)
    async with asyncio.timeout(30):
        await (await connect(folder.root)).close()
    assert looks >= 12, "twice its time"
    monkeypatch.undo()
    await stop(folder, process)


async def test_a_client_that_was_starved_itself_does_not_lay_it_to_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, ahead, looks = asyncio.get_running_loop(), 0.0, 0
    answer: asyncio.Future[None] = loop.create_future()
    real = loop.time

    def look(pid: int, at: float, *, loading: bool) -> Sight:
        nonlocal ahead, looks
        looks += 1
        ahead += 100.0  # since the last look, in which it did not run
        if looks == 2:
            answer.set_result(None)
        return Sight(at, processes.Effort(0.0, 0), 0.0, processes.Processors(0.0, looks))

    loop.time = lambda: real() + ahead  # type: ignore[method-assign]
    monkeypatch.setattr(patience, "look", look)
    assert await patience.settled(answer, patience.Patience(15.0), lambda: 1, every=0.01)
    assert looks == 2


async def stop(folder: DataFolder, process: subprocess.Popen[bytes] | None) -> None:
    async with await connect(folder.root, events=False) as client:
        await client.call(Quit())
    assert process is not None
    await asyncio.to_thread(process.wait, 5)


async def test_a_worker_that_fails_just_after_it_was_reached_is_quoted_all_the_same(folder: DataFolder) -> None:
    attached = await connect_or_start(folder.root, {}, ["fail"])
    for _ in range(2):
        with pytest.raises(UsageError, match=r"^The model does not fit the settings\.$"):
            await attached.client.call(GetStatus())
    await attached.client.close()


async def test_who_starts_a_worker_owns_it_unless_it_says_otherwise(folder: DataFolder) -> None:
    for owner in (False, True):
        client, started = await connect_or_start(folder.root, {}, owner=owner)
        assert started and (await client.call(Ask(question="owners?"))).text == str(int(owner))
        await client.close()
        await stop(folder, client.process)


async def test_a_worker_that_somebody_else_started_is_quoted_too(folder: DataFolder) -> None:
    process = await start_worker(folder.root, ["fail"])
    async with await connect(folder.root) as client:
        with pytest.raises(UsageError, match=r"^The model does not fit the settings\.$"):
            await client.call(GetStatus())
        assert str(await client.end_reason()) == "The model does not fit the settings."
    await asyncio.to_thread(process.wait, 5)


async def test_what_ends_before_it_is_attached_to_says_why(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answered once, and was gone with its reason when we came again."""

    async def fail(*_: object, **__: object) -> Client:
        async with await connect(folder.root) as client:
            with contextlib.suppress(SapoError):
                await client.call(GetStatus())
        raise NotRunning("There is none.")

    monkeypatch.setattr(client_module, "connect", fail)
    with pytest.raises(UsageError, match=r"^The model does not fit the settings\.$"):
        await start_and_connect(folder.root, ["fail"], module="belongs to a relay")
    monkeypatch.undo()


def test_a_worker_that_found_the_disk_full_could_not_say_so_in_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = DataFolder.open(tmp_path)
    assert "The worker stopped while starting" in str(_early_end(1, "", folder))
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=0))
    assert "or use --data with another folder" in str(_early_end(1, "", folder))
