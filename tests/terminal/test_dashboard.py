"""The content of a view follows from the events alone."""

from typing import Any

import pytest

from sapo_desktop.core.why import Paused
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.worker.control.messages.events import (
    EvalFinished,
    Event,
    Progressed,
    RoundFinished,
    StateChanged,
)
from tests.cli.fake_replies import eval_report, scripted_round


def a_view(**more: Any) -> Dashboard:
    """A view whose clock stands where `tell` put it."""
    moment = [0.0]
    view = Dashboard("data", clock=lambda: moment[0], **more)
    view.moment = moment  # type: ignore[attr-defined]
    return view


def tell(view: Dashboard, now: float, event: Event) -> None:
    view.moment[0] = now  # type: ignore[attr-defined]
    view.take(event)


def finished(number: int, solved: float) -> RoundFinished:
    return RoundFinished(report=scripted_round(number, solved))


def test_rounds_fill_rewards_and_count() -> None:
    view = a_view(rounds_wanted=10)
    tell(view, 10.0, finished(1, 0.25))
    tell(view, 20.0, finished(2, 0.75))
    assert view.curves.column("reward").tolist() == [0.25, 0.75]
    assert (view.played, view.change) == (2, (0.25, 0.75))
    tell(view, 21.0, Progressed(round=3, phase="generate", done=5, total=64))
    assert view.finished == 2, "the current one does not count"


def test_a_long_run_compares_ten_rounds_at_each_end() -> None:
    view = a_view()
    for number in range(1, 41):
        tell(view, float(number), finished(number, number / 100))
    assert view.ends == 10
    assert view.change == pytest.approx((0.055, 0.355))


def test_a_short_run_compares_its_halves() -> None:
    view = a_view()
    for number, reward in enumerate((0.1, 0.2, 0.6, 0.4, 0.3), 1):
        tell(view, float(number), finished(number, reward))
    assert (view.ends, view.change) == (2, pytest.approx((0.15, 0.35)))


def test_a_pause_does_not_slow_the_pace() -> None:
    view = a_view()
    tell(view, 10.0, finished(1, 0.2))
    tell(view, 11.0, StateChanged(state="paused", reason="Paused", why=Paused()))
    tell(view, 5000.0, finished(2, 0.2))
    tell(view, 5010.0, finished(3, 0.2))
    assert view.rounds_per_hour == 360


def test_scores_keep_base_and_newest_and_leave_out_what_is_not_of_this_curve() -> None:
    view = a_view()
    for name, number, score in (("base", 0, 0.2), ("25", 25, 0.3), ("50", 50, 0.25)):
        tell(view, 1.0, EvalFinished(report=eval_report(name, number, score)))
    tell(view, 2.0, EvalFinished(report=eval_report("25", 25, 0.3)))
    tell(view, 3.0, EvalFinished(report=eval_report("last", 50, 0.9, "test")))
    assert view.scores == [0.2, 0.3, 0.25]
    assert (view.base, view.held_out_now) == (0.2, 0.25)
