"""Pages of kept answers: both ways, filtered, bounded, and found again by their ids."""

from pathlib import Path

import msgspec
import pytest

from sapo_desktop.worker.control.messages.rollouts import GetRollouts, Rollout
from sapo_desktop.worker.store import rollouts as kept_rollouts
from sapo_desktop.worker.store.history import History
from tests.builders import run_manifest
from tests.worker.store.test_history import group, record, report


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Three rounds of an own and a peer's group, two answers each."""
    history = History(tmp_path / "history.db")
    run = history.begin_run(run_manifest())
    for number in (1, 2, 3):
        record(history, run, number, text=f"because {number}")
    return history


def pages(history: History, wanted: GetRollouts) -> list[Rollout]:
    """All that match, page by page, newest first."""
    found: list[Rollout] = []
    while True:
        page = history.rollouts(wanted)
        found += page.items
        if not page.more:
            return found
        wanted = msgspec.structs.replace(wanted, before=page.items[-1].id)


def test_newest_first_pages_meet_without_a_gap(history: History) -> None:
    oldest_first = history.rollouts().items
    for limit in (1, 3, 5, 100):
        assert pages(history, GetRollouts(newest_first=True, limit=limit)) == oldest_first[::-1]
    ids = [one.id for one in oldest_first]
    assert ids == sorted(set(ids))


def test_an_id_stays_while_rounds_come_and_go(history: History) -> None:
    before = history.rollouts().items
    history.reconcile(2)
    record(history, history.begin_run(run_manifest()), 3, text="again")
    after = history.rollouts().items
    assert after[:8] == before[:8] and {one.id for one in after[8:]}.isdisjoint(one.id for one in before)
    assert [one.round for one in pages(history, GetRollouts(newest_first=True, limit=3))] == [3] * 4 + [2] * 4 + [1] * 4


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (GetRollouts(origin="peer"), 6),
        (GetRollouts(origin="human"), 0),
        (GetRollouts(verdict="solved"), 6),
        (GetRollouts(task="gcd/easy"), 12),
        (GetRollouts(task="gcd"), 12),
        (GetRollouts(task="gc"), 0),
        (GetRollouts(search="BECAUSE 2"), 2),
        (GetRollouts(search="6 and 9"), 12),
        (GetRollouts(search="%"), 0),
        (GetRollouts(search="\ud800"), 12),  # stands as a question mark where it is stored
        (GetRollouts(search="because", origin="own", verdict="solved", after=1), 2),
        (GetRollouts(before=0), 0),
    ],
)
def test_filters(history: History, wanted: GetRollouts, count: int) -> None:
    for newest_first in (False, True):
        assert len(history.rollouts(msgspec.structs.replace(wanted, newest_first=newest_first)).items) == count


def test_a_filter_keeps_pages_of_whole_rounds(history: History) -> None:
    page = history.rollouts(GetRollouts(origin="peer", limit=3))
    assert ([one.round for one in page.items], page.more) == ([1, 1], True)


def test_a_page_ends_before_its_message_is_too_large(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rollouts, "_PAGE_BYTES", 60)
    newest = history.rollouts(GetRollouts(newest_first=True))
    assert (len(newest.items), newest.more) == (3, True)
    oldest = history.rollouts()
    assert ([one.round for one in oldest.items], oldest.more) == ([1] * 4, True)


def test_a_page_reads_no_more_than_it_shows(tmp_path: Path) -> None:
    history = History(tmp_path / "history.db")
    run = history.begin_run(run_manifest())
    for number in range(1, 40):
        history.record_round(run, report(number), [group(number)], [[0.0, 0.0]])
    with history._database.reading() as db:
        plan = " ".join(
            row[3]
            for row in db.execute(f"EXPLAIN QUERY PLAN {kept_rollouts._SELECT} ORDER BY a.round_id DESC, a.place DESC")
        )
    assert "USE TEMP B-TREE" not in plan, plan
