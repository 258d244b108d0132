"""No index is used twice, whatever happens to process, disk or clock."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import HistoryError, HistoryUnavailable
from sapo_desktop.worker.membership.index_book import IndexBook


def test_indices_count_up_per_task_and_start_again_with_each_slot(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "indices.json")
    assert book.take(5, ["gcd/easy", "lcm/easy", "gcd/easy"]) == [0, 0, 1]
    assert book.take(5, ["gcd/easy"]) == [2]
    assert book.take(6, ["gcd/easy"]) == [0]


def test_a_new_process_goes_on_where_the_old_one_was(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "indices.json")
    book.take(5, ["gcd/easy"] * 3)
    book.write()
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


def test_however_busy_a_node_is_some_indices_are_left_for_a_person(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "indices.json")
    assert book.take(5, ["gcd/easy"] * 58) == [*range(56), 64, 65]
    posed = [book.take_for_person(5, "gcd/easy") for _ in range(9)]
    assert posed == [56, 57, 58, 59, 60, 61, 62, 63, None]
    assert book.take_for_person(5, "lcm/easy") == 56
    assert book.take(5, ["gcd/easy"]) == [66]


def test_of_a_forgotten_slot_a_person_is_asked_nothing(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "indices.json")
    for slot in range(100, 120):
        book.take(slot, ["gcd/easy"])
    assert book.take_for_person(101, "gcd/easy") is None
    assert book.take_for_person(119, "gcd/easy") == 56


def test_a_damaged_book_is_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "indices.json").write_text('{"slot": 5')
    with pytest.raises(HistoryError, match="wait ten minutes"):
        IndexBook(tmp_path / "indices.json")


def test_without_room_on_disk_there_is_something_to_wait_for(tmp_path: Path) -> None:
    book = IndexBook(tmp_path / "missing" / "indices.json")
    book.take(5, ["gcd/easy"])
    with pytest.raises(HistoryUnavailable, match="cannot be written"):
        book.write()
    (tmp_path / "missing").mkdir()
    book.write()
    assert IndexBook(tmp_path / "missing" / "indices.json").take(5, ["gcd/easy"]) == [1]


def test_a_book_without_a_file_counts_all_the_same() -> None:
    book = IndexBook(None)
    assert book.take(5, ["gcd", "gcd"]) + book.take(5, ["gcd"]) == [0, 1, 2]
