"""The worker's events."""

from __future__ import annotations

from sapo_desktop.core.link.requests import Message
from sapo_desktop.core.records import EvalReport, Phase, RoundReport
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.why import Why
from sapo_desktop.worker.control.messages.asking import AskProgressed
from sapo_desktop.worker.control.messages.facts import Notice, UpdatesAre
from sapo_desktop.worker.control.messages.models import ModelEvent
from sapo_desktop.worker.control.messages.replies import SettingsAre, Status
from sapo_desktop.worker.control.messages.swarm import SwarmState


class Snapshot(Message, frozen=True):
    """The current state, sent once to each client that wants events, in step with them: it includes everything
    before, and events report everything after."""

    status: Status


class StateChanged(Message, frozen=True):
    state: str
    reason: str
    """`why` as an English sentence."""
    why: Why
    resume_at: float | None = None
    """Unix time at which a timed pause ends."""


class PhaseChanged(Message, frozen=True):
    round: int
    phase: Phase


class Progressed(Message, frozen=True):
    """Progress of the phase, a few times a second."""

    round: int
    phase: Phase
    done: int
    total: int


class Answered(Message, frozen=True):
    """One of this round's scored answers, as something to watch."""

    round: int
    task: str
    question: str
    completion: str
    solved: bool


class RoundFinished(Message, frozen=True):
    report: RoundReport
    next_score: int | None = None
    """The round after which the next held-out score is due, if any."""


class EvalFinished(Message, frozen=True):
    report: EvalReport


class CheckpointsChanged(Message, frozen=True):
    """A checkpoint was written or removed, or another one is the best."""


class SettingsChanged(Message, frozen=True):
    """The settings as in the reply to GetSettings."""

    now: SettingsAre


class SwarmChanged(Message, frozen=True):
    """The swarm's state in one sentence; sent when it changes."""

    state: SwarmState
    reason: Text
    peers: int
    parted: Text = ""
    """See SwarmInfo."""
    asking: int = 0
    """How many newcomers ask to join the private swarm founded here."""


class Stopping(Message, frozen=True):
    """The worker is ending; `failed` with the reason if that was not requested."""

    failed: bool
    reason: Text
    kind: str = ""
    """Class of the error (core/errors.py), if it is one of ours."""


Event = (
    Snapshot
    | StateChanged
    | PhaseChanged
    | Progressed
    | Answered
    | RoundFinished
    | EvalFinished
    | Notice
    | CheckpointsChanged
    | SettingsChanged
    | SwarmChanged
    | Stopping
    | AskProgressed
    | ModelEvent
    | UpdatesAre
)
