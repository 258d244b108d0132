"""A cap on disk deletes what can be spared, and never what was best."""

from pathlib import Path

from sapo_desktop.worker.store.checkpoints import CheckpointStore
from sapo_desktop.worker.store.history import History
from sapo_desktop.worker.store.tidy import bytes_in, tidy
from tests.builders import run_manifest
from tests.worker.store.test_checkpoints import write
from tests.worker.store.test_history import record


def test_older_checkpoints_go_and_the_best_and_the_newest_stay(tmp_path: Path) -> None:
    store, history = CheckpointStore(tmp_path / "checkpoints"), History(tmp_path / "history.sqlite")
    for number in range(1, 7):
        write(store, number)
    store.mark_best(2, 0.5)
    places = [tmp_path / "checkpoints"]
    each = bytes_in(places) // 6
    assert tidy(store, history, 5, bytes_in(places), places) <= 6 * each + 5
    assert store.numbers() == [1, 2, 3, 4, 5, 6], "within the cap nothing goes"
    assert tidy(store, history, 5, 4 * each, places) <= 4 * each
    assert store.numbers() == [2, 4, 5, 6] or store.numbers() == [2, 5, 6]
    tidy(store, history, 5, 0, places)
    assert store.numbers() == [2, 6]


def test_then_the_oldest_answers_go_and_the_file_shrinks(tmp_path: Path) -> None:
    store, history = CheckpointStore(tmp_path / "checkpoints"), History(tmp_path / "history.sqlite")
    run = history.begin_run(run_manifest())
    for number in range(1, 41):
        record(history, run, number, text="x" * 20_000)
    before = bytes_in([tmp_path])
    assert tidy(store, history, 5, before // 2, [tmp_path]) <= before // 2
    assert len(history.rounds().rounds) == 40 and history.rollouts().items, "the rounds' results stay"
    assert not history.shrink(10**9) or not history.shrink(10**9), "in the end nothing can go"
