"""What a running node's view shows, as plain data: events go in, nothing is drawn here.

A `Dashboard` is the view's whole memory. It is filled from the replies at attaching (`greet`) and from every event
(`apply`); time is an argument. Text from models and peers is cleaned here, once, so that no view can forget it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.records import EvalReport, Phase, RoundReport, SwarmReward
from sapo_desktop.worker.control.messages.events import (
    Answered,
    EvalFinished,
    Event,
    PhaseChanged,
    Progressed,
    RoundFinished,
    SettingsChanged,
    StateChanged,
    Stopping,
    SwarmChanged,
)
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import Status

RECENT_ROUNDS = 10
_KEPT_POINTS = 20_000
_RATE_WINDOW = 30


@dataclass(frozen=True)
class AnswerShown:
    """One marked answer, cleaned and on one line."""

    round: int
    task: str
    question: str
    completion: str
    solved: bool


@dataclass
class Tally:
    """The rounds that finished while a view watched: their count, and the rewards at both ends."""

    rounds: int = 0
    first: list[float] = field(default_factory=list)
    last: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_ROUNDS))

    def add(self, reward: float) -> None:
        self.rounds += 1
        self.last.append(reward)
        if len(self.first) < RECENT_ROUNDS:
            self.first.append(reward)

    @property
    def window(self) -> int:
        """Over how many rounds each end is averaged: ten, or one where the ends would overlap."""
        return RECENT_ROUNDS if self.rounds >= 2 * RECENT_ROUNDS else 1

    @property
    def change(self) -> tuple[float, float] | None:
        """Mean reward of the first and of the last rounds."""
        if not self.rounds:
            return None
        if self.window == 1:
            return self.first[0], self.last[-1]
        return sum(self.first) / len(self.first), sum(self.last) / len(self.last)


@dataclass
class TaskTrack:
    """Marks of one task: the last round that had it, and the last ten that did."""

    answers: int = 0
    """Answers in the rounds that the view knows."""
    round: int = 0
    now: float | None = None
    """Share solved in the last round that had this task."""
    _rounds: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=RECENT_ROUNDS))

    def add(self, round_number: int, answers: int, solved: float) -> None:
        self.round, self.now = round_number, solved
        self.answers += answers
        self._rounds.append((answers, solved))

    @property
    def recent(self) -> float | None:
        """Share solved over the last ten rounds that had this task, by answers."""
        total = sum(answers for answers, _ in self._rounds)
        return sum(answers * solved for answers, solved in self._rounds) / total if total else None


class Dashboard:
    """The state of one view. `rounds_wanted`: how many this run was asked for; None: until told."""

    def __init__(self, data: str, now: float, rounds_wanted: int | None = None) -> None:
        self.data = data
        self.rounds_wanted = rounds_wanted
        self.opened = now
        self.model = self.mix = self.device = self.version = ""
        self.seed: int | None = None
        self.silo = True
        self.peers = 0
        self.swarm_state, self.swarm_reason = "silo", ""
        self.swarm_reward: SwarmReward | None = None
        self.state, self.reason = "starting", "Starting the node"
        self.round = 0
        self.phase: Phase = "waiting"
        self.done = self.total = 0
        self.detail = ""
        self.tasks: dict[str, TaskTrack] = {}
        self.rewards: deque[float] = deque(maxlen=_KEPT_POINTS)
        self.scores: deque[float] = deque(maxlen=_KEPT_POINTS)
        """Validation scores in the order of their rounds; the base's is the first."""
        self.base: float | None = None
        self.best: float | None = None
        self.answers: deque[AnswerShown] = deque(maxlen=100)
        self.notices: deque[Notice] = deque(maxlen=20)
        self.tally = Tally()
        self.footer = "Ctrl-C: leave."
        """What the keyboard can do."""
        self.leaving = ""
        """What the keyboard asked for."""
        self.ended: Stopping | None = None
        self._finish_times: deque[float] = deque(maxlen=_RATE_WINDOW)
        self._given_rate: float | None = None
        self._scored_round = 0

    def greet(self, status: Status, earlier: Sequence[RoundReport] = ()) -> None:
        """Take what the node says about itself when a view attaches, and the rounds finished before."""
        self.model, self.mix, self.device = one_line(status.model), status.mix, one_line(status.device)
        self.version, self.seed = status.version, status.seed
        self.silo = status.silo
        self._take_swarm(status.swarm.state, str(status.swarm.reason), len(status.swarm.links))
        self.state, self.reason = status.state, one_line(status.reason)
        self.round, self.phase = status.round, status.phase
        self.base, self.best = status.base_validation, status.best_validation
        self._given_rate = status.rounds_per_hour
        self.rewards.extend(report.reward for report in earlier)
        for report in earlier[-4 * RECENT_ROUNDS :]:
            self._take_marks(report)

    def apply(self, event: Event, now: float) -> None:
        match event:
            case StateChanged(state=state, reason=reason):
                self._change_state(state, one_line(reason))
            case PhaseChanged(round=number, phase=phase):
                self.round, self.phase = number, phase
                self.done = self.total = 0
                self.detail = ""
            case Progressed(round=number, phase=phase, done=done, total=total, detail=detail):
                self.round, self.phase, self.done, self.total = number, phase, done, total
                self.detail = one_line(detail, 80)
            case Answered():
                self._take_answer(event)
            case RoundFinished(report=report):
                self._take_round(report, now)
            case EvalFinished(report=report):
                self._take_score(report)
            case Notice(level=level, text=text):
                self.notices.append(Notice(level=level, text=one_line(str(text))))
            case SettingsChanged(now=changed):
                self.mix, self.silo = changed.settings.mix, changed.settings.silo
            case SwarmChanged(state=state, reason=reason, peers=peers):
                self._take_swarm(state, str(reason), peers)
            case Stopping():
                self.ended = event

    @property
    def rounds_per_hour(self) -> float | None:
        """From the rounds seen finishing since the last pause, else what the node said."""
        if len(self._finish_times) < 2:
            return self._given_rate
        span = self._finish_times[-1] - self._finish_times[0]
        return 3600 * (len(self._finish_times) - 1) / span if span > 0 else self._given_rate

    @property
    def seconds_left(self) -> float | None:
        """Until the wanted rounds are done, at the present rate."""
        rate = self.rounds_per_hour
        if self.rounds_wanted is None or not rate:
            return None
        return max(0, self.rounds_wanted - self.tally.rounds) * 3600 / rate

    def _change_state(self, state: str, reason: str) -> None:
        self.state, self.reason = state, reason
        if state in ("paused", "idle"):
            self._finish_times.clear()

    def _take_swarm(self, state: str, reason: str, peers: int) -> None:
        self.swarm_state, self.swarm_reason, self.peers = state, one_line(reason), peers
        self.silo = state == "silo"

    def _take_answer(self, event: Answered) -> None:
        self.answers.append(
            AnswerShown(
                round=event.round,
                task=event.task,
                question=one_line(event.question),
                completion=one_line(event.completion),
                solved=event.solved,
            )
        )

    def _take_marks(self, report: RoundReport) -> None:
        for mark in report.tasks:
            self.tasks.setdefault(mark.task, TaskTrack()).add(report.round, mark.answers, mark.solved)

    def _take_round(self, report: RoundReport, now: float) -> None:
        self.round = report.round
        if self.mix.startswith("adaptive"):
            self.mix = f"adaptive (last {report.local_groups}/{report.external_groups})"
        self.rewards.append(report.reward)
        self.swarm_reward = report.swarm_reward
        self.tally.add(report.reward)
        self._finish_times.append(now)
        self._take_marks(report)

    def _take_score(self, report: EvalReport) -> None:
        if report.which != "validation" or report.samples:
            return
        if report.checkpoint == "base":
            self.base = report.score
        # A score of an older checkpoint, asked for in another terminal, is no point of this curve.
        if report.round >= self._scored_round:
            self._scored_round = report.round
            self.scores.append(report.score)
        self.best = report.score if self.best is None else max(self.best, report.score)
