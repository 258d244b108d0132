"""A node is replaced by another one because settings changed that a node is built from."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import ModelError, SapoError, UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence import unsupported
from sapo_desktop.tasks.catalogue import Catalogue
from sapo_desktop.worker import guest as guest_module
from sapo_desktop.worker import main as worker_main
from sapo_desktop.worker.assembly import Assembled, Publish
from sapo_desktop.worker.control.client import Client, connect
from sapo_desktop.worker.control.handlers import requests as requests_module
from sapo_desktop.worker.control.handlers import settings as settings_requests
from sapo_desktop.worker.control.messages.events import (
    Event,
    RoundFinished,
    SettingsChanged,
    Snapshot,
    StateChanged,
    Stopping,
)
from sapo_desktop.worker.control.messages.replies import Sources
from sapo_desktop.worker.control.messages.requests import (
    AddTasks,
    Evaluate,
    GetSettings,
    GetSources,
    GetStatus,
    ListTasks,
    Pause,
    Quit,
    ResetSettings,
    SetSettings,
)
from sapo_desktop.worker.hosts.hosting import OnBusy
from sapo_desktop.worker.main import Options, Worker
from tests.worker.control.handlers.test_requests import side_of
from tests.worker.test_node import SETTINGS, Scene

TASKS = {"tasks": "gcd/easy"}
EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "roman_numbers.csv"


class Factory:
    """Puts nodes together whose hosts are stand-ins, a folder each, in the place of `assemble`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.made: list[Scene] = []
        self.asked: list[Settings] = []
        self.said: list[str] = []
        self.catalogues: list[Catalogue] = []
        self.refuse: Callable[[Settings], SapoError | None] = lambda settings: None

    async def __call__(
        self,
        folder: DataFolder,
        settings: Settings,
        catalogue: Catalogue,
        publish: Publish,
        said: str,
        before: Assembled | None = None,
        on_busy: OnBusy | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> Assembled:
        assert (before is None) == (not self.made)
        self.asked.append(settings)
        self.said.append(said)
        self.catalogues.append(catalogue)
        if (error := self.refuse(settings)) is not None:
            raise error
        own = self._folder / str(len(self.made))
        own.mkdir()
        scene = Scene(own, settings, 1e9)
        scene.gate._publish = publish
        scene.node.show.publish = publish
        scene.engine.hold = asyncio.Event()
        self.made.append(scene)
        return Assembled(scene.node, side_of(own, scene))


@pytest.fixture
def factory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Factory:
    factory = Factory(tmp_path)
    monkeypatch.setattr(worker_main, "assemble", factory)
    return factory


@pytest.fixture
async def client(tmp_path: Path, factory: Factory) -> AsyncIterator[Client]:
    """A client of a worker that plays rounds with the factory's nodes."""
    settings_file.write(DataFolder.open(tmp_path).settings, SETTINGS)
    worker = Worker(DataFolder.open(tmp_path), SETTINGS, Options(tmp_path, {"label": "mine"}, None, "rounds"))
    async with asyncio.timeout(30), worker.channel():
        running = asyncio.create_task(worker.run(""))
        async with await connect(tmp_path) as client:
            yield client
            worker._quit.set()
            assert await running == 0


async def until(client: Client, wanted: Callable[[Event], bool]) -> Event:
    async for event in client.events():
        if wanted(event):
            return event
    raise AssertionError("The worker ended.")


async def in_a_round(factory: Factory, client: Client) -> None:
    await client.call(GetStatus())
    while factory.made[0].node.show.phase != "generate":
        await asyncio.sleep(0)


def is_new_node(event: Event) -> bool:
    return isinstance(event, Snapshot)


async def test_the_current_round_is_finished_first(factory: Factory, client: Client) -> None:
    await in_a_round(factory, client)
    reply = await client.call(SetSettings(values=TASKS))
    assert str(reply.text) == "Saved. tasks: takes effect after the current round."
    changed = await until(client, lambda event: isinstance(event, SettingsChanged))
    are = await client.call(GetSettings())
    assert are.waiting == ["tasks"] and are.settings.tasks == SETTINGS.tasks
    assert isinstance(changed, SettingsChanged) and changed.now == are, "one event says it all"
    assert are.wanted is not None and are.wanted.tasks == "gcd/easy"
    factory.made[0].engine.hold.set()
    await until(client, lambda event: isinstance(event, RoundFinished) and event.report.round == 1)
    await until(client, lambda event: isinstance(event, StateChanged) and event.state == "starting")
    await until(client, is_new_node)
    are = await client.call(GetSettings())
    assert are.settings.tasks == "gcd/easy" and are.waiting == []
    status = await client.call(GetStatus())
    assert status.state == "working"
    assert [settings.tasks for settings in factory.asked] == [SETTINGS.tasks, "gcd/easy"]
    assert factory.made[0].node.counters.round == 1, "no other round was begun"


async def test_a_paused_node_is_replaced_at_once_and_stays_paused(factory: Factory, client: Client) -> None:
    await client.call(Pause(seconds=600))
    reply = await client.call(SetSettings(values=TASKS))
    assert str(reply.text) == "Saved. tasks: takes effect now."
    await until(client, lambda event: is_new_node(event) and len(factory.made) == 2)
    status = await client.call(GetStatus())
    assert status.state == "paused" and status.resume_in is not None


async def test_one_that_is_wanted_at_once_leaves_the_round_out_and_goes_on_with_its_work(
    factory: Factory, client: Client
) -> None:
    await in_a_round(factory, client)
    reply = await client.call(SetSettings(values=TASKS, at_once=True))
    assert str(reply.text) == "Saved. tasks: takes effect now."
    await until(client, lambda event: is_new_node(event) and len(factory.made) == 2)
    assert factory.made[0].node.counters.round == 0, "it would not have ended by itself"
    assert (await client.call(GetStatus())).state == "working"


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_module, "LOOK_SECONDS", 0.01)


async def test_a_cap_of_the_cards_memory_below_what_is_held_does_not_wait_for_the_round(
    quick_looks: None, factory: Factory, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_module, "card_memory_of", lambda own: 7 * 10**9 if len(factory.made) == 1 else 0)
    monkeypatch.setattr(unsupported, "gpus", lambda: ["a card"])
    monkeypatch.setattr(settings_requests.Fitting, "check", lambda *asked: None)
    await in_a_round(factory, client)
    factory.made[0].engine.on_card = True
    await client.call(SetSettings(values={"card_memory_most": "6"}))
    await until(client, lambda event: is_new_node(event) and len(factory.made) == 2)
    assert factory.made[0].node.counters.round == 0, "which would not have ended by itself"
    assert [settings.card_memory_most for settings in factory.asked] == [0, 6]
    assert (await client.call(GetStatus())).state == "working"


async def test_a_change_under_way_is_whole(factory: Factory, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = threading.Event()
    monkeypatch.setattr(settings_requests, "find_model", lambda *args: found.wait(10))

    await client.call(Pause())
    quick = asyncio.create_task(client.call(SetSettings(values=TASKS)))
    slow = asyncio.create_task(client.call(SetSettings(values={"model": "other"})))
    await until(client, lambda event: isinstance(event, StateChanged) and event.state == "starting")
    found.set()
    await asyncio.gather(quick, slow)
    await until(client, lambda event: is_new_node(event) and len(factory.made) == 2)
    are = await client.call(GetSettings())
    assert (are.settings.model, are.settings.tasks, are.waiting) == ("other", "gcd/easy", [])
    assert len(factory.made) == 2


async def test_what_is_asked_of_a_node_that_another_one_replaces_is_given_up_in_plain_words_and_starts_no_process(
    factory: Factory, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests_module, "MOMENT", 0.01)
    await client.call(Pause())
    asked = asyncio.create_task(client.call(Evaluate(checkpoint="base", which="validation")))
    while factory.made[0].node.show.phase != "evaluate":
        await asyncio.sleep(0)
    await client.call(SetSettings(values=TASKS))
    with pytest.raises(
        SapoError, match=r"^The node restarts, so this request was cancelled. Ask again once it has started"
    ):
        await asked
    await until(client, lambda event: is_new_node(event) and len(factory.made) == 2)
    engine, examiner = factory.made[0].engine.host, factory.made[0].examiner.host
    assert (engine.pid, examiner.pid, engine.restarts) == (None, None, 0)
    assert engine.is_closed and examiner.is_closed, "or who still waits for them would start them again"


async def test_what_is_answered_in_a_moment_is_answered_by_the_node_that_is_replaced(
    factory: Factory, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests_module, "MOMENT", 20)
    await client.call(Pause())
    reads, read = threading.Event(), threading.Event()
    history = factory.made[0].keeper.history
    monkeypatch.setattr(history, "sources", lambda: [] if reads.set() is None and read.wait(20) else None)
    asked = asyncio.create_task(client.call(GetSources()))
    await asyncio.to_thread(reads.wait, 20)
    await client.call(SetSettings(values=TASKS))
    await until(client, lambda event: isinstance(event, StateChanged) and event.state == "starting")
    read.set()
    assert await asked == Sources(items=[])
    await until(client, lambda event: is_new_node(event) and len(factory.made) == 2)


async def test_settings_that_cannot_be_used_are_taken_back(factory: Factory, client: Client, tmp_path: Path) -> None:
    factory.refuse = lambda settings: ModelError("No such tasks.") if settings.tasks == "gcd/easy" else None
    await client.call(Pause())
    await client.call(SetSettings(values=TASKS | {"threads": "1", "label": "other"}))
    await until(client, lambda event: is_new_node(event) and len(factory.made) == 2)
    are = await client.call(GetSettings())
    assert are.settings.tasks == SETTINGS.tasks and are.waiting == [] and are.settings.threads == 1
    assert str(factory.said[-1]) == "No such tasks. The node keeps the previous settings."
    kept = settings_file.read(DataFolder.at(tmp_path).settings, 0.0).settings
    assert (kept.tasks, kept.threads, kept.label) == (SETTINGS.tasks, 1, "other")
    assert are.settings.label == "mine", "this run's command line still holds"


async def test_a_wish_that_is_taken_back_in_time_changes_nothing(factory: Factory, client: Client) -> None:
    await in_a_round(factory, client)
    await client.call(SetSettings(values=TASKS))
    await client.call(ResetSettings(keys=["tasks"]))
    are = await client.call(GetSettings())
    assert are.waiting == []


async def test_a_model_that_is_not_there_is_refused_before_it_is_kept(client: Client) -> None:
    with pytest.raises((UsageError, ModelError), match="There is no model 'nowhere'"):
        await client.call(SetSettings(values={"model": "nowhere"}))
    assert (await client.call(GetSettings())).waiting == []


async def test_own_tasks_are_known_to_the_next_node_whatever_settings_do_meanwhile(
    factory: Factory, client: Client
) -> None:
    await in_a_round(factory, client)
    await client.call(AddTasks(path=str(EXAMPLE)))
    await client.call(SetSettings(values=TASKS))
    await client.call(ResetSettings(keys=["tasks"]))
    factory.made[0].engine.hold.set()
    await until(client, lambda event: is_new_node(event) and len(factory.made) == 2)
    assert [catalogue.own for catalogue in factory.catalogues] == [set(), {"roman_numbers"}]
    listed = await client.call(ListTasks(examples=False))
    assert [item.level for item in listed.items if item.own] == ["easy", "middle", "hard"]


async def test_an_end_comes_before_another_node(factory: Factory, client: Client) -> None:
    await client.call(SetSettings(values=TASKS))
    await client.call(Quit())
    await until(client, lambda event: isinstance(event, Stopping) and not event.failed)
    assert len(factory.made) == 1


async def test_a_sleep_while_a_worker_ends_finds_no_node_that_is_closed(
    factory: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[object] = []
    worker = Worker(DataFolder.open(tmp_path), SETTINGS, Options(tmp_path, {}, None, "rounds"))
    async with asyncio.timeout(30), worker.channel():
        running = asyncio.create_task(worker.run(""))
        async with await connect(tmp_path) as client:
            await client.call(GetStatus())
        assert worker._guest is not None
        node = factory.made[0].node
        close = node.close

        async def closing() -> None:
            found.append(worker._guest)
            await close()

        monkeypatch.setattr(node, "close", closing)
        worker._quit.set()
        assert await running == 0
    assert found == [None]
