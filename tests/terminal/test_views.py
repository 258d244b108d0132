"""Plain lines: what is told, and how often."""

import io

from sapo_desktop.core.why import Training, in_english
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.views import PlainView
from sapo_desktop.worker.control.messages.events import StateChanged


def test_that_the_computer_is_busy_is_told_when_it_begins_and_not_of_every_round() -> None:
    stream = io.StringIO()
    view = PlainView(Output(json_lines=False, stdout=stream, stderr=stream), Dashboard("d"))
    for number, busy in ((1, ""), (2, "Others compute."), (3, "Others compute."), (4, ""), (5, "Others compute.")):
        why = Training(round=number, busy=busy)
        view.event(StateChanged(state="working", reason=in_english(why, 0.0), why=why))
    assert stream.getvalue() == "Training round 2. Others compute\nTraining round 5. Others compute\n"
