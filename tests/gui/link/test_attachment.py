"""The link to the worker: found, lost, started again with growing pauses, left alone when it was asked to end."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import (
    ModelError,
    NoEnginePack,
    NotRunning,
    RemoteError,
    SapoError,
    SettingsError,
    UsageError,
)
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Ready, Starting
from sapo_desktop.gui.link import attachment
from sapo_desktop.gui.link.attachment import Attachment
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.view.link import Arrival, Attached, Connecting, Ended, LastKnown, Lost, Remedy
from sapo_desktop.worker.control import client
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import SettingsChanged, Snapshot, StateChanged, Stopping
from sapo_desktop.worker.control.messages.facts import GetNotices, Notice, Notices
from sapo_desktop.worker.control.messages.replies import Curve, SettingsAre
from sapo_desktop.worker.control.messages.requests import (
    GetCurve,
    GetSettings,
    Pause,
    Quit,
    ResetSettings,
    SetSettings,
)
from sapo_desktop.worker.store.history import History
from tests.builders import round_report, run_manifest
from tests.gui.scenes import NOW, curve, status


class FakeWorker:
    """Answers as a node does; ends on request, or when a test kills it."""

    def __init__(self, rounds: list[int]) -> None:
        self.rounds = rounds
        self.sent: asyncio.Queue[object] = asyncio.Queue()
        self.asked: list[object] = []
        self.closed = False

        self.answers = asyncio.Event()
        """For a worker that is slow."""

    async def call(self, request: object) -> Any:
        self.asked.append(request)
        match request:
            case GetSettings():
                return SettingsAre(settings=Settings(), changed=[], overridden=[])
            case GetCurve(after=after):
                return self._page(after)
            case Quit():
                self.sent.put_nowait(Stopping(failed=False, reason=""))
                self.sent.put_nowait(None)
                return Ok(text="Ending.")
            case Pause():
                raise UsageError("The node is idle: it cannot pause now.")
        return Ok()

    def _page(self, after: int) -> Curve:
        """One round in each, so that a history of three takes three."""
        left = [number for number in self.rounds if number > after]
        return msgspec.structs.replace(curve([0.5] * len(left[:1])), round=left[:1], more=len(left) > 1)

    async def events(self) -> AsyncIterator[Any]:
        yield Snapshot(status=status(Ready(), "idle", Settings(), 0))
        while (event := await self.sent.get()) is not None:
            yield event

    async def watch(self, closely: bool) -> None:
        self.asked.append(closely)

    async def end_reason(self) -> str:
        return "It ended without any output."

    async def close(self) -> None:
        self.closed = True


class Stage:
    """An attachment whose workers are made by a test; what arrives waits to be looked at."""

    def __init__(self, folder: Path, *refusals: Exception, pages: tuple[int, ...] = ()) -> None:
        self.arrived: queue.Queue[Arrival] = queue.Queue()
        self.workers: list[FakeWorker] = []
        self.refusals = list(refusals)
        self.pages = list(pages)
        self.opening, self.may_open = threading.Event(), asyncio.Event()
        """For a stage on which a start takes its time."""
        self.link = Attachment(folder, self.arrived.put, self._open)  # type: ignore[arg-type]

    async def _open(self) -> FakeWorker:
        if self.refusals:
            raise self.refusals.pop(0)
        self.workers.append(FakeWorker(self.pages))
        return self.workers[-1]

    @contextlib.contextmanager
    def playing(self) -> Iterator["Stage"]:
        """Meanwhile the link is there, and looks for its first worker."""
        self.link.start()
        assert self.next() == Connecting()
        try:
            yield self
        finally:
            self.link.stop()

    def next(self) -> Arrival:
        return self.arrived.get(timeout=20)

    def attached(self) -> Attached:
        found = self.next()
        assert isinstance(found, Attached)
        return found

    def die(self, last: Stopping | None = None) -> None:
        for event in ([last] if last else []) + [None]:
            self.link._loop.call_soon_threadsafe(self.workers[-1].sent.put_nowait, event)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(attachment, "FIRST_PAUSE", 0.01)
    with Stage(tmp_path).playing() as made:
        yield made


def test_attached_it_hears_events_and_asks(stage: Stage) -> None:
    assert stage.attached().settings.settings.silo
    notice = Notice(level="info", text="hello", time=NOW)
    stage.link._loop.call_soon_threadsafe(stage.workers[0].sent.put_nowait, notice)
    assert stage.next() == notice
    with pytest.raises(UsageError, match="cannot pause"):
        stage.link.call(Pause()).result(20)


def test_rounds_on_the_disk_are_shown_before_a_node_starts(tmp_path: Path) -> None:
    history = History(DataFolder.at(tmp_path).history)
    run = history.begin_run(run_manifest())
    for number in (1, 2):
        history.record_round(run, round_report(number, reward=0.5), [], [])
    stage = Stage(tmp_path)
    stage.link.start()
    try:
        known = stage.next()
        assert isinstance(known, LastKnown) and known.curve.round == [1, 2]
        assert known.curve.models[0].name == "starter"
        assert stage.next() == Connecting()
        stage.attached()
    finally:
        stage.link.stop()
        history.close()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_rounds_that_cannot_be_read_keep_nothing_from_starting(tmp_path: Path, content: bytes) -> None:
    path = DataFolder.at(tmp_path).history
    path.write_bytes(content)
    with Stage(tmp_path).playing() as stage:
        stage.attached()
    assert path.read_bytes() == content, "what to do with it is the node's"


def test_another_node_in_the_same_worker_is_asked_again(stage: Stage) -> None:
    first = stage.attached()
    assert first.curve.round == []
    worker = stage.workers[0]
    worker.rounds = [1]
    again = Snapshot(status=status(Ready(), "idle", Settings(), 1))
    stage.link._loop.call_soon_threadsafe(worker.sent.put_nowait, again)
    second = stage.attached()
    assert second.curve.round == [1], "rounds that came since the first are not lost"
    assert second.settings is not first.settings and len(stage.workers) == 1


def test_a_dead_worker_is_said_and_started_again(stage: Stage) -> None:
    stage.attached()
    stage.die()
    lost = stage.next()
    assert isinstance(lost, Lost) and lost.reason == "It ended without any output."
    assert stage.next() == Connecting(again=True)
    stage.attached()
    assert len(stage.workers) == 2 and stage.workers[0].closed


def test_why_a_worker_died_is_kept_and_can_be_read_while_there_is_none(stage: Stage, tmp_path: Path) -> None:
    stage.attached()
    stage.refusals.append(ModelError("There is no model."))
    stage.die()
    assert isinstance(stage.next(), Lost)
    while not isinstance(lost := stage.next(), Lost):
        pass
    assert lost.remedy == "model"
    found = stage.link.call(GetNotices()).result(20)
    assert isinstance(found, Notices)
    said = [(item.level, str(item.text)) for item in found.items]
    assert said == [
        ("error", "The node stopped: It ended without any output."),
        ("error", "The node stopped: There is no model."),
    ]


@pytest.mark.parametrize("kind", ["SapoError", "ModelError"])
def test_one_that_failed_says_why_and_once_it_ran_that_is_no_matter_of_settings(stage: Stage, kind: str) -> None:
    stage.attached()
    failed = Stopping(failed=True, reason="The disk is full.", kind=kind)
    stage.die(failed)
    assert stage.next() == failed
    assert stage.next() == Lost(reason="The disk is full.")


def test_one_that_was_asked_to_end_is_left_alone_until_somebody_wants_it(stage: Stage) -> None:
    stage.attached()
    stage.link.quit_worker().result(20)
    assert stage.next() == Stopping(failed=False, reason="")
    assert stage.next() == Ended()
    with pytest.raises(NotRunning):
        stage.link.call(Pause()).result(20)
    stage.link.try_again()
    assert stage.next() == Connecting(again=True)
    stage.attached()


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """The pauses that a link takes, none of which lasts."""
    seconds: list[float | None] = []

    async def no_wait(link: Attachment, pause: float | None) -> bool:
        seconds.append(pause)
        await asyncio.sleep(0)
        return False

    monkeypatch.setattr(Attachment, "_wait", no_wait)
    return seconds


def test_pauses_between_starts_grow(tmp_path: Path, waited: list[float | None]) -> None:
    with Stage(tmp_path, *(SapoError("no memory") for _ in range(9))).playing() as stage:
        while not isinstance(stage.next(), Attached):
            pass
    assert waited == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_leaving_lets_the_worker_go_on(stage: Stage) -> None:
    stage.attached()
    stage.link.stop()
    assert stage.workers[0].closed
    assert not any(isinstance(request, Quit) for request in stage.workers[0].asked)


def test_a_long_history_comes_in_pages(tmp_path: Path) -> None:
    with Stage(tmp_path, pages=(1, 2, 3)).playing() as stage:
        assert stage.attached().curve.round == [1, 2, 3]


def test_what_nobody_expected_is_said_and_not_swallowed(tmp_path: Path) -> None:
    with Stage(tmp_path, OSError(28, "No space left on device"), ZeroDivisionError("a bug")).playing() as stage:
        for said in ("No space left", "ZeroDivisionError: a bug. Your node keeps running"):
            lost = stage.next()
            assert isinstance(lost, Lost) and said in str(lost.reason)
            stage.link.try_again()
            assert stage.next() == Connecting(again=True)
        stage.attached()


def test_whether_somebody_looks_is_sent_to_every_worker(stage: Stage) -> None:
    stage.attached()
    stage.link.watch(False)
    stage.die()
    assert isinstance(stage.next(), Lost) and stage.next() == Connecting(again=True)
    stage.attached()
    assert [worker.asked.count(False) for worker in stage.workers] == [1, 1]


def test_a_busy_computer_is_reported_while_the_node_starts(tmp_path: Path) -> None:
    busy = StateChanged(state="starting", reason="Starting", why=Starting(step="2 of 4", busy="The computer is busy."))

    class Slow(FakeWorker):
        async def call(self, request: object) -> Any:
            await self.answers.wait()
            return await super().call(request)

        async def events(self) -> AsyncIterator[Any]:
            yield busy
            await self.answers.wait()
            async for event in super().events():
                yield event

    class Place(Stage):
        async def _open(self) -> FakeWorker:
            self.workers.append(Slow([]))
            return self.workers[-1]

    with Place(tmp_path).playing() as stage:
        assert stage.next() == Connecting(why=busy.why)
        stage.link._loop.call_soon_threadsafe(stage.workers[0].answers.set)
        stage.attached()


# -- a setting keeps it from starting ---------------------------------------------------------------------------


@pytest.fixture
def unstartable(tmp_path: Path) -> Iterator[Stage]:
    """The model is gone: the first start fails for it, and so does the one after a change of the model."""
    with Stage(tmp_path, ModelError("There is no model."), UsageError("No such engine.")).playing() as made:
        yield made


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (RemoteError("https://gpu.example cannot be reached."), "settings"),
        (NoEnginePack("What learns is not installed here yet."), "pack"),
    ],
)
def test_the_remedy_follows_from_the_reason_of_the_failure(tmp_path: Path, error: SapoError, remedy: Remedy) -> None:
    with Stage(tmp_path, error).playing() as stage:
        assert stage.next() == Lost(reason=error.text, remedy=remedy)


def test_what_keeps_it_from_starting_is_changed_without_it(unstartable: Stage) -> None:
    link = unstartable.link
    assert unstartable.next() == Lost(reason="There is no model.", remedy="model")
    changed = unstartable.next()
    assert isinstance(changed, SettingsChanged) and changed.now.changed == []
    with pytest.raises(NotRunning):
        link.call(Pause()).result(20)

    link.call(SetSettings(values={"theme": "dark"})).result(20)
    changed = unstartable.next()
    assert isinstance(changed, SettingsChanged) and changed.now.changed == ["theme"]
    assert unstartable.arrived.empty(), "no start is tried for what has nothing to do with it"

    link.call(SetSettings(values={"model": "starter", "generator": "llama.cpp"})).result(20)
    assert isinstance(unstartable.next(), SettingsChanged)
    assert unstartable.next() == Connecting(again=True)
    assert unstartable.next() == Lost(reason="No such engine.", remedy="settings")
    assert isinstance(unstartable.next(), SettingsChanged)

    link.call(ResetSettings(keys=["generator"])).result(20)
    assert isinstance(unstartable.next(), SettingsChanged)
    assert unstartable.next() == Connecting(again=True)
    unstartable.attached()
    with pytest.raises(UsageError, match="cannot pause"):
        link.call(Pause()).result(20)


def test_meanwhile_it_is_tried_quietly(tmp_path: Path, waited: list[float | None]) -> None:
    with Stage(tmp_path, *(ModelError("no model") for _ in range(3))).playing() as stage:
        assert [type(stage.next()) for _ in range(3)] == [Lost, SettingsChanged, Attached]
    assert waited == [60, 60, 60]


def test_a_change_goes_to_a_node_that_somebody_else_started_meanwhile(
    unstartable: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unstartable.refusals.clear()  # the next try attaches to it
    assert isinstance(unstartable.next(), Lost) and isinstance(unstartable.next(), SettingsChanged)
    elsewhere = FakeWorker([])

    async def connect(folder: Path, **options: bool) -> FakeWorker:
        return elsewhere

    monkeypatch.setattr(client, "connect", connect)
    change = SetSettings(values={"theme": "dark"})
    assert unstartable.link.call(change).result(20) == Ok()
    assert elsewhere.asked == [change] and elsewhere.closed
    assert not DataFolder.at(tmp_path).settings.exists(), "its settings are its own to write"
    assert unstartable.next() == Connecting(again=True) and unstartable.attached()


def test_a_settings_file_that_cannot_be_read_is_no_matter_of_settings(tmp_path: Path) -> None:
    file = DataFolder.open(tmp_path).settings
    file.write_text("colour = 3\n")
    with Stage(tmp_path, SettingsError("There is no setting 'colour'.")).playing() as stage:
        assert stage.next() == Lost(reason="There is no setting 'colour'.", remedy="file")
        with pytest.raises(SettingsError, match="colour"):
            stage.link.call(SetSettings(values={"theme": "dark"})).result(20)
        assert stage.arrived.empty()


@pytest.mark.usefixtures("waited")
def test_a_change_during_a_start_that_succeeds_goes_to_the_new_node(tmp_path: Path) -> None:
    """The start is a quiet one, so that the change waits for it; what it waits for is not the node's end."""

    class Place(Stage):
        async def _open(self) -> FakeWorker:
            if not self.refusals:
                self.opening.set()
                await self.may_open.wait()
            return await super()._open()

    with Place(tmp_path, ModelError("There is no model.")).playing() as stage:
        assert stage.opening.wait(20)
        change = SetSettings(values={"theme": "dark"})
        waiting = stage.link.call(change)
        stage.link._loop.call_soon_threadsafe(stage.may_open.set)
        assert waiting.result(5) == Ok()
        assert change in stage.workers[0].asked
