"""When a family's level went up or down, from nothing but the rounds' marks."""

from __future__ import annotations

from sapo_desktop.core.records import TaskMark
from sapo_desktop.gui.learning.level_moves import LEVELS, MISSES, LevelMove, LevelMoves
from sapo_desktop.tasks import catalogue


def mark(level: str, answers: int = 8) -> TaskMark:
    return TaskMark(task=f"gcd/{level}", answers=answers, solved=0.5, partial=0.5, reward=0.5)


def test_the_levels_are_those_of_the_catalogue() -> None:
    assert LEVELS == catalogue.LEVELS


def test_a_higher_level_is_a_move_up_at_once() -> None:
    moves = LevelMoves()
    for number in range(1, 12):
        moves.add(number, [mark("easy")])
    assert moves.last("gcd") is None
    moves.add(12, [mark("easy"), mark("middle")])
    assert moves.last("gcd") == LevelMove(12, "easy", "middle", up=True)


def test_the_level_below_now_and_then_is_no_move_down() -> None:
    moves = LevelMoves()
    for number, level in enumerate(["easy", "middle", *(["easy"] * (MISSES - 1)), "middle", "easy"], 1):
        moves.add(number, [mark(level)])
    assert moves.last("gcd") == LevelMove(2, "easy", "middle", up=True)


def test_a_level_that_stays_away_was_left_when_it_was_last_missed_first() -> None:
    moves = LevelMoves()
    for number, level in enumerate(["middle", *(["easy"] * MISSES)], 1):
        moves.add(number, [mark(level)])
    assert moves.last("gcd") == LevelMove(2, "middle", "easy", up=False)


def test_a_history_that_is_seen_from_its_middle_on_begins_without_moves() -> None:
    moves = LevelMoves()
    for number, level in enumerate(["easy", "middle", "easy", "middle"], 500):
        moves.add(number, [mark(level)])
    assert moves.last("gcd") is None


def test_what_says_nothing_changes_nothing() -> None:
    moves = LevelMoves()
    moves.add(1, [mark("easy"), mark("strange"), mark("hard", answers=0)])
    moves.add(2, [TaskMark(task="unknown/easy", answers=8, solved=0, partial=0, reward=0)])
    assert moves.last("gcd") is None and moves.last("unknown") is None
