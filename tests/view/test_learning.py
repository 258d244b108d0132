"""The sentences on whether the model learns and how long it takes: no display, no worker."""

import msgspec
import pytest

from sapo_desktop.core.records import Gain
from sapo_desktop.core.why import Training
from sapo_desktop.view.learning import learning_sentence, round_left, score_left, time_sentence
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import EvalFinished, PhaseChanged, RoundFinished, StateChanged
from tests.builders import eval_report, round_report
from tests.gui.scenes import NOW, a_view, curve


def scored(base: float, now: float, margin: float = 0.05, questions: int = 252) -> View:
    view = a_view(curve([0.1] * 3))
    gain = Gain(value=now - base, low=now - base - margin, high=now - base + margin)
    view.take(EvalFinished(report=eval_report("base", base, questions=questions)))
    view.take(EvalFinished(report=eval_report("3", now, questions=questions, gain=gain)))
    return view


@pytest.mark.parametrize(
    ("base", "now", "said"),
    [
        (0.1, 0.4, "Yes: 40 of 100 questions, 10 at the start."),
        (0.0, 0.002, "Not sure yet: 1 of 100 questions, 0 at the start."),
        (0.4, 0.1, "No: 10 of 100 questions, 40 at the start."),
        (0.0, 0.0, "None of 24 questions solved yet."),
    ],
)
def test_whether_it_learns_is_said_in_percent_and_hopelessness_plainly(base: float, now: float, said: str) -> None:
    assert str(learning_sentence(scored(base, now, questions=24))) == said


def test_before_a_score_nothing_is_known() -> None:
    view = a_view(curve([]))
    assert str(learning_sentence(view)) == "Not known yet: no score so far."
    view.take(EvalFinished(report=eval_report("base", 0.1)))
    assert str(learning_sentence(view)) == "Not known yet: 10 of 100 questions at the start."


def test_while_the_form_is_learned_that_is_what_it_learns() -> None:
    view = scored(0.0, 0.0, questions=24)
    view.take(RoundFinished(report=round_report(4, readable=0.52)))
    assert (
        str(learning_sentence(view)) == "It is learning how to answer: 52% readable. None of 24 questions solved yet."
    )
    view.settings = msgspec.structs.replace(view.settings, reward="strict")
    assert str(learning_sentence(view)) == "None of 24 questions solved yet.", "there the form earns nothing"
    sure = scored(0.1, 0.4)
    sure.take(RoundFinished(report=round_report(4, readable=0.52)))
    assert str(learning_sentence(sure)).startswith("Yes")


def test_how_long_it_takes_is_reported_from_rounds_of_this_model() -> None:
    now = [NOW]
    view = View(clock=lambda: now[0])
    view.take(a_view(curve([])).link)
    view.take(StateChanged(state="working", reason="", why=Training(round=1)))
    assert round_left(view) is None and "The time per round is known after this" in str(time_sentence(view))
    view.take(RoundFinished(report=round_report(1, seconds=1000.0, evaluate_seconds=40.0), next_score=3))
    view.take(PhaseChanged(round=2, phase="generate"))
    now[0] += 300
    assert (round_left(view), score_left(view)) == (660.0, 660.0 + 960.0 + 40.0)
    assert str(time_sentence(view)) == "This round: about 11 min left. Next score: in about 28 min."
    now[0] += 900
    assert str(time_sentence(view)).startswith("This round takes longer than usual.")
    view.take(RoundFinished(report=round_report(2, seconds=1200.0, model="another")))
    assert round_left(view) == 1200.0, "another model's rounds say nothing"
