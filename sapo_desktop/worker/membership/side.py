"""Whether and how this node is in the swarm: follows the settings, joins in the background, leaves at once.

Training never waits for the swarm. While the node joins, or if it cannot, rounds are played alone; the status has one
sentence on what prevents it. In silo there is no socket, no second examiner and no key in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from sapo_desktop.core import sentences
from sapo_desktop.core.errors import KeyringClosed, SapoError, UsageError
from sapo_desktop.core.network.proxies import check_environment, check_proxy
from sapo_desktop.core.resources import resource
from sapo_desktop.core.sentences import Sentence, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol.events import Event as LinkEvent
from sapo_desktop.swarm.protocol.events import SameKey
from sapo_desktop.swarm.protocol.messages import Stats
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.network import Network
from sapo_desktop.swarm.trust import claims
from sapo_desktop.swarm.trust.same_key import seen_elsewhere
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.identity import Identity
from sapo_desktop.system.secrets.system_keyring import late_call
from sapo_desktop.tasks.catalogue import Catalogue
from sapo_desktop.worker.control.messages.events import Event, SwarmChanged
from sapo_desktop.worker.control.messages.replies import PeerAnswered
from sapo_desktop.worker.control.messages.swarm import SwarmInfo, SwarmState
from sapo_desktop.worker.governor import Decision
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.examiner import EXTERNAL_SECONDS, Examiner, KeptIds
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.protocol import KINDS, HostOptions
from sapo_desktop.worker.membership.asking import be_admitted, founders_porch, is_founder, shown
from sapo_desktop.worker.membership.entering import (
    announcement,
    ban,
    begin_with_seeds,
    greet,
    listen_at,
    look_on_lan,
    task_ids,
)
from sapo_desktop.worker.membership.external import Yardstick
from sapo_desktop.worker.membership.identity import OwnIdentity
from sapo_desktop.worker.membership.joining import Joined, Joining, join
from sapo_desktop.worker.membership.member import Keep, Member, keep_now
from sapo_desktop.worker.membership.private import announced, members_of
from sapo_desktop.worker.membership.settings import addresses, at_home, keys_of, rejoins
from sapo_desktop.worker.membership.view import (
    DRAWS_ONLY,
    SESSION_IDENTITY,
    USED_TWICE,
    linked_info,
    listening_at,
)
from sapo_desktop.worker.showing import Notify
from sapo_desktop.worker.store.keeper import Lasting

log = logging.getLogger(__name__)

_TELL_SECONDS = 1.0
METERED = sentence(
    "Out of the swarm: the connection is metered. The node joins again on another connection, or "
    "if on_metered allows it."
)


@dataclass(frozen=True)
class Surroundings:
    """What the swarm's side of a node depends on."""

    folder: DataFolder
    catalogue: Catalogue
    own: Examiner
    encoder: Engine
    kept_ids: KeptIds
    instance: bytes
    """The data folder's first one, used until another identity is taken."""
    yardstick: Callable[[], Yardstick]
    """The current lengths of this node's own answers, which limit external ones."""
    handed_over: Mapping[str, str] = field(default_factory=dict)
    """Variables that pass own tasks to an examiner (tasks/own/)."""
    keep: Keep = keep_now
    """Writes what must be on disk before a round continues."""


class SwarmSide:
    """The membership of one node.

    Args:
        entered: called with the member once rounds can use it, and with None when they no longer may.
        publish: called when the swarm's state changes.
        progress: the last round and its reward, for the statistics that peers get.
        lasting: counts what was shared, and how much of it peers say they used.
        identity: this node's identity; None: the data folder's.
    """

    def __init__(
        self,
        around: Surroundings,
        notify: Notify,
        entered: Callable[[Member | None], None],
        publish: Callable[[Event], None],
        progress: Callable[[], tuple[int, float | None]],
        lasting: Lasting | None = None,
        identity: OwnIdentity | None = None,
    ) -> None:
        self.identity = identity or OwnIdentity(around.folder, lambda: notify("warning", SESSION_IDENTITY))
        self._around = around
        self._progress = progress
        self._publish = publish
        self._reported: SwarmChanged | None = None
        self._failed_by_bug: Text = ""
        self._notify = notify
        self._entered = entered
        self._settings: Settings | None = None
        self._barred = False
        """Whether it stays out in spite of the settings, because the connection is metered."""
        self._upload = self._download = 0
        """KB per second over all links, as decided by the governor; 0: no limit."""
        self._membership: asyncio.Task[None] | None = None
        self._following = asyncio.Lock()
        self._joined: Joined | None = None
        self._address = ""
        self._state: SwarmState = "silo"
        self.reason: Text = sentence("In silo: no network at all.")
        """Why there is no member."""
        self._external: Host | None = None
        """The host that scores peers' answers."""
        self._said_used_twice = False
        self._lasting = lasting
        self.porch = founders_porch(notify)
        """Who asks to join the private swarm that was founded here."""
        self.keep_admission: Callable[[bytes], Awaitable[None]] = _forget
        """Has the admission kept that a founder gave this node, which then joins with it."""
        self._keeping: asyncio.Task[None] | None = None

    @property
    def instance(self) -> bytes:
        """Distinguishes this node's groups from those of another one with the same key."""
        return self.identity.instance or self._around.instance

    # -- requests ------------------------------------------------------------------------------------------

    async def follow(self, settings: Settings) -> None:
        """Apply these (checked) settings: leave within a second, join in the background."""
        async with self._following:
            before, self._settings = self._settings, settings
            if settings.silo:
                await self._leave("silo", sentence("In silo: no network at all."))
            elif self._barred:
                await self._leave("silo", METERED)
            elif self._membership is None or self._membership.done() or rejoins(before, settings):
                await self._leave("joining", sentence("Joining the swarm"))
                self._membership = asyncio.create_task(self._take_part(settings))
            elif self._joined is not None:
                self._apply(self._joined, settings)

    async def obey(self, decision: Decision) -> None:
        """Stay out of the swarm or not, and follow these rates, at once."""
        changed, self._barred = self._barred is decision.network, not decision.network
        self._upload, self._download = decision.upload, decision.download
        if self._joined is not None:
            self._keep_to_rates(self._joined.network)
        if changed and self._settings is not None:
            await self.follow(self._settings)

    def dial_again(self) -> None:
        """The computer slept: reconnect all links at once."""
        if self._joined is not None:
            self._joined.network.dial_again()

    async def use(self, who: Identity | None) -> None:
        """Use this identity from now on, by default the stored one; a member leaves and joins again."""
        async with self._following:
            settings, was_in = self._settings, self._membership is not None
            if was_in:
                await self._leave("joining", sentence("Joining the swarm"))
            self.identity.used = who
        if was_in and settings is not None:
            await self.follow(settings)

    async def close(self) -> None:
        # If it continues under a new node, nobody must see a silo in between.
        joining = self._settings is not None and not self._settings.silo
        async with self._following:
            await self._leave("joining" if joining else "silo", sentence("Shutting down"))

    async def test(self, text: str) -> PeerAnswered:
        """Dial an address once; one from an invite only on the public internet. Raises UsageError if nobody answers,
        or the peer accepts no link."""
        if self._joined is None or self._settings is None:
            raise UsageError(
                "Only a node in the swarm can link to a peer. Leave silo, or wait until it has joined. {reason}",
                reason=self.reason,
            )
        return await greet(self._joined.network, text, self._settings.invited)

    def waiting(self) -> list[bytes]:
        """Keys that ask to join the private swarm that was founded here."""
        return [one.key for one in self.porch.waiting(time.monotonic())]

    @property
    def member(self) -> Member | None:
        """This node in the swarm; None while it is not."""
        return self._joined.member if self._joined else None

    @property
    def network(self) -> Network | None:
        """Its links; None while it is not in the swarm."""
        return self._joined.network if self._joined else None

    def info(self) -> SwarmInfo:
        """The current state to show."""
        joined = self._joined
        if joined is None:
            return SwarmInfo(state=self._state, reason=self.reason)
        kept = self.identity.used.where if self.identity.used else ""
        announce, address = self._settings.announce if self._settings else "", self._address
        if announce and address:  # with a listener at all addresses, this one would be useless for other computers
            address = str(announced(announce, joined.signer.key))
        info = linked_info(joined, kept=kept, address=address, member=joined.member)
        return msgspec.structs.replace(info, asking=shown(self.porch)) if joined.members else info

    @property
    def hosts(self) -> list[Host]:
        """The processes of this part."""
        return [] if self._external is None else [self._external]

    def hosts_of_member(self) -> list[Host]:
        """Like `hosts`, once it has joined: a joining node is not stopped halfway."""
        return self.hosts if self.member else []

    # -- taking part -----------------------------------------------------------------------------------------

    async def _take_part(self, settings: Settings) -> None:
        """Join, and maintain the links until cancelled."""
        async with contextlib.AsyncExitStack() as stack:
            try:
                joined = await self._enter(settings, stack)
            except (SapoError, OSError) as error:
                reason = sentence("The swarm cannot be joined: {reason} Training continues alone.", reason=_why(error))
                self._show("failed", reason)
                self._notify("error", self.reason)
                return
            self._joined = joined
            stack.callback(self._left, joined)
            self._apply(joined, settings)
            self._entered(joined.member)
            entered = sentence("Joined the swarm.")
            self._notify("info", entered if settings.share else sentences.joined([entered, DRAWS_ONLY]))
            if settings.lan:
                port = Address.parse(self._address).port if self._address else 0
                control = self._around.folder.control
                await look_on_lan(joined, settings.listen, port, control, self._notify, stack)
            try:
                async with asyncio.TaskGroup() as tasks:
                    for work in (joined.links.run(), joined.network.run(), self._tell_changes()):
                        tasks.create_task(work)
            except* Exception as failed:
                log.error("The swarm's part of the node failed.", exc_info=failed)
                self._failed_by_bug = sentence(
                    "An internal error ended this node's part in the swarm ({error}). Training continues alone. "
                    "To join again, switch silo on and off.",
                    in_terminal="sapo-desktop silo off",
                    error=type(failed.exceptions[0]).__name__,
                )
        if self._failed_by_bug:
            self._show("failed", self._failed_by_bug)
            self._notify("error", self.reason)
            self._failed_by_bug = ""

    async def _who(self) -> Identity:
        """The identity. If the keyring waits for its password, this waits too, and reports that. Raises
        IdentityError."""
        try:
            return await self.identity.identify()
        except KeyringClosed as error:
            if (asked := late_call()) is None:
                raise
            reason = sentence("The node joins the swarm once the keyring is unlocked. {reason}", reason=error.text)
            self._show("failed", reason)
            self._notify("warning", reason)
            await asyncio.wait([asyncio.wrap_future(asked)])
            if asked.exception() is not None:
                raise
            self._show("joining", sentence("Joining the swarm"))
        return await self._who()

    async def _enter(self, settings: Settings, stack: contextlib.AsyncExitStack) -> Joined:
        around = self._around
        if check_proxy(settings.proxy) == "":
            check_environment()
        who = await self._who()
        signer = Signer(who.seed)
        if settings.swarm and not settings.admission:
            admission = await be_admitted(settings, signer, self._show)
            self._notify("info", sentence("The founder admitted this node to the private swarm."))
            self._keeping = asyncio.create_task(self._keep_admission(admission))
            await asyncio.Event().wait()  # what is kept has this node join again, which ends this task
        members = members_of(settings.swarm, settings.admission, signer.key, time.time())
        takes = members is not None and await is_founder(self.identity, settings.swarm)
        options = HostOptions(
            kind=KINDS["examiner"],
            log=around.folder.log("external-examiner"),
            low_priority=settings.low_priority,
            env=around.handed_over,
        )
        host = await Host.start(
            options, lambda text: self._show("joining", sentence("Joining the swarm. {busy}", busy=text))
        )
        self._external = host
        external = Examiner(host, around.kept_ids, EXTERNAL_SECONDS)
        stack.push_async_callback(host.close)
        ids = await task_ids(external, around.catalogue.tasks(), lambda text: self._show("joining", text))
        around.own.learn_ids(ids)
        joining = Joining(
            seed=who.seed,
            folder=around.folder.control,
            catalogue=around.catalogue.in_swarm(private=members is not None),
            ids=ids,
            previous=around.kept_ids.previous(ids),
            book_secret=around.folder.secret("address-book"),
            private_addresses=at_home(settings),
            members=members,
            admission=bytes.fromhex(settings.admission) if members else b"",
            instance=self.instance,
            label=settings.label,
            yardstick=around.yardstick,
            proxy=settings.proxy,
            rotation=self.identity.rotation,
            porch=self.porch if takes else None,
        )
        joined = join(joining, around.own, external, around.encoder)
        joined.member.keep = around.keep
        if self._lasting is not None:
            joined.member.shared = self._lasting.shared
        joined.network.heard = functools.partial(self._heard, joined)
        joined.links.tell_claims = functools.partial(self._tell_claims, joined)
        self._said_used_twice = False
        stack.push_async_callback(joined.close)
        if settings.listen:
            self._address = str(await listen_at(joined, settings.listen, None, around.folder.control))
            self._notify("info", listening_at(self._address))
        begin_with_seeds(joined, resource("seeds.txt"))
        return joined

    async def _keep_admission(self, admission: bytes) -> None:
        try:
            await self.keep_admission(admission)
        except SapoError as error:
            self._show("failed", sentence("The admission could not be stored: {reason}", reason=_why(error)))
            self._notify("error", self.reason)

    def _heard(self, joined: Joined, link: Link, event: LinkEvent) -> None:
        """Events of links that are not about groups, for the keeper of links."""
        joined.links.heard(link, event)
        if isinstance(event, Stats) and link.claim is not None and self._lasting is not None:
            self._lasting.claimed(link.key.hex(), link.claim.used)
        if isinstance(event, SameKey) and not self._said_used_twice and seen_elsewhere(joined.network.exchange.links):
            self._said_used_twice = True
            self._notify("warning", USED_TWICE)

    def _tell_claims(self, joined: Joined, at: Now) -> None:
        """Only a node that shares sends statistics, and those of its rounds only after one has ended here."""
        number, reward = self._progress()
        if not joined.member.sharing or self._settings is None or reward is None:
            return
        joined.tell_claims(claims.About(number, reward, self._settings.label), at)

    def _apply(self, joined: Joined, settings: Settings) -> None:
        """Apply what needs no new join."""
        joined.member.sharing = settings.share
        self._keep_to_rates(joined.network)
        joined.links.keep(addresses(settings.peers), addresses(settings.invited))
        joined.links.announcement = announcement(joined, settings.announce)
        ban(joined, keys_of(settings.blocked))

    def _keep_to_rates(self, network: Network) -> None:
        network.upload.rate, network.download.rate = 1000.0 * self._upload, 1000.0 * self._download

    def _left(self, joined: Joined) -> None:
        self._entered(None)
        joined.member.leave()
        self._joined, self._address = None, ""

    async def _leave(self, state: SwarmState, reason: Text) -> None:
        if self._membership is not None:
            self._membership.cancel()
            await asyncio.wait({self._membership})
            if not self._membership.cancelled() and (error := self._membership.exception()) is not None:
                log.error("The swarm's part of the node failed.", exc_info=error)
            self._membership = None
        self._show(state, reason)

    def _show(self, state: SwarmState, reason: Text) -> None:
        self._state, self.reason = state, reason
        self._tell()

    async def _tell_changes(self) -> None:
        while True:
            self._tell()
            await asyncio.sleep(_TELL_SECONDS)

    def _tell(self) -> None:
        """Report the state if it changed."""
        info = self.info()
        changed = SwarmChanged(
            state=info.state,
            reason=info.reason,
            peers=len(info.links),
            parted=info.parted,
            asking=len(info.asking),
        )
        if changed != self._reported:
            self._reported = changed
            self._publish(changed)


async def _forget(admission: bytes) -> None:
    """Where nothing is kept, it is asked for again at the next start."""


def _why(error: Exception) -> Text:
    """The state, as a complete sentence."""
    text = error.text if isinstance(error, SapoError) else str(error) or type(error).__name__
    words = text.template if isinstance(text, Sentence) else text
    return text if words.endswith((".", "!", "?", "}")) else f"{text}."
