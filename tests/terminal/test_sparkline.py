"""Charts, drawn by hand."""

from sapo_desktop.terminal.glyphs import ASCII, UNICODE
from sapo_desktop.terminal.sparkline import plot, squeeze


def test_more_values_than_cells_become_means_of_equal_stretches() -> None:
    assert squeeze([0, 1, 2, 3, 4, 5], 3) == [0.5, 2.5, 4.5]
    assert squeeze([1, 2], 3) == [1, 2]
    assert squeeze([1, 2], 0) == []


def test_two_rows_from_lowest_to_highest() -> None:
    # Drawn from 0 to 1: 16 steps of which 0 shows as one, .5 as half, 1 as all.
    assert plot([0.0, 0.5, 1.0], 4, 2, UNICODE) == ["  █ ", "▁██ "]


def test_the_base_line_is_where_no_bar_is() -> None:
    rows = plot([1.0], 3, 2, UNICODE, baseline=0.0)
    assert rows == ["█  ", "█┄┄"]


def test_without_values_there_is_an_empty_chart() -> None:
    assert plot([], 3, 2, UNICODE) == ["   ", "   "]


def test_ascii_stays_ascii() -> None:
    assert all(row.isascii() for row in plot([0.1, 0.5, 0.9], 5, 3, ASCII, baseline=0.3))
