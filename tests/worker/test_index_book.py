"""No index twice, whatever happens to process, disk or clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from sapo_desktop.core.errors import HistoryError
from sapo_desktop.worker.index_book import IndexBook


def test_indices_count_up_per_task_and_start_anew_with_each_slot(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "indices.json")
    assert book.take(5, ["gcd/easy", "lcm/easy", "gcd/easy"]) == [0, 0, 1]
    assert book.take(5, ["gcd/easy"]) == [2]
    assert book.take(6, ["gcd/easy"]) == [0]


def test_a_new_process_goes_on_where_the_old_one_was(tmp_path: Path) -> None:
    IndexBook(tmp_path / "indices.json").take(5, ["gcd/easy"] * 3)
    assert IndexBook(tmp_path / "indices.json").take(5, ["gcd/easy"]) == [3]


def test_a_clock_that_ran_ahead_and_was_set_back_costs_nothing(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "indices.json")
    assert book.take(5, ["gcd/easy"]) == [0]
    assert book.take(900_000, ["gcd/easy"]) == [0]
    assert book.take(5, ["gcd/easy"]) == [1]
    assert book.take(6, ["gcd/easy"]) == [0]


def test_of_a_forgotten_slot_nothing_may_be_published(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "indices.json")
    for slot in range(100, 120):
        book.take(slot, ["gcd/easy"])
    assert book.take(101, ["gcd/easy", "lcm/easy", "gcd/easy"]) == [64, 64, 65]
    assert book.take(101, ["gcd/easy"]) == [66]
    assert book.take(119, ["gcd/easy"]) == [1]


def test_what_was_answered_and_published_is_counted(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "indices.json")
    book.take(5, ["gcd/easy"] * 70)
    assert book.publish(5, "gcd/easy") == (64, 1)
    assert IndexBook(tmp_path / "indices.json").publish(5, "gcd/easy") == (64, 2)


def test_a_damaged_book_is_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "indices.json").write_text('{"slot": 5')
    with pytest.raises(HistoryError, match="wait ten minutes"):
        IndexBook(tmp_path / "indices.json")


def test_without_room_on_disk_no_index_is_given(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "missing" / "indices.json")
    with pytest.raises(HistoryError, match="cannot be written"):
        book.take(5, ["gcd/easy"])
