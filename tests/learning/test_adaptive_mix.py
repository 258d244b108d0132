"""A node whose mix is adaptive: blocks are played and judged, survive deaths, and roll-backs count against them."""

import asyncio
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import HostDied
from sapo_desktop.learning.adaptive import AdaptiveState, begin, choose, conclude, rolled_back
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.plan import mix_shown
from sapo_desktop.worker.control.messages.events import EvalFinished, RoundFinished
from sapo_desktop.worker.governor import NodeState
from tests.learning.test_round import FakeSwarm
from tests.worker.test_node import SETTINGS, Scene, playing

ADAPTIVE = msgspec.structs.replace(SETTINGS, silo=False, mix="adaptive", validate_every=1)


def external(scene: Scene) -> list[int]:
    """External groups of each round; the swarm has as many as are asked for."""
    return [report.external_groups for report in scene.keeper.history.rounds().rounds]


async def test_each_block_is_played_with_one_mix_and_judged_by_its_score(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(ADAPTIVE, validate_every=2)
    async with playing(tmp_path, settings, rounds=8, swarm=FakeSwarm(groups=8)) as it:
        await it.until_state(NodeState.IDLE)
        assert external(it) == [4, 4, 2, 2, 6, 6, 0, 0]
        state = it.node.counters.adaptive
        # The stand-in solves two of eight questions more after two rounds, up to all of them after seven.
        assert state.arms["4/4"].mean > 0 and state.began_at == [True] * 8
        assert "The mix is 6/2 from now on (adaptive); it was 4/4." in it.notices()


async def test_a_run_that_was_broken_off_goes_on_like_an_unbroken_one(tmp_path: Path) -> None:
    async def play(folder: Path, *, breaks: bool) -> Counters:
        settings = msgspec.structs.replace(ADAPTIVE, validate_every=2)
        async with playing(folder, settings, rounds=7, swarm=FakeSwarm(groups=8)) as it:
            if breaks:
                await it.until(RoundFinished, count=3)
                it.engine.errors.append(HostDied("The engine ended."))
            await it.until_state(NodeState.IDLE)
            kept = it.keeper.store.get("last")
            assert kept is not None
            return kept.counters

    whole = await play(tmp_path / "whole", breaks=False)
    broken = await play(tmp_path / "broken", breaks=True)
    assert broken.adaptive == whole.adaptive and len(whole.adaptive.arms) == 3


async def test_a_roll_back_by_the_guard_is_a_bad_block(tmp_path: Path) -> None:
    async with playing(tmp_path, ADAPTIVE, swarm=FakeSwarm(groups=8)) as it:
        await it.until(RoundFinished, count=9)
        it.engine.skill = -100
        async with asyncio.timeout(20):
            while it.node.counters.guard.roll_backs == 0:
                it.changed.clear()
                await it.changed.wait()
        it.engine.hold = asyncio.Event()
        judgement = it.node.counters.guard
        base, *scores, last = [event.report for event in it.events if isinstance(event, EvalFinished)]
        assert judgement.roll_backs == 1 and last.score == 0.0
        state = begin(base.solved, judgement.questions, AdaptiveState())
        for report in scores:
            state = conclude(state, report, judgement.questions)
        after = rolled_back(state, judgement.best_solved, judgement.questions)
        assert it.node.counters.adaptive == after
        assert after.arms[choose(state)].earned < state.arms[choose(state)].earned - 2.5


async def test_going_back_by_hand_ends_the_block_without_a_verdict(tmp_path: Path) -> None:
    async with playing(tmp_path, ADAPTIVE, swarm=FakeSwarm(groups=8)) as it:
        await it.until(RoundFinished, count=2)
        it.engine.hold = asyncio.Event()
        written = await it.node.roll_back("1")
        assert written.counters.adaptive.began_at is None
        assert written.counters.adaptive.arms


async def test_without_scores_the_middle_is_played_and_said_once(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(ADAPTIVE, validate_every=0)
    async with playing(tmp_path, settings, rounds=3, swarm=FakeSwarm(groups=8)) as it:
        await it.until_state(NodeState.IDLE)
        assert external(it) == [4, 4, 4]
        (said,) = [text for text in it.notices() if "adaptive" in text]
        assert "rounds are played 4/4" in said
        assert mix_shown(settings, it.node.counters) == "adaptive (now 4/4)"


def test_checkpoints_of_before_begin_with_no_estimates() -> None:
    old = msgspec.msgpack.encode({"round": 3, "instance": "i", "seed": 1})
    assert msgspec.msgpack.decode(old, type=Counters).adaptive == AdaptiveState()
