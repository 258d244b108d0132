"""A node without a process: answers every request from memory and plays scripted rounds."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import msgspec

from sapo_desktop.commands.line.door import Door
from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import CheckpointError, NotRunning, PassphraseNeeded, SapoError
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.records import RoundReport
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Ready, Training, Why
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.fit.fit import badges, fit
from sapo_desktop.models.fit.room import described
from sapo_desktop.system.hardware import Hardware
from sapo_desktop.worker.control.client import Attached
from sapo_desktop.worker.control.messages import replies
from sapo_desktop.worker.control.messages.asking import TryTask
from sapo_desktop.worker.control.messages.base import Exported, Ok
from sapo_desktop.worker.control.messages.events import (
    Answered,
    EvalFinished,
    Event,
    PhaseChanged,
    Progressed,
    RoundFinished,
    StateChanged,
    Stopping,
)
from sapo_desktop.worker.control.messages.models import CatalogueIs, FitIs, FitReply, FitRequest, GetFit
from sapo_desktop.worker.control.messages.requests import (
    AskForQuestion,
    ChangeIdentity,
    CreateSwarm,
    Evaluate,
    ExportModel,
    GetHistory,
    GetIdentity,
    GetSettings,
    GetStatus,
    GetUnsupported,
    GiveAnswer,
    Quit,
    ResetSettings,
    RollBack,
    SetSettings,
    StartRounds,
)
from sapo_desktop.worker.control.messages.rollouts import GetRollouts, Rollouts
from sapo_desktop.worker.control.messages.swarm import JoinRequest, RelayOptions
from tests import builders
from tests.builders import MACHINE
from tests.cli.fake_replies import FAMILIES, FIXED, HOSTILE, eval_report, human_marked, posed, scripted_round, tried


@dataclass
class FakeNode:
    """One node, shared by every client that attaches. `delay`: seconds per step of a round."""

    delay: float = 0.0
    state: str = "idle"
    fail: SapoError | None = None
    """Raised by every call."""
    die_after: int | None = None
    """The channel breaks after so many rounds."""
    settings: Settings = field(default_factory=Settings)
    overridden: list[str] = field(default_factory=list)
    unsupported: dict[str, Text] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    rounds: list[RoundReport] = field(default_factory=list)
    playing: asyncio.Task[None] | None = None
    finishing: bool = False
    without_keyring: bool = False
    identity: replies.IdentityIs = field(
        default_factory=lambda: replies.IdentityIs(key="ab" * 32, kept="keyring", created=True)
    )
    ended: bool = False
    why: Text = "It ended without any output."
    closed: int = 0
    evaluated_round: int = 12
    """Which round the evaluated checkpoint is of."""
    machine: Hardware = MACHINE
    held: Why | None = None
    asking: list[JoinRequest] = field(default_factory=list)
    listeners: list[asyncio.Queue[Event | None]] = field(default_factory=list)

    async def call(self, request: Request) -> Message:
        self.requests.append(request)
        await asyncio.sleep(0)
        if self.fail is not None:
            raise self.fail
        match request:
            case GetStatus():
                return self._status()
            case StartRounds(rounds=rounds):
                self._change("working", f"Training round {len(self.rounds) + 1}")
                if self.playing is None:
                    self.playing = asyncio.create_task(self._play(rounds))
                return Ok()
            case Quit(finish_round=finish) if finish and self.playing is not None:
                self.finishing = True
                self._change("finishing", "Finishing this round, then quitting")
                return Ok()
            case Quit():
                self._end()
                return Ok()
            case GetSettings():
                return replies.SettingsAre(
                    settings=self.settings,
                    changed=settings_file.changed_keys(self.settings),
                    overridden=self.overridden,
                )
            case GetUnsupported():
                return replies.Unsupported(reasons=self.unsupported)
            case SetSettings(values=values):
                self.settings = settings_file.apply(self.settings, values)
                return Ok(text="Saved.")
            case ResetSettings(keys=keys):
                self.settings = settings_file.reset(self.settings, keys)
                return Ok(text="Saved.")
            case GetFit():
                machine = described(request.ram, request.vram, self.machine)
                return FitIs(fit=fit(machine, model_catalogue(), self.settings))
            case GetHistory(after=after, limit=limit):
                found = [report for report in self.rounds if report.round > after]
                return replies.History(rounds=found[:limit], more=len(found) > limit)
            case GetRollouts(after=after):
                return self._rollouts(after)
            case RollBack(to=to):
                if to == "99":
                    raise CheckpointError("There is no checkpoint 99; the newest is 12.")
                return Ok(text=f"Went back to {to}.")
            case Evaluate(checkpoint=checkpoint, which=which):
                return replies.Evaluated(report=eval_report(checkpoint, self.evaluated_round, 0.27, which))
            case ExportModel(to=to):
                return Exported(folder=to, files=["adapter.safetensors"])
            case TryTask():
                return tried(request)
            case AskForQuestion(task=task):
                return posed(task or "gcd/easy", self.settings.share)
            case GiveAnswer():
                return human_marked(request, self.settings.share)
            case GetIdentity():
                return self.identity
            case ChangeIdentity():
                return self._change_identity(request)
            case CreateSwarm(passphrase=None) if self.without_keyring:
                raise PassphraseNeeded("The admission key needs a passphrase.")
            case _:
                return FIXED.get(type(request), Ok())

    async def events(self) -> AsyncIterator[Event]:
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self.listeners.append(queue)
        if self.ended:
            queue.put_nowait(Stopping(failed=False, reason="Stopped as requested."))
        while (event := await queue.get()) is not None:
            yield event

    async def end_reason(self) -> Text:
        return self.why

    async def close(self) -> None:
        self.closed += 1

    async def until_gone(self) -> None: ...

    def publish(self, event: Event | None) -> None:
        for queue in self.listeners:
            queue.put_nowait(event)

    async def _play(self, rounds: int | None) -> None:
        random = Random(1)
        left = rounds
        await asyncio.sleep(self.delay)
        while left is None or left > 0:
            number = len(self.rounds) + 1
            await self._play_one(number, min(0.95, 0.15 + 0.01 * number + 0.1 * random.random()))
            left = None if left is None else left - 1
            if self.die_after is not None and len(self.rounds) >= self.die_after:
                self.publish(None)
                return
            if self.finishing:
                self._end()
                return
        self.playing = None
        self._change("idle", f"{len(self.rounds)} rounds done")

    async def _play_one(self, number: int, solved: float) -> None:
        self._change("working", f"Training round {number}")
        for done in range(0, 65, 16):
            self.publish(Progressed(round=number, phase="generate", done=done, total=64))
            await asyncio.sleep(self.delay)
        for family in FAMILIES:
            self.publish(
                Answered(
                    round=number,
                    task=f"{family}/easy",
                    question="Find the greatest common divisor of 48 and 36.",
                    completion=HOSTILE,
                    solved=solved > 0.3,
                )
            )
        self.publish(PhaseChanged(round=number, phase="train"))
        await asyncio.sleep(self.delay)
        report = scripted_round(number, solved)
        self.rounds.append(report)
        self.publish(RoundFinished(report=report))
        if number == 1:
            self.publish(EvalFinished(report=eval_report("base", 0, 0.21)))
        if number % 5 == 0 or number == 1:
            self.publish(EvalFinished(report=eval_report(str(number), number, min(0.9, 0.21 + 0.003 * number))))

    def _change_identity(self, request: ChangeIdentity) -> replies.IdentityIs:
        closed = self.identity.kept and not self.identity.key
        if closed and (request.action != "unlock" or request.passphrase != "open sesame"):
            raise PassphraseNeeded("The identity is locked. Enter its passphrase.")
        kept = "file" if request.action == "protect" else self.identity.kept
        self.identity = replies.IdentityIs(key="ab" * 32, kept=kept)
        return msgspec.structs.replace(self.identity, sealed=b"sealed" if request.action == "export" else b"")

    def _end(self) -> None:
        if self.playing is not None:
            self.playing.cancel()
        self._change("stopping", "Ending")
        self.ended = True
        self.publish(Stopping(failed=False, reason="Stopped as requested."))
        self.publish(None)

    def _change(self, state: str, reason: str) -> None:
        self.state = state
        self.publish(StateChanged(state=state, reason=reason, why=Ready()))

    def _status(self) -> replies.Status:
        return builders.status(
            state=self.state,
            reason="Ready" if self.state == "idle" else "Training round 13",
            why=Ready() if self.state == "idle" else Training(round=13),
            round=len(self.rounds),
            seed=3,
            checkpoint=12,
            last=self.rounds[-1] if self.rounds else None,
            validation=0.27,
            base_validation=0.21,
            pid=4711,
            rounds_per_hour=1241.4,
            held=self.held,
            swarm=msgspec.structs.replace(builders.status().swarm, asking=self.asking),
        )

    def _rollouts(self, after: int) -> Rollouts:
        found = [report.round for report in self.rounds if report.round > after]
        asked = "Find the greatest common divisor of 48 and 36."
        items = [builders.rollout(round=number, question=asked, completion=HOSTILE) for number in found[:2]]
        return Rollouts(items=items, more=len(found) > 2)


@dataclass
class FakeDoor(Door):
    """Leads to one fake node; `there`: whether it runs already."""

    node: FakeNode = field(default_factory=FakeNode)
    there: bool = False
    overrides: dict[str, str] = field(default_factory=dict)
    owned: bool = False
    relay: RelayOptions | None = None
    """What a relay was started with."""
    machine: Hardware = MACHINE

    async def running(self, folder: Path, *, owner: bool = False) -> FakeNode:
        if not self.there:
            raise NotRunning(f"No node is running in {folder}.")
        self.owned = self.owned or owner
        return self.node

    async def running_or_started(self, folder: Path, overrides: Mapping[str, str]) -> Attached:
        if self.there:
            return Attached(client=self.node, started=False)
        self.overrides = dict(overrides)
        self.node.settings = settings_file.apply(self.node.settings, overrides)
        self.node.overridden = list(overrides)
        return Attached(client=self.node, started=True)

    async def relay_started(self, folder: Path, options: RelayOptions) -> FakeNode:
        self.relay = options
        return self.node

    async def appraise(self, folder: Path, request: FitRequest) -> FitReply:
        del folder
        if self.node.fail is not None:
            raise self.node.fail
        if isinstance(request, GetFit):
            machine = described(request.ram, request.vram, self.machine)
            return FitIs(fit=fit(machine, model_catalogue(), self.node.settings))
        return CatalogueIs(models=badges(self.machine, model_catalogue(), self.node.settings, []))
