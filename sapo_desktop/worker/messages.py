"""What the window, the command line and the worker say to each other.

A client sends `Call`s; the worker answers each with one `Answer` or `Failure` of the same id and sends
`Note`s, each with one event, at any time. Everything is a frozen tagged msgspec struct that refuses unknown
fields: both ends are of one release, so a mismatch is a mistake to show, not a version to bridge.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sapo_desktop.core.records import EvalReport, Mark, RoundReport, SwarmReward
from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.fit_messages import FitReply, FitRequest


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of everything on the control channel."""


CheckpointName = str
"""`base`, `best`, `last`, or a number."""
Phase = Literal["waiting", "questions", "generate", "mark", "share", "draw", "train", "checkpoint", "evaluate"]

# -- requests ----------------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True):
    pass


class StartRounds(Message, frozen=True):
    """Begin (or go on with) training. `rounds`: stop after that many more; None: until told."""

    rounds: int | None = None


class Pause(Message, frozen=True):
    """Pause at once. `seconds`: resume by itself after that long; None: until told."""

    seconds: float | None = None


class Resume(Message, frozen=True):
    pass


class Finish(Message, frozen=True):
    """Finish this round, then pause."""


class Quit(Message, frozen=True):
    """End the worker. `finish_round`: after the round in hand, else now, without it."""

    finish_round: bool = False


class SetSilo(Message, frozen=True):
    on: bool


class TestPeer(Message, frozen=True):
    """Dial an address once and say who answers there."""

    address: str


class GetIdentity(Message, frozen=True):
    create: bool = False
    """Make one where there is none yet and it can be kept."""


class FoundSwarm(Message, frozen=True):
    """Be in the private swarm of this folder's admission key, which is made where there is none yet."""

    passphrase: str | None = None
    """Opens or closes the file of the admission key, where there is no keyring."""


class AdmitPeer(Message, frozen=True):
    """Make a link that admits one key to the swarm that was founded here."""

    key: str
    """64 hex digits."""
    days: Annotated[int, Meta(ge=0, le=36_500)] = 0
    """After which the admission ends; 0: never."""
    passphrase: str | None = None


class GetInvite(Message, frozen=True):
    """The link to the private swarm that the node is in; it admits nobody."""


class JoinSwarm(Message, frozen=True):
    """Follow an invite link."""

    link: str
    passphrase: str | None = None
    """Opens the identity, where it is closed."""


class ChangeIdentity(Message, frozen=True):
    """`new`: another identity, the old one is forgotten. `rotate`: another key, signed by the old one, so that peers
    know whose it is. `unlock`: open the file with its passphrase. `protect`: keep
    it in a file that `passphrase` closes. `import`: take over what `sealed` holds. `export`: give it, sealed."""

    action: Literal["new", "rotate", "unlock", "protect", "import", "export"]
    passphrase: str | None = None
    sealed: bytes = b""


class GetSettings(Message, frozen=True):
    pass


class SetSettings(Message, frozen=True):
    """Values as text, as a person types them; all are checked before any is taken."""

    values: dict[str, str]


class ResetSettings(Message, frozen=True):
    """Back to the defaults: the named keys, or all where none is named."""

    keys: list[str]


class ListCheckpoints(Message, frozen=True):
    pass


class RollBack(Message, frozen=True):
    to: CheckpointName


class Evaluate(Message, frozen=True):
    checkpoint: CheckpointName = "last"
    which: Literal["validation", "test"] = "test"
    samples: Annotated[int, Meta(ge=0, le=64)] = 0
    """Answers drawn to each question at the training temperature; 0: one, greedily."""


class Ask(Message, frozen=True):
    question: str
    checkpoint: CheckpointName = "last"
    greedy: bool = True


class ExportModel(Message, frozen=True):
    format: Literal["peft", "merged", "gguf"]
    to: str
    checkpoint: CheckpointName = "last"


class ListTasks(Message, frozen=True):
    pass


class TryTask(Message, frozen=True):
    """Set one question of a task; with `answer` mark that answer, else let the model answer and mark it."""

    task: str
    seed: int | None = None
    answer: str | None = None
    checkpoint: CheckpointName = "last"


class AskForQuestion(Message, frozen=True):
    """A question for a person. `task`: a family, or family/level; None: drawn from the tasks in training."""

    task: str | None = None


class GiveAnswer(Message, frozen=True):
    """A person's answer to a posed question; each is answered once."""

    id: str
    answer: str
    reasoning: str = ""
    """Stands before the answer where there is any."""


class GetHistory(Message, frozen=True):
    """Finished rounds after round `after`, oldest first, at most `limit`."""

    after: int = 0
    limit: int = 1000


class GetRollouts(Message, frozen=True):
    """Kept answers of rounds after `after`, oldest first, at most `limit`."""

    after: int = 0
    limit: int = 200


class GetSources(Message, frozen=True):
    """Where the groups that entered training came from."""


class Examine(Message, frozen=True):
    """Facts for `doctor`: versions, hosts, limits, folders (no private data)."""


Request = (
    GetStatus
    | StartRounds
    | Pause
    | Resume
    | Finish
    | Quit
    | SetSilo
    | TestPeer
    | GetIdentity
    | FoundSwarm
    | AdmitPeer
    | GetInvite
    | JoinSwarm
    | ChangeIdentity
    | GetSettings
    | SetSettings
    | ResetSettings
    | ListCheckpoints
    | RollBack
    | Evaluate
    | Ask
    | ExportModel
    | ListTasks
    | TryTask
    | AskForQuestion
    | GiveAnswer
    | GetHistory
    | GetRollouts
    | GetSources
    | Examine
    | FitRequest
)

# -- replies -----------------------------------------------------------------------------------------------


class Ok(Message, frozen=True):
    text: str = ""


SwarmState = Literal["silo", "joining", "failed", "alone", "linked"]
DRAWS_ONLY = "It draws others' answers and shares none of its own: that needs your consent (run --share)."
SHOWN_ON_LAN = "This node shows itself on the local network, under a name of the moment, and looks for others there."
LOOKS_ON_LAN = (
    "This node looks for others on the local network. It is not shown there itself: for that it listens at an IPv4 "
    "address of this network (--listen 0.0.0.0:8765)."
)
SESSION_IDENTITY = (
    "This computer has no keyring that keeps secrets: the identity lasts until this node ends. To keep it: "
    "sapo-desktop identity protect"
)


USED_TWICE = (
    "This node's identity is used in two places at once, and both share one quota. Give one of them its own: "
    "sapo-desktop identity new"
)


class LinkInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One open link."""

    key: str
    dialled: str
    """The address, where this side dialled."""
    program: str
    """What the peer says it is; untrusted."""
    seconds: float
    groups_in: int
    groups_out: int
    bytes_in: int
    bytes_out: int
    refused: dict[str, dict[str, int]]
    """Kind -> reason -> count."""
    claim: Claim | None = None


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What the peer says of itself; untrusted, shown and used for nothing."""

    round: int
    reward: float
    label: str
    used: int
    """Groups of ours that it handed on or trained on."""


class SwarmInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The swarm as this node sees it."""

    state: SwarmState
    reason: str
    """One sentence for a person."""
    key: str = ""
    swarm: str = ""
    """Admission key of the private swarm, in hex; empty in the public one."""
    kept: str = ""
    """Where the identity is: keyring, file, session."""
    address: str = ""
    """Under which others reach this node, where it listens."""
    sharing: bool = False
    links: list[LinkInfo] = []
    pool: int = 0
    published: int = 0
    drawn: int = 0
    taken: int = 0
    one_source: bool = False
    refused: dict[str, dict[str, int]] = {}
    clock_offset: float = 0.0
    clock_wrong: bool = False
    notices: list[str] = []
    """What a person should know about links and identities, a sentence each."""
    reward: SwarmReward | None = None


class Status(Message, frozen=True):
    state: str
    reason: str
    """One sentence for a person: `Training round 41`, `Paused until 14:30`."""
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
    | Rollouts
    | Sources
    | Facts
    | PeerAnswered
    | IdentityIs
    | InviteIs
    | FitReply
)

# -- events ------------------------------------------------------------------------------------------------


class StateChanged(Message, frozen=True):
    state: str
    reason: str


class PhaseChanged(Message, frozen=True):
    round: int
    phase: Phase


class Progressed(Message, frozen=True):
    """How far the phase is; a few times a second."""

    round: int
    phase: Phase
    done: int
    total: int
    detail: str = ""


class Answered(Message, frozen=True):
    """One of this round's answers, as it was marked: what a person likes to watch."""

    round: int
    task: str
    question: str
    completion: str
    solved: bool


class RoundFinished(Message, frozen=True):
    report: RoundReport


class EvalFinished(Message, frozen=True):
    report: EvalReport


class Notice(Message, frozen=True):
    """Something a person should know: rolled back, out of memory, host restarted."""

    level: Literal["info", "warning", "error"]
    text: str


class SettingsChanged(Message, frozen=True):
    settings: Settings


class SwarmChanged(Message, frozen=True):
    """The swarm's side in one sentence; sent when it changes."""

    state: SwarmState
    reason: str
    peers: int


class Stopping(Message, frozen=True):
    """The worker ends; `failed` with the reason where it was not asked to."""

    failed: bool
    reason: str


Event = (
    StateChanged
    | PhaseChanged
    | Progressed
    | Answered
    | RoundFinished
    | EvalFinished
    | Notice
    | SettingsChanged
    | SwarmChanged
    | Stopping
)

# -- envelopes ---------------------------------------------------------------------------------------------


class Attach(Message, frozen=True):
    """First thing a client says after the proof. An `owner` is the window or terminal that started the
    worker."""

    owner: bool = False
    events: bool = True


class Call(Message, frozen=True):
    id: int
    request: Request


class Answer(Message, frozen=True):
    id: int
    reply: Reply


class Failure(Message, frozen=True):
    id: int
    kind: str
    """Name of the error class in core/errors.py; `Bug` for anything else."""
    text: str
    exit_code: int


class Note(Message, frozen=True):
    event: Event


ToWorker = Attach | Call
ToClient = Answer | Failure | Note
