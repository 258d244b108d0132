"""Looks whether a newer version is there, and remembers what it saw: for the worker, and for a command where none runs.

Whether anything may be asked at all is decided here, before there is a process that could open a socket. A worker looks
once a day while the node may use the network (Updates). Nothing is installed or fetched: it is said.
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
"""Between two thoughts of whether it is time."""
_STEP_SECONDS = 0.25
"""Within which a look ends where it may no longer be."""

OF_UPDATES = frozenset({"silo", "look_for_updates"})
"""Settings that say whether anything is looked for."""
DAY = 86_400.0
_MORE = 0.25
"""Of a day, at random: not all computers ask at one time."""
_LONGEST = 1_000_000

Ask = Callable[[AskRelease, DataFolder], Awaitable[ReleaseSays]]


class Memory(Record, frozen=True, forbid_unknown_fields=True):
    """What lasts of the looks."""

    looked: float = 0.0
    """Unix time."""
    next: float = 0.0
    """Not before this time."""
    seen: Seen = Seen()
    document: bytes = b""
    """The newest that was signed rightly; judged anew at every start, as the program may be another one then."""
    signature: bytes = b""
    refused: Text = ""
    """Why what the last look brought was not believed."""


async def _asked(request: AskRelease, data: DataFolder) -> ReleaseSays:
    return await librarian.ask(request, ReleaseSays, data)


class Looker:
    """Knows how this version stands.

    Args:
        release: where to look, and whom to believe; None: as this build says.
        ask: asks the release address.
        clock: Unix time.
        draw: at random from 0 to 1.
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
        """Why nothing may be asked, with what to do; None where it may."""
        if not self.release.address:
            return SapoError(
                sentence(
                    "This build has no release address, so it does not check for newer versions. Look where you got it."
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
        """Whether it is time to look, and may be looked. Raises SapoError where the memory is damaged."""
        if self.off(settings) is not None:
            return False
        memory, now = self._memory(), self._clock()
        return now >= memory.next or now < memory.looked  # which was by a clock that was wrong

    def standing(self, settings: Settings) -> Standing:
        """The same as `known`; a memory that cannot be used is said in its place."""
        try:
            return self.known(settings)
        except SapoError as error:
            return Standing(state="refused", text=error.text)

    def known(self, settings: Settings) -> Standing:
        """How things stand by what was seen, without asking. Raises SapoError where the memory is damaged."""
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
        """Ask now; cancel the task to end it at once.

        Raises:
            SapoError: nothing may be asked (then no process was started), or it could not be had.
        """
        if (off := self.off(settings)) is not None:
            raise off
        memory, now = self._memory(), self._clock()
        later = now + DAY * (1 + _MORE * self._draw())
        self._keep(msgspec.structs.replace(memory, looked=now, next=later))  # first: a look that fails is one
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
    """Belongs to the worker, whatever node it has.

    Args:
        settings: those in force.
        allowed: whether the governor lets the node use the network: not on a metered link.
    """

    def __init__(
        self,
        looker: Looker,
        settings: Callable[[], Settings],
        allowed: Callable[[], bool],
        publish: Callable[[Event], None],
    ) -> None:
        self._looker, self._settings, self._allowed, self._publish = looker, settings, allowed, publish
        self._told: Standing | None = None
        self._looking = asyncio.Lock()

    async def run(self) -> None:
        """Look when it is time, until cancelled. What fails is said in the log and tried again on the next day."""
        while True:
            try:
                if self._allowed() and self._looker.is_due(self._settings()):
                    await self._look()
            except SapoError as error:
                log.warning("Looking for a newer version: %s", error)
            except Exception:
                log.exception("Looking for a newer version met a bug.")
            await asyncio.sleep(LOOK_SECONDS)

    def standing(self) -> Standing:
        """How this version stands; a memory that cannot be used is said in its place."""
        return self._looker.standing(self._settings())

    def follow(self) -> None:
        """Settings of OF_UPDATES changed: what may be looked for may be another."""
        if (found := self.standing()) != self._told:
            self._told = found
            self._publish(UpdatesAre(standing=found))

    async def answer(self, request: GetUpdates) -> UpdatesAre:
        return UpdatesAre(standing=await self._look() if request.look else self.standing())

    async def _look(self) -> Standing:
        """Ask, and tell the clients. Where it may no longer be, as in silo, the asking ends at once."""
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
        """Tell what is new; a version that is not safe is a notice too."""
        told, self._told = self._told, found
        self._publish(UpdatesAre(standing=found))
        if told is None or (told.state, told.version) != (found.state, found.version):
            log.info("%s", found.text)
            if found.state in ("urgent", "refused"):
                self._publish(Notice(level="warning", text=found.text, time=time.time()))
