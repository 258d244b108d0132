"""One link to one peer, without I/O: frames and the time go in, events and frames come out.

```
client                        server
HELLO        ──────────>
             <──────────      HELLO, AUTH
AUTH         ──────────>                        both are open: any message, any order, within the limits
```
Other messages may follow the client's AUTH at once. A side that finds a fault during the handshake says GOODBYE and
closes; later a link may have a few faults (a lossy proxy, an odd version) before it is closed. Envelopes are not opened
here; the exchange does that. `now` is a monotonic clock in seconds.
"""

from __future__ import annotations

from enum import Enum, auto

from sapo_desktop.core.network.bucket import Bucket
from sapo_desktop.swarm.protocol import codec, events, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.events import Event
from sapo_desktop.swarm.protocol.handshake import NO_TLS, Asking, Handshake, Me, Parting, Role
from sapo_desktop.swarm.protocol.refusals import Reason, Refused, kind_of

_MOST_FAULTS, _FAULTS_PER_SECOND = 8.0, 1 / 60
_AFTER_FAULTS = 600
_SLACK = 0.25
"""Share by which frames that arrive in bursts may exceed a limit."""
_MOST_WANTS, _WANT_LIFETIME = 8, 60.0


class Stage(Enum):
    """The stage of a link; it only moves forward."""

    HANDSHAKE = auto()
    OPEN = auto()
    CLOSED = auto()


class Session:
    """One side of a link.

    Args:
        nonce: 32 fresh random bytes.
        unix_time: our clock, sent to the peer.
        certificate: SHA-256 of the server's TLS certificate, NO_TLS on `ws://`.
        expected_key: the key in the address, or the pinned one (client only).
    """

    def __init__(
        self,
        role: Role,
        me: Me,
        *,
        nonce: bytes,
        unix_time: float,
        now: float,
        certificate: bytes = NO_TLS,
        expected_key: bytes | None = None,
    ) -> None:
        self.role: Role = role
        self._stage = Stage.HANDSHAKE
        self.backlog = 0
        """Bytes that the driver took and could not send yet; the driver updates it."""
        self.groups_together = 1
        """How many waiting groups should go into one PUBLISH: for an overloaded peer, messages cost more than their
        content."""
        self.latency: float | None = None
        """Seconds until the last request (WANT or PING) was answered; None before the first."""
        self._me = me
        self._handshake: Handshake | None = Handshake(role, me, nonce, unix_time, certificate, expected_key)
        """Until it is finished."""
        self._out: list[bytes] = []
        self._deadline = now + limits.HANDSHAKE_SECONDS
        self._heard = now
        self._unix_lead = unix_time - now
        """Unix time minus the monotonic clock."""
        self._admitted_until = float("inf")
        """When the peer's admission ends, on the monotonic clock."""
        self._pinged = False
        self._pings = 0
        self._ping_sent: float | None = None
        self._faults = Bucket(_MOST_FAULTS, _FAULTS_PER_SECOND, now)
        self._sending, self._receiving = limits.Allowance.fresh(now), limits.Allowance.fresh(now)
        self._own_part = nonce[0] / 256
        """Below 1, random for each session."""
        self._paced: Bucket | None = None
        """What a peer that was asked to slow down may still send; negative if it ignored that."""
        self._others = Bucket(32, 1 / limits.OTHERS_SECONDS, now)
        self._rates: dict[type[m.Message], Bucket] = {
            m.Want: Bucket(2, 1 / limits.WANT_SECONDS, now),
            m.PeersReq: Bucket(1, 1 / limits.PEERS_SECONDS, now),
            m.Stats: Bucket(1, 1 / limits.STATS_SECONDS, now),
            m.Ping: Bucket(3, 1 / limits.PING_SECONDS, now),
            m.CatalogueReq: Bucket(1, 0.0, now),
        }
        self._own_rates: dict[type[m.Message], Bucket] = {
            m.Want: Bucket(1, 1 / limits.WANT_SECONDS, now),
            m.PeersReq: Bucket(1, 1 / limits.PEERS_SECONDS, now),
            m.Stats: Bucket(1, 1 / limits.STATS_SECONDS, now),
            m.Credit: Bucket(1, 1 / limits.TELL_LINKS_SECONDS, now),
        }
        self._catalogue_asked = False
        self._peers_asked = False
        self._wants: dict[bytes, tuple[int, float]] = {}
        """Ticket -> requested groups, and when."""
        if role == "client":
            assert self._handshake is not None
            self._say(self._handshake.hello)

    @property
    def is_open(self) -> bool:
        """Whether both sides have proven their keys, and neither has closed."""
        return self._stage is Stage.OPEN

    @property
    def is_closed(self) -> bool:
        return self._stage is Stage.CLOSED

    # -- receiving ---------------------------------------------------------------------------------------------

    def receive(self, frame: bytes, now: float) -> list[Event]:
        """Handle one frame."""
        if self.is_closed:
            return []
        # Any frame shows that the peer is alive, so it also answers a PING.
        self._heard, self._pinged = max(self._heard, now), False
        try:
            # Before decoding: a stranger must not make us parse a whole frame.
            if not self.is_open and len(frame) > limits.MAX_HELLO:
                raise Refused(Reason.OVERSIZE, f"{len(frame)} bytes before AUTH")
            message = codec.decode(frame)
            if isinstance(message, m.Goodbye):
                return [self._end(message.reason, message.retry_after, by_peer=True, admission=message.admission)]
            return self._take_in(message, len(frame), now) if self.is_open else self._shake_hands(message)
        except Refused as refused:
            return self.fault(refused.reason, now, str(refused))

    def fault(self, reason: Reason, now: float, detail: str = "") -> list[Event]:
        """Charge the link with a fault, found here or in the content of its envelopes."""
        reported: list[Event] = [events.RefusedMessage(reason, detail)]
        if not self.is_open:
            return [*reported, self.close(f"handshake: {reason}")]
        # A newer peer's messages cost nothing at a moderate rate; a flood of them is a fault like any other.
        if reason is Reason.UNKNOWN_MESSAGE and not self._others.take(1, now):
            return self.fault(Reason.TOO_OFTEN, now, detail)
        if kind_of(reason) != "invalid":
            return reported
        if not self._faults.take(1, now):
            reported.append(self.close(f"too many faults, the last: {reason}", _AFTER_FAULTS))
        return reported

    def flooded(self) -> list[Event]:
        """The peer sent control frames faster than needed; the connection is gone, so there is no goodbye."""
        reported = events.RefusedMessage(Reason.TOO_OFTEN, "frames without a message")
        return [reported, self._end("too many frames without a message", _AFTER_FAULTS, by_peer=False)]

    def stood_still(self, since: float, now: float) -> None:
        """We handled nothing since then: what the peer could send meanwhile may arrive at once, and it was not
        silent."""
        seconds = now - since
        own = [self._receiving.groups, self._receiving.bytes, self._others, *self._rates.values()]
        for bucket in own if self._paced is None else [*own, self._paced]:
            bucket.make_up(since, now)
        self._heard, self._deadline = min(now, self._heard + seconds), self._deadline + seconds
        self._wants = {ticket: (n, at + seconds) for ticket, (n, at) in self._wants.items()}

    def tick(self, now: float) -> list[Event]:
        """Do what is due: time-outs and PINGs."""
        if self.is_closed:
            return []
        if not self.is_open:
            return [self.close("handshake: too slow")] if now >= self._deadline else []
        if now >= self._heard + limits.DEAD_SECONDS:
            return [self.close("silent for too long")]
        if now >= self._admitted_until:
            return [self.close("the admission to this private swarm has ended")]
        if now >= self._heard + limits.IDLE_SECONDS and not self._pinged:
            self.ping(now)
        self._wants = {t: (n, at) for t, (n, at) in self._wants.items() if now < at + _WANT_LIFETIME}
        return []

    def ping(self, now: float) -> None:
        """Send a PING; its answer updates `latency`."""
        self._pinged = True
        self._pings, self._ping_sent = self._pings + 1, now
        self._say(m.Ping(number=self._pings))

    # -- sending -----------------------------------------------------------------------------------------------

    def take(self) -> list[bytes]:
        """The frames to send since the last call."""
        frames, self._out = self._out, []
        return frames

    def publish(self, envelopes: list[bytes], now: float) -> bool:
        """Send 1 to 16 own groups; False if credit or frame size is too small for all of them."""
        return self._spend(m.Publish(batch=codec.pack_published(envelopes)), len(envelopes), now)

    def serve(self, ticket: bytes, groups: list[m.Sourced], now: float) -> bool:
        """Answer a WANT with 0 to 16 groups; False if credit or frame size is too small for all of them."""
        return self._spend(m.Groups(ticket=ticket, batch=codec.pack_sourced(groups)), len(groups), now)

    def want(self, want: m.Want, now: float) -> bool:
        """Ask for groups; False if it is too early."""
        self.tick(now)
        if len(self._wants) >= _MOST_WANTS or not self._say_in_time(want, now):
            return False
        self._wants[want.ticket] = (want.n, now)
        return True

    def ask_catalogue(self) -> None:
        if self._may_say and not self._catalogue_asked:
            self._catalogue_asked = True
            self._say(m.CatalogueReq())

    def ask_peers(self, now: float) -> bool:
        """Ask for addresses; False if it is too early."""
        asked = self._say_in_time(m.PeersReq(), now)
        self._peers_asked = self._peers_asked or asked
        return asked

    def give_peers(self, records: list[bytes]) -> None:
        if self._may_say:
            self._say(m.Peers(records=records))

    def tell_stats(self, envelope: bytes, now: float) -> bool:
        """Send statistics; False if it is too early."""
        return self._say_in_time(m.Stats(envelope=envelope), now)

    def tell_links(self, links: int, now: float) -> bool:
        """Report how many links prove the peer's key here; False if it is too early."""
        return self._say_in_time(m.Credit(links=links), now)

    def pace(self, ms_per_group: int, together: int, now: float) -> None:
        """Tell the peer to wait so many milliseconds per group and to send so many together; refuse more than that."""
        if not self._may_say:
            return
        self._say(m.Credit(ms_per_group=ms_per_group, together=together))
        share = self._sending.slow(ms_per_group, now)
        # What the peer sent before it received this is accepted, too.
        most = self._sending.groups.capacity + limits.FIRST_GROUPS
        if share >= 1:
            self._paced = None
        elif self._paced is None:
            self._paced = Bucket(most, self._sending.groups.rate, now)
        else:
            self._paced.turn(most, self._sending.groups.rate, now)

    def _pace(self, ms_per_group: int, together: int, now: float) -> float:
        """Follow the peer's pace; returns the resulting share of the protocol's own rate.

        A peer tells all its links at once. If they kept what they had saved up, the new pace would apply minutes later,
        and all would then send at the same moments. So a session that was not waiting for credit starts at its own
        random point, and one that was keeps its point.
        """
        had, before = self._sending.groups.level(now), self.groups_together
        share = self._sending.slow(ms_per_group, now)
        self.groups_together = max(1, min(together, int(limits.PACED_GROUPS)))
        # It had credit for a whole message, so it was not waiting: spread it by its own random share.
        if had >= before:
            held = min(had, self._own_part * self.groups_together)
        # It was saving for `before` groups together; keep the same share of the new number.
        elif before > 1:
            held = had / before * self.groups_together
        else:
            held = had
        self._sending.groups.hold(held)
        return share

    def overdue(self, now: float) -> float:
        """Seconds during which nothing more is read from a peer that exceeds its pace."""
        # A negative level is a debt in groups; at its rate it is paid back in that many seconds.
        return max(0.0, -self._paced.level(now) / self._paced.rate) if self._paced else 0.0

    def may_want(self, now: float) -> bool:
        """Whether a WANT is allowed yet."""
        return self._may_say and len(self._wants) < _MOST_WANTS and self._own_rates[m.Want].level(now) >= 1

    def room(self, now: float) -> float:
        """Maximum bytes of a frame that can be sent now, so that none is packed for nothing."""
        return min(self._sending.bytes.level(now), limits.SEND_QUEUE - self.waiting)

    @property
    def waiting(self) -> int:
        """Bytes waiting to be sent."""
        return self.backlog + sum(map(len, self._out))

    def close(self, reason: str, retry_after: int = 0, admission: bytes = b"") -> events.Closed:
        """Say GOODBYE; the driver sends the rest and closes the connection. `admission`: what admits the peer."""
        if not self.is_closed:
            self._say(m.Goodbye(reason=reason[:200], retry_after=retry_after, admission=admission))
        return self._end(reason, retry_after, by_peer=False)

    def credit(self, now: float) -> tuple[float, float]:
        """Groups and bytes that may be sent now."""
        return self._sending.groups.level(now), self._sending.bytes.level(now)

    @property
    def _may_say(self) -> bool:
        return self.is_open

    def _say(self, message: m.Any) -> None:
        self._out.append(codec.encode(message))

    def _say_in_time(self, message: m.Want | m.PeersReq | m.Stats | m.Credit, now: float) -> bool:
        if not self._may_say or not self._own_rates[type(message)].take(1, now):
            return False
        self._say(message)
        return True

    def _spend(self, message: m.Any, groups: int, now: float) -> bool:
        try:
            frame = codec.encode(message)
        except ValueError:
            return False
        budget, waiting = self._sending, self.waiting
        # An empty queue takes any frame; otherwise one larger than the queue would never be sent.
        if waiting and waiting + len(frame) > limits.SEND_QUEUE:
            return False
        if not self._may_say or budget.groups.level(now) < groups or budget.bytes.level(now) < len(frame):
            return False
        # Both levels are checked before either is reduced: a refused message costs nothing.
        budget.groups.take(groups, now)
        budget.bytes.take(len(frame), now)
        self._out.append(frame)
        return True

    def _end(self, reason: str, retry_after: float, *, by_peer: bool, admission: bytes = b"") -> events.Closed:
        self._stage = Stage.CLOSED
        return events.Closed(reason, retry_after, by_peer, admission)

    def _shake_hands(self, message: m.Any) -> list[Event]:
        assert self._handshake is not None
        try:
            answers, opened = self._handshake.take(message)
        except Asking as asking:
            return [asking.asked]
        except Parting as parting:
            fault = parting.refused
            reported = [events.RefusedMessage(fault.reason, fault.detail)] if fault else []
            return [*reported, self.close(str(parting))]
        self._admitted_until = self._handshake.admitted_until - self._unix_lead
        for answer in answers:
            self._say(answer)
        if opened is None:
            return []
        self._stage, self._handshake = Stage.OPEN, None
        return [opened]

    # -- messages --------------------------------------------------------------------------------------------

    def _take_in(self, message: m.Any, size: int, now: float) -> list[Event]:
        match message:
            case m.Hello() | m.Auth():
                raise Refused(Reason.OUT_OF_ORDER, "a second handshake")
            case m.Publish():
                return self._on_publish(message, size, now)
            case m.Groups():
                return self._on_groups(message, size, now)
            case m.Catalogue():
                if not self._catalogue_asked:
                    raise Refused(Reason.UNASKED, "Catalogue")
                self._catalogue_asked = False
                return [message]
            case m.Peers():
                if not self._peers_asked:
                    raise Refused(Reason.UNASKED, "Peers")
                self._peers_asked = False
                return [message]
        # What has neither credit nor a request has a rate.
        bucket = self._rates.get(type(message), self._others)
        if not bucket.take(1, now, slack=_SLACK * bucket.capacity):
            raise Refused(Reason.TOO_OFTEN, type(message).__name__)
        match message:
            case m.Credit():
                return self._on_credit(message, now)
            case m.CatalogueReq():
                self._say(m.Catalogue(tasks=list(self._me.tasks)))
            case m.Ping():
                self._say(m.Pong(number=message.number))
            case m.Pong():
                # Only the newest: an old PONG would report an earlier delay.
                if message.number == self._pings and self._ping_sent is not None:
                    self.latency, self._ping_sent = now - self._ping_sent, None
            case m.Want() | m.PeersReq() | m.Stats():
                return [message]
        return []

    def _within_credit(self, groups: int, size: int, now: float) -> None:
        budget = self._receiving
        for bucket, amount in ((budget.bytes, size), (budget.groups, groups)):
            if amount and not bucket.take(amount, now, slack=_SLACK * bucket.capacity):
                raise Refused(Reason.OVERDRAWN, f"{groups} groups, {size} bytes")

    def _on_credit(self, message: m.Credit, now: float) -> list[Event]:
        if message.ms_per_group:
            share = self._pace(message.ms_per_group, message.together, now)
            # Asked earlier, it would answer with fewer: its credit to us returns no faster.
            seconds = self.groups_together / (share * limits.GROUPS_PER_SECOND)
            self._own_rates[m.Want].turn(1, 1 / max(limits.WANT_SECONDS, seconds), now)
        return [events.SameKey(message.links)] if message.links else []

    def _on_publish(self, message: m.Publish, size: int, now: float) -> list[Event]:
        # First bytes, which are known; groups after decompression. A frame beyond its credit is never decompressed.
        self._within_credit(0, size, now)
        envelopes = codec.unpack_published(message.batch)
        self._within_credit(len(envelopes), 0, now)
        if self._paced:
            self._paced.take(len(envelopes), now, slack=float("inf"))
        return [events.Published(envelopes)]

    def _on_groups(self, message: m.Groups, size: int, now: float) -> list[Event]:
        self._within_credit(0, size, now)
        # Removed in any case: a ticket is answered once.
        asked, at = self._wants.pop(message.ticket, (None, 0.0))
        if asked is None:
            raise Refused(Reason.UNASKED, "Groups")
        groups = codec.unpack_sourced(message.batch)
        self._within_credit(len(groups), 0, now)
        if len(groups) > asked:
            raise Refused(Reason.OVERDRAWN, f"{len(groups)} groups where {asked} were asked for")
        self.latency = now - at
        return [events.Served(groups)]
