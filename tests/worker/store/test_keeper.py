"""Counts that outlive links and starts, the latest results as clients got them, how often checkpoints are written;
a cap on disk deletes what can be spared, and never what was best.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.records import TaskMark
from sapo_desktop.worker.store import history as history_module
from sapo_desktop.worker.store import keeper as keeper_module
from sapo_desktop.worker.store.checkpoints import CheckpointStore
from sapo_desktop.worker.store.history import DAY, History, Latest, Written
from sapo_desktop.worker.store.keeper import KEEP_SECONDS, MOST_AT_ONCE, Lasting, WriteBudget, bytes_in, tidy
from tests.builders import round_report, run_manifest
from tests.worker.store.test_checkpoints import write_of
from tests.worker.store.test_history import Clock, evaluation, record

ANNA, BERT = "aa" * 32, "bb" * 32


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.db")


def lasting(history: History) -> Lasting:
    """With its book written at once."""
    return Lasting(history, lambda work: work(), itertools.count(step=KEEP_SECONDS).__next__)


def test_what_peers_used_is_counted_over_links_and_their_starts_and_ours(history: History) -> None:
    it = lasting(history)
    for peer, used in ((ANNA, 0), (ANNA, 3), (ANNA, 5), (BERT, 0), (BERT, 2), (ANNA, 5)):
        it.claimed(peer, used)
    assert it.used == 7
    it.claimed(ANNA, 1)  # it was started again, and used one more
    assert it.used == 8
    it.claimed("cc" * 32, 500)  # what it used before it was known here was used before, or never
    assert it.used == 8
    again = lasting(history)
    assert again.used == 8
    again.claimed(BERT, 2)  # reported before our own start
    again.claimed(ANNA, 4)
    assert again.used == 11 == history.totals().used


def test_one_claim_adds_only_so_much(history: History) -> None:
    it = lasting(history)
    it.claimed(ANNA, 0)
    it.claimed(ANNA, 2**53)
    assert it.used == MOST_AT_ONCE and history.claims() == {ANNA: 2**53}


def test_the_same_claim_keeps_a_peer_in_mind(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper_module, "MOST_PEERS", 2)
    written: list[int] = []
    it = Lasting(history, lambda work: (written.append(1), work()), lambda: 0.0)  # type: ignore[func-returns-value]
    for peer in (ANNA, BERT, ANNA, "cc"):
        it.claimed(peer, 1)
    assert list(it._claims) == [ANNA, "cc"] and not written
    it.claimed(ANNA, 3)
    it.keep()
    it.keep()
    assert len(written) == 1 and history.claims() == {BERT: 1, "cc": 1, ANNA: 3} and history.totals().used == 2


def test_only_so_many_peers_are_remembered(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper_module, "MOST_PEERS", 2)
    monkeypatch.setattr(history_module, "MOST_PEERS", 2)
    clock = Clock()
    monkeypatch.setattr(history, "_clock", clock)
    it = lasting(history)
    for number, peer in enumerate(("cc", ANNA, BERT, ANNA)):
        clock.now += 1
        it.claimed(peer, number + 1)
    assert history.claims() == {BERT: 3, ANNA: 4} == dict(it._claims)


def test_shared_answers_are_counted(history: History) -> None:
    it = lasting(history)
    it.shared(8)
    it.shared(3)
    assert it.answers_shared == 11 == lasting(history).answers_shared


def test_rounds_that_count_and_answers_that_were_given(history: History) -> None:
    run = history.begin_run(run_manifest())
    for number in range(1, 6):
        record(history, run, number)
    history.reconcile(3)
    record(history, run, 4)
    totals = history.totals()
    assert (totals.rounds, totals.answers_own) == (4, 6 * 8), "answers of lost rounds were given all the same"
    assert history.latest().rounds == 4 and history.latest().last == history.last_rounds(1)[0]


def test_the_latest_results_are_those_that_were_reported(history: History) -> None:
    run = history.begin_run(run_manifest())
    latest = history.latest()
    assert latest == Latest()
    marks = [TaskMark(task="gcd/easy", answers=8, solved=0.5, partial=0.5, reward=0.5)]
    report = round_report(1, tasks=marks, model=run_manifest().model_sha256)
    history.record_round(run, report, [], [])
    scores = [evaluation(0, 0.3), evaluation(1, 0.2), evaluation(2, 0.9, "test"), evaluation(3, 0.4)]
    drawn = msgspec.structs.replace(evaluation(4, 0.8), samples=4)
    for score in (*scores, drawn):
        history.record_eval(run, score)
        latest = latest.after_eval(score)
    latest = latest.after_round(report)
    assert latest == history.latest()
    assert (latest.base_validation, latest.validation, latest.answers_own) == (0.3, 0.4, 8)
    for score in (evaluation(1, 0.4), evaluation(0, 0.2)):
        history.record_eval(run, score)
        latest = latest.after_eval(score)
    assert latest == history.latest()
    assert (latest.base_validation, latest.validation) == (0.2, 0.4), "an older checkpoint scored is not how it is now"


# -- how often checkpoints are written --------------------------------------------------------------------------------


ALLOWANCE = 10e9


def simulate(size: int, every: float, days: int, restart_after: int | None = None) -> list[Written]:
    """Ask for a checkpoint of `size` bytes every `every` seconds; the worker restarts every so many asks."""
    written: list[Written] = []
    budget = WriteBudget(ALLOWANCE, [], 0.0)
    for ask in range(int(days * DAY / every)):
        now = ask * every
        if restart_after and ask % restart_after == 0:
            budget = WriteBudget(ALLOWANCE, [w for w in written if w.time >= now - 2 * DAY], now)
        if budget.allows(size, now):
            budget.spend(size, now)
            written.append(Written(time=now, bytes=size))
    return written


def most_in_a_day(written: list[Written]) -> int:
    most, total, start = 0, 0, 0
    for last in written:
        total += last.bytes
        while written[start].time <= last.time - DAY:
            total -= written[start].bytes
            start += 1
        most = max(most, total)
    return most


@pytest.mark.parametrize("size", [10**7, 10**9, 4 * 10**9, 7 * 10**9, 10**10])
@pytest.mark.parametrize("restart_after", [None, 1000, 3])
def test_no_day_exceeds_the_allowance_and_none_is_without(size: int, restart_after: int | None) -> None:
    days = 6
    written = simulate(size, 600.0, days, restart_after)
    assert most_in_a_day(written) <= ALLOWANCE
    asked = size * days * DAY / 600.0
    assert sum(w.bytes for w in written) >= min(asked, 0.4 * ALLOWANCE * (days - 2))  # half a day's, long run


def test_small_checkpoints_are_written_at_every_round() -> None:
    assert len(simulate(10**6, 30.0, 1)) == DAY / 30


def test_one_larger_than_the_day_is_never_routine() -> None:
    assert simulate(10**10 + 1, 3600.0, 3) == []


@given(
    st.lists(st.tuples(st.floats(0, 20_000), st.integers(1, 6 * 10**9)), max_size=60),
    st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_a_restart_forgets_nothing(asks: list[tuple[float, int]], restarts: list[bool]) -> None:
    now, written = 0.0, list[Written]()
    budget = WriteBudget(ALLOWANCE, [], now)
    for (pause, size), restart in zip(asks, restarts, strict=False):
        now += pause
        if restart:
            budget = WriteBudget(ALLOWANCE, [w for w in written if w.time >= now - 2 * DAY], now)
        if budget.allows(size, now):
            budget.spend(size, now)
            written.append(Written(time=now, bytes=size))
    assert not written or most_in_a_day(written) <= ALLOWANCE + 1


def test_a_large_one_waits_for_the_day_of_small_ones_to_end() -> None:
    budget = WriteBudget(ALLOWANCE, [], 0.0)
    budget.spend(4 * 10**9, 0.0)
    assert budget.allows(5 * 10**9, 0.9 * DAY), "the bucket is full again"
    assert not budget.allows(10**10, 0.9 * DAY)
    assert not WriteBudget(ALLOWANCE, [Written(time=0.0, bytes=4 * 10**9)], 0.9 * DAY).allows(10**10, 0.9 * DAY)
    assert budget.allows(6 * 10**9, 0.9 * DAY)
    assert budget.allows(10**10, DAY)


def test_what_had_to_be_written_counts() -> None:
    budget = WriteBudget(ALLOWANCE, [], 0.0)
    for _ in range(6):
        budget.spend(10**9, 0.0)
    assert not budget.allows(10**6, 0.0)
    assert not budget.allows(10**6, 0.19 * DAY)  # 1 GB over what it held: a fifth of a day at 5 GB a day
    assert budget.allows(10**6, 0.21 * DAY)


def test_a_clock_set_back_gains_nothing() -> None:
    budget = WriteBudget(ALLOWANCE, [], 1000.0)
    budget.spend(5 * 10**9, 1000.0)
    assert not budget.allows(10**6, 0.0)
    assert not budget.allows(10**6, 10.0)


def test_who_was_helped_once_stays_counted(history: History) -> None:
    it = lasting(history)
    for peer, used in ((ANNA, 0), (BERT, 2), (BERT, 0)):  # Bert was started again
        it.claimed(peer, used)
    assert it.helped == lasting(history).helped == 1
    it.claimed(ANNA, 4)
    assert it.helped == 2


def test_a_folder_inside_another_is_counted_once_and_what_cannot_be_seen_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = tmp_path / "data" / "models"
    models.mkdir(parents=True)
    for name in ("weights", "locked"):
        (models / name).write_bytes(bytes(100))
    (tmp_path / "data" / "settings").write_bytes(bytes(10))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "more").write_bytes(bytes(1000))
    assert bytes_in([tmp_path / "data", models, elsewhere]) == 1210 == bytes_in([models, tmp_path / "data", elsewhere])
    look = Path.lstat

    def refused(path: Path) -> Any:
        if path.name == "locked":
            raise PermissionError("no access")
        return look(path)

    monkeypatch.setattr(Path, "lstat", refused)
    assert bytes_in([tmp_path / "data", models]) == 110


def test_older_checkpoints_go_and_the_best_and_the_newest_stay(tmp_path: Path) -> None:
    store, history = CheckpointStore(tmp_path / "checkpoints"), History(tmp_path / "history.sqlite")
    for number in range(1, 7):
        write_of(store, number, "a", best=2)
    places = [tmp_path / "checkpoints"]
    each = bytes_in(places) // 6
    assert tidy(store, history, 5, bytes_in(places), places) <= 6 * each + 5
    assert store.numbers() == [1, 2, 3, 4, 5, 6], "within the cap nothing goes"
    assert tidy(store, history, 5, 4 * each, places) <= 4 * each
    assert store.numbers() == [2, 4, 5, 6] or store.numbers() == [2, 5, 6]
    tidy(store, history, 5, 0, places)
    assert store.numbers() == [2, 6]


def large_rounds(history: History, count: int) -> int:
    """Record so many rounds with long answers; returns their run."""
    run = history.begin_run(run_manifest())
    for number in range(1, count + 1):
        record(history, run, number, text="x" * 20_000)
    return run


def test_then_the_oldest_answers_go_and_the_file_shrinks(tmp_path: Path) -> None:
    store, history = CheckpointStore(tmp_path / "checkpoints"), History(tmp_path / "history.sqlite")
    large_rounds(history, 40)
    before = bytes_in([tmp_path])
    assert tidy(store, history, 5, before // 2, [tmp_path]) <= before // 2
    assert len(history.rounds().rounds) == 40 and history.rollouts().items, "the rounds' results stay"
    assert not history.shrink(10**9) or not history.shrink(10**9), "in the end nothing can go"


def test_room_that_was_freed_before_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    history = History(path)
    run = large_rounds(history, 30)
    history.close()
    before = path.stat().st_size
    history = History(path, most_bytes=before // 2)
    record(history, run, 31)
    assert path.stat().st_size >= before and len(history.rollouts().items) > 1
    kept = history.rollouts()
    assert history.shrink(before // 4) and path.stat().st_size < before * 3 / 4
    assert history.rollouts() == kept, "that was enough"
