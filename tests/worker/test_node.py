"""The node with real checkpoints and history, and stand-ins for what computes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import (
    CheckpointError,
    HostDied,
    HostTimeout,
    NotWritten,
    OutOfMemory,
    SapoError,
    TaskError,
    TooBig,
    UsageError,
)
from sapo_desktop.core.records import Question
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Evaluator, Subject
from sapo_desktop.learning.round import Swarm
from sapo_desktop.system.hardware import default_threads
from sapo_desktop.worker import recovery
from sapo_desktop.worker.control.messages.base import Message
from sapo_desktop.worker.control.messages.events import (
    CheckpointsChanged,
    EvalFinished,
    Event,
    PhaseChanged,
    RoundFinished,
)
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.hosts.hosting import GRACE, PATIENCE, grace_of_caller
from sapo_desktop.worker.node import Node
from sapo_desktop.worker.orders import Gate
from sapo_desktop.worker.store import keeper as keeper_module
from sapo_desktop.worker.store.checkpoints import Checkpoint, CheckpointStore
from sapo_desktop.worker.store.history import History
from sapo_desktop.worker.store.keeper import Keeper, WriteBudget
from tests.builders import run_manifest
from tests.learning.test_plan import LEVELS
from tests.worker.fakes import FakeEngine, FakeExaminer

SETTINGS = Settings(validate_every=0, curriculum=False, seed=1)


class Scene:
    """A node and what it published."""

    task: asyncio.Task[None]

    def __init__(self, folder: Path, settings: Settings, bytes_a_day: float, swarm: Swarm | None = None) -> None:
        self.events: list[Event] = []
        self.changed = asyncio.Event()
        self.engine = FakeEngine()
        self.examiner = FakeExaminer()
        history = History(folder / "history.sqlite")
        store = CheckpointStore(folder / "checkpoints")
        self.keeper = Keeper(store, history, WriteBudget(bytes_a_day, [], 0.0), keep=5)
        self.gate = Gate([self.engine.host, self.examiner.host], self.publish)
        self.node = Node(
            settings=settings,
            counters=Counters(round=0, instance="i", seed=1, run=history.begin_run(run_manifest())),
            levels=LEVELS,
            gate=self.gate,
            engine=self.engine,  # type: ignore[arg-type]
            examiner=self.examiner,  # type: ignore[arg-type]
            evaluator=Evaluator(self.engine, self.examiner, bytes(32)),  # type: ignore[arg-type]
            keeper=self.keeper,
            publish=self.publish,
        )
        self.node.join(swarm)

    def publish(self, event: Event) -> None:
        self.events.append(event)
        self.changed.set()

    async def until(self, *kinds: type[Message], count: int = 1) -> None:
        """Wait until `count` events of these kinds were published."""
        async with asyncio.timeout(20):
            while sum(isinstance(event, kinds) for event in self.events) < count:
                self.changed.clear()
                await self.changed.wait()

    async def until_state(self, state: NodeState) -> None:
        async with asyncio.timeout(20):
            while self.gate.state is not state:
                self.changed.clear()
                await self.changed.wait()

    def notices(self) -> list[str]:
        return [str(event.text) for event in self.events if isinstance(event, Notice)]


@contextlib.asynccontextmanager
async def playing(
    folder: Path,
    settings: Settings = SETTINGS,
    *,
    rounds: int | None = None,
    bytes_a_day: float = 1e9,
    swarm: Swarm | None = None,
) -> AsyncIterator[Scene]:
    scene = Scene(folder, settings, bytes_a_day, swarm)
    scene.node.orders.start(rounds)
    scene.task = task = asyncio.create_task(scene.node.run())
    try:
        yield scene
        if task.done():
            task.result()
    finally:
        task.cancel()
        await asyncio.wait([task])
        await scene.node.close()


@pytest.mark.parametrize("curriculum", [False, True])
async def test_what_the_next_round_asks_is_known_before_the_step(tmp_path: Path, curriculum: bool) -> None:
    settings = msgspec.structs.replace(SETTINGS, curriculum=curriculum)
    async with playing(tmp_path, settings, rounds=4) as scene:
        await scene.until(RoundFinished, count=4)
    # Of each round but the first; after the last one, too, for who goes on later.
    assert scene.engine.ahead[:-1] == scene.engine.asked[1:] and len(scene.engine.ahead) == 4


@pytest.mark.parametrize("error", [TaskError("no question"), HostDied("gone")])
async def test_a_round_lasts_where_the_next_ones_questions_cannot_be_set_yet(
    tmp_path: Path, error: SapoError, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [error]
    whole = FakeExaminer.training_questions

    async def fails_once(examiner: FakeExaminer, seed: int, slot: int, tasks: Sequence[str]) -> list[Question]:
        if slot == 2 and errors:
            raise errors.pop()
        return await whole(examiner, seed, slot, tasks)

    monkeypatch.setattr(FakeExaminer, "training_questions", fails_once)
    async with playing(tmp_path, rounds=3) as scene:
        await scene.until(RoundFinished, count=3)
    assert not errors and len(scene.engine.ahead) == 2 and len(scene.engine.asked) == 3


async def test_nothing_is_answered_ahead_where_it_is_not_wanted(tmp_path: Path) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, overlap=False), rounds=2) as scene:
        await scene.until(RoundFinished, count=2)
    assert scene.engine.ahead == []


async def test_rounds_are_counted_kept_and_checkpointed(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=3) as it:
        await it.until_state(NodeState.IDLE)
        assert it.node.counters.round == 3
        assert it.keeper.store.numbers() == [1, 2, 3]
        rounds = it.keeper.history.rounds().rounds
        assert [(r.round, r.checkpoint) for r in rounds] == [(1, 1), (2, 2), (3, 3)]
        assert it.gate.reason == "3 rounds done"


async def test_a_small_allowance_means_fewer_checkpoints_but_the_last_is_written(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=4, bytes_a_day=10) as it:
        await it.until_state(NodeState.IDLE)
        assert it.keeper.store.numbers() == [4]
        assert [r.round for r in it.keeper.history.rounds().rounds] == [1, 2, 3, 4]


async def test_a_pause_suspends_the_hosts_and_resuming_goes_on(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished)
        it.node.orders.pause(None)
        assert it.engine.host.suspended and it.examiner.host.suspended
        reached = it.node.counters.round
        it.node.orders.resume()
        await it.until(RoundFinished, count=reached + 2)


@pytest.mark.parametrize("error", [HostDied("The engine ended."), HostTimeout("The engine did not answer.")])
async def test_a_dead_engine_goes_on_from_the_newest_checkpoint(tmp_path: Path, error: HostDied | HostTimeout) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=2)
        it.engine.errors.append(error)
        await it.until(Notice)
        await it.until(RoundFinished, count=5)
        rounds = [r.round for r in it.keeper.history.rounds().rounds]
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


async def test_out_of_memory_shortens_answers_and_goes_on(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        it.engine.errors.append(OutOfMemory("No memory."))
        await it.until(RoundFinished, count=2)
        assert it.node.max_tokens == 256
        it.node.take_settings(SETTINGS)  # somebody changed another one
        assert it.node.max_tokens == 256
        assert any("answers are cut at" in text for text in it.notices())


async def test_less_is_asked_of_the_memory_until_it_is_enough(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        it.engine.errors += [OutOfMemory("No memory.")] * 5
        await it.until(RoundFinished, count=1)
        assert it.node.max_tokens == 16


async def test_a_killed_engine_that_cannot_do_less_at_once_gets_shorter_answers(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        it.engine.plan.trainer = msgspec.structs.replace(it.engine.plan.trainer, micro_batch=1)
        it.engine.plan.batch = 2
        it.engine.errors.append(HostDied("The engine was killed.", killed=True, counted=True))
        await it.until(RoundFinished, count=2)
        assert it.engine.plan.batch == it.engine.plan.most_batch == 1 and it.node.max_tokens == 512
        it.engine.errors.append(HostDied("The engine was killed.", killed=True, counted=True))
        await it.until(RoundFinished, count=4)
        assert it.node.max_tokens == 256


async def test_a_model_that_does_not_fit_gives_way_to_the_starter_before_there_is_a_checkpoint(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        it.engine.errors.append(TooBig("qwen does not fit."))
        await it.until(RoundFinished, count=2)
        assert it.engine.plan.model.name == "starter"
        said = next(text for text in it.notices() if text.startswith("qwen does not fit."))
        assert "Going on with starter" in said and "settings set model starter" in said


async def test_a_smaller_model_that_does_not_fit_either_takes_its_own_place_no_second_time(
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
        assert sum("Going on with starter" in text for text in it.notices()) == 1
        assert "starter does not fit. What was learned waits, and the node goes on by itself." in it.notices()


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
        assert said.startswith("It does not fit: 1 bytes are free. What was learned waits")
        assert it.node._recovery._seconds == 0.08, "four looks, each later than the one before"


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


async def test_rolling_back_discards_the_round_in_hand_and_counts_on(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=3)
        it.engine.hold = asyncio.Event()
        written = await it.node.roll_back("2")
        reached = it.node.counters.round
        assert (it.engine.skill, written.round) == (3, reached)
        it.engine.hold.set()
        await it.until(RoundFinished, count=reached + 1)
        rounds = [r.round for r in it.keeper.history.rounds().rounds]
        assert rounds == sorted(set(rounds))


async def test_validation_names_base_and_best_and_the_guard_rolls_back(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, validate_every=1, learning_rate=1e-3)
    async with playing(tmp_path, settings) as it:
        await it.until(RoundFinished, count=9)
        scores = [e.report for e in it.events if isinstance(e, EvalFinished)]
        assert (scores[0].checkpoint, scores[0].round, scores[0].score) == ("base", 0, 1 / 8)
        assert [r.checkpoint for r in scores[1:4]] == ["1", "2", "3"]
        it.node.orders.pause(None)
        best = it.node.counters.guard.best_checkpoint
        assert best is not None and best >= 3
        it.engine.skill = -100  # lost all it knew; steps add one each
        it.node.orders.resume()
        async with asyncio.timeout(20):
            while not any("learning rate" in text for text in it.notices()):
                it.changed.clear()
                await it.changed.wait()
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
        async with asyncio.timeout(20):
            while not restored:
                it.changed.clear()
                await it.changed.wait()
        assert restored == [it.keeper.store.folder / f"{best - 1:08d}" if kept > 1 else None]
        assert any("is damaged" in text and "goes back further" in text for text in it.notices())


async def test_between_two_verdicts_a_part_of_the_questions_is_asked_each_time(tmp_path: Path) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=8), rounds=9) as it:
        await it.until_state(NodeState.IDLE)
        scores = [e.report for e in it.events if isinstance(e, EvalFinished)]
        assert [r.round for r in scores] == [0, *range(1, 10)]
        assert [r.checkpoint for r in scores] == ["base", *[""] * 7, "8", ""]
        assert [r.score for r in scores] == sorted(r.score for r in scores)
        assert scores[-1].gain is not None and scores[-1].gain.value == scores[-1].score - scores[0].score
        assert len(it.node.counters.guard.looks) == 2, "the base's, and one verdict"
        assert set(it.keeper.history.checkpoint_scores()) == {"base", "8"}


async def test_a_new_node_is_looked_at_twice_as_often(tmp_path: Path) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=32), rounds=40) as it:
        await it.until_state(NodeState.IDLE)
        scores = [e.report for e in it.events if isinstance(e, EvalFinished)]
        assert [r.round for r in scores] == [0, *range(1, 33), 34, 36, 38, 40]
        assert [r.checkpoint for r in scores if r.checkpoint] == ["base", "16", "32"]


async def test_what_had_learned_is_asked_all_where_the_way_of_asking_is_another_one(tmp_path: Path) -> None:
    """Else its score would begin at the untrained model's again, and seem to rise."""
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=160), rounds=3) as it:
        await it.until_state(NodeState.IDLE)
        former = msgspec.structs.replace(it.node.counters.standing, questions="asked otherwise")
        it.node.counters = msgspec.structs.replace(it.node.counters, standing=former)
        it.events.clear()
        it.node.orders.start(1)
        await it.until(RoundFinished)
        base, now = [e.report for e in it.events if isinstance(e, EvalFinished)]
        assert (base.round, now.round, now.checkpoint) == (0, 4, "")
        assert now.score > base.score and now.gain is not None


async def test_the_rate_follows_the_steps_of_the_adapter(tmp_path: Path) -> None:
    """Half after two steps. Rounds 1 to 4 play at 1/1, 1/1.5, 1/2, 1/2.5; back at the adapter of round 1: 1/1.5."""
    settings = msgspec.structs.replace(SETTINGS, learning_rate=1e-3, learning_rate_decay=2)
    async with playing(tmp_path, settings, rounds=4) as it:
        await it.until_state(NodeState.IDLE)
        assert it.engine.rates == pytest.approx([1e-3 / 1.5, 1e-3 / 2, 1e-3 / 2.5])
        await it.node.roll_back("1")
        it.node.orders.start(1)
        await it.until(RoundFinished, count=5)
        assert it.node.counters.round == 5
        assert it.engine.rates[-1] == pytest.approx(1e-3 / 1.5)
        await it.node.roll_back("base")
        assert it.engine.steps == 0


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
        assert "The disk is full. Training goes on." in it.notices()


async def test_a_checkpoint_counts_where_an_old_one_cannot_be_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def held(path: Path, target: Path) -> Path:
        if ".gone-" in str(target):
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", held)
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=1), rounds=6) as it:
        await it.until_state(NodeState.IDLE)
        assert [one.report.checkpoint for one in it.events if isinstance(one, RoundFinished)] == [1, 2, 3, 4, 5, 6]
        assert it.node.counters.guard.best_checkpoint == it.keeper.newest.counters.guard.best_checkpoint is not None
        assert sum("could not be deleted" in text for text in it.notices()) == 1


async def test_scores_of_any_checkpoint_leave_the_live_adapter_alone(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=3) as it:
        await it.until_state(NodeState.IDLE)
        assert (await it.node.evaluate("base", "test")).score == 1 / 8
        assert (await it.node.evaluate("1", "test")).score == 2 / 8
        sampled = await it.node.evaluate("base", "test", samples=4)
        assert (sampled.samples, sampled.questions, len(sampled.solved)) == (4, 8, 32)
        assert sampled.rates == [0.25, *[0.0] * 7]  # the stand-in solves the first question it is asked
        assert [e.score for e in it.keeper.history.evals("test (sampled)")] == [1 / 32]
        cooler = await it.node.evaluate("base", "test", samples=4, temperature=0.5)
        assert cooler.kind == "test (sampled at 0.5)" and cooler.pass_at_k == 1 / 8
        assert len(it.keeper.history.evals("test (sampled)")) == 1, "two ways of drawing are two kinds of scores"
        assert (await it.node.evaluate("last", "test")).score == 4 / 8
        assert it.engine.skill == 4 and it.node.show.phase == "waiting"


async def test_a_node_that_only_answers_says_so_and_validates_nothing(tmp_path: Path) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=1), rounds=2) as it:
        it.engine.trains = False
        await it.until(RoundFinished, count=1)
        assert it.gate.reason == "Answering round 2; nothing is trained"
        await it.until(RoundFinished, count=2)
        assert not any(isinstance(event, EvalFinished) for event in it.events)
        assert it.engine.batches == []
        with pytest.raises(UsageError, match="only answers"):
            await it.node.roll_back("base")


async def test_what_is_told_and_what_a_client_finds_go_hand_in_hand(tmp_path: Path) -> None:
    """At every event the latest results are those told so far: who looks in between neither misses nor counts twice."""
    settings = msgspec.structs.replace(SETTINGS, validate_every=1)
    it = Scene(tmp_path, settings, 1e9)
    seen: list[tuple[int, int, float | None]] = []
    told: list[tuple[int, int, float | None]] = []

    def publish(event: Event) -> None:
        latest, rounds = it.keeper.latest, sum(isinstance(one, RoundFinished) for one in [*it.events, event])
        scores = [one.report.score for one in [*it.events, event] if isinstance(one, EvalFinished)]
        seen.append((latest.rounds, latest.last.round if latest.last else 0, latest.validation))
        told.append((rounds, rounds, scores[-1] if scores else None))
        it.publish(event)

    it.node.show.publish = publish
    it.node.orders.start(3)
    task = asyncio.create_task(it.node.run())
    await it.until_state(NodeState.IDLE)
    assert seen == told and seen[-1][0] == 3
    assert it.node.orders.finished == 3
    task.cancel()
    await asyncio.wait([task])
    await it.node.close()


async def test_clients_are_told_of_every_checkpoint_that_comes_or_goes(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=3) as it:
        await it.until_state(NodeState.IDLE)
        assert sum(isinstance(event, CheckpointsChanged) for event in it.events) == 3
        await it.node.roll_back("1")
        assert isinstance(it.events[-1], CheckpointsChanged)
        assert it.keeper.store.numbers()[-1] == 4
        it.node.show.damaged([])
        assert sum(isinstance(event, CheckpointsChanged) for event in it.events) == 4


async def test_a_round_without_a_checkpoint_tells_of_none(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=3, bytes_a_day=10) as it:
        await it.until_state(NodeState.IDLE)
        assert sum(isinstance(event, CheckpointsChanged) for event in it.events) == 1


async def test_a_round_waits_for_room_on_the_disk_and_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_module, "RETRY_SECONDS", 0.01)
    async with playing(tmp_path, rounds=300) as it:
        await it.until(RoundFinished)
        await room_for(it, pages=1)
        await it.until_state(NodeState.PAUSED)
        assert "database or disk is full" in it.gate.reason and it.engine.host.suspended
        assert "What was learned waits, and the node goes on by itself." in it.notices()[-1]
        played = it.node.counters.round
        await room_for(it, pages=10**6)
        await it.until_state(NodeState.WORKING)
        await it.until(RoundFinished, count=played)
        assert [r.round for r in it.keeper.history.rounds().rounds][:played] == list(range(1, played + 1))
        assert sum("goes on by itself" in notice for notice in it.notices()) == 1


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
        assert [r.round for r in it.keeper.history.rounds().rounds][:played] == list(range(1, played + 1))
        assert it.engine.host.restarts == 0, "it holds rounds that no checkpoint has"
        waits = "What was learned waits, and the node goes on by itself."
        assert it.notices() == [f"The disk is full. {waits}", f"It may not be written. {waits}"]


async def test_a_checkpoint_that_no_wait_mends_ends_the_node(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="newer"):
        async with playing(tmp_path) as it:
            it.engine.errors.append(CheckpointError("A newer SAPO Desktop wrote these checkpoints."))
            assert it.task is not None
            await asyncio.wait({it.task}, timeout=10)


async def test_a_round_that_a_full_disk_leaves_without_a_score_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=1), rounds=2) as it:
        refresh, errors = it.node.evaluator.refresh, [NotWritten("The disk is full.")]

        async def full_once(*about: Any) -> Any:
            if errors:
                raise errors.pop()
            return await refresh(*about)

        monkeypatch.setattr(it.node.evaluator, "refresh", full_once)
        await it.until_state(NodeState.IDLE)
        assert [r.round for r in it.keeper.history.rounds().rounds] == [1, 2]
        assert it.notices() == ["The disk is full. Training goes on."]


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


async def test_threads_that_change_are_used_from_the_next_round_on_under_a_new_run(tmp_path: Path) -> None:
    before = default_threads()
    async with playing(tmp_path) as it:
        await it.node.begin_run(run_manifest(threads=before))
        run = it.node.counters.run
        await it.until(RoundFinished)
        it.node.take_settings(msgspec.structs.replace(it.node.settings, threads=before + 1))
        reached = it.node.counters.round
        await it.until(RoundFinished, count=reached + 2)
        assert it.engine.threads == [before + 1]
        assert it.notices() == [f"Computing with at most {before + 1} threads from now on."]
        assert it.node.counters.run == run + 1
        manifest = it.keeper.history.last_manifest()
        assert (manifest.threads, manifest.settings["threads"]) == (before + 1, before + 1)


async def test_memory_is_given_back_and_what_was_learned_comes_back(tmp_path: Path) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished, count=2)
        it.node.orders.pause(None)
        reached = it.node.counters.round
        await it.node.put_away()
        assert not it.engine.running and it.examiner.host.pid is None
        assert it.keeper.store.numbers()[-1] == reached, "no checkpoint had these rounds"
        it.node.orders.resume()
        await it.until(RoundFinished, count=reached + 1)
        assert it.engine.host.restarts == 1 and it.node.counters.round > reached
        assert not any("Going on from the last checkpoint" in text for text in it.notices())


async def test_memory_that_is_given_back_ends_an_examiner_that_marks_an_answer_to_be_shown_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ended = asyncio.Event(), list[bool]()

    async def unending(*about: Any, strict: bool) -> Any:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(it.examiner.host.pid is not None)

    async with playing(tmp_path) as it, asyncio.timeout(20):
        it.engine.hold = asyncio.Event()
        monkeypatch.setattr(it.examiner, "mark", unending)
        await asked.wait()
        it.node.orders.pause(None)
        await it.node.put_away()
        assert ended == [True], "given up before its host was ended, which it would start again"


async def sleep(it: Scene) -> None:
    await it.node.keep_now()


async def give_back(it: Scene) -> None:
    await it.node.put_away()


async def end(it: Scene) -> None:
    """As every scene does."""


@pytest.mark.parametrize("way", [sleep, give_back, end])
async def test_an_engine_that_looks_late_whether_to_give_up_loses_no_round_that_is_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Callable[[Scene], Awaitable[None]]
) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it, asyncio.timeout(20):
        answers = asyncio.Event()

        async def slowly(*asked: Any, **more: Any) -> Any:
            answers.set()
            try:
                await asyncio.Event().wait()
            finally:
                if grace_of_caller.get() < PATIENCE:
                    await it.engine.host.stop()  # as a host whose step takes longer than that

        await it.until(RoundFinished, count=2)
        monkeypatch.setattr(it.engine, "generate", slowly)
        await answers.wait()
        reached = it.node.counters.round
        await way(it)
    assert it.keeper.store.numbers()[-1:] == [reached] and not any("goes on after" in one for one in it.notices())


async def test_a_round_that_holds_nothing_up_is_given_up_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(tmp_path) as it, asyncio.timeout(20):
        graces: list[float] = []
        answers = asyncio.Event()

        async def unending(*asked: Any, **more: Any) -> Any:
            answers.set()
            try:
                await asyncio.Event().wait()
            finally:
                graces.append(grace_of_caller.get())

        monkeypatch.setattr(it.engine, "generate", unending)
        await answers.wait()
        await it.node.put_away()
        assert graces == [GRACE], "every round before it has a checkpoint"


async def test_a_node_that_ends_while_it_is_paused_wakes_its_engine_to_keep_what_no_checkpoint_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        save = it.engine.save

        async def awake(folder: Path) -> None:
            assert not it.engine.host.suspended
            await save(folder)

        monkeypatch.setattr(it.engine, "save", awake)
        await it.until(RoundFinished, count=2)
        it.node.orders.pause(None)
    assert it.keeper.store.numbers() == [it.node.counters.round]


async def test_before_a_sleep_what_no_checkpoint_has_is_written_and_nothing_is_cut_off_where_all_is(
    tmp_path: Path,
) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished, count=2)
        it.engine.hold = asyncio.Event()  # a round that takes long is in hand
        await it.node.keep_now()
        reached = it.node.counters.round
        assert it.keeper.store.numbers()[-1] == reached >= 2 and it.engine.running
        await asyncio.sleep(0)
        in_hand = it.node._round
        await it.node.keep_now()
        assert it.node._round is in_hand, "nothing was to be written"
        it.engine.hold.set()
        it.engine.hold = None
        await it.until(RoundFinished, count=reached + 1)


async def test_a_step_under_way_is_not_cut_in_two_by_a_sleep(tmp_path: Path) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished)
        it.engine.stepping = asyncio.Event()
        async with asyncio.timeout(20):
            while it.node._settled:
                await asyncio.sleep(0)
        reached = it.node.counters.round
        keeping = asyncio.create_task(it.node.keep_now())
        await asyncio.sleep(0.1)
        assert not keeping.done()
        it.engine.stepping.set()
        await keeping
        assert it.keeper.store.numbers()[-1] > reached


async def test_who_gives_up_a_write_before_a_sleep_has_it_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished, count=2)
        it.engine.hold = asyncio.Event()
        writing, goes_on, write = asyncio.Event(), asyncio.Event(), it.keeper.write

        async def slowly(*given: Any) -> Checkpoint:
            writing.set()
            await goes_on.wait()
            return await write(*given)

        monkeypatch.setattr(it.keeper, "write", slowly)
        keeping = asyncio.create_task(it.node.keep_now())
        await writing.wait()
        reached = it.node.counters.round
        keeping.cancel()
        await asyncio.wait({keeping})
        assert not it.node._may_begin.is_set(), "no round begins beside the write"
        goes_on.set()
        await it.node._may_begin.wait()
        assert it.keeper.store.numbers()[-1] == reached
        it.engine.hold.set()
        it.engine.hold = None


async def test_an_end_in_the_middle_of_a_write_before_a_sleep_writes_that_round_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Scene(tmp_path, SETTINGS, 10)
    it.node.orders.start(None)
    task = asyncio.create_task(it.node.run())
    await it.until(RoundFinished, count=2)
    writing, goes_on, write = asyncio.Event(), asyncio.Event(), it.keeper.write
    rounds: list[int] = []

    async def slowly(counters: Counters, *given: Any) -> Checkpoint:
        rounds.append(counters.round)
        writing.set()
        await goes_on.wait()
        return await write(counters, *given)

    monkeypatch.setattr(it.keeper, "write", slowly)
    keeping = asyncio.create_task(it.node.keep_now())
    await writing.wait()
    task.cancel()
    await asyncio.wait({task})
    closing = asyncio.create_task(it.node.close())
    await asyncio.sleep(0)
    goes_on.set()
    await asyncio.gather(keeping, closing)
    assert rounds == [it.node.counters.round]


async def test_memory_is_given_back_without_the_held_out_questions_that_are_being_answered_and_no_round_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = msgspec.structs.replace(SETTINGS, validate_every=4)
    async with playing(tmp_path, settings, bytes_a_day=10) as it, asyncio.timeout(20):
        asked, refresh = asyncio.Event(), it.node.evaluator.refresh
        patience: list[float] = []

        async def unending_at_the_verdict(subject: Subject, *about: Any) -> Any:
            if subject.round == 4:
                asked.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    patience.append(grace_of_caller.get())
            return await refresh(subject, *about)

        monkeypatch.setattr(it.node.evaluator, "refresh", unending_at_the_verdict)
        await asked.wait()
        part = it.node.counters.standing.part
        it.node.orders.pause(None)
        await it.node.put_away()
        assert not it.engine.running and it.node.orders.finished == 4
        assert patience == [PATIENCE], "or the engine may be ended with the rounds that are to be kept"
        assert [row.round for row in it.keeper.history.rounds().rounds] == [1, 2, 3, 4]
        kept = await it.node.find_checkpoint("last")
        assert kept is not None and kept.round == 4 and not any("goes on after" in text for text in it.notices())
        assert kept.counters.guard.best_checkpoint == 0 and kept.counters.standing.part == part, "it has no score"
        it.node.orders.resume()
        await it.until(RoundFinished, count=5)
        verdicts = [(one.checkpoint, one.round) for one in it.keeper.history.evals() if one.checkpoint]
        assert verdicts == [("base", 0), ("5", 5)], "the part that was given up is asked, and the verdict given"


@contextlib.asynccontextmanager
async def between_two_scores(folder: Path) -> AsyncIterator[tuple[Scene, asyncio.Event]]:
    """A node that has the first of two scores, and what lets it go on."""
    async with playing(folder, msgspec.structs.replace(SETTINGS, validate_every=4)) as it, asyncio.timeout(20):
        scored, goes_on, record = asyncio.Event(), asyncio.Event(), it.keeper.record_eval

        async def slowly(*about: Any) -> None:
            await record(*about)
            scored.set()
            await goes_on.wait()

        it.keeper.record_eval = slowly  # type: ignore[method-assign]
        await scored.wait()
        yield it, goes_on


async def test_memory_that_is_wanted_between_two_scores_does_not_wait_for_the_second(tmp_path: Path) -> None:
    async with between_two_scores(tmp_path) as (it, goes_on):
        it.engine.hold = asyncio.Event()  # the second takes long
        it.node.orders.pause(None)
        away = asyncio.create_task(it.node.put_away())
        await asyncio.sleep(0)
        goes_on.set()
        await away
        assert it.keeper.store.numbers() == [1] and len(it.keeper.history.evals()) == 1


async def test_who_no_longer_wants_the_memory_leaves_the_scores_alone(tmp_path: Path) -> None:
    async with between_two_scores(tmp_path) as (it, goes_on):
        away = asyncio.create_task(it.node.put_away())
        await asyncio.sleep(0)
        away.cancel()
        await asyncio.wait({away})
        goes_on.set()
        await it.until(RoundFinished)
        assert it.engine.running and len(it.keeper.history.evals()) == 2


async def test_a_request_wakes_what_was_put_away(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished)
        it.node.orders.pause(None)
        await it.node.put_away()
        await it.node.evaluate("last", "test")
        assert it.engine.running and it.gate.asleep_for < 20


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
        assert "raise it, or choose a smaller model" in it.gate.reason and not it.engine.running


async def test_the_time_for_held_out_questions_is_part_of_the_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 0.0
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=1), rounds=1) as it:
        monkeypatch.setattr(it.gate, "clock", lambda: seconds)
        score = it.node._validation._score

        async def slowly(*asked: Any) -> Any:
            nonlocal seconds
            assert not it.node.round_seconds, "a pace before the first round is done would be too fast"
            seconds += 100.0
            return await score(*asked)

        monkeypatch.setattr(it.node._validation, "_score", slowly)
        await it.until(RoundFinished)
        report = it.keeper.history.rounds().rounds[0]
        assert report.evaluate_seconds >= 100.0 and report.seconds >= report.evaluate_seconds
        assert it.node.round_seconds == [report.seconds]


async def test_an_evaluation_that_is_given_up_ends_at_the_engine(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=1) as it:
        await it.until_state(NodeState.IDLE)
        it.engine.hold = asyncio.Event()
        asked = asyncio.create_task(it.node.evaluate("base", "validation"))
        await it.until(PhaseChanged, count=1)
        while it.node.show.phase != "evaluate":
            await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait({asked}, timeout=5)
        assert asked.cancelled() and it.node.show.phase == "waiting"
        it.engine.hold.set()
        assert not any(isinstance(event, EvalFinished) for event in it.events)
