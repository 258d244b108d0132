"""Rounds by mix and treatment: counted, averaged, and silent where they are too few."""

from __future__ import annotations

import pytest

from sapo_desktop.gui.home.comparison import FEWEST_ROUNDS
from sapo_desktop.gui.learning.past_rounds import MIXES, PastRounds, Under, mix_of
from tests.records import round_report


def under(rows: list[Under], name: str) -> Under:
    return next(row for row in rows if row.name == name)


@pytest.mark.parametrize(
    ("text", "mix"),
    [("24/8", "6/2"), ("32/0", "8/0"), ("16/16", "4/4"), ("8/24", "2/6"), ("28/4", "7/1"), ("8/2", "6/2"), ("", ""),
     ("adaptive", ""), ("0/0", ""), ("-1/3", "")],
)  # fmt: skip
def test_a_mix_is_told_of_eight_groups(text: str, mix: str) -> None:
    assert mix_of(text) == mix


def test_rounds_are_told_by_mix() -> None:
    past = PastRounds()
    past.add(round_report(n, mix="32/0", reward=0.01 * n) for n in range(1, FEWEST_ROUNDS + 1))
    past.add(
        round_report(n, mix="16/16", reward=0.5, local_groups=20, external_groups=12) for n in range(100, 110)
    )  # fmt: skip
    rows = past.by_mix()
    assert [row.name for row in rows] == list(MIXES)
    alone, half = under(rows, "8/0"), under(rows, "4/4")
    assert alone.side.rounds == FEWEST_ROUNDS and alone.external == 0
    assert alone.side.reward == pytest.approx(0.01 * (FEWEST_ROUNDS + 1) / 2)
    assert alone.side.gain == pytest.approx(1.0)
    assert half.side.rounds == 10 and half.side.reward is None, "ten rounds are worth no number"
    assert half.external == pytest.approx(12 / 32)
    assert under(rows, "2/6").side.rounds == 0 and under(rows, "2/6").external is None


def test_a_mix_of_the_guard_has_a_row_of_its_own() -> None:
    past = PastRounds()
    past.add([round_report(1, mix="28/4")])
    assert [row.name for row in past.by_mix()] == ["8/0", "7/1", "6/2", "4/4", "2/6"]


def test_a_treatment_counts_where_it_weighed_something() -> None:
    past = PastRounds()
    past.add(round_report(n, treatment="guarded", external_groups=n % 2) for n in range(1, 11))
    guarded, paper = past.by_treatment(["guarded", "paper"])
    assert guarded.side.rounds == 5 and paper.side.rounds == 0


def test_lost_rounds_are_forgotten_and_replaced() -> None:
    past = PastRounds()
    past.add(round_report(n, mix="8/0") for n in range(1, 11))
    past.keep_until(6)
    assert (len(past), past.first, past.last) == (6, 1, 6)
    past.add([round_report(6, mix="4/4")])
    assert under(past.by_mix(), "8/0").side.rounds == 5


def test_nothing_is_no_trouble() -> None:
    past = PastRounds()
    assert (past.first, past.last) == (0, 0)
    assert [row.side.rounds for row in past.by_mix()] == [0, 0, 0, 0]
