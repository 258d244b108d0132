"""Held-out scores between rounds, and what the node makes of them."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import (
    CheckpointError,
    NotWritten,
)
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Subject
from sapo_desktop.worker.control.messages.events import (
    RoundFinished,
)
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.hosts.hosting import PATIENCE, grace_of_caller
from sapo_desktop.worker.store.checkpoints import Checkpoint
from tests.worker.test_node import SETTINGS, playing


async def test_validation_names_base_and_best_and_the_guard_rolls_back(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, validate_every=1, learning_rate=1e-3)
    async with playing(tmp_path, settings) as it:
        await it.until(RoundFinished, count=9)
        scores = it.scores()
        assert (scores[0].checkpoint, scores[0].round, scores[0].score) == ("base", 0, 1 / 8)
        assert [r.checkpoint for r in scores[1:4]] == ["1", "2", "3"]
        it.node.orders.pause(None)
        best = it.node.counters.guard.best_checkpoint
        assert best is not None and best >= 3
        it.engine.skill = -100  # lost all it knew; steps add one each
        it.node.orders.resume()
        await it.until_so(lambda: any("learning rate" in text for text in it.notices()))
        await it.until(RoundFinished, count=it.node.counters.round + 1)
        assert it.engine.rates == [5e-4]
        assert it.engine.skill > 0


@pytest.mark.parametrize("kept", [50, 1])
async def test_where_the_best_checkpoint_is_damaged_the_guard_goes_back_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=1)) as it:
        await it.until(RoundFinished, count=9)
        it.node.orders.pause(None)
        best = it.node.counters.guard.best_checkpoint
        assert best is not None and best >= 3
        it.keeper.store.prune(kept)
        (it.keeper.store.folder / f"{best:08d}" / "skill").write_text("1000")
        it.engine.skill, restored = -100, list[Path | None]()
        restore = it.engine.restore

        async def noted(folder: Path | None, *, weights_only: bool = False) -> None:
            restored.append(folder)
            await restore(folder, weights_only=weights_only)

        monkeypatch.setattr(it.keeper, "_keep", kept)
        monkeypatch.setattr(it.engine, "restore", noted)
        it.node.orders.resume()
        await it.until_so(lambda: bool(restored))
        assert restored == [it.keeper.store.folder / f"{best - 1:08d}" if kept > 1 else None]
        assert any("is damaged" in text and "goes back further" in text for text in it.notices())


async def test_between_two_verdicts_a_part_of_the_questions_is_asked_each_time(tmp_path: Path) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=8), rounds=9) as it:
        await it.until_state(NodeState.IDLE)
        scores = it.scores()
        assert [r.round for r in scores] == [*range(1, 8), 0, 8, 9]
        assert [r.checkpoint for r in scores] == [*[""] * 7, "base", "8", ""]
        assert [r.questions for r in scores] == [*range(1, 8), 8, 8, 8], "at first those that were asked so far"
        assert scores[-1].gain is not None and scores[-1].gain.value == scores[-1].score - scores[7].score
        assert len({r.line for r in scores}) == 1
        assert [len(r.prints) for r in scores] == [len(r.tasks) for r in scores]
        assert scores[7].prints == scores[8].prints == scores[9].prints != scores[0].prints
        assert len(it.node.counters.guard.looks) == 2, "the base's, and one verdict"
        assert set(it.keeper.history.checkpoint_scores()) == {"base", "8"}


async def test_until_all_questions_were_asked_once_they_come_twice_as_often(tmp_path: Path) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=32), rounds=40) as it:
        await it.until_state(NodeState.IDLE)
        rounds = [r.round for r in it.scores() if r.checkpoint != "base"]
        assert rounds == [*range(1, 16, 2), *range(18, 41, 4)]
        assert [r.checkpoint for r in it.scores() if r.checkpoint] == ["base", "15"]


async def test_what_had_learned_is_asked_all_where_the_way_of_asking_is_another_one(tmp_path: Path) -> None:
    """Scores of two ways of asking are kept apart, and gains are over the same questions."""
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=3), rounds=3) as it:
        await it.until_state(NodeState.IDLE)
        former = msgspec.structs.replace(it.node.counters.standing, questions="asked otherwise")
        it.node.status.counters = msgspec.structs.replace(it.node.counters, standing=former)
        it.events.clear()
        it.node.orders.start(1)
        await it.until(RoundFinished)
        before, now = it.node.counters.standing, it.scores()[-1]
        assert (now.round, now.checkpoint, now.questions) == (4, "", sum(one is not None for one in before.results))
        assert now.gain is not None and now.gain.value >= 0


async def test_going_back_by_hand_to_a_weaker_adapter_is_no_lost_skill(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, validate_every=1)
    async with playing(tmp_path, settings, rounds=7) as it:
        await it.until_state(NodeState.IDLE)
        await it.node.roll_back("base")
        it.engine.steps, it.engine.skill = 0, -100
        it.node.orders.start(8)
        await it.until(RoundFinished, count=15)
        guard = it.node.counters.guard
        assert (guard.external_less, guard.learning_rate_factor) == (0, 1.0)


async def test_a_verdict_without_its_checkpoint_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path, counters: Counters) -> Checkpoint:
        raise CheckpointError("The disk is full.")

    settings = msgspec.structs.replace(SETTINGS, validate_every=1)
    async with playing(tmp_path, settings, rounds=2) as it:
        monkeypatch.setattr(it.keeper.store, "commit", full)
        await it.until_state(NodeState.IDLE)
        assert it.node.counters.guard.best_checkpoint is None
        assert it.node.counters.round == 2
        assert "The disk is full. Training continues." in it.notices()


async def test_a_round_that_a_full_disk_leaves_without_a_score_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=1), rounds=2) as it:
        refresh, errors = it.node.scores.evaluator.refresh, [NotWritten("The disk is full.")]

        async def full_once(*about: Any) -> Any:
            if errors:
                raise errors.pop()
            return await refresh(*about)

        monkeypatch.setattr(it.node.scores.evaluator, "refresh", full_once)
        await it.until_state(NodeState.IDLE)
        assert it.rounds() == [1, 2]
        assert it.notices() == ["The disk is full. Training continues."]


async def test_memory_is_given_back_without_the_held_out_questions_that_are_being_answered_and_no_round_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = msgspec.structs.replace(SETTINGS, validate_every=4)
    async with playing(tmp_path, settings, bytes_a_day=10) as it, asyncio.timeout(20):
        asked, refresh = asyncio.Event(), it.node.scores.evaluator.refresh
        patience: list[float] = []

        async def unending_at_the_verdict(subject: Subject, *about: Any) -> Any:
            if subject.round == 4:
                asked.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    patience.append(grace_of_caller.get())
            return await refresh(subject, *about)

        monkeypatch.setattr(it.node.scores.evaluator, "refresh", unending_at_the_verdict)
        await asked.wait()
        part = it.node.counters.standing.part
        it.node.orders.pause(None)
        await it.node.put_away()
        assert not it.engine.running and it.node.orders.finished == 4
        assert patience == [PATIENCE], "or the engine may be ended with the rounds that are to be kept"
        assert it.rounds() == [1, 2, 3, 4]
        kept = await it.node.find_checkpoint("last")
        assert kept is not None and kept.round == 4 and not any("continues after" in text for text in it.notices())
        assert kept.counters.guard.best_checkpoint is None and kept.counters.standing.part == part, "it has no score"
        it.node.orders.resume()
        await it.until(RoundFinished, count=5)
        verdicts = [(one.checkpoint, one.round) for one in it.keeper.history.evals() if one.checkpoint]
        assert verdicts == [("base", 0), ("5", 5)], "the part that was given up is asked, and the verdict given"


async def test_the_time_for_held_out_questions_is_part_of_the_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 0.0
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=1), rounds=1) as it:
        monkeypatch.setattr(it.gate, "clock", lambda: seconds)
        score = it.node.scores.evaluator.refresh

        async def slowly(*asked: Any) -> Any:
            nonlocal seconds
            assert not it.node.status.round_seconds, "a pace before the first round is done would be too fast"
            seconds += 100.0
            return await score(*asked)

        monkeypatch.setattr(it.node.scores.evaluator, "refresh", slowly)
        await it.until(RoundFinished)
        report = it.keeper.history.rounds().rounds[0]
        assert report.evaluate_seconds >= 100.0 and report.seconds >= report.evaluate_seconds
        assert it.node.status.round_seconds == [report.seconds]
