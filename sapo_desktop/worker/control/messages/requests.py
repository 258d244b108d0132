"""Clients' requests. One handler each: worker/control/handlers/requests.py names them all."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from sapo_desktop.core.link.requests import Request
from sapo_desktop.core.task_list import LevelName
from sapo_desktop.worker.control.messages.base import CheckpointName, Exported, Ok
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
    """`wait`: until there is a node; otherwise StartingStatus says that there is none yet."""

    wait: bool = True


class StartRounds(Request[Ok], frozen=True):
    """Start or continue training. `rounds`: stop after that many more; None: no limit."""

    rounds: int | None = None


class Pause(Request[Ok], frozen=True):
    """Pause at once. `seconds`: resume by itself after that time; None: no limit."""

    seconds: float | None = None


class Resume(Request[Ok], frozen=True):
    """Continue. `anyway`: ignore what holds the node back for so many seconds; if something does now, for an hour."""

    anyway: float | None = None


class Finish(Request[Ok], frozen=True):
    """Finish this round, then pause."""


class Quit(Request[Ok], frozen=True):
    """End the worker. `finish_round`: after the current round, otherwise now, without it."""

    finish_round: bool = False


class SetSilo(Request[Ok], frozen=True):
    on: bool


class Watch(Request[Ok], frozen=True):
    """Whether events are displayed. A client that does not watch `closely` gets neither answers nor progress, which
    are most of the events. The channel itself answers it."""

    closely: bool


class TestPeer(Request[PeerAnswered], frozen=True):
    """Dial an address once and report who answers."""

    address: str


class GetIdentity(Request[IdentityIs], frozen=True):
    create: bool = False
    """Create one if there is none yet and it can be stored."""


class CreateSwarm(Request[Ok], frozen=True):
    """Enter the private swarm of this folder's admission key, which is created if necessary."""

    passphrase: str | None = None
    """Opens or protects the file of the admission key if there is no keyring."""


class AdmitPeer(Request[InviteIs], frozen=True):
    """Make a link that admits one key to the swarm founded here. A key that asks to join needs no link."""

    key: str
    """64 hex digits."""
    days: Annotated[int, Meta(ge=0, le=36_500)] = 0
    """Days until the admission ends; 0: never."""
    passphrase: str | None = None


class RefuseJoin(Request[Ok], frozen=True):
    """Send a key away that asks to join the swarm that was founded here."""

    key: str
    """64 hex digits."""


class GetInvite(Request[InviteIs], frozen=True):
    """The link to the node's private swarm; by itself it admits nobody."""


class JoinSwarm(Request[Ok], frozen=True):
    """Follow an invite link."""

    link: str
    passphrase: str | None = None
    """Opens a locked identity."""
    nearby: bool = False
    """A person saw which addresses of this computer or a local network it leads to, and agreed."""


class ChangeIdentity(Request[IdentityIs], frozen=True):
    """Change the identity. `new`: another identity; the old one is deleted. `rotate`: another key, signed by the old
    one, so that peers know the connection. `unlock`: open the file with its passphrase. `protect`: store it in a
    file with this `passphrase`. `import`: use the content of `sealed`. `export`: return it, sealed."""

    action: Literal["new", "rotate", "unlock", "protect", "import", "export"]
    passphrase: str | None = None
    sealed: bytes = b""


class GetSettings(Request[SettingsAre], frozen=True):
    pass


class GetUnsupported(Request[Unsupported], frozen=True):
    """Which settings the worker's computer cannot keep, and why. May take some seconds."""


class SetSettings(Request[Ok], frozen=True):
    """Values as text, as a person types them; all are checked before any is applied."""

    values: dict[str, str]
    for_good: bool = False
    """Also apply those that this run's command line set."""
    at_once: bool = False
    """If a change needs a new node, drop the current round instead of waiting for it."""


class ResetSettings(Request[Ok], frozen=True):
    """Reset the named keys, or all if none is named, to their defaults."""

    keys: list[str]


class ListCheckpoints(Request[Checkpoints], frozen=True):
    pass


class RollBack(Request[Ok], frozen=True):
    to: CheckpointName


class Evaluate(Request[Evaluated], frozen=True):
    checkpoint: CheckpointName = "last"
    which: Literal["validation", "test"] = "test"
    level: LevelName | Literal[""] = ""
    """Level of the questions; empty: all levels."""
    tasks: list[str] = field(default_factory=list)
    """Families of the questions, with or without a level; empty: all."""
    samples: Annotated[int, Meta(ge=0, le=64)] = 0
    """Answers drawn per question; 0: one greedy answer."""
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.0
    """Temperature of the draws; 0: the training temperature."""


class ExportModel(Request[Exported], frozen=True):
    format: Literal["peft", "merged", "gguf"]
    to: str
    checkpoint: CheckpointName = "last"


class GetSwarm(Request[SwarmIs], frozen=True):
    """The swarm as this node sees it; history is not read."""


class ListTasks(Request[Tasks], frozen=True):
    """Every family and level."""

    examples: bool = True
    """Whether to add a question of each."""


class ReadTasks(Request[TasksRead], frozen=True):
    """Describe this file of own tasks as if it were added; nothing changes. `path`: the full path on this computer.
    `answers`, `encoding`: the owner's choice among TasksRead's choices."""

    path: str
    answers: str = ""
    encoding: str = ""


class AddTasks(Request[Ok], frozen=True):
    """Add this file as a family of own tasks, or replace the one of the same name. Fields: as in ReadTasks."""

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
    """A person's answer to a posed question, which can be answered once."""

    id: str
    answer: str
    reasoning: str = ""
    """Goes before the answer, if there is any."""


class GetHistory(Request[History], frozen=True):
    """Up to `limit` finished rounds after round `after`, oldest first."""

    after: int = 0
    limit: int = 1000


class GetCurve(Request[Curve], frozen=True):
    """One point for every round after round `after`, over the whole history: at most `limit` per reply, with the
    held-out scores in the first one (`after` 0)."""

    after: int = 0
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 50_000


class GetComparisons(Request[Comparisons], frozen=True):
    """The current model compared with each that learned here before, on the same held-out questions."""


class GetWeek(Request[Week], frozen=True):
    """Totals of the last seven days."""


class GetAhas(Request[Ahas], frozen=True):
    """Tasks first solved here after learning from a peer's answer."""


class GetSources(Request[Sources], frozen=True):
    """The origin of the groups that were trained on."""
