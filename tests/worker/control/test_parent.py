"""No process outlives the one that began to start it, and none works on a folder that is gone;
the error that a worker ends with, as its starter reads it in the log.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sapo_desktop.core.errors import ModelError, SapoError, SettingsError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Starting
from sapo_desktop.system import processes
from sapo_desktop.system.folders import DataFolder, FolderError
from sapo_desktop.worker.control import lock
from sapo_desktop.worker.control import parent as starter
from sapo_desktop.worker.control.client import connect
from sapo_desktop.worker.control.lock import FolderLock
from sapo_desktop.worker.control.messages.events import StateChanged
from sapo_desktop.worker.control.messages.replies import StartingStatus
from sapo_desktop.worker.control.messages.requests import GetStatus
from sapo_desktop.worker.control.parent import Countdown, last_words, named_error
from sapo_desktop.worker.main import Options, Worker

WAITS = """
import asyncio
from sapo_desktop.worker.control import parent as starter
starter.GRACE = 0.0

async def main():
    gone = asyncio.Event()
    starter.when_let_go(gone.set)
    print("waits", flush=True)
    await gone.wait()

asyncio.run(main())
"""
STARTS = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE, start_new_session=True)
input()
"""


@pytest.mark.parametrize("how", ["let go", "killed"])
def test_the_end_of_the_starter_is_noticed_however_it_comes(how: str) -> None:
    line = [sys.executable, "-c", STARTS, WAITS] if how == "killed" else [sys.executable, "-c", WAITS]
    first = subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=processes.python_environment({}), text=True
    )
    assert first.stdin is not None and first.stdout is not None
    with first.stdout:
        assert first.stdout.readline() == "waits\n"
        if how == "killed":
            first.kill()
            first.stdin.close()
        else:
            starter.let_go(first)  # type: ignore[arg-type]
        assert first.stdout.read() == "", "its end of the output is closed once it has ended"
    first.wait()


async def test_what_arrived_while_a_process_was_starved_goes_before_the_end_of_its_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, events, over = asyncio.get_running_loop(), list[str](), asyncio.Event()
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)

    async def attached() -> None:
        await reader.readexactly(1)
        await asyncio.sleep(0)  # as a greeting takes more than one turn of the loop
        events.append("attached")

    def end() -> None:
        events.append("over")
        over.set()

    coming = asyncio.create_task(attached())
    Countdown(0.1, end)
    await asyncio.sleep(0)
    theirs.send(b"x")
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + 10)  # so long it did not run
    async with asyncio.timeout(20):
        await asyncio.gather(coming, over.wait())
    assert events == ["attached", "over"]
    theirs.close()
    writer.close()
    await writer.wait_closed()


def worker(folder: Path, **changed: str) -> Worker:
    return Worker(DataFolder.open(folder), Settings(**changed), Options(folder, {}, None, "idle", started=True))


async def test_a_worker_whose_starter_never_attached_ends(tmp_path: Path) -> None:
    forsaken = worker(tmp_path)
    async with forsaken.channel(), await connect(tmp_path) as somebody:  # who only looks does not keep it
        await somebody.call(GetStatus(wait=False))
        forsaken._let_go()
        assert forsaken._quit.is_set()


@pytest.mark.parametrize(("owner", "stay"), [(True, False), (False, True)])
async def test_one_that_was_attached_to_is_no_more_the_starters(tmp_path: Path, owner: bool, stay: bool) -> None:
    wanted = worker(tmp_path)
    async with wanted.channel(), await connect(tmp_path, owner=owner, stay=stay) as client:
        await client.call(GetStatus(wait=False))
        wanted._let_go()
        assert not wanted._quit.is_set()


@pytest.mark.parametrize(("when", "ends"), [("end", True), ("continue", False)])
async def test_a_window_that_goes_before_there_is_a_node_leaves_none(tmp_path: Path, when: str, ends: bool) -> None:
    starting = worker(tmp_path, when_window_closes=when)
    async with starting.channel():
        async with await connect(tmp_path, stay=True) as window:
            await window.call(GetStatus(wait=False))
        while starting._server._clients:
            await asyncio.sleep(0)
        for _ in range(20):  # the reports of its leave
            await asyncio.sleep(0)
        assert (starting._owner_left is not None) == ends
        async with await connect(tmp_path, stay=True) as another:
            await another.call(GetStatus(wait=False))
            assert starting._owner_left is None, "another window came in time"


async def test_a_status_is_reported_while_there_is_no_node_and_says_that_the_computer_is_busy(tmp_path: Path) -> None:
    starting = worker(tmp_path)
    async with starting.channel(), await connect(tmp_path) as early:
        found = await early.call(GetStatus(wait=False))
        assert isinstance(found, StartingStatus) and found.why.busy == ""
        event = await anext(early.events())
        assert isinstance(event, StateChanged) and isinstance(event.why, Starting) and event.why.silo
        starting._busy("The computer is busy.")
        async with await connect(tmp_path) as late:
            for client in (early, late):
                event = await anext(client.events())
                assert isinstance(event, StateChanged) and event.reason == "Starting. The computer is busy."
            found = await late.call(GetStatus(wait=False))
            assert isinstance(found, StartingStatus) and found.why.busy == "The computer is busy."
            starting._step("reading the model, step 3 of 4")
            event = await anext(late.events())
            assert isinstance(event, StateChanged)
            assert event.reason == "Starting: reading the model, step 3 of 4. The computer is busy."


@pytest.mark.parametrize("again", [False, True])
async def test_a_folder_that_changed_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool) -> None:
    monkeypatch.setattr(lock, "LOOK_SECONDS", 0.0)
    folder = DataFolder.open(tmp_path / "node")
    with FolderLock(folder) as held:
        losing = asyncio.create_task(held.until_lost())
        for _ in range(3):
            await asyncio.sleep(0)
        assert not losing.done()
        shutil.rmtree(folder.root)
        if again:
            DataFolder.open(folder.root).lock.write_text("1")
        error = await losing
        assert isinstance(error, FolderError) and str(folder.root) in str(error)
        ended = worker(tmp_path / "other")
        ended.abandon(losing)
        assert ended._quit.is_set() and ended._stopped(None) == error.exit_code


def test_an_error_keeps_its_kind_and_its_sentence() -> None:
    error = ModelError(sentence("There is no model '{name}'.", name="x\ny"))
    read = named_error("2026-11-22 INFO loading\n" + last_words(error))
    assert type(read) is ModelError and read.text == error.text
    assert last_words(error).endswith("ModelError: There is no model 'x\ny'.")


@pytest.mark.parametrize("cut", [10, 25])
def test_where_the_data_was_cut_off_the_words_are_left(cut: int) -> None:
    read = named_error(last_words(SettingsError(sentence("{key} is wrong.", key="model")))[cut:])
    assert type(read) is SettingsError and str(read) == "model is wrong."


def test_what_names_no_error_of_ours_is_none() -> None:
    assert named_error("Traceback (most recent call last):\nValueError: no") is None
    assert named_error("as data: {}\nnothing else") is None
    read = named_error("SapoError: The starter is missing.")
    assert type(read) is SapoError and str(read) == "The starter is missing."
