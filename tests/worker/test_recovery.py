"""A node's reaction to hosts that die, and to missing memory or disk space."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import (
    CheckpointError,
    HostDied,
    HostTimeout,
    NotWritten,
    OutOfMemory,
    TooBig,
)
from sapo_desktop.worker import recovery
from sapo_desktop.worker.control.messages.events import (
    RoundFinished,
)
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.store import keeper as keeper_module
from sapo_desktop.worker.store.keeper import WriteBudget
from tests.worker.fakes import FakeEngine
from tests.worker.test_node import SETTINGS, Scene, playing


@pytest.mark.parametrize("error", [HostDied("The engine ended."), HostTimeout("The engine did not answer.")])
async def test_a_dead_engine_goes_on_from_the_newest_checkpoint(tmp_path: Path, error: HostDied | HostTimeout) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=2)
        it.engine.errors.append(error)
        await it.until(Notice)
        await it.until(RoundFinished, count=5)
        rounds = it.rounds()
        assert rounds == list(range(1, len(rounds) + 1))
        assert it.engine.host.restarts == 1


async def test_rounds_without_a_checkpoint_are_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = iter([True, True])
    monkeypatch.setattr(WriteBudget, "allows", lambda *asked: next(allowed, False))
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=4)
        it.engine.errors.append(HostDied("The engine ended."))
        await it.until(Notice)
        await it.until(RoundFinished, count=it.node.counters.round + 1)
        played = [event.report.round for event in it.events if isinstance(event, RoundFinished)]
        assert played.count(3) == 2 and played.count(2) == 1, "the weights have seen two rounds"


@pytest.mark.parametrize(("counted", "kills"), [(True, 1), (False, 2)])
async def test_a_killed_engine_is_given_less_at_once_where_that_was_counted_and_else_the_second_time(
    tmp_path: Path, counted: bool, kills: int
) -> None:
    async with playing(tmp_path) as it:
        before = it.engine.plan.trainer.micro_batch
        for kill in range(1, kills + 1):
            assert it.engine.plan.trainer.micro_batch == before
            it.engine.errors.append(HostDied("The engine was killed.", killed=True, counted=counted))
            await it.until(RoundFinished, count=2 * kill)
        assert it.engine.plan.trainer.micro_batch == before // 2


@pytest.mark.parametrize(("times", "tokens"), [(1, 256), (5, 16)])
async def test_out_of_memory_shortens_answers_until_they_fit(tmp_path: Path, times: int, tokens: int) -> None:
    async with playing(tmp_path) as it:
        it.engine.errors += [OutOfMemory("No memory.")] * times
        await it.until(RoundFinished)
        assert it.node.max_tokens == tokens
        it.node.status.take_settings(SETTINGS)  # somebody changed another one
        assert it.node.max_tokens == tokens
        assert f"answers are cut at {tokens} tokens" in it.notices()[-2]


async def test_a_killed_engine_that_cannot_do_less_at_once_gets_shorter_answers(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        plan = it.engine.plan
        plan.trainer, plan.batch = msgspec.structs.replace(plan.trainer, micro_batch=1), 2
        for kill, tokens in ((1, 512), (2, 256)):
            it.engine.errors.append(HostDied("The engine was killed.", killed=True, counted=True))
            await it.until(RoundFinished, count=2 * kill)
            assert plan.batch == plan.most_batch == 1 and it.node.max_tokens == tokens


async def test_a_model_that_does_not_fit_gives_way_to_a_smaller_one_that_takes_its_own_place_no_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "LOOK_AGAIN_SECONDS", 0.01)
    restart, too_big = FakeEngine.restart, [TooBig("starter does not fit.")] * 3

    async def too_big_at_first(engine: FakeEngine, checkpoint: Path | None) -> None:
        if too_big:
            raise too_big.pop()
        await restart(engine, checkpoint)

    monkeypatch.setattr(FakeEngine, "restart", too_big_at_first)
    async with playing(tmp_path) as it:
        it.engine.errors.append(TooBig("qwen does not fit."))
        await it.until(RoundFinished)
        assert it.engine.plan.model.name == "starter"
        (said,) = [text for text in it.notices() if "continues with starter" in text]
        assert said.startswith("qwen does not fit.") and "settings set model starter" in said
        assert (
            "starter does not fit. What was learned is not lost, and the node continues automatically." in it.notices()
        )


async def test_a_model_with_checkpoints_waits_until_it_fits_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "LOOK_AGAIN_SECONDS", 0.01)
    restart, looks = FakeEngine.restart, list[bool]()

    async def another_program_has_the_memory(engine: FakeEngine, checkpoint: Path | None) -> None:
        looks.append(engine.running)
        if len(looks) < 5:
            engine.host.pid = 1
            raise TooBig("It does not fit: {free} bytes are free.", free=len(looks))
        await restart(engine, checkpoint)

    monkeypatch.setattr(FakeEngine, "restart", another_program_has_the_memory)
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=2)
        it.node.orders.pause(None)
        await it.node.put_away()
        it.events.clear()
        it.node.orders.resume()
        await it.until(RoundFinished)
        assert it.engine.plan.model == Path("model") and not any(looks), "what does not fit gives its memory back"
        (said,) = it.notices()
        assert said.startswith("It does not fit: 1 bytes are free. What was learned is not lost")
        assert it.recovery._seconds == 0.08, "four looks, each later than the one before"


async def test_an_engine_that_keeps_dying_ends_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_waiting(seconds: float) -> None:
        await real_sleep(0)

    real_sleep = asyncio.sleep
    monkeypatch.setattr("sapo_desktop.worker.recovery.asyncio.sleep", no_waiting)
    async with playing(tmp_path) as it:
        it.engine.errors.extend([HostDied("The engine ended.")] * 9)
        await it.until_state(NodeState.FAILED)
        assert "The engine ended." in it.gate.reason
        it.engine.host.pid = None
        await it.node.evaluate("last", "test")
        assert it.engine.running, "who asks is answered all the same"


async def test_a_round_waits_for_room_on_the_disk_and_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_module, "RETRY_SECONDS", 0.01)
    async with playing(tmp_path, rounds=300) as it:
        await it.until(RoundFinished)
        await room_for(it, pages=1)
        await it.until_state(NodeState.PAUSED)
        assert "The disk is full" in it.gate.reason and it.engine.host.suspended
        assert "and the node continues automatically" in it.notices()[-1]
        played = it.node.counters.round
        await room_for(it, pages=10**6)
        await it.until_state(NodeState.WORKING)
        await it.until(RoundFinished, count=played)
        assert it.rounds()[:played] == list(range(1, played + 1))
        assert sum("continues automatically" in notice for notice in it.notices()) == 1


async def test_a_round_that_a_full_disk_ends_is_played_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "LOOK_AGAIN_SECONDS", 0.01)
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished, count=2)
        it.engine.errors += [NotWritten("The disk is full.")] * 9 + [NotWritten("It may not be written.")] * 2
        await it.until_state(NodeState.PAUSED)
        assert it.gate.reason == "Waiting: The disk is full."
        played = it.node.counters.round
        await it.until(RoundFinished, count=played + 2)
        assert it.rounds()[:played] == list(range(1, played + 1))
        assert it.engine.host.restarts == 0, "it holds rounds that no checkpoint has"
        waits = "What was learned is not lost, and the node continues automatically."
        assert it.notices() == [f"The disk is full. {waits}", f"It may not be written. {waits}"]


async def test_a_checkpoint_that_no_wait_repairs_ends_the_node(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="newer"):
        async with playing(tmp_path) as it:
            it.engine.errors.append(CheckpointError("A newer SAPO Desktop wrote these checkpoints."))
            assert it.task is not None
            await asyncio.wait({it.task}, timeout=10)


async def test_a_node_that_waits_for_room_can_be_ended(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=300) as it:
        await it.until(RoundFinished)
        await room_for(it, pages=1)
        await it.until_state(NodeState.PAUSED)
    assert it.task.cancelled(), "it did not wait for room first"


async def room_for(it: Scene, pages: int) -> None:
    """The history may be so large; SQLite says of a full disk what it says of that."""
    connection = it.keeper.history._database._connection
    await it.keeper.call(connection.execute, f"PRAGMA max_page_count = {pages}")


async def test_too_much_memory_is_answered_with_less_at_once_and_in_the_end_with_a_stop(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished)
        before = it.engine.plan.trainer.micro_batch
        await it.node.shrink("Too much.")
        assert it.engine.plan.trainer.micro_batch == before // 2
        await it.until(RoundFinished, count=it.node.counters.round + 1)
        async with asyncio.timeout(20):
            while it.gate.state is not NodeState.FAILED:
                await it.node.shrink("Too much.")
        assert "or choose a smaller model" in it.gate.reason and not it.engine.running
