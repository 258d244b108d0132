"""Everything that window and terminal show of a node, as plain data: events go in, nothing is drawn here. No Qt.

`View.take` returns which parts changed, so that a page redraws only what it shows. Texts of models and peers are made
plain here, once, so that no page can forget it. wording.py has the texts about the data, by language.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Literal, get_args

import msgspec

from sapo_desktop.core.plain_text import clean, one_line
from sapo_desktop.core.records import EvalReport, Gain, Learned, Phase, RoundReport
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.core.why import Finishing, HeldBack, Starting, Why, Working
from sapo_desktop.view.curves import RECENT_ROUNDS, Curves, last_known
from sapo_desktop.view.link import Arrival, Attached, Connecting, Ended, LastKnown, LinkChange, Lost, Remedy
from sapo_desktop.view.plain import many_lines, plain
from sapo_desktop.worker.control.messages.events import (
    Answered,
    CheckpointsChanged,
    EvalFinished,
    PhaseChanged,
    Progressed,
    RoundFinished,
    SettingsChanged,
    StateChanged,
    SwarmChanged,
)
from sapo_desktop.worker.control.messages.facts import Notice, UpdatesAre
from sapo_desktop.worker.control.messages.models import ModelFailed, ModelInstalled, ModelProgressed
from sapo_desktop.worker.control.messages.replies import SettingsAre, Status
from sapo_desktop.worker.control.messages.swarm import SwarmInfo

Section = Literal[
    "link", "state", "progress", "curves", "rounds", "swarm", "notices", "answers", "settings", "models", "checkpoints",
    "updates",
]  # fmt: skip
"""A part of the view. `curves`: a round or score was added; `rounds`: counts and scores of tasks."""
ALL: frozenset[Section] = frozenset(get_args(Section))
MainAction = Literal["contribute", "pause", "resume", "anyway", "try again", "wait"]
"""The action of the large button."""
Face = Literal["working", "paused", "silo", "attention"]
"""The icon in the tray."""

KEPT_ROUNDS = 60
"""Number of stored reports, including those from before the window attached."""
_KEPT_ANSWERS, _KEPT_NOTICES, _KEPT_MARKS = 60, 200, 400


class View:
    """The window's whole state, and most of the terminal's. `clock`: Unix time."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.link: LinkChange = Connecting()
        self.state = "starting"
        self.why: Why = Starting()
        self.reason = ""
        """The state's reason in English; the window shows `why` in its own language."""
        self.resume_at: float | None = None
        self.round = 0
        self.phase: Phase = "waiting"
        self.done = self.total = 0
        self.phase_began = clock()
        self.finished = 0
        """The last finished round."""
        self.next_score: int | None = None
        """The round after which the next held-out score is due, if any."""
        self._taken_before = 0.0
        """Seconds of this round before the window attached."""
        self.spent: dict[Phase, float] = {}
        """Seconds of this round's phases so far."""
        self.status: Status | None = None
        """The node's status when the window attached; changing values are in the fields here."""
        self.settings = Settings()
        self.settings_are: SettingsAre | None = None
        self.curves = Curves()
        self.reports: deque[RoundReport] = deque(maxlen=KEPT_ROUNDS)
        self.tasks: dict[str, dict[int, float]] = {}
        """Task (family and level) -> round -> share solved, oldest first."""
        self.answers_here = 0
        """Own answers since `status` arrived."""
        self.learned: Learned | None = None
        """The newest held-out question that it could not answer before, made plain."""
        self.swarm: SwarmInfo | None = None
        self.swarm_state, self.peers, self.asking = "silo", 0, 0
        self.swarm_reason: Text = ""
        self.parted: Text = ""
        """Why a peer that the node dials sent it away; empty if none does."""
        self.notices: deque[Notice] = deque(maxlen=_KEPT_NOTICES)
        self.answers: deque[Answered] = deque(maxlen=_KEPT_ANSWERS)
        self.transfer: ModelProgressed | None = None
        self.model_news: ModelInstalled | ModelFailed | None = None
        """The result of the last download or import."""
        self.quiet: set[str] = set()
        """Remarks that a person dismissed; the window stores them."""
        self.updates: Standing | None = None
        """The standing of this version; the news are requested where they are shown."""

    # -- events ------------------------------------------------------------------------------------------------

    def take(self, arrival: Arrival) -> frozenset[Section]:
        """Handle an event; returns the sections that changed."""
        match arrival:
            case Attached():
                return self._attached(arrival)
            case Connecting(why=why):
                if why.silo is not None:
                    self.settings = msgspec.structs.replace(self.settings, silo=why.silo)
                self.link = plain(arrival)
                return frozenset({"link", "state"})
            case LastKnown(curve=curve):
                self.curves.load(curve)
                self._show_model(curve.models[curve.model[-1]].hash if curve.models and curve.model else "")
                return frozenset({"curves", "rounds"})
            case Lost() | Ended():
                self.link = plain(arrival, many_lines)
                self.done = self.total = 0
                self.resume_at = None
                return frozenset({"link", "state"})
            case StateChanged(state=state, why=why, reason=reason, resume_at=resume_at):
                self._account()
                self.state, self.why, self.resume_at = state, plain(why, many_lines), resume_at
                self.reason = one_line(reason)
                return frozenset({"state"})
            case PhaseChanged(round=number, phase=phase):
                self._enter(number, phase)
                return frozenset({"progress"})
            case Progressed():
                if (arrival.round, arrival.phase) != (self.round, self.phase):
                    self._enter(arrival.round, arrival.phase)
                self.done, self.total = arrival.done, arrival.total
                return frozenset({"progress"})
            case Answered():
                self.answers.append(plain(arrival))
                return frozenset({"answers"})
            case RoundFinished(report=report, next_score=next_score):
                self._round(report)
                self.next_score = next_score
                return frozenset({"curves", "rounds", "progress"})
            case EvalFinished(report=report):
                return self._score(report)
            case Notice():
                return self._notice(arrival)
            case SettingsChanged(now=settings):
                return self.take_settings(settings) | {"state"}
            case SwarmChanged():
                changed = plain(arrival)
                self.swarm_state, self.swarm_reason = changed.state, changed.reason
                self.peers, self.parted, self.asking = changed.peers, changed.parted, changed.asking
                return frozenset({"swarm", "state"})
            case ModelProgressed():
                self.transfer, self.model_news = arrival, None
                return frozenset({"models"})
            case ModelInstalled() | ModelFailed():
                self.transfer, self.model_news = None, arrival
                return frozenset({"models"})
            case CheckpointsChanged():
                return frozenset({"checkpoints"})
            case UpdatesAre(standing=standing):
                self.updates = _plain_standing(standing)
                return frozenset({"updates"})
        return frozenset()

    def take_swarm(self, info: SwarmInfo) -> frozenset[Section]:
        """The swarm's state, as requested."""
        self.swarm = info = plain(info)
        self.swarm_state, self.swarm_reason = info.state, info.reason
        self.peers, self.parted, self.asking = len(info.links), info.parted, len(info.asking)
        return frozenset({"swarm"})

    def take_settings(self, settings: SettingsAre) -> frozenset[Section]:
        self.settings_are, self.settings = settings, settings.settings
        return frozenset({"settings"})

    def take_history(self, reports: list[RoundReport]) -> frozenset[Section]:
        """Reports of rounds before the window attached; those of other models are ignored."""
        known = {report.round for report in self.reports}
        own = [one for one in reports if one.model == self.curves.model and one.round not in known]
        merged = sorted(
            [*own, *self.reports],
            key=lambda report: report.round,
        )
        self.reports.clear()
        self.reports.extend(merged)
        for report in merged:
            for mark in report.tasks:
                self.tasks.setdefault(mark.task, {}).setdefault(report.round, mark.solved)
        self.tasks = {task: dict(sorted(shares.items())) for task, shares in self.tasks.items()}
        return frozenset({"rounds"})

    def _attached(self, arrival: Attached) -> frozenset[Section]:
        status = arrival.status
        self.link, self.status = arrival, status
        self.state, self.why, self.reason = status.state, plain(status.why, many_lines), one_line(status.reason)
        self.resume_at = None if status.resume_in is None else self.clock() + status.resume_in
        self.round, self.phase = status.round, status.phase
        self.finished, self.next_score, self._taken_before = status.round, status.next_score, status.round_taken
        self.done = self.total = 0
        self.answers_here = 0
        self.transfer = self.model_news = None
        self.spent.clear()
        self.phase_began = self.clock()
        self.curves.load(arrival.curve)
        self._show_model(status.model_hash)
        self.learned = plain(status.learned, clean)
        self.reports.clear()
        self.tasks.clear()
        if status.last is not None:
            self.reports.append(status.last)
            self._marks(status.last)
        self.updates = _plain_standing(status.updates)
        self.take_swarm(status.swarm)
        self.take_settings(arrival.settings)
        return ALL

    def _enter(self, number: int, phase: Phase) -> None:
        self._account()
        if number != self.round:
            self.spent.clear()
            if self.round != self.finished:
                self._taken_before = 0.0  # otherwise it is the round during which the window attached
        self.round, self.phase = number, phase
        self.done = self.total = 0

    def _account(self) -> None:
        """Add the time since the last call to the phase, except pauses."""
        now = self.clock()
        if self.state != "paused":
            self.spent[self.phase] = self.spent.get(self.phase, 0.0) + now - self.phase_began
        self.phase_began = now

    def _show_model(self, model: str) -> None:
        """This is the current model: nothing of another one is shown as its own."""
        if self.curves.show(model):
            self.answers.clear()
            self.reports.clear()
            self.tasks.clear()
            self.learned = None

    def _round(self, report: RoundReport) -> None:
        self._show_model(report.model)
        while self.reports and self.reports[-1].round >= report.round:
            self.reports.pop()  # it was lost and played again
        self.reports.append(report)
        self.curves.add(report)
        self.answers_here += sum(mark.answers for mark in report.tasks)
        self._marks(report)
        self.round = self.finished = report.round
        self._taken_before = 0.0

    def _marks(self, report: RoundReport) -> None:
        for mark in report.tasks:
            before = [item for item in self.tasks.get(mark.task, {}).items() if item[0] < report.round]
            self.tasks[mark.task] = dict([*before, (report.round, mark.solved)][-_KEPT_MARKS:])

    def _score(self, report: EvalReport) -> frozenset[Section]:
        self._show_model(report.model)
        self.curves.add_eval(report)
        self.learned = plain(report.learned, clean) or self.learned
        return frozenset({"curves", "checkpoints"})

    def _notice(self, notice: Notice) -> frozenset[Section]:
        # The worker's own time, which identifies it among the stored ones.
        self.notices.append(msgspec.structs.replace(plain(notice, many_lines), time=notice.time or self.clock()))
        return frozenset({"notices", "state"})

    # -- derived values ----------------------------------------------------------------------------------------

    @property
    def attached(self) -> bool:
        return isinstance(self.link, Attached)

    @property
    def remedy(self) -> Remedy:
        """What prevents the node's start, if a person can change that now."""
        return self.link.remedy if isinstance(self.link, Lost) else ""

    @property
    def settable(self) -> bool:
        """Whether settings can be changed now."""
        return self.attached or self.remedy in ("model", "pack", "settings")

    @property
    def wanted(self) -> Settings:
        """The settings after the current round, including waiting changes."""
        are = self.settings_are
        return are.wanted if are is not None and are.wanted is not None else self.settings

    @property
    def silo(self) -> bool:
        return self.settings.silo

    @property
    def surely_silo(self) -> bool:
        """Whether a running or starting worker has reported that it is in silo."""
        known = self.attached or (isinstance(self.link, Connecting) and self.link.why.silo is not None)
        return known and self.silo

    @property
    def starts(self) -> bool:
        """Whether the node is starting."""
        return isinstance(self.link, Connecting) or (self.attached and self.state == "starting")

    @property
    def at_work(self) -> bool:
        return self.attached and self.state in ("working", "finishing")

    @property
    def main_action(self) -> MainAction:
        """The current action of the large button."""
        if isinstance(self.link, Lost | Ended):
            return "try again"
        if not self.attached or self.state in ("starting", "stopping"):
            return "wait"
        match self.state:
            case "working" | "finishing":
                return "pause"
            case "paused":
                return "anyway" if isinstance(self.why, HeldBack) else "resume"
            case "failed":
                return "try again"
        return "contribute"

    @property
    def face(self) -> Face:
        """The tray's icon: problems for a person come first, silo before ordinary work."""
        if isinstance(self.link, Lost) or (self.attached and self.state == "failed"):
            return "attention"
        if not self.at_work:
            return "paused"
        return "silo" if self.silo else "working"

    @property
    def busy(self) -> Text:
        """A sentence that other programs use the processor while the node works, if they do."""
        return self.why.busy if self.at_work and isinstance(self.why, Working | Finishing) else ""

    @property
    def pause_left(self) -> float | None:
        """Seconds until a timed pause ends."""
        return None if self.resume_at is None else max(0.0, self.resume_at - self.clock())

    @property
    def round_taken(self) -> float:
        """Seconds of the current round so far, without pauses and held-out questions."""
        if self.round == self.finished:
            return self._taken_before  # no phase of the next round was reported so far
        now = 0.0 if self.state == "paused" or self.phase == "evaluate" else self.clock() - self.phase_began
        before = sum(seconds for phase, seconds in self.spent.items() if phase != "evaluate")
        return self._taken_before + before + now

    @property
    def model_name(self) -> str:
        """The current value of the setting `model`."""
        return self.curves.names.get(self.curves.model) or (self.status.model if self.status else "")

    @property
    def solved_now(self) -> float | None:
        """Share of the questions of recent rounds that was solved here."""
        return last_known(self.curves.column("solved"), RECENT_ROUNDS)

    @property
    def held_out(self) -> float | None:
        """The newest greedy validation score after a round."""
        found = self.curves.held_out()
        return float(found.scores[-1]) if found.trained else None

    @property
    def held_out_gain(self) -> Gain | None:
        """The held-out score minus the untrained model's."""
        found = self.curves.held_out()
        return found.gains[-1] if found.trained else None

    @property
    def held_out_base(self) -> float | None:
        """The untrained model's."""
        return self.curves.held_out().base

    @property
    def answers_given(self) -> int:
        """Own scored answers, over the whole history."""
        return (self.status.answers_own if self.status else 0) + self.answers_here


def _plain_standing(found: Standing | None) -> Standing | None:
    return found and plain(msgspec.structs.replace(found, changelog="", files=[]))
