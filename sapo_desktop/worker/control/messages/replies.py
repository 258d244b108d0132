"""The worker's replies."""

from __future__ import annotations

from typing import Literal

import msgspec

from sapo_desktop.core.link.requests import Message
from sapo_desktop.core.records import EvalReport, Gain, Learned, Mark, Phase, RoundReport
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.core.why import Starting, Why
from sapo_desktop.worker.control.messages.facts import Usage
from sapo_desktop.worker.control.messages.swarm import BackboneInfo, SwarmInfo


class Status(Message, frozen=True):
    state: str
    reason: str
    """One sentence for a person: `Training round 41`, `Paused by you until 14:30`."""
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
    model_hash: str
    """Short hash of the current model, which rounds and scores also have."""
    seed: int
    """The origin of every random draw of the run: the setting, or the one drawn at the first start."""
    device: str
    checkpoint: int | None
    last: RoundReport | None
    validation: float | None
    base_validation: float | None
    resume_in: float | None
    """Seconds until a timed pause ends."""
    pid: int
    version: str
    uptime: float
    rounds_per_hour: float | None
    round_taken: float = 0.0
    """Seconds of the current round so far, without pauses."""
    next_score: int | None = None
    """The round after which the next held-out score is due, if any."""
    rounds_total: int = 0
    """Rounds that count, over the whole history."""
    answers_own: int = 0
    """Own scored answers over the whole history, including lost rounds."""
    answers_shared: int = 0
    """Own published answers over the whole history."""
    usage: Usage = Usage()
    price_per_kwh: float = 0.0
    learned: Learned | None = None
    """The newest held-out question that it could not answer before."""
    updates: Standing | None = None
    """The standing of this version; GetUpdates has the news and the files."""
    held: Why | None = None
    """What would hold the node back if it started now, if `why` says something else."""


class StartingStatus(Message, frozen=True):
    """The state while there is no node yet."""

    why: Starting
    pid: int
    version: str
    uptime: float


class RelayStatus(Message, frozen=True):
    """A relay's reply to GetStatus."""

    swarm: SwarmInfo
    pid: int
    version: str
    uptime: float
    backbone: BackboneInfo | None = None
    """None: it is not connected to other relays."""


class SettingsAre(Message, frozen=True):
    settings: Settings
    changed: list[str]
    """Keys whose value differs from the default."""
    overridden: list[str]
    """Keys set for this run only, by the command that started it."""
    waiting: list[str] = msgspec.field(default_factory=list)
    """Keys whose stored value applies only after the current round."""
    wanted: Settings | None = None
    """The settings after that."""


class Unsupported(Message, frozen=True):
    """Reply to GetUnsupported."""

    reasons: dict[str, Text]
    """Why, by the setting's key."""


class SwarmIs(Message, frozen=True):
    """Reply to GetSwarm."""

    info: SwarmInfo


class CheckpointInfo(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    round: int
    created: float
    bytes: int
    validation: float | None
    best: bool
    last: bool
    other_model: bool = False
    """Made with another model than the current one; usable once that is chosen again."""
    model: str = ""
    """Short hash of the model that it was made with; empty for the base."""


class Checkpoints(Message, frozen=True):
    items: list[CheckpointInfo]


class Evaluated(Message, frozen=True):
    report: EvalReport


class TaskInfo(msgspec.Struct, frozen=True, kw_only=True):
    family: str
    title: str
    level: str
    task_id: str
    """Hex; empty until it is computed."""
    config: dict[str, object]
    grammar: str
    example: str
    solved: float | None
    """Recent share solved at this level, if it was tried."""
    answers: int
    reward: float | None = None
    """Recent mean reward, likewise."""
    training: bool = False
    """Whether rounds currently use it."""
    own: bool = False
    """Whether it is a file of this node's owner."""
    shown: str = ""
    """The row of an own file that prompts may show as an example, as `question → answer`."""


class Tasks(Message, frozen=True):
    items: list[TaskInfo]
    left_out: list[Text] = msgspec.field(default_factory=list)
    """Why files of own tasks cannot be used."""


class OwnRow(msgspec.Struct, frozen=True, kw_only=True):
    question: str
    answer: str


class ReadingChoice(msgspec.Struct, frozen=True, kw_only=True):
    """One of several ways to read a file of own tasks."""

    value: str
    """The option's value for this one."""
    label: Text
    first: list[OwnRow]
    """Up to three answers as written and as read; for an encoding, a line of the file."""


class TasksRead(Message, frozen=True):
    """The content of a file of own tasks, or the choices that its owner must make first."""

    text: Text
    """How many questions, how their answers are read, how many are held out; with `choices`, the question."""
    first: list[OwnRow]
    """Up to three, with the answers as they are read."""
    replaces: bool
    """Whether a family of this name exists already."""
    asked: Literal["", "answers", "encoding"] = ""
    """The field of the request that a choice is for."""
    choices: list[ReadingChoice] = msgspec.field(default_factory=list)


class PosedQuestion(Message, frozen=True):
    """A question that waits for a person's answer for a limited time."""

    id: str
    task: str
    title: str
    question: str
    form: Text
    """The required form of the answer, in plain words."""
    shared: bool
    where: Text
    """One sentence to show before the answer is given: where its text goes."""
    seconds: float
    """How long the question can be answered."""


class HumanMarked(Message, frozen=True):
    """The result of a person's answer."""

    task: str
    question: str
    completion: str
    """The text that was scored, and published if it was shared."""
    mark: Mark
    truth: str
    model_solved: int
    model_answers: int
    """Answers that the model added."""
    shared: bool
    learned: bool
    """Whether the next round trains on it."""
    note: Text
    """Why it was not shared or is not learned from; empty if it went as `where` said."""


class History(Message, frozen=True):
    rounds: list[RoundReport]
    more: bool


class EvalPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A held-out score."""

    round: int
    which: str
    """validation or test; with ` (sampled)` if answers were drawn."""
    checkpoint: str
    score: float
    low: float
    high: float
    gain: Gain | None = None
    """Over the untrained model, on the same questions."""
    line: str = ""
    """See EvalReport; empty in records from before lines had names."""
    questions: int = 0
    model: str = ""
    """Short hash of the evaluated model."""


class ModelRun(msgspec.Struct, frozen=True, kw_only=True):
    """A current or former model."""

    hash: str
    """Short."""
    name: str
    """The value of the setting `model` in its last run."""


class Curve(Message, frozen=True):
    """Reply to GetCurve: rounds that count, oldest first, column by column."""

    round: list[int]
    reward: list[float]
    solved: list[float]
    swarm_reward: list[float | None]
    swarm_low: list[float | None]
    swarm_high: list[float | None]
    swarm_peers: list[int | None]
    swarm_mine: list[float | None]
    silo: list[bool | None]
    model: list[int]
    """Index in `models` of the one that played the round."""
    models: list[ModelRun] = msgspec.field(default_factory=list)
    evals: list[EvalPoint] = msgspec.field(default_factory=list)
    more: bool = False
    """Whether more rounds follow."""


class Aha(msgspec.Struct, frozen=True, kw_only=True):
    """A task first solved here after learning from a peer's answer to it. (The timing does not prove the cause.)"""

    task: str
    round: int
    tries: int
    """Own answers before, none of them right."""
    question: str
    answer: str
    """Empty if the group was not part of the mix."""
    peer_round: int
    peer: str
    peer_question: str
    peer_answer: str


class Ahas(Message, frozen=True):
    items: list[Aha]
    """Newest first."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One of two models, on the questions that both answered."""

    hash: str
    """Short."""
    name: str
    """The value of the setting `model`."""
    base: float | None
    """Share solved by the untrained model; None if it was not asked all of them."""
    now: float


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The current model and one that learned here before."""

    questions: int
    which: str
    """validation or test."""
    ours: Compared
    other: Compared
    difference: Gain
    """Ours minus the other, question by question."""


class Comparisons(Message, frozen=True):
    items: list[Comparison]


class Week(Message, frozen=True, kw_only=True):
    """Reply to GetWeek."""

    rounds: int = 0
    solved: int = 0
    """Own right answers, in rounds that count."""
    helped: int = 0
    """Computers heard of in these days that say they learned from this node's answers."""
    joules: int = 0
    score_before: float | None = None
    """An earlier held-out score of the current model on these questions: before these days, or its first one."""
    score: float | None = None
    """The newest score."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What one author's groups of one task contributed to training."""

    task: str
    origin: str
    """own, peer, or human."""
    author: str
    """Hex key; empty for own groups, and for the rest of very many sources, which has no task either."""
    groups: int
    answers: int
    weight: float
    """Sum of |advantage| over the answers: their possible share of the gradient."""


class Sources(Message, frozen=True):
    items: list[Source]


class PeerAnswered(Message, frozen=True):
    """The result of dialling an address."""

    key: str
    program: str
    milliseconds: float
    address: str = ""
    """In the node's canonical form."""


class IdentityIs(Message, frozen=True):
    key: str
    """Hex; empty if the identity is locked or there is none yet."""
    kept: str
    sealed: bytes = b""
    """The result of `export`."""
    note: Text = ""
    """Further remarks."""
    created: bool = False
    """Whether it was just created."""


class InviteIs(Message, frozen=True):
    link: str
    waits: bool = False
    """Whether the admitted key asks to join: then it needs no link."""
