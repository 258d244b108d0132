"""Checks for newer versions and remembers the result, for the worker, and for a command without one.

Whether a request is allowed at all is decided here, before there is a process that could open a socket. A worker checks
once a day while the node may use the network (Updates). Nothing is installed or downloaded, only shown.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable

import msgspec

from sapo_desktop import __version__
from sapo_desktop.core.errors import InSilo, SapoError, UsageError
from sapo_desktop.core.files.durable import disk_errors_as, write_atomically
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.models import AskRelease, ReleaseSays
from sapo_desktop.core.records import Record
from sapo_desktop.core.resources import resource
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.decision import Seen, judge
from sapo_desktop.core.updates.manifest import Release, Standing, read_release
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import GetUpdates, Notice, UpdatesAre
from sapo_desktop.worker.hosts import librarian

log = logging.getLogger("sapo_desktop.worker")

LOOK_SECONDS = 60.0
"""Interval at which it is decided whether a check is due."""
_STEP_SECONDS = 0.25
"""A running check ends within this time once it is no longer allowed."""

OF_UPDATES = frozenset({"silo", "look_for_updates"})
"""Settings that decide whether updates are checked."""
DAY = 86_400.0
_MORE = 0.25
"""Random extra share of a day, so that not all computers ask at once."""
_LONGEST = 1_000_000

Ask = Callable[[AskRelease, DataFolder], Awaitable[ReleaseSays]]


class Memory(Record, frozen=True, forbid_unknown_fields=True):
    """What is remembered of the checks."""

    looked: float = 0.0
    """Unix time."""
    next: float = 0.0
    """The next check is not before this time."""
    seen: Seen = Seen()
    document: bytes = b""
    """The newest validly signed manifest; judged again at every start, because the program's version may differ
    then."""
    signature: bytes = b""
    refused: Text = ""
    """Why the last result was not trusted."""


async def _asked(request: AskRelease, data: DataFolder) -> ReleaseSays:
    return await librarian.ask(request, data)


class Looker:
    """Knows the standing of this version.

    Args:
        release: the address and trusted keys; None: this build's.
        ask: requests the manifest.
        clock: Unix time.
        draw: a random number from 0 to 1.
    """

    def __init__(
        self,
        data: DataFolder,
        release: Release | None = None,
        ask: Ask = _asked,
        clock: Callable[[], float] = time.time,
        draw: Callable[[], float] = random.random,
        own: str = __version__,
    ) -> None:
        self._data = data
        self.release = release if release is not None else read_release(resource("updates.toml"))
        self._ask, self._clock, self._draw, self._own = ask, clock, draw, own

    def off(self, settings: Settings) -> SapoError | None:
        """Why no request is allowed, with advice; None if it is."""
        if not self.release.address:
            return SapoError(
                sentence(
                    "This build has no release address, so it does not check for newer versions. "
                    "Look for them where you got it."
                )
            )
        if not settings.look_for_updates:
            return UsageError(
                "look_for_updates is off, so the app does not check for newer versions.",
                in_terminal="sapo-desktop settings set look_for_updates on",
            )
        if settings.silo:
            return InSilo(
                "This node is in silo, without any network, so it does not check for newer versions. Leave "
                "silo to check.",
                in_terminal="sapo-desktop silo off",
            )
        return None

    def is_due(self, settings: Settings) -> bool:
        """Whether a check is due and allowed. Raises SapoError if the memory is damaged."""
        if self.off(settings) is not None:
            return False
        memory, now = self._memory(), self._clock()
        return now >= memory.next or now < memory.looked  # the latter was by a wrong clock

    def standing(self, settings: Settings) -> Standing:
        """Like `known`; an unusable memory is reported instead."""
        try:
            return self.known(settings)
        except SapoError as error:
            return Standing(state="refused", text=error.text)

    def known(self, settings: Settings) -> Standing:
        """The standing by what is remembered, without a request. Raises SapoError if the memory is damaged."""
        off, memory = self.off(settings), self._memory()
        found = Standing(state="unknown", text=sentence("Not checked yet."), page=self.release.page)
        if memory.seen.key in self.release.keys and settings.look_for_updates:
            found, _ = self._judged(memory.document, memory.signature, memory.seen)
        if memory.refused and found.state not in ("newer", "urgent"):
            found = msgspec.structs.replace(found, state="refused", text=memory.refused)
        if off is not None and found.state not in ("newer", "urgent"):
            found = Standing(state="off", text=off.text, page=self.release.page)
        return msgspec.structs.replace(found, looked=memory.looked or None)

    async def look(self, settings: Settings) -> Standing:
        """Check now; cancel the task to end it at once.

        Raises:
            SapoError: no request is allowed (then no process was started), or it failed.
        """
        if (off := self.off(settings)) is not None:
            raise off
        memory, now = self._memory(), self._clock()
        later = now + DAY * (1 + _MORE * self._draw())
        self._keep(msgspec.structs.replace(memory, looked=now, next=later))  # first: a failed check counts, too
        said = await self._ask(AskRelease(address=self.release.address, proxy=settings.proxy), self._data)
        standing, seen = self._judged(said.document, said.signature, memory.seen)
        fresh = Memory(looked=now, next=later, seen=seen, document=memory.document, signature=memory.signature)
        if standing.state == "refused":
            fresh = msgspec.structs.replace(fresh, refused=standing.text)
        if seen != memory.seen:
            fresh = msgspec.structs.replace(fresh, document=said.document, signature=said.signature)
        self._keep(fresh)
        return msgspec.structs.replace(standing, looked=now)

    def _judged(self, document: bytes, signature: bytes, seen: Seen) -> tuple[Standing, Seen]:
        return judge(document, signature, self.release, self._own, self._clock(), seen)

    def _memory(self) -> Memory:
        path = self._data.updates
        try:
            return read_json(path, Memory, _LONGEST)
        except FileNotFoundError:
            return Memory()
        except (OSError, msgspec.DecodeError) as error:
            raise SapoError(
                "{path} cannot be used ({reason}). Delete it.", path=str(path), reason=str(error)
            ) from error

    def _keep(self, memory: Memory) -> None:
        with disk_errors_as(SapoError, sentence("{path} could not be written", path=str(self._data.updates))):
            write_atomically(self._data.updates, msgspec.json.encode(memory))


class Updates:
    """Belongs to the worker, whatever its node.

    Args:
        settings: the current ones.
        allowed: whether the governor lets the node use the network: not on a metered connection.
    """

    def __init__(
        self,
        looker: Looker,
        settings: Callable[[], Settings],
        allowed: Callable[[], bool],
        publish: Callable[[Event], None],
    ) -> None:
        self._looker, self._settings, self._allowed, self._publish = looker, settings, allowed, publish
        self._reported: Standing | None = None
        self._looking = asyncio.Lock()
        self.handlers = handlers = Handlers()
        handlers.on(GetUpdates).by(self.answer)

    async def run(self) -> None:
        """Check when it is due, until cancelled. Failures are logged, and retried the next day."""
        while True:
            try:
                if self._allowed() and self._looker.is_due(self._settings()):
                    await self._look()
            except SapoError as error:
                log.warning("Checking for a newer version: %s", error)
            except Exception:
                log.exception("Checking for a newer version failed because of a bug.")
            await asyncio.sleep(LOOK_SECONDS)

    def standing(self) -> Standing:
        """The standing of this version; an unusable memory is reported instead."""
        return self._looker.standing(self._settings())

    def follow(self) -> None:
        """Settings in OF_UPDATES changed: the permission may be different."""
        if (found := self.standing()) != self._reported:
            self._reported = found
            self._publish(UpdatesAre(standing=found))

    async def answer(self, request: GetUpdates) -> UpdatesAre:
        return UpdatesAre(standing=await self._look() if request.look else self.standing())

    async def _look(self) -> Standing:
        """Check, and inform the clients. If it is no longer allowed, as in silo, the request ends at once."""
        async with self._looking:
            task = asyncio.create_task(self._looker.look(self._settings()))
            try:
                while not task.done():
                    await asyncio.wait({task}, timeout=_STEP_SECONDS)
                    if not task.done() and self._looker.off(self._settings()) is not None:
                        raise InSilo(sentence("The network was switched off, so the search was not done."))
                found = task.result()
            finally:
                task.cancel()
                await asyncio.wait({task})
            self._tell(found)
            return found

    def _tell(self, found: Standing) -> None:
        """Report what is new; an unsafe version is also a notice."""
        before, self._reported = self._reported, found
        self._publish(UpdatesAre(standing=found))
        if before is None or (before.state, before.version) != (found.state, found.version):
            log.info("%s", found.text)
            if found.state in ("urgent", "refused"):
                self._publish(Notice(level="warning", text=found.text, time=time.time()))
