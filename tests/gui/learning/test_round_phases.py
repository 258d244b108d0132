"""Where a round's time goes: the current round, the mean of the last ones, and pauses that are not counted."""

import pytest

from sapo_desktop.core.why import Paused, Training
from sapo_desktop.gui.learning import round_phases
from sapo_desktop.gui.learning.round_phases import mean_of, of_report, spent_so_far, tally
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import PhaseChanged, StateChanged
from tests.builders import round_report
from tests.gui.scenes import a_view


class Clock:
    def __init__(self, view: View) -> None:
        self.now = view.clock()
        view.clock = lambda: self.now


@pytest.fixture
def at_work() -> tuple[View, Clock]:
    view = a_view()
    clock = Clock(view)
    view.take(PhaseChanged(round=7, phase="questions"))
    return view, clock


def test_the_current_round_grows_with_the_clock(at_work: tuple[View, Clock]) -> None:
    view, clock = at_work
    clock.now += 0.5
    view.take(PhaseChanged(round=7, phase="generate"))
    clock.now += 2
    now = spent_so_far(view)
    assert now is not None and now.number == 7
    assert now.seconds == {"questions": 0.5, "generate": 2.0}
    assert now.in_order() == [("questions", 0.5), ("generate", 2.0)]


def test_a_pause_is_not_counted(at_work: tuple[View, Clock]) -> None:
    view, clock = at_work
    view.take(PhaseChanged(round=7, phase="generate"))
    clock.now += 1
    view.take(StateChanged(state="paused", reason="", why=Paused()))
    assert spent_so_far(view) is None
    clock.now += 3600
    view.take(StateChanged(state="working", reason="", why=Training(round=7)))
    clock.now += 2
    view.take(PhaseChanged(round=7, phase="mark"))
    now = spent_so_far(view)
    assert now is not None and now.seconds["generate"] == 3.0


def test_the_next_round_begins_again(at_work: tuple[View, Clock]) -> None:
    view, clock = at_work
    clock.now += 5
    view.take(PhaseChanged(round=8, phase="questions"))
    now = spent_so_far(view)
    assert now is not None and (now.number, now.total) == (8, 0.0)
    assert spent_so_far(a_view(state="idle")) is None and spent_so_far(View()) is None, "without work there is none"


def test_what_a_report_does_not_name_was_setting_questions() -> None:
    spent = of_report(round_report(3, share_seconds=0.2, draw_seconds=0.3, seconds=2.5))
    assert spent.seconds["questions"] == pytest.approx(2.5 - 1.0 - 0.1 - 0.7 - 0.2 - 0.3)
    assert spent.total == pytest.approx(2.5)


def test_the_mean_leaves_out_rounds_that_were_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = [round_report(number, generate_seconds=number, seconds=number + 0.8) for number in (1, 2, 3)]
    paused = round_report(4, generate_seconds=9000.0, seconds=9001.0)
    mean = mean_of([*reports, paused])
    assert mean is not None and mean.rounds == 3
    assert mean.seconds["generate"] == pytest.approx(2.0)
    assert mean_of([]) is None
    monkeypatch.setattr(round_phases, "MEAN_OF", 2)
    last = mean_of(reports)
    assert last is not None and last.seconds["generate"] == pytest.approx(2.5)


def test_groups_are_tallied() -> None:
    one = round_report(1, local_groups=24, external_groups=6, zero_advantage_groups=10, mix="24/8", truncated=0.1)
    two = round_report(2, local_groups=30, external_groups=0, zero_advantage_groups=20, mix="", truncated=0.3)
    found = tally([one, two])
    assert (found.rounds, found.own, found.external, found.wanted) == (2, 27.0, 3.0, 8.0)
    assert found.idle == pytest.approx(0.5) and found.truncated == pytest.approx(0.2)
    assert tally([]) is None


def test_the_time_for_held_out_questions_is_part_of_a_round_and_no_pause() -> None:
    plain = [round_report(number, seconds=2.0) for number in (1, 2, 3)]
    scored = round_report(4, evaluate_seconds=400.0, seconds=402.0)
    assert of_report(scored).seconds["evaluate"] == 400.0
    mean = mean_of([*plain, scored])
    assert mean is not None and mean.rounds == 4
    assert mean.seconds["evaluate"] == pytest.approx(100.0) and mean.total == pytest.approx(102.0)
