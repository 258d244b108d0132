"""The window's view of arriving events: no display, no worker."""

import msgspec
import pytest

from sapo_desktop.core.records import TaskMark
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Failed, OnBattery, Paused, Ready, Training
from sapo_desktop.view.curves import Result
from sapo_desktop.view.link import Attached, Connecting, Ended, Lost
from sapo_desktop.view.viewmodel import ALL, View
from sapo_desktop.worker.control.messages.events import (
    Answered,
    EvalFinished,
    PhaseChanged,
    Progressed,
    RoundFinished,
    SettingsChanged,
    StateChanged,
    SwarmChanged,
)
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import Curve, ModelRun, SettingsAre
from tests.builders import eval_report, round_report, status
from tests.gui.scenes import LEARNED, NOW, SILO_ROUNDS, a_view, curve, silo_curve, swarm_curve, validation_point


def test_a_view_begins_without_a_node() -> None:
    view = View(clock=lambda: NOW)
    assert (view.main_action, view.face, view.attached) == ("wait", "paused", False)
    assert view.solved_now is None and view.held_out is None


def test_attaching_brings_everything_at_once() -> None:
    view = a_view(silo_curve())
    assert view.attached and view.at_work
    assert len(view.curves) == SILO_ROUNDS
    assert view.held_out_base == pytest.approx(silo_curve().evals[0].score)
    assert view.solved_now == pytest.approx(sum(silo_curve().reward[-20:]) / 20)


@pytest.mark.parametrize(
    ("state", "why", "action", "face"),
    [
        ("idle", Ready(), "contribute", "paused"),
        ("working", Training(round=4), "pause", "silo"),
        ("finishing", Training(round=4), "pause", "silo"),
        ("paused", Paused(), "resume", "paused"),
        ("paused", OnBattery(), "anyway", "paused"),
        ("failed", Failed(text="no memory", failures=3), "try again", "attention"),
        ("stopping", Ready(), "wait", "paused"),
    ],
)
def test_the_large_button_and_the_tray_follow_the_state(state: str, why: object, action: str, face: str) -> None:
    view = a_view()
    assert view.take(StateChanged(state=state, reason="", why=why)) == {"state"}
    assert (view.main_action, view.face) == (action, face)


def test_out_of_silo_the_tray_shows_plain_work() -> None:
    view = a_view(silo=False)
    assert view.face == "working"
    view.take(SettingsChanged(now=SettingsAre(settings=Settings(silo=True), changed=[], overridden=[])))
    assert view.face == "silo", "the switch is seen before any state changes"


def test_a_lost_worker_is_attention_and_can_be_started_again() -> None:
    view = a_view()
    view.take(Lost(reason="Killed."))
    assert (view.main_action, view.face, view.attached, view.done) == ("try again", "attention", False, 0)
    view.take(Connecting(again=True))
    assert (view.main_action, view.face) == ("wait", "paused")


def test_an_ended_worker_needs_nobody() -> None:
    view = a_view()
    view.take(Ended())
    assert (view.main_action, view.face) == ("try again", "paused")


def test_attaching_again_forgets_nothing_and_counts_nothing_twice() -> None:
    view = a_view(silo_curve())
    view.take(RoundFinished(report=round_report(SILO_ROUNDS + 1, reward=0.9)))
    view.take(Lost(reason="Killed."))
    again = a_view(silo_curve())
    assert view.take(again.link) == ALL
    assert len(view.curves) == SILO_ROUNDS, "what the worker says holds"


def test_a_timed_pause_counts_down() -> None:
    view = a_view()
    view.take(StateChanged(state="paused", reason="", why=Paused(until=NOW + 90), resume_at=NOW + 90))
    assert view.pause_left == 90
    view.take(StateChanged(state="working", reason="", why=Training(round=2)))
    assert view.pause_left is None


def test_a_round_adds_one_point_and_its_marks() -> None:
    view = a_view(silo_curve())
    marks = [TaskMark(task="gcd/easy", answers=8, solved=0.5, partial=0.5, reward=0.5)]
    assert view.take(RoundFinished(report=round_report(SILO_ROUNDS + 1, reward=0.5, tasks=marks))) >= {
        "curves",
        "rounds",
    }
    assert view.curves.last_round == SILO_ROUNDS + 1 and view.tasks["gcd/easy"][SILO_ROUNDS + 1] == 0.5
    before = view.answers_given
    view.take(RoundFinished(report=round_report(SILO_ROUNDS + 2, tasks=marks)))
    assert view.answers_given == before + 8


def test_a_round_played_again_replaces_its_marks() -> None:
    view = a_view()
    for solved in (0.25, 0.75):
        marks = [TaskMark(task="gcd/easy", answers=8, solved=solved, partial=0.5, reward=0.5)]
        view.take(RoundFinished(report=round_report(1, tasks=marks)))
    assert view.tasks["gcd/easy"] == {1: 0.75}
    assert len(view.reports) == len(view.curves) == 1


def test_the_time_of_each_phase_is_kept_while_the_round_lasts() -> None:
    moment = [NOW]
    view = a_view(silo_curve())
    view.clock = lambda: moment[0]
    view.take(PhaseChanged(round=1, phase="generate"))
    moment[0] += 5
    view.take(PhaseChanged(round=1, phase="mark"))
    moment[0] += 1
    view.take(Progressed(round=1, phase="train", done=3, total=9))
    assert view.spent == {"generate": 5.0, "mark": 1.0}
    assert (view.done, view.total) == (3, 9)
    view.take(PhaseChanged(round=2, phase="questions"))
    assert view.spent == {} and view.done == 0


def test_history_from_before_fills_the_small_charts_in_order() -> None:
    view = a_view(swarm_curve(100))
    assert list(view.tasks["gcd/easy"]) == list(range(61, 101))


def test_what_strangers_wrote_is_plain_when_it_comes_in() -> None:
    view = a_view()
    evil = "\x1b[31m<b>x</b>\u202e\x00"
    view.take(Answered(round=1, task=evil, question=evil, completion=evil, solved=True))
    view.take(Notice(level="warning", text=evil, time=NOW))
    view.take(SwarmChanged(state="failed", reason=evil, peers=0))
    view.take(StateChanged(state="failed", reason="", why=Failed(text=evil, failures=1)))
    assert view.answers[-1].completion == "<b>x</b>"
    assert view.notices[-1].text == view.swarm_reason == "<b>x</b>"
    assert isinstance(view.why, Failed) and view.why.text == "<b>x</b>"
    view.take(StateChanged(state="working", reason="a\x1b[2J\n\u202eb", why=Training(round=1)))
    assert view.reason == "a b"


def two_models() -> View:
    """The starter played 30 rounds and SmolLM2 two; the starter is at work."""
    made = curve([0.4] * 30 + [0.0] * 2)
    made.model[30:] = [1, 1]
    made.models.extend([ModelRun(hash="starter1", name="starter"), ModelRun(hash="smol1", name="smollm2-135m")])
    scores = [("starter1", 0, 0.1), ("starter1", 24, 0.4), ("smol1", 0, 0.05), ("smol1", 31, 0.0)]
    made.evals.extend(
        msgspec.structs.replace(validation_point(at, score, 0.1 if model == "starter1" else 0.05), model=model)
        for model, at, score in scores
    )
    view = View(clock=lambda: NOW)
    view.take(attached(made, "starter1"))
    return view


def attached(made: Curve, model: str) -> Attached:
    shown = status(model_hash=model, learned=LEARNED if model == "starter1" else None)
    return Attached(status=shown, settings=SettingsAre(settings=Settings(), changed=[], overridden=[]), curve=made)


def test_one_models_numbers_never_stand_for_anothers() -> None:
    view = two_models()
    assert (len(view.curves), view.held_out, view.held_out_base, view.solved_now) == pytest.approx((30, 0.4, 0.1, 0.4))
    made = curve([0.4] * 30)
    made.models.append(ModelRun(hash="starter1", name="starter"))
    made.evals.extend(
        msgspec.structs.replace(validation_point(at, score, 0.1), model="starter1")
        for at, score in ((0, 0.1), (24, 0.4))
    )
    view.take(Answered(round=30, task="gcd/easy", question="?", completion="!", solved=True))
    view.take(attached(made, "new1"))
    assert (len(view.curves), view.held_out, view.held_out_base, view.solved_now) == (0, None, None, None)
    assert (view.learned, view.curves.shares(), list(view.answers), list(view.reports)) == (None, None, [], [])
    view.take_history([round_report(30, model="starter1", tasks=[TaskMark("gcd/easy", 8, 1.0, 1.0, 1.0)])])
    assert (list(view.reports), view.tasks) == ([], {}), "reports from another model are none of this one's"
    view.take(RoundFinished(report=round_report(31, solved=0.2, model="new1")))
    assert (len(view.curves), view.solved_now) == (1, 0.2), "no mean over two models"
    view.take(EvalFinished(report=eval_report("base", 0.02, line="new1 questions")))
    view.take(EvalFinished(report=eval_report("31", 0.03, line="new1 questions")))
    assert view.curves.held_out().rounds.tolist() == [30, 31], "its line begins where it began"


def test_a_model_that_is_chosen_again_shows_its_own_curve_at_once() -> None:
    view = two_models()
    assert view.held_out == 0.4 and view.curves.last_round == 30
    assert view.curves.results_before() == [
        Result(model="smol1", name="smollm2-135m", base=pytest.approx(0.05), now=0.0)
    ]
    assert view.learned is not None


def test_a_node_that_takes_a_smaller_model_shows_that_ones_numbers() -> None:
    view = two_models()
    view.take(RoundFinished(report=round_report(33, reward=0.7, model="smol1")))
    assert (view.curves.column("round").tolist(), view.learned) == ([31, 32, 33], None)
