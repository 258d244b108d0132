"""Clients' requests about settings: read them, change them, switch silo on or off.

All are checked before any is stored. A change takes effect at once or after the current round; the reply says which.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

import msgspec

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.beyond import beyond
from sapo_desktop.system.desktop import autostart
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import card_memory_of
from sapo_desktop.system.presence.unsupported import LOOKED_AT, asked_in_vain, unsupported
from sapo_desktop.tasks.catalogue import Catalogue, parse_tasks
from sapo_desktop.worker.control.handlers.models import ModelRequests
from sapo_desktop.worker.control.keepable import doubts
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import Event, SettingsChanged
from sapo_desktop.worker.control.messages.replies import SettingsAre, Unsupported
from sapo_desktop.worker.control.messages.requests import (
    GetSettings,
    GetUnsupported,
    ResetSettings,
    SetSettings,
    SetSilo,
)
from sapo_desktop.worker.hosts.choice import REFUSED_IN_SILO, find_model
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.hosts.loading import Fitting
from sapo_desktop.worker.hosts.updates import OF_UPDATES, Updates
from sapo_desktop.worker.membership.settings import check
from sapo_desktop.worker.membership.side import SwarmSide
from sapo_desktop.worker.node import Node

NEEDS_RENEWAL = frozenset(key for key in settings_file.known_keys() if settings_file.describe(key).renews)
"""Settings that a node is built from; a change rebuilds it."""
OF_THE_NETWORK = frozenset(settings_file.keys_of("network", "kept"))
_PRIORITY = "low_priority"


def _nothing(_: object) -> None:
    """A trial reports to nobody."""


def needs_renewal(settings: Settings, wanted: Settings) -> bool:
    """Whether a node with these settings must be rebuilt to use the others."""
    return any(getattr(settings, key) != getattr(wanted, key) for key in NEEDS_RENEWAL)


def taken_over(settings: Settings, others: Settings, keys: Collection[str]) -> Settings:
    """The settings with the others' values of these keys."""
    return msgspec.structs.replace(settings, **{key: getattr(others, key) for key in keys})


class SettingsRequests:
    """Answers them.

    Args:
        overrides: settings from this run's command line; permanent changes remove them.
        follow: called with the new settings, and whether they apply at once. If the running node cannot use all of
            them, a new one replaces it, now or after the current round.
    """

    def __init__(
        self,
        node: Node,
        side: SwarmSide,
        models: ModelRequests,
        *,
        catalogue: Catalogue,
        folder: DataFolder,
        overrides: dict[str, str],
        publish: Callable[[Event], None],
        follow: Callable[[Settings, bool], None],
        updates: Updates,
    ) -> None:
        self._node = node
        self._side = side
        self._models = models
        self._catalogue = catalogue
        self._path = folder.settings
        self._overrides = overrides
        self._publish = publish
        self._follow = follow
        self._updates = updates
        self._one_change = asyncio.Lock()
        self._wanted = node.settings
        """The stored settings combined with this run's command line."""
        self.handlers = handlers = Handlers()
        handlers.on(GetSettings).by(self.show)
        handlers.on(GetUnsupported).by(self.unsupported)
        handlers.on(SetSilo).by(self.silo)
        handlers.on(SetSettings).by(self.change)
        handlers.on(ResetSettings).by(self.reset)

    def kept(self) -> Settings:
        """The settings on disk, without this run's command line."""
        return settings_file.read(self._path).settings

    @property
    def in_force(self) -> Settings:
        """The settings of this run."""
        return self._node.settings

    async def show(self, request: GetSettings) -> SettingsAre:
        return self._are()

    async def unsupported(self, request: GetUnsupported) -> Unsupported:
        return Unsupported(reasons=await asyncio.to_thread(unsupported, LOOKED_AT))

    def _are(self) -> SettingsAre:
        settings = self._node.settings
        return SettingsAre(
            settings=settings,
            changed=settings_file.changed_keys(settings),
            overridden=sorted(self._overrides),
            waiting=self._differing(NEEDS_RENEWAL | {_PRIORITY}),
            wanted=self._wanted,
        )

    async def silo(self, request: SetSilo) -> Ok:
        """Switch silo; applies at once and at the next start."""
        await self.keep_for_good({"silo": "on" if request.on else "off"})
        return Ok(text=sentence("In silo: no network at all.") if request.on else sentence("Joining the swarm."))

    async def keep_for_good(self, values: Mapping[str, str]) -> None:
        """Store these settings, also those that this run's command line set."""
        await self.change(SetSettings(values=dict(values), for_good=True))

    async def change(self, request: SetSettings) -> Ok:
        async with self._one_change:  # otherwise two concurrent changes would each write their initial state
            said = self._overrides.copy()
            for key in request.values if request.for_good else ():
                self._overrides.pop(key, None)
            try:
                kept = settings_file.apply(self.kept(), request.values)
                return await self._take(kept, set(request.values), at_once=request.at_once)
            except SapoError:
                self._overrides.update(said)  # refused: this run continues unchanged
                raise

    async def reset(self, request: ResetSettings) -> Ok:
        keys = request.keys or settings_file.known_keys()
        async with self._one_change:
            return await self._take(settings_file.reset(self.kept(), keys), set(keys))

    async def _take(self, settings: Settings, keys: set[str], *, at_once: bool = False) -> Ok:
        """Store the settings and apply them, except those from this run's command line."""
        if "tasks" in keys:
            parse_tasks(self._catalogue, settings.tasks)  # refused now, not by a node that cannot be built
        wanted = settings_file.apply(settings, self._overrides)
        if keys & OF_THE_NETWORK:
            check(settings)
            check(wanted)  # the stored settings may be valid but not fit the command line
        for reason in (await asyncio.to_thread(beyond, settings, keys)).values():
            raise UsageError(reason)
        if asked := keys & LOOKED_AT:
            for reason in (await asyncio.to_thread(asked_in_vain, settings, asked)).values():
                raise UsageError(reason)
        node = self._node
        if wanted.model != self._wanted.model:
            await asyncio.to_thread(find_model, wanted.model, models_folder(wanted))
        if any(key in keys and getattr(wanted, key) for key in ("memory_most", "card_memory_most")):
            plan, held, pids = node.engine.plan, node.engine.held, [host.pid for host in node.engine.hosts if host.pid]
            on_card = await asyncio.to_thread(card_memory_of, pids)
            fitting = Fitting(lambda: wanted, _nothing, _nothing, DataFolder.at(self._path.parent).cache)
            await asyncio.to_thread(fitting.check, plan, held, on_card)
        if wanted.silo and node.settings.generator == "remote":
            raise UsageError(REFUSED_IN_SILO)
        if "start_at_login" in keys and settings.start_at_login != self.kept().start_at_login:
            await asyncio.to_thread(autostart.follow, settings.start_at_login, self._path.parent)
        settings_file.write(self._path, settings)
        threads = node.orders.decision.threads
        self._wanted = wanted
        node.status.take_settings(self._in_force(wanted))
        self._publish(SettingsChanged(now=self._are()))
        node.orders.follow()  # the guest applies rates and a metered link at its next check
        if "silo" in keys:
            await self._models.follow(node.settings)
        await self._side.follow(node.settings)
        if keys & OF_UPDATES:
            self._updates.follow()
        notes = self._notes(keys, at_once=at_once)
        if node.orders.decision.threads != threads:
            now = node.orders.decision.threads
            notes.insert(0, sentence("threads: {count} from the next round on.", count=now))
        self._follow(wanted, at_once)
        advice = await asyncio.to_thread(doubts, settings, keys, node.engine.held)
        return Ok(text=joined([sentence("Saved."), *notes, *advice]), advice=joined(advice) if advice else "")

    def _in_force(self, wanted: Settings) -> Settings:
        """The part of these settings that applies from now on."""
        now = self._node.settings
        late = set(NEEDS_RENEWAL)
        if wanted.low_priority != now.low_priority and not self._give_way(wanted.low_priority):
            late.add(_PRIORITY)
        return taken_over(wanted, now, late)

    def _give_way(self, low: bool) -> bool:
        """Lower the priority of the computing processes, or restore it; False if the system refuses."""
        hosts = [*self._node.hosts, *self._side.hosts]
        gave = [host.give_way(low) for host in hosts]  # each, whatever happened to the previous one
        return all(gave)

    def _notes(self, keys: set[str], *, at_once: bool) -> list[Text]:
        """Remarks on these changes for a person."""
        late = self._differing(keys & NEEDS_RENEWAL)
        notes: list[Text] = []
        if late and self._node.gate.is_open and not at_once:
            notes.append(sentence("{settings}: takes effect after the current round.", settings=", ".join(late)))
        elif late:
            notes.append(sentence("{settings}: takes effect now.", settings=", ".join(late)))
        if self._differing(keys & {_PRIORITY}):
            notes.append(
                sentence(
                    "{setting}: takes effect at the next start, because this system does not let a running "
                    "program raise its priority.",
                    setting=_PRIORITY,
                )
            )
        if overridden := sorted(keys & set(self._overrides)):
            names = ", ".join(overridden)
            notes.append(sentence("{settings}: this run keeps the values from its command line.", settings=names))
        return notes

    def _differing(self, keys: set[str] | frozenset[str]) -> list[str]:
        """The keys whose stored value is not the current one yet."""
        return sorted(key for key in keys if getattr(self._wanted, key) != getattr(self._node.settings, key))
