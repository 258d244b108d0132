"""What the worker answers."""

from __future__ import annotations

import msgspec

from sapo_desktop.core.records import EvalReport, Mark, RoundReport
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Why
from sapo_desktop.worker.messages.base import Message, Phase
from sapo_desktop.worker.messages.fitting import FitReply
from sapo_desktop.worker.messages.models import ModelReply
from sapo_desktop.worker.messages.swarm import SwarmInfo


class Ok(Message, frozen=True):
    text: str = ""


class Status(Message, frozen=True):
    state: str
    reason: str
    """One sentence for a person: `Training round 41`, `Paused until 14:30`."""
    why: Why
    """The same as data."""
    phase: Phase
    round: int
    """Last finished round."""
    rounds_left: int | None
    silo: bool
    mix: str
    swarm: SwarmInfo
    model: str
    seed: int
    """What every draw of the run derives from: the setting, or the one drawn at the first start."""
    device: str
    checkpoint: int | None
    last: RoundReport | None
    best_validation: float | None
    base_validation: float | None
    resume_in: float | None
    """Seconds until a timed pause ends."""
    pid: int
    version: str
    uptime: float
    rounds_per_hour: float | None


class RelayStatus(Message, frozen=True):
    """What a relay says to GetStatus."""

    swarm: SwarmInfo
    pid: int
    version: str
    uptime: float


class SettingsAre(Message, frozen=True):
    settings: Settings
    changed: list[str]
    """Keys whose value is not the default."""
    overridden: list[str]
    """Keys set for this run only, by the command that started it."""


class CheckpointInfo(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    round: int
    created: float
    bytes: int
    validation: float | None
    best: bool
    last: bool


class Checkpoints(Message, frozen=True):
    items: list[CheckpointInfo]


class Evaluated(Message, frozen=True):
    report: EvalReport


class Asked(Message, frozen=True):
    text: str
    tokens: int
    seconds: float


class Exported(Message, frozen=True):
    folder: str
    files: list[str]


class TaskInfo(msgspec.Struct, frozen=True, kw_only=True):
    family: str
    title: str
    level: str
    task_id: str
    """Hex; empty until it has been computed."""
    config: dict[str, object]
    grammar: str
    example: str
    solved: float | None
    """Own recent share solved at this level, where it was tried."""
    answers: int


class Tasks(Message, frozen=True):
    items: list[TaskInfo]


class Tried(Message, frozen=True):
    task: str
    seed: int
    question: str
    completion: str
    mark: Mark
    truth: str


class PosedQuestion(Message, frozen=True):
    """A question that waits for a person's answer, for a while."""

    id: str
    task: str
    title: str
    question: str
    form: str
    """What the answer must look like, in plain words."""
    shared: bool
    where: str
    """One sentence, to be shown before the answer is given: where its text goes."""
    seconds: float
    """How long the question can be answered."""


class HumanMarked(Message, frozen=True):
    """What became of a person's answer."""

    task: str
    question: str
    completion: str
    """The text as it was marked, and published where it was."""
    mark: Mark
    truth: str
    model_solved: int
    model_answers: int
    """Answers that the model gave beside it."""
    shared: bool
    learned: bool
    """Whether the next round trains on it."""
    note: str
    """Why it was not shared or is not learned from; empty where it was as `where` said."""


class History(Message, frozen=True):
    rounds: list[RoundReport]
    more: bool


class EvalPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A held-out score."""

    round: int
    which: str
    """validation or test; with ` (sampled)` where answers were drawn."""
    checkpoint: str
    score: float
    low: float
    high: float


class Curve(Message, frozen=True):
    """Reply to GetCurve: rounds that count, oldest first, column by column."""

    round: list[int]
    reward: list[float]
    solved: list[float]
    swarm_reward: list[float | None]
    swarm_low: list[float | None]
    swarm_high: list[float | None]
    swarm_peers: list[int | None]
    silo: list[bool | None]
    evals: list[EvalPoint] = msgspec.field(default_factory=list)


class TaskCurve(Message, frozen=True):
    """Reply to GetTaskCurve: round and share solved, oldest first."""

    points: list[tuple[int, float]]


class Aha(msgspec.Struct, frozen=True, kw_only=True):
    """A task first solved here after a peer's answer to it had been learned from. After, not because of."""

    task: str
    round: int
    tries: int
    """Own answers before, none of them right."""
    question: str
    answer: str
    """Empty where the group was left out of the mix."""
    peer_round: int
    peer: str
    peer_question: str
    peer_answer: str


class Ahas(Message, frozen=True):
    items: list[Aha]
    """Newest first."""


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    round: int
    task: str
    seed: int
    question: str
    origin: str
    author: str
    completion: str
    solved: bool
    partial: float
    reward: float
    advantage: float
    verdict: str
    kind: str = "model"
    """model or human: who wrote it."""


class Rollouts(Message, frozen=True):
    items: list[Rollout]
    more: bool


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What one author's groups of one task were to training."""

    task: str
    origin: str
    """own, peer, or human."""
    author: str
    """Hex key; empty for groups made here."""
    groups: int
    answers: int
    weight: float
    """Sum of |advantage| over the answers: how much of the gradient they could decide."""


class Sources(Message, frozen=True):
    items: list[Source]


class Facts(Message, frozen=True):
    values: dict[str, str]


class PeerAnswered(Message, frozen=True):
    """What came of dialling an address."""

    key: str
    program: str
    milliseconds: float


class IdentityIs(Message, frozen=True):
    key: str
    """Hex; empty where the identity is closed or there is none yet."""
    kept: str
    sealed: bytes = b""
    """What `export` asked for."""
    note: str = ""
    """What else a person should know."""
    created: bool = False
    """Whether it was made just now."""


class InviteIs(Message, frozen=True):
    link: str


Reply = (
    Ok
    | Status
    | RelayStatus
    | SettingsAre
    | Checkpoints
    | Evaluated
    | Asked
    | Exported
    | Tasks
    | Tried
    | PosedQuestion
    | HumanMarked
    | History
    | Curve
    | TaskCurve
    | Ahas
    | Rollouts
    | Sources
    | Facts
    | PeerAnswered
    | IdentityIs
    | InviteIs
    | ModelReply
    | FitReply
)
