"""The worker's process without a node: what clients receive as they come, early and late."""

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NoReturn

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ModelError, UsageError
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.desktop import autostart
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence.bus import NoBus
from sapo_desktop.worker import main
from sapo_desktop.worker.control.client import Client, connect
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import (
    CheckpointsChanged,
    Event,
    RoundFinished,
    Snapshot,
    StateChanged,
    Stopping,
)
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import Status
from sapo_desktop.worker.control.messages.requests import GetStatus, Quit, StartRounds
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.main import Options, Worker
from tests.cli.fake_node import FakeNode
from tests.cli.fake_replies import scripted_round
from tests.worker.test_orders import Ordered


class Served:
    """What answers; it knows only how things stand."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.node = FakeNode()

    def status(self) -> Status:
        return self.node._status()

    async def handle(self, request: Request) -> Message:
        return self.status() if isinstance(request, GetStatus) else Ok()


@pytest.fixture
async def worker(tmp_path: Path) -> AsyncIterator[Worker]:
    worker = Worker(DataFolder.open(tmp_path), Settings(), Options(tmp_path, {}, None, "idle"))
    async with worker.channel():
        yield worker


@pytest.fixture
def served() -> Served:
    return Served()


async def first_events(client: Client, count: int) -> list[Event]:
    events = client.events()
    return [await anext(events) for _ in range(count)]


async def test_a_client_first_gets_the_state(worker: Worker, served: Served, tmp_path: Path) -> None:
    worker._open(served)  # type: ignore[arg-type]
    for number in (1, 2):
        async with await connect(tmp_path) as client:
            await client.call(GetStatus())  # by now it is attached
            report = scripted_round(number)
            served.node.rounds.append(report)
            worker._publish(RoundFinished(report=report))
            first, second = await first_events(client, 2)
            assert isinstance(first, Snapshot) and first.status.round == number - 1
            assert second == RoundFinished(report=report)


async def test_the_system_bounds_memory_before_there_is_a_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[object] = []

    async def assemble(*given: object, **named: object) -> None:
        order.append("hosts")

    monkeypatch.setattr(main.Ceiling, "follow", lambda self, most: order.append(most))
    monkeypatch.setattr(main, "assemble", assemble)
    worker = Worker(DataFolder.open(tmp_path), Settings(memory_most=1.5), Options(tmp_path, {}, None, "idle"))
    await worker._assemble("", None)
    assert order == [1_500_000_000, "hosts"]


async def test_a_node_writes_before_the_computer_sleeps_and_what_takes_too_long_is_given_up(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished: list[str] = []
    given_up = asyncio.Event()

    class Node:
        def __init__(self, takes: float) -> None:
            self.takes = takes

        async def before_sleep(self) -> None:
            try:
                await asyncio.sleep(self.takes)
                finished.append("written")
            except asyncio.CancelledError:
                given_up.set()
                raise

    monkeypatch.setattr(main, "_BEFORE_SLEEP_SECONDS", 0.1)
    for guest in (None, Node(0), Node(60)):
        worker._guest = guest  # type: ignore[assignment]
        await asyncio.to_thread(worker._before_sleep, asyncio.get_running_loop())
    async with asyncio.timeout(20):
        await given_up.wait()
    assert finished == ["written"]


async def test_who_tells_of_sleep_is_asked_again_where_it_did_not_answer_and_that_is_logged_once(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[object] = []

    def follow(before: object) -> None:
        asked.append(before)
        if len(asked) == 3:
            worker._ended.set()
        raise NoBus("logind does not answer.")

    caplog.set_level("INFO", "sapo_desktop.worker")
    monkeypatch.setattr(main.sleep, "follow", follow)
    monkeypatch.setattr(main, "_ASK_AGAIN_SECONDS", 0)
    await asyncio.to_thread(worker._follow_sleep, asyncio.get_running_loop())
    assert len(asked) == 3 and caplog.text.count("logind does not answer.") == 1


async def test_who_comes_early_gets_it_later(worker: Worker, served: Served, tmp_path: Path) -> None:
    async with await connect(tmp_path) as client, await connect(tmp_path, events=False) as quiet:
        while len(worker._server._clients) < 2:
            await asyncio.sleep(0)
        worker._publish(Notice(level="info", text="Loading."))
        worker._open(served)  # type: ignore[arg-type]
        await client.call(GetStatus())
        assert [type(event) for event in await first_events(client, 3)] == [StateChanged, Notice, Snapshot]
        await quiet.call(GetStatus())
        assert quiet._events.empty()


async def test_a_window_takes_over_from_a_command(worker: Worker, served: Served, tmp_path: Path) -> None:
    before = Ordered(tmp_path)
    before.orders.start(None)
    it = Ordered(tmp_path)
    worker._orders = it.orders
    worker._open(served)  # type: ignore[arg-type]
    command = await connect(tmp_path, owner=True)
    await command.call(GetStatus())
    assert it.gate.state is NodeState.IDLE
    async with await connect(tmp_path, stay=True) as window:
        await window.call(GetStatus())
        assert it.gate.state is NodeState.WORKING, "as it was wished before"
        with pytest.raises(UsageError, match="keeps running"):
            await command.call(Quit())
        await command.close()
        await window.call(GetStatus())
        assert worker._owner_left is None
        await window.call(Quit())


async def test_what_served_a_command_goes_on_for_others_until_the_last_is_gone(
    worker: Worker, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "OWNER_GRACE", 0.1)
    worker._open(served)  # type: ignore[arg-type]
    first = await connect(tmp_path, owner=True)
    await first.call(GetStatus())
    async with asyncio.timeout(20), await connect(tmp_path) as second:
        await second.call(GetStatus())
        with pytest.raises(UsageError, match="keeps running"):
            await first.call(Quit())
        await first.close()
        while worker._owners:
            await asyncio.sleep(0)
        await asyncio.sleep(0.3)
        assert not worker._quit.is_set()
    async with asyncio.timeout(20):
        await worker._quit.wait()


async def test_who_asked_for_rounds_may_end_the_node(worker: Worker, served: Served, tmp_path: Path) -> None:
    worker._open(served)  # type: ignore[arg-type]
    async with await connect(tmp_path, stay=True), await connect(tmp_path, owner=True) as run:
        await run.call(StartRounds())
        assert await run.call(Quit()) == Ok()


async def test_the_last_notices_are_kept_for_those_who_come_later(worker: Worker) -> None:
    for number in range(3):
        worker._publish(Notice(level="info", text=str(number)))
        worker._publish(CheckpointsChanged())
    assert [notice.text for notice in worker._notices.newest()] == ["0", "1", "2"]


async def test_a_worker_that_was_killed_is_reported_at_the_next_start(worker: Worker) -> None:
    worker.tell_of_end("it was killed (SIGKILL)")
    (notice,) = worker._notices.newest()
    assert notice.level == "error" and "(SIGKILL)" in str(notice.text)


async def test_who_hears_that_a_start_failed_hears_what_kind_of_failure_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*args: object, **more: object) -> None:
        raise ModelError("There is no model 'gone'.")

    monkeypatch.setattr(main, "assemble", gone)
    worker = Worker(DataFolder.open(tmp_path), Settings(), Options(tmp_path, {}, None, "as before"))
    async with asyncio.timeout(20), worker.channel(), await connect(tmp_path) as client:
        heard = client.events()
        await anext(heard)  # how far the start is: from now on it gets what follows
        assert await worker.run("") == ModelError.exit_code
        async for event in heard:
            if isinstance(event, Stopping):
                break
        assert event == Stopping(failed=True, reason="There is no model 'gone'.", kind="ModelError")


def test_the_start_at_login_is_as_the_system_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installer may have asked for it, and a person may delete it where the system lists such entries."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = DataFolder.open(tmp_path / "node")
    kept = Settings(label="mine")
    assert main._with_login(kept, folder) == kept and not folder.settings.exists()
    autostart.follow(True, folder.root)
    assert main._with_login(kept, folder) == Settings(label="mine", start_at_login=True)
    read = settings_file.read(folder.settings, 0.0).settings
    assert read.start_at_login and read.label == "mine"
    autostart.entry(folder.root).unlink()
    assert not main._with_login(read, folder).start_at_login
    assert not settings_file.read(folder.settings, 0.0).settings.start_at_login


def test_a_login_that_cannot_be_kept_holds_all_the_same_and_one_that_cannot_be_seen_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(error: OSError) -> Callable[..., NoReturn]:
        def fail(*asked: object) -> NoReturn:
            raise error

        return fail

    folder = DataFolder.open(tmp_path)
    monkeypatch.setattr(settings_file, "write_atomically", fails(OSError(errno.ENOSPC, "No space left on device")))
    monkeypatch.setattr(autostart, "is_on", lambda data: True)
    assert main._with_login(Settings(), folder).start_at_login
    assert "the disk is full" in caplog.text
    monkeypatch.setattr(autostart, "is_on", fails(PermissionError("no access")))
    kept = Settings(start_at_login=True)
    assert main._with_login(kept, folder) == kept
