"""Settings that are changed while the node runs: each takes effect, or the answer says when it will."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.state import NodeState
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.worker import messages as m
from sapo_desktop.worker.examiner import KeptIds
from sapo_desktop.worker.model_requests import ModelRequests
from sapo_desktop.worker.requests import Requests
from sapo_desktop.worker.swarm_side import Surroundings, SwarmSide
from tests.worker.test_node import SETTINGS, Scene


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
    )
    return SwarmSide(around, scene.node.show.say, scene.node.enter, scene.publish, scene.node.progress)


def requests(folder: Path, give_way: Callable[[bool], bool] = lambda low: True) -> tuple[Scene, Requests]:
    scene = Scene(folder, SETTINGS, 1e9)
    catalogue = load_catalogue(resource("tasks.toml"))
    served = Requests(
        scene.node,
        side_of(folder, scene),
        ModelRequests(DataFolder.at(folder), lambda: scene.node.settings, scene.publish),
        catalogue=catalogue,
        folder=DataFolder.at(folder),
        overrides={},
        publish=scene.publish,
        give_way=give_way,
        notices=lambda: [event for event in scene.events if isinstance(event, m.Notice)],
        quit=lambda: scene.events.append(m.Stopping(failed=False, reason="asked")),
    )
    return scene, served


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("micro_batch", "4"),
        ("temperature", "0.5"),
        ("kl_weight", "0.1"),
        ("updates", "2"),
        ("keep_checkpoints", "9"),
        ("write_gigabytes_a_day", "1"),
    ],
)
def test_what_the_hosts_were_started_with_holds_until_the_next_start_and_that_is_said(
    tmp_path: Path, key: str, value: str
) -> None:
    async def scene() -> None:
        it, served = requests(tmp_path)
        reply = await served.handle(m.SetSettings(values={key: value}))
        assert isinstance(reply, m.Ok) and f"{key}: from the next start on." in reply.text
        assert getattr(it.node.settings, key) == getattr(Settings(), key)

    asyncio.run(scene())


def test_what_a_round_reads_holds_from_the_next_round_on(tmp_path: Path) -> None:
    async def scene() -> None:
        it, served = requests(tmp_path)
        reply = await served.handle(m.SetSettings(values={"answers": "4"}))
        assert (reply, it.node.settings.answers) == (m.Ok(text="Saved."), 4)

    asyncio.run(scene())


def test_tasks_that_do_not_exist_are_refused_before_a_start_would_fail(tmp_path: Path) -> None:
    async def scene() -> None:
        _, served = requests(tmp_path)
        with pytest.raises(UsageError):
            await served.handle(m.SetSettings(values={"tasks": "no_such_family"}))
        assert not (tmp_path / "settings.toml").exists()

    asyncio.run(scene())


def test_ending_after_the_round_waits_for_a_round_that_is_being_finished(tmp_path: Path) -> None:
    async def scene() -> None:
        it, served = requests(tmp_path)
        it.node.orders.start(None)
        await served.handle(m.Finish())
        await served.handle(m.Quit(finish_round=True))
        assert it.gate.state is NodeState.FINISHING
        assert not any(isinstance(event, m.Stopping) for event in it.events)
        assert it.node.orders.when_finished is not None

    asyncio.run(scene())
