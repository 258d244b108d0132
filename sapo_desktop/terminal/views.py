"""The three ways to watch a node: a live view in a terminal, a plain line per round, JSON lines.

`open_view` picks one: JSON lines where asked for; the live view where stdout is a terminal that can be drawn on; plain
lines in pipes, dumb terminals and windows too small. All show the same `Dashboard`; none decides anything.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Protocol

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.records import EvalReport, RoundReport
from sapo_desktop.core.why import Finishing, Starting, Working
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.glyphs import Glyphs
from sapo_desktop.terminal.json_lines import emit_event
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.swarm_words import reward_words
from sapo_desktop.terminal.wording import amount, duration, percent
from sapo_desktop.view.tasks import task_title
from sapo_desktop.view.viewmodel import AnswerShown
from sapo_desktop.worker.control.messages.events import Answered, EvalFinished, Event, RoundFinished, StateChanged
from sapo_desktop.worker.control.messages.facts import Notice


def round_line(report: RoundReport) -> str:
    """`round 12    reward 0.13  solved 13%  partial 0.19  8 own + 0 external groups  2.9s`, and the round's note."""
    line = (
        f"round {report.round:<5} reward {report.reward:.2f}  solved {percent(report.solved):>4}  "
        f"partial {report.partial:.2f}  {report.local_groups} own + {report.external_groups} external groups  "
        f"{duration(report.seconds)}"
    )
    if report.swarm_reward is not None:
        line += f"  peers {reward_words(report.swarm_reward)}"
    return f"{line}  ({one_line(report.note)})" if report.note else line


def eval_line(report: EvalReport) -> str:
    """`held-out (validation) of last: 27% of 200 questions solved, 95% interval 21% to 34%`; of a running score
    `after round 60`."""
    of = f"of {one_line(report.checkpoint)}" if report.checkpoint else f"after round {report.round}"
    return (
        f"held-out ({report.which}) {of}: {percent(report.score)} of "
        f"{amount(report.questions, 'question')} solved, 95% interval {percent(report.low)} to {percent(report.high)}"
    )


def answer_line(answer: AnswerShown, glyphs: Glyphs) -> str:
    """The question, the answer and whether it was solved, on one line."""
    mark = glyphs.tick if answer.solved else glyphs.cross
    question = _shortened(answer.question, 100, glyphs)
    completion = _shortened(answer.completion, 100, glyphs) or "(nothing)"
    return f"{mark} {task_title(answer.task)}: {question} {glyphs.arrow} {completion}"


def _shortened(text: str, longest: int, glyphs: Glyphs) -> str:
    return text if len(text) <= longest else text[:longest].rstrip() + glyphs.ellipsis


SMALLEST = (50, 12)
"""Columns and lines that the live view needs."""
_TOLD_STATES = ("finishing", "paused", "failed")
"""States that deserve a plain line, as does a start that takes long; of the others rounds and the summary tell."""


class View(Protocol):
    """What watching calls."""

    def event(self, event: Event) -> None:
        """The dashboard has taken this event."""

    def said(self, text: str) -> None:
        """A sentence from the command itself."""

    def redraw(self) -> None:
        """Called a few times a second."""


@contextlib.contextmanager
def open_view(out: Output, dashboard: Dashboard, environment: Mapping[str, str] = os.environ) -> Iterator[View]:
    """The view that suits `out`, open as long as the context is."""
    if out.json_lines:
        yield JsonView(out)
    elif can_draw(out, environment):
        # rich costs a tenth of a second: it is imported where something is drawn.
        from sapo_desktop.terminal.live import open_live

        with open_live(out, dashboard) as live:
            yield live
    else:
        yield PlainView(out, dashboard)


def can_draw(out: Output, environment: Mapping[str, str]) -> bool:
    """Whether stdout is a terminal that moves its cursor and is large enough."""
    if not out.stdout.isatty() or environment.get("TERM", "") in ("dumb", "unknown"):
        return False
    size = shutil.get_terminal_size()
    return size.columns >= SMALLEST[0] and size.lines >= SMALLEST[1]


class JsonView:
    """Machines read stdout; people find notices on stderr."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def event(self, event: Event) -> None:
        emit_event(self._out, event)
        if isinstance(event, Notice):
            self._out.warn(str(event.text))

    def said(self, text: str) -> None:
        self._out.warn(text)

    def redraw(self) -> None:
        """Nothing is drawn."""


class PlainView:
    """A line per round, score and notice. The first answer is shown too: it says that the node is alive."""

    def __init__(self, out: Output, dashboard: Dashboard) -> None:
        self._out = out
        self._dashboard = dashboard
        self._answered = False
        self._reason = ""
        self._busy = False

    def event(self, event: Event) -> None:
        match event:
            case Answered() if not self._answered:
                self._answered = True
                shown = answer_line(self._dashboard.answers[-1], self._out.glyphs)
                self._out.say(f"first answer after {self._dashboard.seconds:.1f}s  {shown}")
            case RoundFinished(report=report):
                self._out.say(round_line(report))
            case EvalFinished(report=report):
                self._out.say(eval_line(report))
            case Notice(text=text):
                self._out.warn(one_line(str(text)))
            case StateChanged():
                self._state(event)
            case _:
                pass

    def _state(self, event: StateChanged) -> None:
        """That the computer is busy is told when it begins, and not of every round."""
        why = event.why
        starts_long = isinstance(why, Starting) and bool(why.busy)
        busy = isinstance(why, Working | Finishing) and bool(why.busy)
        is_news = event.state in _TOLD_STATES or starts_long or (busy and not self._busy)
        self._busy = busy
        if is_news and event.reason != self._reason:
            self._reason = event.reason
            self._out.say(one_line(event.reason))

    def said(self, text: str) -> None:
        self._out.warn(text)

    def redraw(self) -> None:
        """Lines are printed as things happen."""
