"""Settings changed while the node runs: each takes effect, or the reply says when it will."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError, SettingsError, TooBig, UsageError
from sapo_desktop.core.records import Generated, TaskMark
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.system import beyond
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import default_threads
from sapo_desktop.system.presence import programs, sensors, unsupported
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.worker import orders
from sapo_desktop.worker.control import keepable
from sapo_desktop.worker.control.channel import REQUESTS
from sapo_desktop.worker.control.handlers import settings as settings_requests
from sapo_desktop.worker.control.handlers.models import ModelRequests
from sapo_desktop.worker.control.handlers.requests import Requests
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Stopping
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import SettingsAre, Status, SwarmIs, Tasks, Unsupported
from sapo_desktop.worker.control.messages.requests import (
    Finish,
    GetSettings,
    GetStatus,
    GetSwarm,
    GetUnsupported,
    ListTasks,
    Quit,
    ResetSettings,
    SetSettings,
    Watch,
)
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.hosts.examiner import KeptIds
from sapo_desktop.worker.hosts.loading import Fitting
from sapo_desktop.worker.hosts.trainer import EnginePlan
from sapo_desktop.worker.hosts.updates import Looker, Updates
from sapo_desktop.worker.membership.side import Surroundings, SwarmSide
from sapo_desktop.worker.serving.local import LocalService
from sapo_desktop.worker.serving.server import ModelFacts
from tests.builders import round_report
from tests.worker.test_node import SETTINGS, Scene


class Unasked:
    """A model that no program asks."""

    async def facts(self) -> ModelFacts:
        raise NotImplementedError

    async def answer(self, *asked: object) -> Generated:
        raise NotImplementedError


def side_of(folder: Path, scene: Scene) -> SwarmSide:
    """The real one, of a node that stays in silo: nothing of it is started."""
    data = DataFolder.at(folder)
    around = Surroundings(
        data,
        load_catalogue(resource("tasks.toml")),
        scene.node.examiner,
        scene.node.engine,
        KeptIds(data.cache / "ids", ""),
        bytes(16),
        scene.node.yardstick,
    )
    return SwarmSide(around, scene.node.show.notice, scene.node.join, scene.publish, scene.node.progress)


def requests(
    folder: Path, give_way: Callable[[bool], bool] = lambda low: True, overrides: dict[str, str] | None = None
) -> tuple[Scene, Requests]:
    scene = Scene(folder, SETTINGS, 1e9)
    for host in scene.node.hosts:
        host.give_way = give_way
    catalogue = load_catalogue(resource("tasks.toml"))
    served = Requests(
        scene.node,
        side_of(folder, scene),
        ModelRequests(DataFolder.at(folder), lambda: scene.node.settings, scene.publish),
        catalogue=catalogue,
        folder=DataFolder.at(folder),
        overrides=overrides or {},
        publish=scene.publish,
        notices=lambda: [event for event in scene.events if isinstance(event, Notice)],
        follow=lambda settings, at_once: None,
        tasks_changed=lambda: None,
        local=LocalService(DataFolder.at(folder), scene.node.settings, Unasked(), scene.publish),
        updates=Updates(Looker(DataFolder.at(folder)), lambda: scene.node.settings, lambda: True, scene.publish),
        quit=lambda: scene.events.append(Stopping(failed=False, reason="asked")),
    )
    return scene, served


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("trainer", "none"),
        ("remote_url", "http://gpu:8000"),
    ],
)
async def test_what_a_node_is_made_of_waits_for_the_next_one(tmp_path: Path, key: str, value: str) -> None:
    it, served = requests(tmp_path)
    reply = await served.handle(SetSettings(values={key: value}))
    assert isinstance(reply, Ok) and f"{key}: takes effect now." in str(reply.text)
    assert getattr(it.node.settings, key) == getattr(Settings(), key)


async def test_what_a_round_reads_holds_from_the_next_round_on(tmp_path: Path) -> None:
    it, served = requests(tmp_path)
    reply = await served.handle(SetSettings(values={"answers": "4"}))
    assert (str(reply.text), it.node.settings.answers) == ("Saved.", 4)


async def test_tasks_that_do_not_exist_are_refused_before_a_start_would_fail(tmp_path: Path) -> None:
    _, served = requests(tmp_path)
    with pytest.raises(UsageError):
        await served.handle(SetSettings(values={"tasks": "no_such_family"}))
    assert not (tmp_path / "settings.toml").exists()


async def test_a_file_that_its_owner_damaged_is_not_replaced_by_defaults(tmp_path: Path) -> None:
    it, served = requests(tmp_path)
    damaged = 'silo = false\nlabel = "anna\n'
    (tmp_path / "settings.toml").write_text(damaged)
    for request in (SetSettings(values={"answers": "4"}), ResetSettings(keys=["answers"])):
        with pytest.raises(SettingsError, match="at line 2"):
            await served.handle(request)
    assert (tmp_path / "settings.toml").read_text() == damaged and it.node.settings == SETTINGS


async def test_a_setting_that_does_not_go_with_the_command_line_is_refused(tmp_path: Path) -> None:
    _, served = requests(tmp_path, overrides={"peers": "ws://192.168.1.5:8765", "swarm": "12" * 32})
    await served.handle(SetSettings(values={"lan": "on"}))
    with pytest.raises(UsageError, match="not encrypted"):
        await served.handle(SetSettings(values={"lan": "off"}))
    assert settings_file.read(tmp_path / "settings.toml", 0.0).settings.lan


async def test_what_is_set_for_good_holds_whatever_the_command_line_of_this_run_said(tmp_path: Path) -> None:
    it, served = requests(tmp_path, overrides={"questions": "3", "answers": "5"})
    values = {"questions": "7", "answers": "6"}
    await served.handle(SetSettings(values=values))
    assert (it.node.settings.questions, it.node.settings.answers) == (3, 5)
    with pytest.raises(SettingsError):
        await served.handle(SetSettings(values={"questions": "no number"}, for_good=True))
    reply = await served.handle(SetSettings(values={"questions": "8"}, for_good=True))
    assert (str(reply.text), it.node.settings.questions, it.node.settings.answers) == ("Saved.", 8, 5)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("schedule", "never", "never runs"),
        ("schedule", "mo 1-2", "mon-fri 18-8"),
        ("when_in_use", "pause", "This computer cannot detect whether somebody uses it"),
        ("hottest", "80", "no temperature"),
        ("when_in_use", "limits", "This computer cannot detect whether somebody uses it"),
        ("card_memory_most", "4", "No NVIDIA"),
        ("keep_awake", "on", "The app cannot keep this computer awake"),
    ],
)
async def test_a_condition_that_cannot_be_is_refused_at_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str, said: str
) -> None:
    cannot_tell(monkeypatch)
    _, served = requests(tmp_path)
    with pytest.raises(SapoError, match=said):
        await served.handle(SetSettings(values={key: value}))
    assert not (tmp_path / "settings.toml").exists()


def cannot_tell(patch: pytest.MonkeyPatch) -> None:
    """A computer without desktop session, sensors and card."""
    patch.setattr(sensors, "degrees", lambda: None)
    patch.setattr(unsupported, "gpus", list)
    patch.setattr(unsupported.awake, "can_hold", lambda: False)
    patch.delenv("DISPLAY", raising=False)
    patch.delenv("WAYLAND_DISPLAY", raising=False)


async def test_what_cannot_be_kept_here_is_reported_and_goes_back_to_its_default_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cannot_tell(monkeypatch)
    kept = msgspec.structs.replace(SETTINGS, when_in_use="pause", hottest=80)
    settings_file.write(tmp_path / "settings.toml", kept)
    it, served = requests(tmp_path)
    reply = await served.handle(GetUnsupported())
    assert isinstance(reply, Unsupported)
    assert {"when_in_use", "hottest", "card_memory_most", "keep_awake"} <= set(reply.reasons)
    assert "outside a desktop session" in str(reply.reasons["when_in_use"])
    for values in ({"when_in_use": "continue"}, {"hottest": "0"}):
        await served.handle(SetSettings(values=values))
    await served.handle(ResetSettings(keys=["when_in_use"]))
    assert it.node.settings.hottest == 0


@pytest.mark.parametrize("key", ["memory_most", "card_memory_most"])
async def test_a_cap_below_what_the_model_needs_is_refused_at_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    def check(fitting: Fitting, plan: EnginePlan, held: int, on_card: int) -> None:
        assert getattr(fitting._settings(), key) == 0.1
        raise TooBig(f"Set {key} to 2.0 GB or more.")

    monkeypatch.setattr(settings_requests.Fitting, "check", check)
    monkeypatch.setattr(unsupported, "gpus", lambda: ["a card"])
    it, served = requests(tmp_path)
    with pytest.raises(TooBig, match=r"2\.0 GB or more"):
        await served.handle(SetSettings(values={key: "0.1"}))
    assert not (tmp_path / "settings.toml").exists() and getattr(it.node.settings, key) == 0


async def test_a_program_that_nobody_knows_is_taken_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "running", lambda: {"blender", "Photo Lab.exe"})
    it, served = requests(tmp_path)
    reply = await served.handle(SetSettings(values={"pause_for": "blendr, photo lab"}))
    assert isinstance(reply, Ok) and it.node.settings.pause_for == "blendr, photo lab"
    assert str(reply.advice) == "No program blendr is running or found here. Did you mean blender?"
    assert str(reply.text) == f"Saved. {reply.advice}"


async def test_a_cap_that_the_models_alone_exceed_is_taken_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "weights").write_bytes(bytes(5000))
    monkeypatch.setattr(keepable, "models_folder", lambda settings: tmp_path / "models")
    _, served = requests(tmp_path)
    for gigabytes, said in (("1e-6", "The models alone take 5.0 KB"), ("1", "")):
        reply = await served.handle(SetSettings(values={"disk_gigabytes": gigabytes}))
        assert isinstance(reply, Ok) and str(reply.advice).startswith(said) and bool(reply.advice) == bool(said)


async def test_more_threads_than_cores_are_refused_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beyond, "usable_cores", lambda: 2)
    it, served = requests(tmp_path)
    with pytest.raises(UsageError, match="at most 2"):
        await served.handle(SetSettings(values={"threads": "64"}))
    assert not (tmp_path / "settings.toml").exists() and it.node.settings.threads == SETTINGS.threads


async def test_ending_after_the_round_waits_for_a_round_that_is_being_finished(tmp_path: Path) -> None:
    it, served = requests(tmp_path)
    it.node.orders.start(None)
    await served.handle(Finish())
    await served.handle(Quit(finish_round=True))
    assert it.gate.state is NodeState.FINISHING
    assert not any(isinstance(event, Stopping) for event in it.events)
    assert it.node.orders.wishes.finish


async def test_settings_change_whole_though_their_client_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it, served = requests(tmp_path)
    at, go_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def follow(side: SwarmSide, settings: Settings) -> None:
        at.set()
        await go_on.wait()
        done.set()

    monkeypatch.setattr(SwarmSide, "follow", follow)
    asked = asyncio.create_task(served.handle(SetSettings(values={"label": "tests"})))
    await at.wait()
    asked.cancel()
    await asyncio.wait({asked})
    go_on.set()
    await asyncio.wait_for(done.wait(), 5)
    assert it.node.settings.label == "tests"


async def test_threads_take_effect_at_the_next_round_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_file.write(tmp_path / "settings.toml", SETTINGS)
    monkeypatch.setattr(beyond, "usable_cores", lambda: 64)
    monkeypatch.setattr(orders, "usable_cores", lambda: 64)
    it, served = requests(tmp_path)
    more = default_threads(64) + 2
    reply = await served.handle(SetSettings(values={"threads": str(more)}))
    assert str(reply.text) == f"Saved. threads: {more} from the next round on."
    assert it.node.settings.threads == more and it.node.orders.decision.threads == more
    reply = await served.handle(ResetSettings(keys=["threads"]))
    assert str(reply.text) == f"Saved. threads: {default_threads(64)} from the next round on."
    shown = await served.handle(GetSettings())
    assert isinstance(shown, SettingsAre) and shown.waiting == []


async def test_low_priority_takes_effect_at_once(tmp_path: Path) -> None:
    asked: list[bool] = []
    it, served = requests(tmp_path, lambda low: not asked.append(low))
    for value in (False, True):
        reply = await served.handle(SetSettings(values={"low_priority": "on" if value else "off"}))
        assert (str(reply.text), it.node.settings.low_priority) == ("Saved.", value)
    await served.handle(SetSettings(values={"answers": "4"}))
    assert asked == [False, False, True, True], "engine and examiner"


async def test_what_waits_is_reported_until_it_is_taken_back(tmp_path: Path) -> None:
    settings_file.write(tmp_path / "settings.toml", SETTINGS)
    it, served = requests(tmp_path, lambda low: False)

    async def waiting() -> list[str]:
        shown = await served.handle(GetSettings())
        assert isinstance(shown, SettingsAre)
        return shown.waiting

    assert await waiting() == []
    reply = await served.handle(SetSettings(values={"low_priority": "off", "trainer": "none", "answers": "4"}))
    assert isinstance(reply, Ok) and "trainer: takes effect now." in str(reply.text)
    assert "low_priority: takes effect at the next start, because this system does not let" in str(reply.text)
    assert await waiting() == ["low_priority", "trainer"]
    assert it.node.settings.low_priority and it.node.settings.answers == 4
    await served.handle(SetSettings(values={"low_priority": "on", "trainer": "auto"}))
    assert await waiting() == []


async def test_tasks_are_listed_without_questions_where_none_are_wanted(tmp_path: Path) -> None:
    it, served = requests(tmp_path)
    marks = [TaskMark(task="gcd/easy", answers=8, solved=0.5, partial=0.6, reward=0.25)]
    it.keeper.history.record_round(it.node.counters.run, round_report(1, tasks=marks), [], [])
    listed = await served.handle(ListTasks(examples=False))
    assert isinstance(listed, Tasks) and {item.example for item in listed.items} == {""}
    gcd = {item.level: item for item in listed.items if item.family == "gcd"}
    assert (gcd["easy"].solved, gcd["easy"].reward, gcd["easy"].answers) == (0.5, 0.25, 8)
    assert [level for level, item in gcd.items() if item.training] == ["middle"], "the curriculum is off"
    asked = await served.handle(ListTasks())
    assert isinstance(asked, Tasks) and {item.example for item in asked.items} != {""}


async def test_the_swarm_is_shown_without_the_history(tmp_path: Path) -> None:
    it, served = requests(tmp_path)
    for used in (0, 3):
        it.keeper.lasting.claimed("ab" * 32, used)
    it.keeper.lasting.shared(8)
    it.keeper.history.close()  # what reads it now fails
    swarm = await served.handle(GetSwarm())
    status = await served.handle(GetStatus())
    assert isinstance(swarm, SwarmIs) and isinstance(status, Status)
    assert swarm.info == status.swarm and (swarm.info.state, swarm.info.used_total) == ("silo", 3)
    assert status.answers_shared == 8


def test_every_request_but_the_channels_own_has_a_handler(tmp_path: Path) -> None:
    _, served = requests(tmp_path)
    assert served.handlers.kinds == REQUESTS - {Watch}


async def test_two_changes_at_once_lose_neither(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = threading.Event()
    monkeypatch.setattr(settings_requests, "find_model", lambda *args: found.wait(10))
    settings_file.write(tmp_path / "settings.toml", SETTINGS)
    _, served = requests(tmp_path)
    slow = asyncio.create_task(served.handle(SetSettings(values={"model": "other"})))
    await asyncio.sleep(0)
    quick = asyncio.create_task(served.handle(SetSettings(values={"label": "mine"})))
    await asyncio.sleep(0)
    found.set()
    await asyncio.gather(slow, quick)
    kept = settings_file.read(tmp_path / "settings.toml", 0.0).settings
    assert (kept.model, kept.label) == ("other", "mine")
