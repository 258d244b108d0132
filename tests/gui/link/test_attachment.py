"""The link to the worker: found, lost, started again with growing pauses, left alone when it was told to end."""

import asyncio
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
from sapo_desktop.view.curves import COLUMNS
from sapo_desktop.view.link import Arrival, Attached, Connecting, Ended, Lost, Mend
from sapo_desktop.worker.control import client
from sapo_desktop.worker.control.messages.events import SettingsChanged, Snapshot, StateChanged, Stopping
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import Curve, Ok, SettingsAre
from sapo_desktop.worker.control.messages.requests import (
    GetCurve,
    GetSettings,
    Pause,
    Quit,
    ResetSettings,
    SetSettings,
)
from tests.gui.scenes import NOW, empty_curve, status


class FakeWorker:
    """Answers as a node does; ends when told, or when a test kills it."""

    def __init__(self, rounds: list[int]) -> None:
        self.rounds = rounds
        self.told: asyncio.Queue[object] = asyncio.Queue()
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
                self.told.put_nowait(Stopping(failed=False, reason=""))
                self.told.put_nowait(None)
                return Ok(text="Ending.")
            case Pause():
                raise UsageError("The node is idle: it cannot pause now.")
        return Ok()

    def _page(self, after: int) -> Curve:
        """One round in each, so that a history of three takes three."""
        curve = empty_curve()
        left = [number for number in self.rounds if number > after]
        for name in COLUMNS if left else ():
            getattr(curve, name).append(left[0] if name == "round" else 0.5)
        return msgspec.structs.replace(curve, more=len(left) > 1)

    async def events(self) -> AsyncIterator[Any]:
        yield Snapshot(status=status(Ready(), "idle", Settings(), 0))
        while (event := await self.told.get()) is not None:
            yield event

    async def watch(self, closely: bool) -> None:
        self.asked.append(closely)

    async def end_reason(self) -> str:
        return "It ended without a word."

    async def close(self) -> None:
        self.closed = True


class Stage:
    """An attachment whose workers are made by a test; what arrives waits to be looked at."""

    def __init__(self, folder: Path) -> None:
        self.arrived: queue.Queue[Arrival] = queue.Queue()
        self.workers: list[FakeWorker] = []
        self.refusals: list[SapoError] = []
        self.pages: list[int] = []
        self.opening, self.may_open = threading.Event(), asyncio.Event()
        """For a stage on which a start takes its time."""
        self.link = Attachment(folder, self.arrived.put, self._open)

    async def _open(self) -> FakeWorker:
        if self.refusals:
            raise self.refusals.pop(0)
        self.workers.append(FakeWorker(self.pages))
        return self.workers[-1]

    def next(self) -> Arrival:
        return self.arrived.get(timeout=20)

    def die(self, last: Stopping | None = None) -> None:
        for event in ([last] if last else []) + [None]:
            self.link._loop.call_soon_threadsafe(self.workers[-1].told.put_nowait, event)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(attachment, "FIRST_PAUSE", 0.01)
    made = Stage(tmp_path)
    made.link.start()
    assert made.next() == Connecting()
    yield made
    made.link.stop()


def test_attached_it_hears_events_and_asks(stage: Stage) -> None:
    first = stage.next()
    assert isinstance(first, Attached) and first.settings.settings.silo
    notice = Notice(level="info", text="hello", time=NOW)
    stage.link._loop.call_soon_threadsafe(stage.workers[0].told.put_nowait, notice)
    assert stage.next() == notice
    with pytest.raises(UsageError, match="cannot pause"):
        stage.link.call(Pause()).result(20)


def test_another_node_in_the_same_worker_is_asked_anew(stage: Stage) -> None:
    first = stage.next()
    assert isinstance(first, Attached) and first.curve.round == []
    worker = stage.workers[0]
    worker.rounds = [1]
    again = Snapshot(status=status(Ready(), "idle", Settings(), 1))
    stage.link._loop.call_soon_threadsafe(worker.told.put_nowait, again)
    second = stage.next()
    assert isinstance(second, Attached) and second.curve.round == [1], "rounds that came since the first are not lost"
    assert second.settings is not first.settings and len(stage.workers) == 1


def test_a_dead_worker_is_said_and_started_again(stage: Stage) -> None:
    assert isinstance(stage.next(), Attached)
    stage.die()
    lost = stage.next()
    assert isinstance(lost, Lost) and lost.reason == "It ended without a word."
    assert stage.next() == Connecting(again=True)
    assert isinstance(stage.next(), Attached)
    assert len(stage.workers) == 2 and stage.workers[0].closed


def test_one_that_failed_says_why(stage: Stage) -> None:
    assert isinstance(stage.next(), Attached)
    failed = Stopping(failed=True, reason="The disk is full.")
    stage.die(failed)
    assert stage.next() == failed
    lost = stage.next()
    assert isinstance(lost, Lost) and lost.reason == "The disk is full."


def test_one_that_was_told_to_end_is_left_alone_until_somebody_wants_it(stage: Stage) -> None:
    assert isinstance(stage.next(), Attached)
    stage.link.quit_worker().result(20)
    assert stage.next() == Stopping(failed=False, reason="")
    assert stage.next() == Ended()
    with pytest.raises(NotRunning):
        stage.link.call(Pause()).result(20)
    stage.link.try_again()
    assert stage.next() == Connecting(again=True)
    assert isinstance(stage.next(), Attached)


def test_pauses_between_starts_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float | None] = []

    async def no_wait(self: Attachment, seconds: float | None) -> bool:
        waited.append(seconds)
        await asyncio.sleep(0)
        return False

    monkeypatch.setattr(Attachment, "_wait", no_wait)
    stage = Stage(tmp_path)
    stage.refusals = [SapoError("no memory") for _ in range(9)]
    stage.link.start()
    while not isinstance(stage.next(), Attached):
        pass
    stage.link.stop()
    assert waited == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_leaving_lets_the_worker_go_on(stage: Stage) -> None:
    assert isinstance(stage.next(), Attached)
    stage.link.stop()
    assert stage.workers[0].closed
    assert not any(isinstance(request, Quit) for request in stage.workers[0].asked)


def test_a_long_history_comes_in_pages(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.pages = [1, 2, 3]
    stage.link.start()
    assert stage.next() == Connecting()
    first = stage.next()
    assert isinstance(first, Attached) and first.curve.round == [1, 2, 3]
    stage.link.stop()


def test_what_nobody_expected_is_said_and_not_swallowed(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.refusals = [OSError(28, "No space left on device"), ZeroDivisionError("a bug")]  # type: ignore[list-item]
    stage.link.start()
    assert stage.next() == Connecting()
    lost = stage.next()
    assert isinstance(lost, Lost) and "No space left" in lost.reason
    stage.link.try_again()
    assert stage.next() == Connecting(again=True)
    lost = stage.next()
    assert isinstance(lost, Lost) and "ZeroDivisionError: a bug. The node is not touched by it" in str(lost.reason)
    stage.link.try_again()
    assert stage.next() == Connecting(again=True)
    assert isinstance(stage.next(), Attached)
    stage.link.stop()


def test_whether_somebody_looks_is_told_to_every_worker(stage: Stage) -> None:
    assert isinstance(stage.next(), Attached)
    stage.link.watch(False)
    stage.die()
    assert isinstance(stage.next(), Lost) and stage.next() == Connecting(again=True)
    assert isinstance(stage.next(), Attached)
    assert [worker.asked.count(False) for worker in stage.workers] == [1, 1]


def test_a_busy_computer_is_told_while_the_node_starts(tmp_path: Path) -> None:
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

    made: list[Slow] = []

    class Place(Stage):
        async def _open(self) -> FakeWorker:
            made.append(Slow([]))
            made[-1].answers = asyncio.Event()
            return made[-1]

    stage = Place(tmp_path)
    stage.link.start()
    try:
        assert stage.next() == Connecting(again=False)
        assert stage.next() == Connecting(again=False, step="2 of 4", busy="The computer is busy.")
        stage.link._loop.call_soon_threadsafe(made[0].answers.set)
        assert isinstance(stage.next(), Attached)
    finally:
        stage.link.stop()


# -- a setting keeps it from starting ---------------------------------------------------------------------------


@pytest.fixture
def unstartable(tmp_path: Path) -> Iterator[Stage]:
    """The model is gone: the first start fails for it, and so does the one after a change of the model."""
    made = Stage(tmp_path)
    made.refusals = [ModelError("There is no model."), UsageError("No such engine.")]
    made.link.start()
    assert made.next() == Connecting()
    yield made
    made.link.stop()


@pytest.mark.parametrize(
    ("error", "mend"),
    [
        (RemoteError("https://gpu.example cannot be reached."), "settings"),
        (NoEnginePack("What learns is not installed here yet."), "pack"),
    ],
)
def test_what_has_to_be_mended_is_known_by_why_it_failed(tmp_path: Path, error: SapoError, mend: Mend) -> None:
    stage = Stage(tmp_path)
    stage.refusals = [error]
    stage.link.start()
    try:
        assert stage.next() == Connecting()
        assert stage.next() == Lost(reason=error.text, mend=mend)
    finally:
        stage.link.stop()


def test_what_keeps_it_from_starting_is_changed_without_it(unstartable: Stage) -> None:
    link = unstartable.link
    assert unstartable.next() == Lost(reason="There is no model.", mend="model")
    told = unstartable.next()
    assert isinstance(told, SettingsChanged) and told.now.changed == []
    with pytest.raises(NotRunning):
        link.call(Pause()).result(20)

    link.call(SetSettings(values={"theme": "dark"})).result(20)
    told = unstartable.next()
    assert isinstance(told, SettingsChanged) and told.now.changed == ["theme"]
    assert unstartable.arrived.empty(), "no start is tried for what has nothing to do with it"

    link.call(SetSettings(values={"model": "starter", "generator": "llama.cpp"})).result(20)
    assert isinstance(unstartable.next(), SettingsChanged)
    assert unstartable.next() == Connecting(again=True)
    assert unstartable.next() == Lost(reason="No such engine.", mend="settings")
    assert isinstance(unstartable.next(), SettingsChanged)

    link.call(ResetSettings(keys=["generator"])).result(20)
    assert isinstance(unstartable.next(), SettingsChanged)
    assert unstartable.next() == Connecting(again=True)
    assert isinstance(unstartable.next(), Attached)
    with pytest.raises(UsageError, match="cannot pause"):
        link.call(Pause()).result(20)


def test_meanwhile_it_is_tried_quietly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float | None] = []

    async def no_wait(self: Attachment, seconds: float | None) -> bool:
        waited.append(seconds)
        return False

    monkeypatch.setattr(Attachment, "_wait", no_wait)
    stage = Stage(tmp_path)
    stage.refusals = [ModelError("no model") for _ in range(3)]
    stage.link.start()
    arrived = [stage.next() for _ in range(4)]
    stage.link.stop()
    kinds = [type(arrival) for arrival in arrived]
    assert kinds == [Connecting, Lost, SettingsChanged, Attached] and waited == [60, 60, 60]


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
    assert unstartable.next() == Connecting(again=True) and isinstance(unstartable.next(), Attached)


def test_a_settings_file_that_cannot_be_read_is_no_matter_of_settings(tmp_path: Path) -> None:
    file = DataFolder.open(tmp_path).settings
    file.write_text("colour = 3\n")
    stage = Stage(tmp_path)
    stage.refusals = [SettingsError("There is no setting 'colour'.")]
    stage.link.start()
    try:
        assert stage.next() == Connecting()
        assert stage.next() == Lost(reason="There is no setting 'colour'.", mend="file")
        with pytest.raises(SettingsError, match="colour"):
            stage.link.call(SetSettings(values={"theme": "dark"})).result(20)
        assert stage.arrived.empty()
    finally:
        stage.link.stop()


def test_a_node_that_ran_is_no_matter_of_settings(stage: Stage) -> None:
    assert isinstance(stage.next(), Attached)
    stage.die(Stopping(failed=True, reason="It broke.", kind="ModelError"))
    assert isinstance(stage.next(), Stopping)
    assert stage.next() == Lost(reason="It broke.")


def test_a_change_during_a_start_that_succeeds_goes_to_the_new_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start is a quiet one, so that the change waits for it; what it waits for is not the node's end."""

    async def no_wait(self: Attachment, seconds: float | None) -> bool:
        return False

    monkeypatch.setattr(Attachment, "_wait", no_wait)

    class Place(Stage):
        async def _open(self) -> FakeWorker:
            if not self.refusals:
                self.opening.set()
                await self.may_open.wait()
            return await super()._open()

    stage = Place(tmp_path)
    stage.refusals = [ModelError("There is no model.")]
    stage.link.start()
    try:
        assert stage.opening.wait(20)
        change = SetSettings(values={"theme": "dark"})
        waiting = stage.link.call(change)
        stage.link._loop.call_soon_threadsafe(stage.may_open.set)
        assert waiting.result(5) == Ok()
        assert change in stage.workers[0].asked
    finally:
        stage.link.stop()
