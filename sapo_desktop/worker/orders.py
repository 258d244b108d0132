"""The orders to a node, stored and applied: rounds to play, a pause, an end after the current round.

Every order changes the wishes and leads to a new decision (worker/governor.py), which the gate applies. While paused
the hosts are suspended, so a pause takes effect within a second whatever they compute. A new decision is also made
after each check of the computer (system/presence) and at the end of a pause. The wishes are on disk, so a node that is
started again `as before` continues with them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.sentences import Sentence, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Failed, HeldBack, NotKept, Starting, TooHot, Why, in_english
from sapo_desktop.system.hardware import usable_cores
from sapo_desktop.system.presence.watch import Presence
from sapo_desktop.worker.control.messages.events import Event, StateChanged
from sapo_desktop.worker.control.messages.facts import Level
from sapo_desktop.worker.governor import Decision, NodeState, Situation, Wishes, decide
from sapo_desktop.worker.hosts.hosting import Host

log = logging.getLogger(__name__)

ANYWAY_SECONDS = 3600.0
"""How long a node ignores what holds it back after a plain `resume`."""
_LONGEST_PAUSE = 10**8
_STATES = {
    NodeState.STARTING: sentence("starting"),
    NodeState.IDLE: sentence("idle"),
    NodeState.STOPPING: sentence("stopping"),
    NodeState.FAILED: sentence("stopped after errors"),
}
"""States in which some orders make no sense."""
_RESUME, _PAUSE, _FINISH = sentence("resume"), sentence("pause"), sentence("finish")
_SENSELESS = {
    _RESUME: {NodeState.STOPPING},
    _PAUSE: {NodeState.STOPPING, NodeState.FAILED, NodeState.IDLE},
    _FINISH: {NodeState.STOPPING, NodeState.FAILED, NodeState.IDLE, NodeState.STARTING},
}

_THEN = {
    NodeState.IDLE: sentence("Nothing is computed anyway."),
    NodeState.FAILED: sentence("It computes nothing until you resume it."),
    NodeState.STARTING: sentence("Wait until it has started."),
    NodeState.STOPPING: sentence("Start it again once it has stopped."),
}
"""What to do instead."""

Later = Callable[[Callable[[], None], Callable[[OSError], None]], None]
"""Runs work that writes a file, now or in another thread; the second argument is called if that fails."""


def at_once(work: Callable[[], None], failed: Callable[[OSError], None]) -> None:
    """A `Later` that runs at once."""
    try:
        work()
    except OSError as error:
        failed(error)


class Gate:
    """Applies the node's state: which work may continue, and which hosts are suspended. A request that needs a host
    wakes a paused node for its duration; the round itself then stops at its next phase."""

    def __init__(self, hosts: Sequence[Host], publish: Callable[[Event], None]) -> None:
        self.state = NodeState.STARTING
        self.why: Why = Starting()
        self._hosts = hosts
        self.others: Callable[[], Sequence[Host]] = tuple
        """Further hosts that come and go."""
        self._publish = publish
        self._open = asyncio.Event()
        self._shut = asyncio.Event()
        self._shut.set()
        self._closed_at = time.perf_counter()
        self._closed_seconds = 0.0
        self._awake = 0
        self._held = False
        self._asleep_since: float | None = None
        self.cores = 1.0
        """Number of cores that may be used now."""
        self._changes_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def reason(self) -> str:
        """One sentence for a person, in English."""
        return in_english(self.why, time.time())

    def follow(self, decision: Decision, again: Callable[[], None]) -> None:
        """Apply the decision; `again` is called when a new decision is due."""
        before, self.state, self.why = (self.state, self.why), decision.state, decision.why
        self.cores = decision.cores
        self._set_timer(decision.changes_at, again)
        self._open_or_close(decision.computes)
        self._suspend_or_resume()
        if before != (self.state, self.why):
            reason, why = self.reason, self.why
            log.info("%s", reason)
            self._publish(StateChanged(state=self.state.value, reason=reason, why=why, resume_at=self.resume_at))

    async def wait(self) -> None:
        """Return when work may continue."""
        await self._open.wait()

    async def wait_shut(self) -> None:
        """Return when no work may continue."""
        await self._shut.wait()

    def hold(self, held: bool) -> None:
        """Briefly suspend the hosts, or resume them; a pause takes precedence."""
        if held != self._held:
            self._held = held
            self._suspend_or_resume()

    @property
    def asleep_for(self) -> float:
        """Seconds since a pause began in which there was no request; 0 without a pause."""
        return 0.0 if self._asleep_since is None else time.monotonic() - self._asleep_since

    @property
    def is_open(self) -> bool:
        return self._open.is_set()

    def clock(self) -> float:
        """Seconds of a clock that stops while work may not continue, so that pauses do not count."""
        return (time.perf_counter() if self.is_open else self._closed_at) - self._closed_seconds

    @property
    def resume_at(self) -> float | None:
        """Unix time at which a pause ends by itself."""
        return self._changes_at if self.state is NodeState.PAUSED else None

    @property
    def resumes_in(self) -> float | None:
        """Seconds until then."""
        return None if self.resume_at is None else max(0.0, self.resume_at - time.time())

    def cancel_timer(self) -> None:
        self._changes_at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, at: float | None, again: Callable[[], None]) -> None:
        if at == self._changes_at and (at is None or self._timer is not None):
            return
        self.cancel_timer()
        self._changes_at = at
        if at is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, at - time.time()), self._due, again)

    def _due(self, again: Callable[[], None]) -> None:
        # Removed first: if the clock was set back meanwhile, the same moment is waited for again.
        self._timer = None
        again()

    @contextlib.asynccontextmanager
    async def awake(self) -> AsyncIterator[None]:
        """Let the hosts compute for a request although the node is paused."""
        self._awake += 1
        self._suspend_or_resume()
        try:
            yield
        finally:
            self._awake -= 1
            self._suspend_or_resume()

    def _open_or_close(self, may_work: bool) -> None:
        if may_work and not self.is_open:
            self._closed_seconds += time.perf_counter() - self._closed_at
            self._open.set()
            self._shut.clear()
        elif not may_work and self.is_open:
            self._closed_at = time.perf_counter()
            self._open.clear()
            self._shut.set()

    def _suspend_or_resume(self) -> None:
        asleep = self.state is NodeState.PAUSED and not self._awake
        if not asleep:
            self._asleep_since = None
        elif self._asleep_since is None:
            self._asleep_since = time.monotonic()
        for host in (*self._hosts, *self.others()):
            if asleep or self._held:
                host.suspend()
            else:
                host.resume()


class Orders:
    """The number of ordered rounds, and all other orders of the user.

    Args:
        settings: the current ones.
        finished: the last finished round.
        is_playing: whether a round is being played.
        trains: whether a round ends with a training step.
        kept: the file of the wishes; None: they are not stored.
        clock: Unix time, by which a pause ends, since a computer may sleep meanwhile.
        later: writes the file, and handles failures; an order takes effect anyway.
        notify: shows a sentence to people.
    """

    def __init__(
        self,
        gate: Gate,
        settings: Callable[[], Settings],
        finished: int,
        is_playing: Callable[[], bool],
        trains: Callable[[], bool],
        kept: Path | None = None,
        clock: Callable[[], float] = time.time,
        later: Later = at_once,
        notify: Callable[[Level, Text], None] = lambda level, text: None,
    ) -> None:
        self._gate = gate
        self._settings = settings
        self._finished = finished
        self._is_playing = is_playing
        self._trains = trains
        self._kept = kept
        self._clock = clock
        self._later = later
        self._notify = notify
        self.here = Presence()
        """The computer at the last check; `see` updates it."""
        self._busy: Text = ""
        self._cores = usable_cores()
        self.wishes = Wishes()
        self._on_disk: Wishes | None = None
        """The last written wishes."""
        self._rounds_done: int | None = None
        self._failed: Failed | None = None
        self._not_kept_yet: NotKept | None = None
        self._ending = False
        self._when_finished: Callable[[], None] | None = None
        """Called after the round that `finish` waits for."""
        self._afterwards: Wishes | None = None
        """What is stored instead of a pause, if the node ends after the current round."""

    # -- orders --------------------------------------------------------------------------------------------

    def start(self, rounds: int | None) -> None:
        """Start or continue training; `rounds` more, or without limit."""
        if rounds is not None and rounds < 1:
            raise UsageError("Round numbers start at 1, not {count}.", count=rounds)
        self._check(_RESUME)
        self._begin(rounds, None)

    def as_before(self) -> None:
        """Continue as ordered when the node last ran, and play the remaining rounds; at its first start there were
        no orders."""
        self._wish(self._read())

    def take_over(self, before: Orders) -> None:
        """Inherit the orders of the node that this one replaces."""
        self._when_finished, self._afterwards = before._when_finished, before._afterwards
        self._wish(before.wishes)

    def resume(self, anyway: float | None = None) -> None:
        """Continue. If something holds back a node with orders, ignore it for an hour; with `anyway`, for so many
        seconds."""
        if anyway is not None:
            self._check_span(anyway)
        self._check(_RESUME)
        if anyway is None and isinstance(self._gate.why, HeldBack):
            anyway = ANYWAY_SECONDS
        self._begin(self.rounds_left, None if anyway is None else self._clock() + anyway)

    def _begin(self, rounds: int | None, anyway_until: float | None) -> None:
        self._forget_end()
        self._failed = self._rounds_done = None
        self._wish(Wishes(contribute=True, rounds_left=rounds, anyway_until=anyway_until))

    def pause(self, seconds: float | None) -> None:
        """Stop computing now; with `seconds`, for that long."""
        if seconds is not None:
            self._check_span(seconds)
        self._check(_PAUSE)
        self._forget_end()
        until = None if seconds is None else self._clock() + seconds
        self._wish(
            msgspec.structs.replace(
                self.wishes, contribute=True, paused=True, paused_until=until, paused_after_round=None, finish=False
            )
        )

    def finish(self) -> None:
        """Finish the current round, then pause; a pause in the middle of one is lifted for that."""
        if self._gate.state is NodeState.PAUSED and not self._is_playing():
            if not self.wishes.paused:  # something else holds it back: it must not continue once that ends
                self._forget_end()
                self._wish(Wishes(contribute=True, paused=True, rounds_left=self.rounds_left))
            return
        self._check(_FINISH)
        self._forget_end()
        self._wish(self._finishing())

    def end(self, quit: Callable[[], None]) -> None:
        """Finish the current round, then `quit`. At its next start `as before`, the node continues as it did until
        now."""
        self._check(_FINISH)
        if self._when_finished is None:
            self._afterwards = self.wishes
        self._when_finished = quit
        self._wish(self._finishing())

    # -- events -----------------------------------------------------------------------------------------------

    def see(self, here: Presence, busy: Text = "") -> None:
        """The computer was checked; `busy`: other programs use its processor. Time has passed, too."""
        self.here, self._busy = here, busy
        self.follow()

    def fail(self, why: Failed) -> None:
        """The node gives up, until somebody resumes it."""
        self._failed = why
        self.follow()

    def hold(self, why: NotKept | None) -> None:
        """Compute nothing while this applies; None: it no longer does."""
        self._not_kept_yet = why
        self.follow()

    def stop(self) -> None:
        """The node ends now; the wishes are stored."""
        self._ending = True
        self.follow()

    def follow(self) -> None:
        """Decide again and apply the decision."""
        wishes = self.wishes
        if wishes.paused and wishes.paused_until is not None and wishes.paused_until <= self._clock():
            self._wish(msgspec.structs.replace(wishes, paused=False, paused_until=None))
            return
        self._gate.follow(self.decision, self.follow)

    @property
    def decision(self) -> Decision:
        """The current decision."""
        situation = Situation(
            wishes=self.wishes,
            round=self._finished + 1,
            rounds_done=self._rounds_done,
            trains=self._trains(),
            here=self.here,
            too_hot=isinstance(self._gate.why, TooHot),
            cores=self._cores,
            failed=self._failed,
            busy=self._busy,
            not_kept=self._not_kept_yet,
            ends=self._when_finished is not None,
            ending=self._ending,
        )
        return decide(situation, self._settings(), self._clock())

    @property
    def finished(self) -> int:
        """The last finished round."""
        return self._finished

    @property
    def rounds_left(self) -> int | None:
        """Rounds until the node is idle again; None: no limit."""
        return self.wishes.rounds_left

    @property
    def is_last_round(self) -> bool:
        """Whether no round follows the current one."""
        return self._gate.state is NodeState.FINISHING or self.rounds_left == 1

    def done(self, number: int) -> None:
        """Round `number` counts: continue, pause or be idle, as ordered."""
        self._finished = number
        self._count(-1)
        finishing = self.wishes.finish
        if self.rounds_left is not None and self.rounds_left <= 0:
            self._afterwards = None
            self._rounds_done = number
            self._wish(Wishes())
        elif finishing:
            self._wish(Wishes(contribute=True, paused=True, paused_after_round=number, rounds_left=self.rounds_left))
        else:
            self._follow_count()
        if finishing and self._when_finished is not None:
            self._when_finished()

    def back_to(self, number: int) -> None:
        """Round `number` is the last finished one again: the later ones must be repeated."""
        self._count(self._finished - number)
        self._finished = number
        self._follow_count()

    # -- the wishes ------------------------------------------------------------------------------------------

    def _check(self, order: Sentence) -> None:
        """Refuse an order that makes no sense now, before anything changes. Raises UsageError."""
        state = self._gate.state
        if state in _SENSELESS[order]:
            text = sentence(
                "The node is {state}: it cannot {order} now. {advice}",
                state=_STATES[state],
                order=order,
                advice=_THEN[state],
            )
            raise UsageError(text)

    def _check_span(self, seconds: float) -> None:
        if not 0 < seconds < _LONGEST_PAUSE:
            raise UsageError(sentence("Give a time above zero, such as 15m or 1h."))

    def _finishing(self) -> Wishes:
        """A held-back round is still finished, within an hour."""
        anyway = self._clock() + ANYWAY_SECONDS if isinstance(self._gate.why, HeldBack) else self.wishes.anyway_until
        return Wishes(contribute=True, finish=True, rounds_left=self.rounds_left, anyway_until=anyway)

    def _forget_end(self) -> None:
        """An order replaced the one to end after the current round."""
        self._when_finished = None
        self._afterwards = None

    def _count(self, more: int) -> None:
        """Add rounds to play, if they are counted."""
        self.wishes = _counted(self.wishes, more)
        self._afterwards = self._afterwards and _counted(self._afterwards, more)

    def _follow_count(self) -> None:
        """Another round is next. Only counted rounds change what is stored."""
        if self.rounds_left is None:
            self.follow()
        else:
            self._wish(self.wishes)

    def _wish(self, wishes: Wishes) -> None:
        """Follow these wishes from now on, then store them: an order must take effect on a full disk, too."""
        self.wishes = wishes
        self.follow()
        if self.wishes is wishes:  # otherwise what followed from them is stored already
            self._keep(self._afterwards or wishes)

    def _keep(self, wishes: Wishes) -> None:
        if self._kept is None or wishes == self._on_disk:
            return
        self._on_disk = wishes
        path, content = self._kept, msgspec.json.encode(wishes)
        self._later(lambda: write_atomically(path, content), self._not_written)

    def _not_written(self, error: OSError) -> None:
        self._on_disk = None  # so that the next order tries again
        text = sentence(
            "Done, but not saved ({error}). The next start may not know of it. Check whether the disk is full.",
            error=error.strerror or str(error),
        )
        self._notify("warning", text)

    def _read(self) -> Wishes:
        """The wishes on disk; unreadable ones are dropped and reported."""
        try:
            kept = read_json(self._kept, Wishes) if self._kept else Wishes()
        except FileNotFoundError:
            return Wishes()
        except (OSError, msgspec.DecodeError) as error:
            text = sentence(
                "The node's saved state could not be read ({error}). It is waiting for your instructions.",
                error=str(error),
            )
            self._notify("warning", text)
            return Wishes()
        # A round that was to be finished is over.
        return Wishes(contribute=True, paused=True, rounds_left=kept.rounds_left) if kept.finish else kept


def _counted(wishes: Wishes, more: int) -> Wishes:
    left = wishes.rounds_left
    return wishes if left is None else msgspec.structs.replace(wishes, rounds_left=left + more)
