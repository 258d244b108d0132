"""What a client may ask of the worker. One handler each: worker/control/handlers/requests.py names them all."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from sapo_desktop.core.task_list import LevelName
from sapo_desktop.worker.control.messages.base import CheckpointName, Exported, Ok, Request
from sapo_desktop.worker.control.messages.replies import (
    Ahas,
    Checkpoints,
    Comparisons,
    Curve,
    Evaluated,
    History,
    HumanMarked,
    IdentityIs,
    InviteIs,
    PeerAnswered,
    PosedQuestion,
    RelayStatus,
    SettingsAre,
    Sources,
    StartingStatus,
    Status,
    SwarmIs,
    Tasks,
    TasksRead,
    Unsupported,
    Week,
)


class GetStatus(Request[Status | StartingStatus | RelayStatus], frozen=True):
    """`wait`: until there is a node; else StartingStatus says that there is none yet."""

    wait: bool = True


class StartRounds(Request[Ok], frozen=True):
    """Begin (or go on with) training. `rounds`: stop after that many more; None: until told."""

    rounds: int | None = None


class Pause(Request[Ok], frozen=True):
    """Pause at once. `seconds`: resume by itself after that long; None: until told."""

    seconds: float | None = None


class Resume(Request[Ok], frozen=True):
    """Go on. `anyway`: for so many seconds whatever holds the node back; a node that something holds back now goes on
    for an hour."""

    anyway: float | None = None


class Finish(Request[Ok], frozen=True):
    """Finish this round, then pause."""


class Quit(Request[Ok], frozen=True):
    """End the worker. `finish_round`: after the round in hand, else now, without it."""

    finish_round: bool = False


class SetSilo(Request[Ok], frozen=True):
    on: bool


class TestPeer(Request[PeerAnswered], frozen=True):
    """Dial an address once and say who answers there."""

    address: str


class GetIdentity(Request[IdentityIs], frozen=True):
    create: bool = False
    """Make one where there is none yet and it can be kept."""


class CreateSwarm(Request[Ok], frozen=True):
    """Be in the private swarm of this folder's admission key, which is made where there is none yet."""

    passphrase: str | None = None
    """Opens or closes the file of the admission key, where there is no keyring."""


class AdmitPeer(Request[InviteIs], frozen=True):
    """Make a link that admits one key to the swarm that was founded here."""

    key: str
    """64 hex digits."""
    days: Annotated[int, Meta(ge=0, le=36_500)] = 0
    """After which the admission ends; 0: never."""
    passphrase: str | None = None


class GetInvite(Request[InviteIs], frozen=True):
    """The link to the private swarm that the node is in; it lets nobody in by itself."""


class JoinSwarm(Request[Ok], frozen=True):
    """Follow an invite link."""

    link: str
    passphrase: str | None = None
    """Opens the identity, where it is closed."""
    nearby: bool = False
    """A person was told which addresses of this computer, or of a local network, it leads to, and will go there."""


class ChangeIdentity(Request[IdentityIs], frozen=True):
    """`new`: another identity, the old one is forgotten. `rotate`: another key, signed by the old one, so that peers
    know whose it is. `unlock`: open the file with its passphrase. `protect`: keep
    it in a file that `passphrase` closes. `import`: take over what `sealed` holds. `export`: give it, sealed."""

    action: Literal["new", "rotate", "unlock", "protect", "import", "export"]
    passphrase: str | None = None
    sealed: bytes = b""


class GetSettings(Request[SettingsAre], frozen=True):
    pass


class GetUnsupported(Request[Unsupported], frozen=True):
    """Which settings the worker's computer cannot keep, and why. May take some seconds."""


class SetSettings(Request[Ok], frozen=True):
    """Values as text, as a person types them; all are checked before any is taken."""

    values: dict[str, str]
    for_good: bool = False
    """They hold in this run too where its command line said otherwise."""
    at_once: bool = False
    """What needs another node does not wait for the current round, which is left out."""


class ResetSettings(Request[Ok], frozen=True):
    """Back to the defaults: the named keys, or all where none is named."""

    keys: list[str]


class ListCheckpoints(Request[Checkpoints], frozen=True):
    pass


class RollBack(Request[Ok], frozen=True):
    to: CheckpointName


class Evaluate(Request[Evaluated], frozen=True):
    checkpoint: CheckpointName = "last"
    which: Literal["validation", "test"] = "test"
    level: LevelName | Literal[""] = ""
    """Of the questions; empty: of all levels."""
    tasks: list[str] = field(default_factory=list)
    """Families of the questions, with or without a level; empty: all."""
    samples: Annotated[int, Meta(ge=0, le=64)] = 0
    """Answers drawn to each question; 0: one, greedily."""
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.0
    """To draw them at; 0: the training temperature."""


class ExportModel(Request[Exported], frozen=True):
    format: Literal["peft", "merged", "gguf"]
    to: str
    checkpoint: CheckpointName = "last"


class GetSwarm(Request[SwarmIs], frozen=True):
    """The swarm as this node sees it; history is not read."""


class ListTasks(Request[Tasks], frozen=True):
    """Every family and level."""

    examples: bool = True
    """Whether a question of each is set."""


class ReadTasks(Request[TasksRead], frozen=True):
    """What this file of own tasks would be, were it added; nothing changes. `path`: a full one, on this computer.
    `answers`, `encoding`: what its owner chose of TasksRead's choices."""

    path: str
    answers: str = ""
    encoding: str = ""


class AddTasks(Request[Ok], frozen=True):
    """Take this file up as a family of own tasks, in place of one of the same name. Fields: as those of ReadTasks."""

    path: str
    answers: str = ""
    encoding: str = ""


class RemoveTasks(Request[Ok], frozen=True):
    """Delete a family of own tasks."""

    name: str


class AskForQuestion(Request[PosedQuestion], frozen=True):
    """A question for a person. `task`: a family, or family/level; None: drawn from the tasks in training."""

    task: str | None = None


class GiveAnswer(Request[HumanMarked], frozen=True):
    """A person's answer to a posed question; each is answered once."""

    id: str
    answer: str
    reasoning: str = ""
    """Stands before the answer where there is any."""


class GetHistory(Request[History], frozen=True):
    """Finished rounds after round `after`, oldest first, at most `limit`."""

    after: int = 0
    limit: int = 1000


class GetCurve(Request[Curve], frozen=True):
    """One point for every round after round `after`, over all history: at most `limit` in a reply, and the held-out
    scores in the first one (`after` 0)."""

    after: int = 0
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 50_000


class GetComparisons(Request[Comparisons], frozen=True):
    """The model at work beside each that learned here before, on the same held-out questions."""


class GetWeek(Request[Week], frozen=True):
    """What the last seven days came to."""


class GetAhas(Request[Ahas], frozen=True):
    """Tasks first solved here after a peer's answer had been learned from."""


class GetSources(Request[Sources], frozen=True):
    """Where the groups that entered training came from."""
