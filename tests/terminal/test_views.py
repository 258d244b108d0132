"""Plain lines: what is shown, and how often; the last line of a terminal."""

import io
import os

import pytest

from sapo_desktop.core.why import Training, in_english
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.views import PlainView, eval_line, passing_line
from sapo_desktop.worker.control.messages.events import Progressed, RoundFinished, StateChanged
from tests.builders import eval_report
from tests.cli.fake_replies import scripted_round


def test_that_the_computer_is_busy_is_reported_when_it_begins_and_not_of_every_round() -> None:
    stream = io.StringIO()
    view = PlainView(Output(json_lines=False, stdout=stream, stderr=stream), Dashboard("d"))
    for number, busy in ((1, ""), (2, "Others compute."), (3, "Others compute."), (4, ""), (5, "Others compute.")):
        why = Training(round=number, busy=busy)
        view.event(StateChanged(state="working", reason=in_english(why, 0.0), why=why))
    assert stream.getvalue() == "Training round 2. Others compute\nTraining round 5. Others compute\n"


def test_a_running_score_says_how_many_questions_it_rests_on() -> None:
    report = eval_report("", 0.29, round=5, questions=16, low=0.1, high=0.48, solved=[True] * 16)
    assert "after round 5: 29% of 16 questions solved, 95% interval 10% to 48%" in eval_line(report)


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self) -> bool:
        return True


def test_in_a_terminal_the_last_line_says_how_far_it_is_until_something_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((40, 24)))
    stream = Terminal()
    shown = Dashboard("d")
    view = PlainView(Output(json_lines=False, stdout=stream, stderr=stream), shown)
    shown.take(StateChanged(state="working", reason="Training", why=Training(round=3)))
    shown.take(Progressed(round=4, phase="generate", done=5, total=64))
    view.redraw()
    assert stream.getvalue() == "\rround 4, answering 5/64"
    view.said("Attached.")
    assert stream.getvalue().endswith("\r" + " " * 23 + "\rAttached.\n")
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((20, 24)))
    view.redraw()
    assert len(stream.getvalue().rpartition("\r")[2]) == 19


def test_the_last_line_has_the_pace_once_rounds_were_seen() -> None:
    moment = [0.0]
    shown = Dashboard("d", rounds_wanted=5, clock=lambda: moment[0])
    shown.reason = "Starting the node"
    assert passing_line(shown) == "Starting the node"
    for number in (1, 2):
        moment[0] = 10.0 * number
        shown.take(RoundFinished(report=scripted_round(number, 0.2)))
    shown.take(StateChanged(state="working", reason="Training", why=Training(round=2)))
    shown.take(Progressed(round=3, phase="train", done=0, total=0))
    assert passing_line(shown) == "round 3, learning; 360 rounds/h, 30s left"
