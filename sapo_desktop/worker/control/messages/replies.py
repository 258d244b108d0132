"""What the worker answers."""

from __future__ import annotations

from typing import Literal

import msgspec

from sapo_desktop.core.records import EvalReport, Gain, Learned, Mark, Phase, RoundReport
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.core.why import Starting, Why
from sapo_desktop.worker.control.messages.base import Message
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
    """Short hash of the model at work, as rounds and scores carry it."""
    seed: int
    """What every draw of the run derives from: the setting, or the one drawn at the first start."""
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
    """Seconds that the round in hand took so far, pauses left out."""
    next_score: int | None = None
    """The round that the next held-out score follows, where one will."""
    rounds_total: int = 0
    """Rounds that count, over all history."""
    answers_own: int = 0
    """Own answers marked, over all history; of lost rounds too."""
    answers_shared: int = 0
    """Own answers published, over all history."""
    usage: Usage = Usage()
    price_per_kwh: float = 0.0
    learned: Learned | None = None
    """The newest held-out question that it could not answer before."""
    updates: Standing | None = None
    """How this version stands beside the newest; GetUpdates has what is new, and the files."""
    held: Why | None = None
    """What would hold the node back if it were started now, where `why` says something else."""


class StartingStatus(Message, frozen=True):
    """How things stand while there is no node yet."""

    why: Starting
    pid: int
    version: str
    uptime: float


class RelayStatus(Message, frozen=True):
    """What a relay says to GetStatus."""

    swarm: SwarmInfo
    pid: int
    version: str
    uptime: float
    backbone: BackboneInfo | None = None
    """None: it is joined to no other relays."""


class SettingsAre(Message, frozen=True):
    settings: Settings
    changed: list[str]
    """Keys whose value is not the default."""
    overridden: list[str]
    """Keys set for this run only, by the command that started it."""
    waiting: list[str] = msgspec.field(default_factory=list)
    """Keys whose kept value is not in force yet: it is once the round in hand is done."""
    wanted: Settings | None = None
    """As `settings` will be then."""


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
    """Made with another model than the one at work: it is of use once that is chosen again."""
    model: str = ""
    """Short hash of the model that it was made with; of the base nothing."""


class Checkpoints(Message, frozen=True):
    items: list[CheckpointInfo]


class Evaluated(Message, frozen=True):
    report: EvalReport


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
    reward: float | None = None
    """Own recent mean reward, likewise."""
    training: bool = False
    """Whether rounds ask for it now."""
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
    """What to ask with, for this one."""
    label: Text
    first: list[OwnRow]
    """Three answers at most, as they are written and as they are read; of an encoding a line of the file."""


class TasksRead(Message, frozen=True):
    """What a file of own tasks has, or what its owner has to choose first."""

    text: Text
    """How many questions, how their answers are read, how many are held out; with `choices` what is asked."""
    first: list[OwnRow]
    """Three at most, with the answers as they are read."""
    replaces: bool
    """Whether a family of this name is there already."""
    asked: Literal["", "answers", "encoding"] = ""
    """The field of the request that a choice is for."""
    choices: list[ReadingChoice] = msgspec.field(default_factory=list)


class PosedQuestion(Message, frozen=True):
    """A question that waits for a person's answer, for a while."""

    id: str
    task: str
    title: str
    question: str
    form: Text
    """What the answer must look like, in plain words."""
    shared: bool
    where: Text
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
    note: Text
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
    gain: Gain | None = None
    """Over the untrained model, on the same questions."""
    line: str = ""
    """As of an EvalReport; empty: from before lines had names."""
    questions: int = 0
    model: str = ""
    """Short hash of the model that was asked."""


class ModelRun(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is or was at work."""

    hash: str
    """Short."""
    name: str
    """The setting `model` under which it ran last."""


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
    """Place in `models` of the one that played the round."""
    models: list[ModelRun] = msgspec.field(default_factory=list)
    evals: list[EvalPoint] = msgspec.field(default_factory=list)
    more: bool = False
    """Whether there are rounds after these."""


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


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One of two models, on the questions that both answered."""

    hash: str
    """Short."""
    name: str
    """The setting `model`."""
    base: float | None
    """Solved by the model as it came; None where it was not asked all of them."""
    now: float


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The model at work and one that learned here before."""

    questions: int
    which: str
    """validation or test."""
    ours: Compared
    other: Compared
    difference: Gain
    """Of ours over the other, question by question."""


class Comparisons(Message, frozen=True):
    items: list[Comparison]


class Week(Message, frozen=True, kw_only=True):
    """Reply to GetWeek."""

    rounds: int = 0
    solved: int = 0
    """Own answers that were right, in rounds that count."""
    helped: int = 0
    """Computers that were heard of in these days and say that they learned from answers of this one."""
    joules: int = 0
    score_before: float | None = None
    """Of the held-out questions, by the model at work: before these days, or at its start."""
    score: float | None = None
    """The newest."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What one author's groups of one task were to training."""

    task: str
    origin: str
    """own, peer, or human."""
    author: str
    """Hex key; empty for groups made here, and for the rest of very many sources, which has no task either."""
    groups: int
    answers: int
    weight: float
    """Sum of |advantage| over the answers: how much of the gradient they could decide."""


class Sources(Message, frozen=True):
    items: list[Source]


class PeerAnswered(Message, frozen=True):
    """What came of dialling an address."""

    key: str
    program: str
    milliseconds: float
    address: str = ""
    """As the node writes it, however it was typed."""


class IdentityIs(Message, frozen=True):
    key: str
    """Hex; empty where the identity is closed or there is none yet."""
    kept: str
    sealed: bytes = b""
    """What `export` asked for."""
    note: Text = ""
    """What else a person should know."""
    created: bool = False
    """Whether it was made just now."""


class InviteIs(Message, frozen=True):
    link: str
