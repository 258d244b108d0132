"""Requests to a node at inconvenient moments."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import HostDied, UsageError
from sapo_desktop.learning.plan import tasks_of_interest
from sapo_desktop.system.hardware import default_threads
from sapo_desktop.worker.control.messages.events import PhaseChanged, RoundFinished
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.hosts.hosting import PATIENCE, grace_of_caller
from tests.learning.test_plan import LEVELS
from tests.learning.test_round import MEASURED, FakeSwarm
from tests.worker.test_node import SETTINGS, playing


async def test_a_node_that_gave_up_goes_on_where_it_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_sleep = asyncio.sleep
    monkeypatch.setattr("sapo_desktop.worker.recovery.asyncio.sleep", lambda seconds: real_sleep(0))
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=2)
        it.engine.errors.extend([HostDied("The engine ended.")] * 5)
        await it.until_state(NodeState.FAILED)
        reached = it.node.counters.round
        it.node.orders.resume()
        assert it.gate.state is NodeState.WORKING
        await it.until(RoundFinished, count=reached + 2)
        rounds = [r.round for r in it.keeper.history.rounds().rounds]
        assert rounds == list(range(1, len(rounds) + 1))


async def test_a_client_that_leaves_in_the_middle_of_its_roll_back_leaves_a_whole_one(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=3)
        it.engine.restoring = asyncio.Event()
        asked = asyncio.create_task(it.node.roll_back("1"))
        async with asyncio.timeout(20):
            while it.engine.skill != 2:
                await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait([asked])
        it.engine.restoring.set()
        reached = it.node.counters.round
        await it.until(RoundFinished, count=reached + 1)
        assert not it.task.done()
        newest = it.keeper.store.read(reached + 1)
        assert (newest.round, (newest.folder / "skill").read_text()) == (reached, "2")


async def test_an_engine_that_died_while_nothing_trains_is_started_for_a_request(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=2) as it:
        await it.until_state(NodeState.IDLE)
        it.engine.host.pid = None
        assert (await it.node.evaluate("last", "test")).score == 3 / 8
        assert it.engine.host.restarts == 1


async def test_an_engine_that_died_while_the_node_pauses_is_started_for_a_request(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=2)
        it.engine.hold = asyncio.Event()
        await it.until(PhaseChanged)
        it.node.orders.pause(None)
        it.engine.hold.set()
        it.engine.host.pid = None
        reached = it.node.counters.round
        async with asyncio.timeout(20):
            await it.node.evaluate("last", "test")
        assert it.engine.host.restarts == 1 and it.gate.state is NodeState.PAUSED
        it.node.orders.resume()
        await it.until(RoundFinished, count=reached + 1)
        rounds = [r.round for r in it.keeper.history.rounds().rounds]
        assert rounds == list(range(1, len(rounds) + 1))


async def test_a_request_that_is_given_up_waits_for_the_engine_and_a_round_does_not(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=1) as it:
        await it.until_state(NodeState.IDLE)
        before = grace_of_caller.get()
        async with it.node.awake():
            assert grace_of_caller.get() == PATIENCE > 10 * before
        assert grace_of_caller.get() == before


async def test_rolling_back_sees_a_round_that_is_still_being_prepared(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=2)
        configuring, go_on = asyncio.Event(), asyncio.Event()
        configure = it.engine.configure

        async def slowly(**given: Any) -> None:
            configuring.set()
            await go_on.wait()
            await configure(**given)

        it.engine.configure = slowly  # type: ignore[method-assign]
        it.node.status.take_settings(msgspec.structs.replace(it.node.settings, threads=default_threads() + 1))
        await configuring.wait()
        reached = it.node.counters.round
        written = await it.node.roll_back("1")
        assert (written.round, it.node.counters.round) == (reached, reached), "no round was played meanwhile"
        go_on.set()
        await it.until(RoundFinished, count=reached + 1)


async def test_after_a_dead_engine_the_learning_rate_is_that_of_the_checkpoint(tmp_path: Path) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, learning_rate=1e-3)) as it:
        await it.until(RoundFinished, count=1)
        it.engine.plan.trainer = msgspec.structs.replace(it.engine.plan.trainer, learning_rate=5e-4)
        it.engine.errors.append(HostDied("The engine ended."))
        await it.until(Notice)
        await it.until(RoundFinished, count=it.node.counters.round + 1)
        assert it.engine.plan.trainer.learning_rate == 1e-3


async def test_an_ending_node_keeps_the_rounds_that_the_allowance_left_without_a_checkpoint(tmp_path: Path) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished, count=2)
        it.engine.hold = asyncio.Event()
        await asyncio.sleep(0)
        assert it.keeper.store.numbers() == []
    assert it.keeper.store.numbers() == [it.node.counters.round]
    newest = it.keeper.store.read(it.node.counters.round)
    assert (newest.folder / "skill").read_text() == str(1 + it.node.counters.round)


async def test_an_ending_node_keeps_nothing_of_a_round_whose_step_has_begun(tmp_path: Path) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        it.engine.stepping = asyncio.Event()
        async with asyncio.timeout(20):
            while it.node.show.phase != "train":
                await asyncio.sleep(0)
    assert it.keeper.store.numbers() == []


async def test_an_ending_node_whose_engine_is_gone_says_what_is_played_again(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=2) as it:
        await it.until_state(NodeState.IDLE)
        it.keeper.newest = None
        it.engine.host.pid = None
    assert it.notices()[-1:] == ["The engine is not running. The next start continues after round 0."]


async def test_finishing_lifts_a_pause_for_the_current_round_and_no_further(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        it.engine.hold = asyncio.Event()
        await it.until(PhaseChanged)
        it.node.orders.pause(None)
        it.node.orders.finish()
        assert it.gate.state is NodeState.FINISHING and not it.engine.host.suspended
        it.engine.hold.set()
        await it.until_state(NodeState.PAUSED)
        assert it.node.counters.round == 1 == it.keeper.store.numbers()[-1]
        it.node.orders.finish()
        assert (it.gate.state, it.gate.reason) == (NodeState.PAUSED, "Paused after round 1, as you asked")


async def test_before_the_first_round_there_is_nothing_to_go_back_from(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        it.engine.hold = asyncio.Event()
        await it.until(PhaseChanged)
        with pytest.raises(UsageError, match="Nothing was trained yet"):
            await it.node.roll_back("base")
        assert it.keeper.store.numbers() == []
        it.engine.hold.set()
        await it.until(RoundFinished)


async def test_rolling_back_leaves_the_evaluation_of_another_client_alone(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=2)
        it.engine.hold = asyncio.Event()
        scored = asyncio.create_task(it.node.evaluate("base", "test"))
        await asyncio.sleep(0)
        await it.node.roll_back("1")
        assert not scored.done()
        it.engine.hold.set()
        assert (await scored).score == 1 / 8
        assert it.engine.host.cancels == 0


async def test_a_score_taken_between_step_and_end_of_a_round_names_that_round(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        it.engine.stepping = asyncio.Event()
        async with asyncio.timeout(20):
            while it.node.show.phase != "train":
                await asyncio.sleep(0)
        assert (await it.node.evaluate("last", "test")).round == 1
        it.engine.stepping.set()
        await it.until(RoundFinished)


async def test_a_node_in_the_swarm_asks_shares_and_trains_on_others(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, silo=False, mix="6/2")
    async with playing(tmp_path, settings, rounds=2, swarm=(swarm := FakeSwarm(groups=1))) as it:
        await it.until_state(NodeState.IDLE)
        rounds = it.keeper.history.rounds().rounds
        assert [(r.local_groups, r.external_groups) for r in rounds] == [(7, 1)] * 2
        assert [r.swarm_reward and r.swarm_reward.value for r in rounds] == [MEASURED.value] * 2
        assert len(swarm.shared) == 14, "a group of a peer's spares a question"
        assert swarm.wanted == (tasks_of_interest(settings, it.node.counters, LEVELS), 2)
