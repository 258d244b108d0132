"""What a view shows follows from the events alone."""

from __future__ import annotations

import pytest

from sapo_desktop.core.why import Paused, Training
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.worker.control.messages.events import (
    Answered,
    EvalFinished,
    PhaseChanged,
    Progressed,
    RoundFinished,
    StateChanged,
)
from sapo_desktop.worker.control.messages.facts import Notice
from tests.cli.fake_node import eval_report, scripted_round


def finished(number: int, solved: float) -> RoundFinished:
    return RoundFinished(report=scripted_round(number, solved))


def test_rounds_fill_rewards_tasks_and_tally() -> None:
    view = Dashboard("data", 0.0, rounds_wanted=10)
    view.apply(finished(1, 0.25), 10.0)
    view.apply(finished(2, 0.75), 20.0)
    assert list(view.rewards) == [0.25, 0.75]
    assert view.tally.rounds == 2
    assert view.tally.change == (0.25, 0.75)
    gcd = view.tasks["gcd/easy"]
    assert (gcd.now, gcd.recent, gcd.answers) == (0.75, 0.5, 16)


def test_a_long_run_compares_ten_rounds_at_each_end() -> None:
    view = Dashboard("data", 0.0)
    for number in range(1, 41):
        view.apply(finished(number, number / 100), float(number))
    assert view.tally.window == 10
    assert view.tally.change == pytest.approx((0.055, 0.355))
    assert view.tasks["gcd/easy"].recent == pytest.approx(0.355)


def test_pace_and_time_left_come_from_the_rounds_seen() -> None:
    view = Dashboard("data", 0.0, rounds_wanted=5)
    assert view.rounds_per_hour is None
    for number, moment in ((1, 10.0), (2, 20.0), (3, 30.0)):
        view.apply(finished(number, 0.2), moment)
    assert view.rounds_per_hour == 360
    assert view.seconds_left == 20


def test_a_pause_does_not_slow_the_pace() -> None:
    view = Dashboard("data", 0.0)
    view.apply(finished(1, 0.2), 10.0)
    view.apply(StateChanged(state="paused", reason="Paused", why=Paused()), 11.0)
    view.apply(finished(2, 0.2), 5000.0)
    view.apply(finished(3, 0.2), 5010.0)
    assert view.rounds_per_hour == 360


def test_scores_keep_base_and_best_and_leave_out_what_is_not_of_this_curve() -> None:
    view = Dashboard("data", 0.0)
    for name, number, score in (("base", 0, 0.2), ("25", 25, 0.3), ("50", 50, 0.25)):
        view.apply(EvalFinished(report=eval_report(name, number, score)), 1.0)
    view.apply(EvalFinished(report=eval_report("25", 25, 0.3)), 2.0)
    view.apply(EvalFinished(report=eval_report("last", 50, 0.9, "test")), 3.0)
    assert list(view.scores) == [0.2, 0.3, 0.25]
    assert (view.base, view.best) == (0.2, 0.3)


def test_progress_belongs_to_its_phase() -> None:
    view = Dashboard("data", 0.0)
    view.apply(Progressed(round=3, phase="generate", done=5, total=64), 1.0)
    assert (view.round, view.phase, view.done, view.total) == (3, "generate", 5, 64)
    view.apply(PhaseChanged(round=3, phase="train"), 2.0)
    assert (view.phase, view.done, view.total) == ("train", 0, 0)


def test_text_from_the_node_is_cleaned_as_it_comes_in() -> None:
    view = Dashboard("data", 0.0)
    hostile = "a\x1b[2J\n\u202eb"
    view.apply(Answered(round=1, task="gcd/easy", question=hostile, completion=hostile, solved=True), 1.0)
    view.apply(Notice(level="warning", text=hostile), 1.0)
    view.apply(StateChanged(state="working", reason=hostile, why=Training(round=1)), 1.0)
    view.apply(Progressed(round=1, phase="generate", done=0, total=1, detail=hostile), 1.0)
    shown = [view.answers[0].question, view.answers[0].completion, view.notices[0].text, view.reason, view.detail]
    assert shown == ["a b"] * 5


def test_what_is_kept_is_bounded() -> None:
    view = Dashboard("data", 0.0)
    for number in range(300):
        view.apply(Notice(level="info", text=str(number)), 0.0)
        view.apply(Answered(round=1, task="t/a", question="q", completion=str(number), solved=False), 0.0)
    assert len(view.notices) == 20
    assert len(view.answers) == 100
