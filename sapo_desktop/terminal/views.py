"""Two ways to watch a node: a plain line per round, in a terminal with a temporary line of progress; or JSON lines.
Neither makes decisions."""

from __future__ import annotations

from sapo_desktop.core.plain_text import one_line, shortened
from sapo_desktop.core.records import EvalReport, RoundReport, SwarmReward
from sapo_desktop.core.why import Finishing, Starting, Working
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.output import Output
from sapo_desktop.terminal.wording import amount, duration, percent
from sapo_desktop.view.fields import eval_fields, fields, round_fields
from sapo_desktop.view.tasks import task_title
from sapo_desktop.view.words import PHASE_WORDS
from sapo_desktop.worker.control.messages.events import (
    Answered,
    EvalFinished,
    Event,
    RoundFinished,
    SettingsChanged,
    StateChanged,
    SwarmChanged,
)
from sapo_desktop.worker.control.messages.facts import Notice


def round_line(report: RoundReport) -> str:
    """`round 12    reward 0.13  solved 13%  readable 52%  8 own + 0 external groups  2.9s`, and the round's note."""
    readable = "" if report.readable is None else f"readable {percent(report.readable):>4}  "
    line = (
        f"round {report.round:<5} reward {report.reward:.2f}  solved {percent(report.solved):>4}  "
        f"{readable}{report.local_groups} own + {report.external_groups} external groups  "
        f"{duration(report.seconds)}"
    )
    if report.swarm_reward is not None:
        line += f"  {_against(report.swarm_reward)}"
    return f"{line}  ({one_line(report.note)})" if report.note else line


def _against(swarm: SwarmReward) -> str:
    """`of the same tasks 75% here, 68% (65% to 71%) by 11 peers`"""
    mine = "" if swarm.mine is None else f"{percent(swarm.mine)} here, "
    return (
        f"of the same tasks {mine}{percent(swarm.value)} ({percent(swarm.low)} to {percent(swarm.high)}) "
        f"by {amount(swarm.peers, 'peer')}"
    )


def eval_line(report: EvalReport) -> str:
    """`held-out (validation) of last: 27% of 200 questions solved, 95% interval 21% to 34%`; of a running score
    `after round 60`."""
    of = f"of {one_line(report.checkpoint)}" if report.checkpoint else f"after round {report.round}"
    asked = amount(report.questions, "question")
    solved = f"{percent(report.score)} of {asked} solved"
    return f"held-out ({report.which}) {of}: {solved}, 95% interval {percent(report.low)} to {percent(report.high)}"


def answer_line(answer: Answered) -> str:
    """The question, the answer and whether it is right, on one line."""
    question, completion = shortened(answer.question, 100), shortened(answer.completion, 100) or "(nothing)"
    return f"{'✓' if answer.solved else '✗'} {task_title(answer.task)}: {question} → {completion}"


_SHOWN_STATES = ("finishing", "paused", "failed")
"""States that get a plain line, as does a slow start; rounds and the summary cover the others."""


class View:
    """Called while watching."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def event(self, event: Event) -> None:
        """The dashboard has handled this event."""
        raise NotImplementedError

    def said(self, text: str) -> None:
        """A sentence from the command itself."""
        self._out.warn(text)

    def redraw(self) -> None:
        """Called a few times a second."""


def view_for(out: Output, dashboard: Dashboard) -> View:
    """The view for `out`."""
    return JsonView(out) if out.json_lines else PlainView(out, dashboard)


def passing_line(view: Dashboard) -> str:
    """`round 41, answering 38/64; 1,240 rounds/h, 5m 10s left`; while no round is played, the reason."""
    if view.state not in ("working", "finishing") or view.phase == "waiting":
        return view.reason
    line = f"round {view.round:,}, {PHASE_WORDS[view.phase].lower()}"
    if view.total:
        line += f" {view.done:,}/{view.total:,}"
    rate, left = view.rounds_per_hour, view.seconds_left
    if rate:
        line += f"; {rate:,.0f} rounds/h" + (f", {duration(left)} left" if left else "")
    return line


def emit_event(out: Output, event: Event) -> None:
    """Write the JSON lines of docs/commands.md for `event`; names and meanings there are a promise. Progress writes
    none."""
    match event:
        case StateChanged(state=state, reason=reason):
            out.emit("state", state=state, reason=reason)
        case Answered():
            out.emit("answer", **fields(event))
        case RoundFinished(report=report):
            out.emit("round", **round_fields(report))
            if report.checkpoint is not None:
                out.emit("checkpoint", number=report.checkpoint, round=report.round)
        case EvalFinished(report=report):
            out.emit("eval", **eval_fields(report))
        case Notice(level=level, text=text):
            out.emit("notice", level=level, text=str(text))
        case SwarmChanged(state=state, reason=reason, peers=peers):
            out.emit("swarm", state=state, reason=str(reason), peers=peers)
        case SettingsChanged(now=changed):
            out.emit("settings", silo=changed.settings.silo, mix=changed.settings.mix)
        case _:
            pass


class JsonView(View):
    """Programs read stdout; people find notices on stderr."""

    def event(self, event: Event) -> None:
        emit_event(self._out, event)
        if isinstance(event, Notice):
            self._out.warn(str(event.text))


class PlainView(View):
    """A line per round, score and notice. The first answer is shown too, as a sign of life."""

    def __init__(self, out: Output, dashboard: Dashboard) -> None:
        super().__init__(out)
        self._dashboard = dashboard
        self._answered = False
        self._reason = ""
        self._busy = False

    def event(self, event: Event) -> None:
        match event:
            case Answered() if not self._answered:
                self._answered = True
                shown = answer_line(self._dashboard.answers[-1])
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
        """A busy computer is reported once, not for every round."""
        why = event.why
        starts_long = isinstance(why, Starting) and bool(why.busy)
        busy = isinstance(why, Working | Finishing) and bool(why.busy)
        is_news = event.state in _SHOWN_STATES or starts_long or (busy and not self._busy)
        self._busy = busy
        if is_news and event.reason != self._reason:
            self._reason = event.reason
            self._out.say(one_line(event.reason))

    def redraw(self) -> None:
        if self._out.stdout.isatty():
            self._out.passing(passing_line(self._dashboard))
