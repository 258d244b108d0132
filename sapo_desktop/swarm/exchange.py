"""What a node does with its links: it asks for groups and stores what it may. giving.py does what it gives to others.

Pure, like the session: the owner of the sockets (network.py) attaches a session per link, passes frames and the time,
and sends what the sessions produce. A group passes the checks cheapest first; each refusal is counted, and charged to
the link or author at fault. Groups received by PUBLISH may be served on, and so may those that other relays received
that way (backbone/federation.py); groups received by GROUPS never.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from itertools import islice
from random import Random

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.catalogues import Catalogues
from sapo_desktop.swarm.clock import Clock, Now
from sapo_desktop.swarm.giving import Giving
from sapo_desktop.swarm.link import Link, Traffic
from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.pool.draw import LINK_SHARE, draw
from sapo_desktop.swarm.pool.pool import Entry, Path, Pool
from sapo_desktop.swarm.protocol import events, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import GroupBody, Opened, open_envelope
from sapo_desktop.swarm.protocol.refusals import OF_THE_AUTHOR, Reason, Refusals, Refused
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.trust import rotation, same_key
from sapo_desktop.swarm.trust.admission import Members
from sapo_desktop.swarm.trust.standing import Standing

CheckGroup = Callable[[GroupBody], None]
"""Checks a group against this node's catalogue. Raises Refused: UNKNOWN_TASK, UNUSED_TASK, BAD_TEXT."""
Place = Callable[[Opened[GroupBody]], None]

PassOn = Callable[[Opened[GroupBody], bytes], None]
"""Receives a group and our tag for its author's network."""

_STOOD_STILL = 10.0
"""Seconds without a tick after which this computer counts as suspended or blocked."""
_MOST_DIGESTS = 100_000
_MOST_BARRED = 10_000
_COUNTED_OF_ONE = 4
"""Groups of one identity that count as stock: a flood must not make a pool look full."""
_CATALOGUE_SECONDS = 10.0
"""How long a peer is only asked for its catalogue; without an answer, it is assumed to know all tasks."""
_MOST_HELD = 256
"""Number of the latest groups that a WANT reports as held. In a swarm of two that saves a fifth of the traffic.
Reporting more saves nothing there, and with more peers the filter costs more than repeated groups
(tests/bench/swarm/bandwidth.py)."""
_NOT_FOR_WHAT_IT_IS = {
    Reason.NOT_ITS_OWN,
    Reason.TOO_NEW,
    Reason.FLOODING,
    Reason.SHUT_OUT,
    Reason.POOL_FULL,
}
"""Reasons that do not depend on the bytes, which may be welcome later or from another peer: nobody can spoil an
author's group by sending it first."""


class Exchange:
    """All links of one node, its pool and its shelf.

    Args:
        own_key, network: ours.
        check: checks a group against the catalogue.
        rng: chooses tickets, draws and samples; not for secrets.
        members: of a private swarm, whose groups alone are accepted.
        catalogues: the ids by which we know the tasks.
        draws: whether others' groups are kept for draws; a relay only serves them.
    """

    def __init__(
        self,
        own_key: bytes,
        network: bytes,
        check: CheckGroup,
        standing: Standing,
        rng: Random,
        *,
        members: Members | None = None,
        catalogues: Catalogues | None = None,
        draws: bool = True,
    ) -> None:
        self.links: list[Link] = []
        self.past = Traffic()
        """Totals of closed links."""
        self.refusals = Refusals()
        self.clock = Clock()
        self.standing = standing
        self.pool = Pool(own_key)
        self.giving = Giving(own_key, rng)
        self.blocked: frozenset[bytes] = frozenset()
        """Keys that a person blocked."""
        self.passes_on: PassOn = lambda group, tag: None
        """Called with each group that its author published to us, to share it between several relays."""
        self._own_key = own_key
        self._draws = draws
        self._network = network
        self._check = check
        self._rng = rng
        self._members = members
        self._catalogues = catalogues or Catalogues()
        self._digests: OrderedDict[bytes, None] = OrderedDict()
        self._barred: OrderedDict[bytes, float] = OrderedDict()
        """Keys whose link was closed for its faults -> monotonic time until which they get no new one."""
        self._interest: tuple[bytes, ...] = ()
        self._appetite = 0
        self._stock: Counter[bytes] = Counter()
        self._counted_at = float("-inf")
        """When the pool was last counted, monotonic seconds."""
        self._ticked = float("inf")
        """When `tick` was last called, monotonic seconds; before the first call nothing can be late."""

    # -- links -------------------------------------------------------------------------------------------------

    def attach(
        self,
        session: Session,
        part: bytes,
        dialled: Address | None = None,
        *,
        tag: bytes = b"",
        lan: bool = False,
        visit: bool = False,
    ) -> Link:
        """A connection opened; the handshake follows. `visit`: it was made to meet another network, so the peer is
        asked for groups even if there are enough."""
        link = Link(session, part, tag, dialled=dialled, lan=lan, visit=visit)
        self.links.append(link)
        return link

    def detach(self, link: Link) -> None:
        """The connection closed."""
        if link in self.links:
            self.links.remove(link)
            self.past.add(link.traffic)
        if not any(other.key == link.key for other in self.links):
            self.clock.closed(link.key)
        if not any(other.dialled is None and other.part == link.part for other in self.links):
            self.clock.closed(link.part, dialled=False)
        same_key.closed(link, self.links)

    def receive(self, link: Link, frame: bytes, now: Now) -> list[events.Event]:
        """Handle a frame; returns the events that are not about groups, for the code that manages addresses and
        statistics."""
        if now.monotonic - self._ticked > _STOOD_STILL:
            self._after_stall(now)
        link.traffic.bytes_in += len(frame)
        link.heard = now.monotonic
        return self._rest(link, link.session.receive(frame, now.monotonic), now)

    def _after_stall(self, now: Now) -> None:
        """After a pause, what was sent meanwhile arrives at once, which is nobody's fault. Other relays' messages
        above their rate are dropped, without blame (backbone/federation.py)."""
        since, self._ticked = self._ticked, now.monotonic
        if now.monotonic - since > _STOOD_STILL:
            self.standing.stood_still(since, now.monotonic)
            for link in self.links:
                link.session.stood_still(since, now.monotonic)

    def flooded(self, link: Link, now: Now) -> list[events.Event]:
        """The peer sent more PINGs, PONGs or fragments than needed; its connection is already cut off."""
        return self._rest(link, link.session.flooded(), now)

    def charge(self, link: Link, reason: Reason, now: Now, detail: str = "") -> list[events.Event]:
        """Count a fault of the link that was found in its content; returns the same as `receive`."""
        return self._rest(link, link.session.fault(reason, now.monotonic, detail), now)

    def count(self, link: Link, reason: Reason) -> None:
        """Count a refusal of something from the link, without blame."""
        self.refusals.add(reason)
        link.refused.add(reason)

    def tick(self, now: Now) -> None:
        """Do what is due: time-outs, offers that lacked credit, wants, old groups."""
        self._after_stall(now)
        self.pool.expire(now.monotonic)
        self.giving.expire(now)
        oldest = self.clock.slot(now.unix) + limits.OLDEST_SLOT
        for link in list(self.links):
            for event in link.session.tick(now.monotonic):
                self._handled(link, event, now)
            link.leave_older(oldest)
            self.giving.offer(link, now)
            self._want(link, now)
        same_key.tell(self.links, now.monotonic)

    # -- groups ------------------------------------------------------------------------------------------------

    def publish(self, envelope: bytes, now: Now) -> None:
        """Offer an own group to every link, now or when credit allows, and serve it on request."""
        group = open_envelope(envelope, GroupBody, self._network)
        self.giving.publish(group, self.links, now)

    def shut_out(self, keys: frozenset[bytes]) -> None:
        """From now on accept nothing from these authors, relays and links, and neither draw nor serve their groups."""
        self.blocked = keys
        for pool in (self.pool, self.giving.shelf):
            pool.take([entry.name for entry in pool if keys & {entry.name.author, entry.path.relay, entry.path.link}])

    @property
    def held_bytes(self) -> int:
        """Memory of the groups in pool and shelf, in bytes."""
        return self.pool.bytes + self.giving.shelf.bytes

    def want(self, tasks: Collection[bytes], groups: int) -> None:
        """From now on keep about so many groups of these tasks in the pool; 0: ask for none."""
        self._interest = tuple(sorted(tasks))
        self._appetite = groups

    def draw(
        self, n: int, now: Now, *, most_lan: int | None = None, before: Collection[Entry] = ()
    ) -> tuple[list[Entry], bool]:
        """Take up to `n` groups out of the pool, and whether all of them came by the only link there is.

        Args:
            most_lan: maximum groups from the local network if there are other links.
            before: what the same round already has, which counts towards its link's share.
        """
        self.pool.expire(now.monotonic)
        elsewhere = any(link.session.is_open and not link.lan for link in self.links)
        names, one_source = draw(
            self.pool,
            n,
            set(self._interest),
            lambda key: self.standing.is_new(key, now.unix),
            self._rng,
            linked=self._open_sources(),
            most_lan=most_lan if elsewhere else None,
            before=before,
        )
        return self.pool.take(names), one_source

    # -- events of sessions ----------------------------------------------------------------------------------

    def _rest(self, link: Link, reported: list[events.Event], now: Now) -> list[events.Event]:
        return [event for event in reported if not self._handled(link, event, now)]

    def _handled(self, link: Link, event: events.Event, now: Now) -> bool:
        match event:
            case events.Opened(hello) if hello.key in self.blocked:
                link.goodbye = link.session.close("blocked", retry_after=86400)
            case events.Opened(hello) if now.monotonic < (until := self._barred.get(hello.key, 0.0)):
                link.goodbye = link.session.close("still shut out", retry_after=int(until - now.monotonic) + 1)
            case events.Opened(hello):
                link.key, link.hello, link.opened = hello.key, hello, now.monotonic
                same_key.opened(link, self.links, now.monotonic)
                self._follow_rotation(link, hello, now)
                dialled = link.dialled is not None
                self.clock.heard(hello.key if dialled else link.part, hello.time, now.unix, dialled=dialled)
                self.giving.begin(link, oldest_slot=self.clock.slot(now.unix) + limits.OLDEST_SLOT)
                self._compare_catalogues(link, hello, now)
                return False
            case m.Catalogue(tasks=tasks) if link.hello is not None:
                if self._catalogues.learn(link.hello.catalogue, tasks):
                    self._compare_catalogues(link, link.hello, now)
                else:
                    self._refuse(link, Refused(Reason.MALFORMED, "not the catalogue that HELLO named"), now)
            case events.Published(envelopes):
                for envelope in envelopes:
                    self._take_in(link, m.Sourced(envelope=envelope), now, published=True)
            case events.Served(groups=groups):
                for group in groups:
                    self._take_in(link, group, now, published=False)
            case events.SameKey(count):
                link.twins_heard = count
                return False
            case m.Want():
                self.giving.serve(link, event, now)
            case events.RefusedMessage(reason):
                self.count(link, reason)
            case events.Closed():
                link.goodbye = event
                self._bar(link, event, now)
                return False
            case _:
                return False
        return True

    def _compare_catalogues(self, link: Link, hello: m.Hello, now: Now) -> None:
        """Find out which tasks the peer knows, by asking if needed; then start to offer and to want."""
        link.tasks = self._catalogues.known_to(hello.catalogue, hello.previous)
        if link.tasks is None:
            link.session.ask_catalogue()
            link.catalogue_due = now.monotonic + _CATALOGUE_SECONDS
            return
        link.leave_unknown()
        self.giving.offer(link, now)
        self._want(link, now)

    def _follow_rotation(self, link: Link, hello: m.Hello, now: Now) -> None:
        """A key that replaced another one inherits what is known about that one."""
        if not hello.rotation:
            return
        try:
            old = rotation.old_key(hello.rotation, hello.key, self._network, now.unix + self.clock.offset)
        except Refused as refused:
            self.count(link, refused.reason)
            return
        self.standing.join(old, hello.key, now.monotonic, now.unix)

    def _bar(self, link: Link, closed: events.Closed, now: Now) -> None:
        """A peer that was sent away must wait; keys are free, so the list is bounded."""
        if link.key and not closed.by_peer and closed.retry_after:
            self._barred[link.key] = now.monotonic + closed.retry_after
            self._barred.move_to_end(link.key)
            if len(self._barred) > _MOST_BARRED:
                self._barred.popitem(last=False)

    def _take_in(self, link: Link, group: m.Sourced, now: Now, *, published: bool) -> None:
        try:
            self._admit(
                group.envelope,
                lambda opened: self._keep(link, opened, group, now, published=published),
                now,
                publisher=link.key if published else None,
            )
        except Refused as refused:
            self._refuse(link, refused, now)

    def take_federated(self, relay: bytes, group: m.Sourced, now: Now) -> None:
        """Store a group that the `relay` received from its author, after the same checks as for a link, and serve it;
        it is not sent to other relays again.

        Raises:
            Refused: for a reason that is not the author's fault; the author's faults are charged.
        """
        try:
            self._admit(group.envelope, lambda opened: self._keep_federated(relay, opened, group.tag, now), now)
        except Refused as refused:
            if refused.reason not in OF_THE_AUTHOR or refused.author is None:
                raise
            self.refusals.add(refused.reason)
            self.standing.charge(refused.author, refused.reason, now.monotonic, now.unix)

    def _admit(self, envelope: bytes, place: Place, now: Now, *, publisher: bytes | None = None) -> None:
        """Verify an external group, cheapest check first, and store it. `publisher`: its required author if it came
        by PUBLISH. Raises Refused."""
        digest = _remember(self._digests, envelope)
        opened = open_envelope(envelope, GroupBody, self._network, self._members)
        try:
            self._verify(opened.body, publisher, now)
            place(opened)
        except Refused as refused:
            refused.author = opened.body.key
            if refused.reason in _NOT_FOR_WHAT_IT_IS:
                self._digests.pop(digest, None)
            raise

    def _verify(self, body: GroupBody, publisher: bytes | None, now: Now) -> None:
        if body.key in self.blocked:
            raise Refused(Reason.SHUT_OUT)
        if publisher is not None and body.key != publisher:
            raise Refused(Reason.NOT_ITS_OWN)
        self.standing.admit(body.key, now.monotonic, now.unix, published=publisher is not None)
        self.clock.check(body.slot, now.unix)
        self._check(body)

    def _keep(self, link: Link, opened: Opened[GroupBody], group: m.Sourced, now: Now, *, published: bool) -> None:
        if published:
            relay, tag = self._own_key, link.part
        else:
            relay, tag = (group.relay, group.tag) if group.relay else (link.key, link.part)
        path = Path(link.source, relay, tag, link.lan, link.hello.examiner if link.hello else b"")
        if self._draws:
            self.pool.add(opened, path, now.monotonic)
        if published:
            self.giving.keep(opened, path._replace(tag=link.tag), now)
            self.passes_on(opened, link.tag)
            link.published = now.monotonic
        link.traffic.groups_in += 1

    def _keep_federated(self, relay: bytes, opened: Opened[GroupBody], tag: bytes, now: Now) -> None:
        if opened.body.home not in (b"", relay):
            raise Refused(Reason.NOT_ITS_OWN, "another relay is its author's home")
        # A relay is one source, whatever tags it names, and the same one if it also has a link to us.
        path = Path(relay, relay, tag)
        if self._draws:
            self.pool.add(opened, path, now.monotonic)
        self.giving.keep(opened, path, now)

    def _refuse(self, link: Link, refused: Refused, now: Now) -> None:
        if refused.reason in OF_THE_AUTHOR and refused.author is not None:
            self.count(link, refused.reason)
            if refused.reason is Reason.FLOODING:
                return  # each of its links may have kept to its own credit, and each message may have waited here
            self.standing.charge(refused.author, refused.reason, now.monotonic, now.unix)
            if refused.author == link.key and self.standing.is_shut_out(link.key, now.monotonic):
                self._handled(link, link.session.close(f"shut out: {refused.reason}", retry_after=3600), now)
            return
        self.charge(link, refused.reason, now, str(refused))

    # -- wants -----------------------------------------------------------------------------------------------

    def _want(self, link: Link, now: Now) -> None:
        # In this order, because counting what is missing visits all identities.
        if not self._appetite or link.is_being_asked(now.monotonic) or not link.session.may_want(now.monotonic):
            return
        missing = self._missing_from(link, now)
        if missing < 1:
            return
        both = [task for task in self._interest if link.knows(task)]
        if not both:
            return
        tasks = self._rng.sample(both, min(len(both), limits.MAX_WANTED_TASKS))
        ticket = self._rng.randbytes(16)
        held = held_filter.build(list(islice(reversed(self._digests), _MOST_HELD)), ticket)
        link.asked = True
        link.session.want(
            m.Want(ticket=ticket, n=min(missing, limits.MAX_BATCH), tasks=tasks, held=held), now.monotonic
        )

    def _missing_from(self, link: Link, now: Now) -> int:
        """How many groups to ask of this link.

        No source counts as more than a draw uses of it: the groups of one that filled the pool must not prevent asking
        others, nor must groups of tasks that no draw uses. The same holds for several sources together: a visited peer
        is asked once for an equal share, however full the pool is.
        """
        if self._counted_at != now.monotonic:  # once for all links of a tick
            self._stock = self.pool.stock(_COUNTED_OF_ONE, frozenset(self._interest))
            self._counted_at = now.monotonic
        sources = self._open_sources()
        most = self._appetite if len(sources) <= 1 else max(1, int(self._appetite * LINK_SHARE))
        missing = self._appetite - sum(min(most, count) for count in self._stock.values())
        share = max(1, self._appetite // len(sources | set(self._stock))) if link.visit and not link.asked else 0
        return max(share, min(missing, most - self._stock[link.source]))

    def _open_sources(self) -> set[bytes]:
        return {link.source for link in self.links if link.session.is_open}


def _remember(digests: OrderedDict[bytes, None], envelope: bytes) -> bytes:
    """The digest of an envelope that was not seen recently. Raises Refused: DUPLICATE."""
    digest = hashlib.sha256(envelope).digest()
    if digest in digests:
        digests.move_to_end(digest)
        raise Refused(Reason.DUPLICATE)
    digests[digest] = None
    if len(digests) > _MOST_DIGESTS:
        digests.popitem(last=False)
    return digest
