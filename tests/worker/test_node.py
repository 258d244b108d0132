"""The node with real checkpoints and history, and stand-ins for what computes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import (
    HostDied,
    SapoError,
    TaskError,
    UsageError,
)
from sapo_desktop.core.link.requests import Message
from sapo_desktop.core.records import EvalReport, Generated, Mark, Question
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Evaluator
from sapo_desktop.learning.round import Swarm
from sapo_desktop.system.hardware import default_threads
from sapo_desktop.worker import node
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
from sapo_desktop.worker.recovery import Recovery
from sapo_desktop.worker.status import Holds
from sapo_desktop.worker.store.checkpoints import CheckpointStore
from sapo_desktop.worker.store.history import History
from sapo_desktop.worker.store.keeper import Keeper, WriteBudget
from tests.builders import run_manifest
from tests.learning.test_plan import LEVELS
from tests.worker.fakes import FakeEngine, FakeExaminer, mark

SETTINGS = Settings(validate_every=0, curriculum=False, seed=1)


class Scene:
    """A node and what it published."""

    task: asyncio.Task[None]

    def __init__(
        self, folder: Path, settings: Settings, bytes_a_day: float, swarm: Swarm | None = None, engine: Any = None
    ) -> None:
        self.events: list[Event] = []
        self.changed = asyncio.Event()
        self.engine = engine or FakeEngine()
        self.examiner = FakeExaminer()
        history = History(folder / "history.sqlite")
        store = CheckpointStore(folder / "checkpoints")
        self.keeper = Keeper(store, history, WriteBudget(bytes_a_day, [], 0.0), keep=5)
        self.gate = Gate([*self.engine.hosts, self.examiner.host], self.publish)
        self.node = Node(
            settings=settings,
            counters=Counters(round=0, instance="i", seed=1, run=history.begin_run(run_manifest()), shots=0),
            levels=LEVELS,
            gate=self.gate,
            engine=self.engine,  # type: ignore[arg-type]
            examiner=self.examiner,  # type: ignore[arg-type]
            evaluator=Evaluator(self.engine, self.examiner, bytes(32)),  # type: ignore[arg-type]
            keeper=self.keeper,
            publish=self.publish,
        )
        self.recovery = Recovery(self.node)
        self.node.join(swarm)

    def publish(self, event: Event) -> None:
        self.events.append(event)
        self.changed.set()

    async def until_so(self, holds: Callable[[], bool]) -> None:
        """Wait until this is so; it is looked at whenever something is published."""
        async with asyncio.timeout(20):
            while not holds():
                self.changed.clear()
                await self.changed.wait()

    async def until(self, *kinds: type[Message], count: int = 1) -> None:
        """Wait until `count` events of these kinds were published."""
        await self.until_so(lambda: sum(isinstance(event, kinds) for event in self.events) >= count)

    async def until_state(self, state: NodeState) -> None:
        await self.until_so(lambda: self.gate.state is state)

    def rounds(self) -> list[int]:
        """The rounds that count."""
        return [report.round for report in self.keeper.history.rounds().rounds]

    def scores(self) -> list[EvalReport]:
        """The reported scores, oldest first."""
        return [event.report for event in self.events if isinstance(event, EvalFinished)]

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
    engine: Any = None,
) -> AsyncIterator[Scene]:
    scene = Scene(folder, settings, bytes_a_day, swarm, engine)
    scene.node.orders.start(rounds)
    scene.task = task = asyncio.create_task(scene.recovery.run())
    try:
        yield scene
        if task.done():
            task.result()
    finally:
        task.cancel()
        await asyncio.wait([task])
        await scene.node.close()


def held(
    patch: pytest.MonkeyPatch, owner: object, name: str, given_up: Callable[[], None] = lambda: None
) -> tuple[asyncio.Event, asyncio.Event]:
    """Have a method wait: the first event is set once it is called, the second lets it continue. `given_up`: called
    where its caller does not wait for that."""
    begun, goes_on, real = asyncio.Event(), asyncio.Event(), getattr(owner, name)

    async def waits(*asked: Any, **more: Any) -> Any:
        begun.set()
        try:
            await goes_on.wait()
        except asyncio.CancelledError:
            given_up()
            raise
        return await real(*asked, **more)

    patch.setattr(owner, name, waits)
    return begun, goes_on


@pytest.mark.parametrize(("changes", "known"), [({}, 4), ({"curriculum": True}, 4), ({"overlap": False}, 0)])
async def test_what_the_next_round_asks_is_known_before_the_step_where_that_is_wanted(
    tmp_path: Path, changes: dict[str, bool], known: int
) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, **changes), rounds=4) as scene:
        await scene.until(RoundFinished, count=4)
    # Of each round but the first; after the last one, too, for a later start.
    assert len(scene.engine.ahead) == known and scene.engine.ahead[:-1] == scene.engine.asked[1:known]


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


async def test_rounds_are_counted_kept_and_checkpointed_and_reported_to_clients(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=3) as it:
        await it.until_state(NodeState.IDLE)
        assert it.node.counters.round == 3
        assert it.keeper.store.numbers() == [1, 2, 3]
        rounds = it.keeper.history.rounds().rounds
        assert [(r.round, r.checkpoint) for r in rounds] == [(1, 1), (2, 2), (3, 3)]
        assert it.gate.reason == "Done: round 3 was the last one you asked for"
        assert sum(isinstance(event, CheckpointsChanged) for event in it.events) == 3
        await it.node.roll_back("1")
        assert isinstance(it.events[-1], CheckpointsChanged)
        assert it.keeper.store.numbers()[-1] == 4
        it.node.show.damaged([])
        assert sum(isinstance(event, CheckpointsChanged) for event in it.events) == 4


async def test_a_small_allowance_means_fewer_checkpoints_but_the_last_is_written(tmp_path: Path) -> None:
    async with playing(tmp_path, rounds=4, bytes_a_day=10) as it:
        await it.until_state(NodeState.IDLE)
        assert it.keeper.store.numbers() == [4]
        assert it.rounds() == [1, 2, 3, 4]
        assert sum(isinstance(event, CheckpointsChanged) for event in it.events) == 1


async def test_a_pause_suspends_the_hosts_and_resuming_goes_on(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished)
        it.node.orders.pause(None)
        assert it.engine.host.suspended and it.examiner.host.suspended
        reached = it.node.counters.round
        it.node.orders.resume()
        await it.until(RoundFinished, count=reached + 2)


async def test_rolling_back_discards_the_current_round_and_counts_on(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished, count=3)
        it.engine.hold = asyncio.Event()
        written = await it.node.roll_back("2")
        reached = it.node.counters.round
        assert (it.engine.skill, written.round) == (3, reached)
        it.engine.hold.set()
        await it.until(RoundFinished, count=reached + 1)
        rounds = it.rounds()
        assert rounds == sorted(set(rounds))


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
        easy = await it.node.evaluate("base", "test", level="easy")
        assert easy.kind == "test easy" and {mark.task.partition("/")[2] for mark in easy.tasks} == {"easy"}
        with pytest.raises(UsageError):
            await it.node.evaluate("base", "test", level="paper")
        task = easy.tasks[0].task
        family = task.partition("/")[0]
        whole = await it.node.evaluate("base", "test", tasks=[family])
        assert whole.kind == f"test {family}" and {mark.task.partition("/")[0] for mark in whole.tasks} == {family}
        assert [mark.task for mark in (await it.node.evaluate("base", "test", tasks=[task])).tasks] == [task]
        with pytest.raises(UsageError, match="no held-out questions of sums"):
            await it.node.evaluate("base", "test", tasks=[family, "sums"])
        assert it.engine.skill == 4 and it.node.show.phase == "waiting"


async def test_a_node_that_only_answers_says_so_and_validates_nothing(tmp_path: Path) -> None:
    async with playing(tmp_path, msgspec.structs.replace(SETTINGS, validate_every=1), rounds=2) as it:
        it.engine.trains = False
        await it.until(RoundFinished, count=1)
        assert it.gate.reason == "Answering round 2, without training"
        await it.until(RoundFinished, count=2)
        assert not any(isinstance(event, EvalFinished) for event in it.events)
        assert it.engine.batches == []
        with pytest.raises(UsageError, match="only answers"):
            await it.node.roll_back("base")


async def test_what_is_reported_and_what_a_client_finds_agree(tmp_path: Path) -> None:
    """At every event the latest results are those reported so far, so a client misses none and counts none twice."""
    settings = msgspec.structs.replace(SETTINGS, validate_every=1)
    it = Scene(tmp_path, settings, 1e9)
    seen: list[tuple[int, int, float | None]] = []
    published: list[tuple[int, int, float | None]] = []

    def publish(event: Event) -> None:
        latest, rounds = it.keeper.latest, sum(isinstance(one, RoundFinished) for one in [*it.events, event])
        scores = [one.report.score for one in [*it.events, event] if isinstance(one, EvalFinished)]
        seen.append((latest.rounds, latest.last.round if latest.last else 0, latest.validation))
        published.append((rounds, rounds, scores[-1] if scores else None))
        it.publish(event)

    it.node.show.publish = publish
    it.node.orders.start(3)
    task = asyncio.create_task(it.recovery.run())
    await it.until_state(NodeState.IDLE)
    assert seen == published and seen[-1][0] == 3
    assert it.node.orders.finished == 3
    task.cancel()
    await asyncio.wait([task])
    await it.node.close()


async def test_threads_that_change_are_used_from_the_next_round_on_under_a_new_run(tmp_path: Path) -> None:
    before = default_threads()
    async with playing(tmp_path) as it:
        await it.node.status.begin_run(run_manifest(threads=before), it.keeper)
        run = it.node.counters.run
        await it.until(RoundFinished)
        it.node.status.take_settings(msgspec.structs.replace(it.node.settings, threads=before + 1))
        reached = it.node.counters.round
        await it.until(RoundFinished, count=reached + 2)
        assert it.engine.threads == [before + 1]
        assert it.notices() == [f"From now on the node computes with at most {before + 1} threads."]
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
        assert not any("The node continues from the last checkpoint" in text for text in it.notices())


async def test_memory_that_is_given_back_ends_an_examiner_that_marks_an_answer_to_be_shown_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    async with playing(tmp_path) as it, asyncio.timeout(20):
        it.engine.hold = asyncio.Event()
        asked, _ = held(monkeypatch, it.examiner, "mark", lambda: ended.append(it.examiner.host.pid is not None))
        await asked.wait()
        it.node.orders.pause(None)
        await it.node.put_away()
        assert ended == [True], "given up before its host was ended, which it would start again"


@pytest.mark.parametrize("way", ["sleep", "memory is given back", "end"])
async def test_an_engine_that_looks_late_whether_to_give_up_loses_no_round_that_is_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    def late() -> None:
        if grace_of_caller.get() < PATIENCE:
            it.engine.host.pid = None  # as a host whose step takes longer than that

    async with playing(tmp_path, bytes_a_day=10) as it, asyncio.timeout(20):
        await it.until(RoundFinished, count=2)
        answers, _ = held(monkeypatch, it.engine, "generate", late)
        await answers.wait()
        reached = it.node.counters.round
        if way == "sleep":
            await it.node.keep_now()
        elif way == "memory is given back":
            await it.node.put_away()
    assert it.keeper.store.numbers()[-1:] == [reached] and not any("continues after" in one for one in it.notices())


async def test_a_round_that_holds_nothing_up_is_given_up_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graces: list[float] = []
    async with playing(tmp_path) as it, asyncio.timeout(20):
        answers, _ = held(monkeypatch, it.engine, "generate", lambda: graces.append(grace_of_caller.get()))
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
        it.engine.hold = asyncio.Event()  # a round that takes long is under way
        await it.node.keep_now()
        reached = it.node.counters.round
        assert it.keeper.store.numbers()[-1] == reached >= 2 and it.engine.running
        await asyncio.sleep(0)
        running = it.node._round
        await it.node.keep_now()
        assert it.node._round is running, "nothing was to be written"
        it.engine.hold.set()
        it.engine.hold = None
        await it.until(RoundFinished, count=reached + 1)


@pytest.mark.parametrize("leave", [Node.keep_now, Node.put_away])
async def test_a_step_under_way_is_not_cut_in_two_by_a_sleep_or_a_long_pause(
    tmp_path: Path, leave: Callable[[Node], Coroutine[Any, Any, None]]
) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished)
        it.engine.stepping = asyncio.Event()
        async with asyncio.timeout(20):
            while it.node.status.holds is not Holds.MORE:
                await asyncio.sleep(0)
        reached = it.node.counters.round
        keeping = asyncio.create_task(leave(it.node))
        await asyncio.sleep(0.1)
        assert not keeping.done()
        it.engine.stepping.set()
        await keeping
        assert it.keeper.store.numbers()[-1] > reached


async def test_an_engine_that_writes_slowly_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "_PARTING_SECONDS", 0.0)
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished, count=2)
        it.engine.hold = asyncio.Event()
        reached = it.node.counters.round
        writing, goes_on = held(monkeypatch, it.keeper, "write")
        away = asyncio.create_task(it.node.put_away())
        await writing.wait()
        await asyncio.sleep(0.05)
        goes_on.set()
        await away
        assert it.keeper.store.numbers()[-1] == reached
        it.engine.hold.set()


async def test_rounds_that_are_lost_in_the_middle_of_a_step_are_reported(tmp_path: Path) -> None:
    it = Scene(tmp_path, SETTINGS, 10)
    it.node.orders.start(None)
    task = asyncio.create_task(it.recovery.run())
    await it.until(RoundFinished, count=2)
    it.engine.stepping = asyncio.Event()
    async with asyncio.timeout(20):
        while it.node.status.holds is not Holds.MORE:
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    await it.node.close()
    assert it.notices()[-1].startswith("The engine was busy. The next start continues after round"), it.notices()


async def test_who_gives_up_a_write_before_a_sleep_has_it_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(tmp_path, bytes_a_day=10) as it:
        await it.until(RoundFinished, count=2)
        it.engine.hold = asyncio.Event()
        writing, goes_on = held(monkeypatch, it.keeper, "write")
        keeping = asyncio.create_task(it.node.keep_now())
        await writing.wait()
        reached = it.node.counters.round
        keeping.cancel()
        await asyncio.wait({keeping})
        assert not it.node._may_begin.is_set(), "no round begins during the write"
        goes_on.set()
        await it.node._may_begin.wait()
        assert it.keeper.store.numbers()[-1] == reached
        it.engine.hold.set()


async def test_an_end_in_the_middle_of_a_write_before_a_sleep_writes_that_round_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Scene(tmp_path, SETTINGS, 10)
    it.node.orders.start(None)
    task = asyncio.create_task(it.recovery.run())
    await it.until(RoundFinished, count=2)
    writing, goes_on = held(monkeypatch, it.keeper, "write")
    keeping = asyncio.create_task(it.node.keep_now())
    await writing.wait()
    task.cancel()
    await asyncio.wait({task})
    closing = asyncio.create_task(it.node.close())
    await asyncio.sleep(0)
    goes_on.set()
    await asyncio.gather(keeping, closing)
    assert it.keeper.store.numbers() == [it.node.counters.round]


async def test_a_request_wakes_what_was_put_away(tmp_path: Path) -> None:
    async with playing(tmp_path) as it:
        await it.until(RoundFinished)
        it.node.orders.pause(None)
        await it.node.put_away()
        await it.node.evaluate("last", "test")
        assert it.engine.running and it.gate.asleep_for < 20


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


async def test_a_node_knows_how_long_it_reasons_itself_before_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(tmp_path, rounds=1) as it:
        generate = it.engine.generate

        async def at_length(*asked: Any, **more: Any) -> Generated:
            made = await generate(*asked, **more)
            text = "So. " * 200 + "<answer>6</answer>"
            rows = [[msgspec.structs.replace(one, text=text) for one in row] for row in made.completions]
            return msgspec.structs.replace(made, completions=rows)

        async def read(questions: object, texts: Sequence[Sequence[str]], *, strict: bool) -> list[list[Mark]]:
            return [[msgspec.structs.replace(mark(True), answer="6") for _ in row] for row in texts]

        monkeypatch.setattr(it.engine, "generate", at_length)
        monkeypatch.setattr(it.examiner, "mark", read)
        await it.until(RoundFinished)
        assert set(it.node.yardstick().lengths.values()) == {800.0}
        assert it.keeper.newest is not None and it.keeper.newest.counters.reasoned == it.node.counters.reasoned
