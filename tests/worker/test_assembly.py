"""A node's assembly: its messages before the first round, and where it continues."""

from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.guard import GuardState
from sapo_desktop.worker.assembly import _begin_run, _beginning, _keep_beginning, _tell
from sapo_desktop.worker.hosts.choice import BaseModel
from sapo_desktop.worker.store.checkpoints import Damaged, Newest
from tests.builders import eval_report, run_manifest
from tests.worker.test_node import SETTINGS, Scene

A, B = (BaseModel(path=Path(name), hash=name, parameters=10) for name in "ab")


def test_what_was_damaged_is_said_in_whole_sentences(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SETTINGS, 1e9)
    damaged = Damaged(number=3, reason="cut short", moved_to=tmp_path / "3.damaged")
    _tell(scene.node, "The settings file was damaged.", Newest(checkpoint=None, damaged=[damaged]))
    first, second = scene.notices()
    assert first == "The settings file was damaged."
    assert second.startswith("Checkpoint 3 was damaged (cut short)")
    _tell(scene.node, "", Newest(checkpoint=None, damaged=[]))
    assert len(scene.notices()) == 2
    scene.keeper.history.close()


async def test_another_model_begins_at_its_base_and_the_one_before_goes_on_where_it_was_left(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SETTINGS, 1e9)
    node, keeper = scene.node, scene.keeper
    start = await _beginning(keeper, SETTINGS, None, A)
    assert start.checkpoint is None and not start.another_model, "a first start is at the base"
    assert (start.counters.round, start.counters.seed, start.counters.model) == (0, SETTINGS.seed, "a")

    learned = Counters(round=5, instance="i", seed=1, model="a", solve_rates={"gcd/easy": 0.5})
    first = await keeper.write(learned, node.engine)
    same = await _beginning(keeper, SETTINGS, first, A)
    assert same.checkpoint == first and same.counters == learned and not same.another_model

    other = await _beginning(keeper, SETTINGS, first, B)
    assert other.checkpoint is None and other.another_model
    assert other.counters == Counters(round=5, instance="i", seed=1, model="b"), "rounds count on, all else is new"
    node.status.counters = other.counters
    await _keep_beginning(node, "b", other)
    newest = (await keeper.back_to_newest()).checkpoint
    assert newest is not None and (newest.number, newest.round, newest.counters.model) == (6, 5, "b")
    with pytest.raises(CheckpointError, match="Checkpoint 5 belongs to another model"):
        await node.find_checkpoint("5")

    at_nine = msgspec.structs.replace(node.counters, round=9, guard=GuardState(best_checkpoint=9, best_score=0.5))
    newest = await keeper.write(at_nine, node.engine)
    again = await _beginning(keeper, SETTINGS, newest, A)
    assert again.checkpoint is not None and again.checkpoint.number == 5 and again.another_model
    assert again.counters == msgspec.structs.replace(learned, round=9), "no number of a round is used twice"
    node.status.counters = again.counters
    await _keep_beginning(node, "a", again)
    assert node.counters.guard.best_checkpoint is None, "the best of the other model is none of this one's"
    assert scene.notices() == [
        "b starts untrained. What the previous model learned is kept in case you choose it again.",
        "a continues where it stopped. What the previous model learned is kept in case you choose it again.",
    ]
    await keeper.close()


async def test_the_scores_that_are_reported_are_those_of_the_model_at_work(tmp_path: Path) -> None:
    scene = Scene(tmp_path, SETTINGS, 1e9)
    latest_scores: list[tuple[float | None, float | None]] = []

    async def begin(model: str, *scores: tuple[int, float]) -> None:
        await _begin_run(scene.node, msgspec.structs.replace(run_manifest(), model_sha256=model), resumed=True)
        for reached, score in scores:
            await scene.node.scores.record(eval_report(str(reached), score), [])
        latest = scene.keeper.latest
        assert latest == scene.keeper.history.latest()
        latest_scores.append((latest.base_validation, latest.validation))

    await begin("a", (0, 0.1), (100, 0.4))
    await begin("b")
    await begin("b", (0, 0.2))
    await begin("b", (116, 0.3))
    await begin("a")
    assert latest_scores == [(0.1, 0.4), (None, None), (0.2, 0.2), (0.2, 0.3), (0.1, 0.4)]
    await scene.keeper.close()
