"""What a relay gives to other relays and takes from them: a state machine without I/O, like a link's session.

It gives what authors published here, within a budget that the authors share. It takes what others received by PUBLISH,
with the same checks as for anything from a link (exchange.py), and never gives it on, so nothing circulates; duplicates
are dropped. Anybody with write access to the backbone may be an attacker: each relay has a rate that applies before
anything is parsed, eight faults, and its share of pool and shelf. Names without a verified signature share one rate.

Queues in both directions are bounded (Waiting), and nobody waits for them: sources take turns. A source that sends too
much loses its own oldest items; if all together are too much, each loses its oldest in turn. Losses are counted.

Groups travel as a Batch: a signed body like any other, in an envelope (envelope.py) of at most one frame. The relay's
signature only says which relay received the groups from their authors, and under which tag; each keeps its author's
signature.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sapo_desktop.core.network.bucket import Bucket
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.pool.pool import IDENTITY_BYTES
from sapo_desktop.swarm.protocol import codec, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Body, GroupBody, Opened, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import Reason, Refusals, Refused, kind_of
from sapo_desktop.swarm.protocol.signing import KEY_BYTES, Signer
from sapo_desktop.swarm.trust.admission import Members


class BatchBody(Body, frozen=True, kw_only=True, tag="backbone"):
    """Groups that `key`, a relay, received from their authors."""

    time: m.Number
    batch: m.Batch
    """Encoded as in GROUPS; the relay of each group is this body's key, whatever the field says."""

    @property
    def written(self) -> int:
        return self.time


def seal_batch(
    signer: Signer, network: bytes, groups: list[m.Sourced], unix_time: float, admission: bytes = b""
) -> list[bytes]:
    """Pack these groups into one message, or into several if one would exceed a frame."""
    body = BatchBody(
        network=network,
        key=signer.key,
        admission=admission,
        time=int(unix_time),
        batch=codec.pack_sourced(groups),
    )
    if len(body.batch) <= limits.MAX_FRAME - limits.KIB:  # a KiB is for everything but the batch
        return [seal(signer, body, limits.MAX_FRAME)]
    half = len(groups) // 2
    return [
        message
        for part in (groups[:half], groups[half:])
        for message in seal_batch(signer, network, part, unix_time, admission)
    ]


def open_batch(message: bytes, relay: bytes, network: bytes, members: Members | None, unix_time: float) -> BatchBody:
    """Verify and decode a message sent in the name of this relay.

    Raises:
        Refused: as for open_envelope; NOT_ITS_OWN (another relay signed it), TOO_OLD, TOO_NEW (by its own clock).
    """
    body = open_envelope(message, BatchBody, network, members, limits.MAX_FRAME).body
    if body.key != relay:
        raise Refused(Reason.NOT_ITS_OWN)
    if body.time < unix_time - limits.MOST_CLOCK_ERROR:
        raise Refused(Reason.TOO_OLD)
    if body.time > unix_time + limits.MOST_CLOCK_ERROR:
        raise Refused(Reason.TOO_NEW)
    return body


T = TypeVar("T")


class Waiting(Generic[T]):
    """Queues by source. `most_of_one`, `most`: limits for one source and for all, in the unit of the items' size."""

    def __init__(self, most_of_one: int, most: int) -> None:
        self._most_of_one = most_of_one
        self._most = most
        self._queues: OrderedDict[bytes, deque[tuple[T, int]]] = OrderedDict()
        self._sizes: Counter[bytes] = Counter()
        self.size = 0
        self.lost = 0
        """Lost items since the start."""

    def __bool__(self) -> bool:
        return bool(self._queues)

    def put(self, source: bytes, item: T, size: int) -> None:
        """Add an item; the oldest ones without room are dropped."""
        self._queues.setdefault(source, deque()).append((item, size))
        self._sizes[source] += size
        self.size += size
        while self._sizes[source] > self._most_of_one:
            self._first(source)
            self.lost += 1
        while self.size > self._most:
            self.take()
            self.lost += 1

    def take(self) -> tuple[bytes, T]:
        """Remove the oldest item of the source whose turn it is; the queue must not be empty."""
        source = next(iter(self._queues))
        self._queues.move_to_end(source)
        return source, self._first(source)

    def _first(self, source: bytes) -> T:
        item, size = self._queues[source].popleft()
        self._sizes[source] -= size
        self.size -= size
        if not self._queues[source]:
            del self._queues[source], self._sizes[source]
        return item


BATCHES_AT_ONCE, BATCHES_PER_SECOND = 32.0, 5.0
GROUPS_AT_ONCE, GROUPS_PER_SECOND = 256.0, 32.0
BYTES_AT_ONCE, BYTES_PER_SECOND = 1024.0 * limits.KIB, 128.0 * limits.KIB
"""What one relay gives to all others."""
SLACK = 0.25
"""Share by which messages that arrive in bursts may exceed the rate."""
MOST_RELAYS = 128
SILENT_SECONDS = 600.0
"""After this silence, a relay's place among those that are heard may go to another."""
SHUT_OUT_SECONDS = 600.0
OUT_BYTES, IN_BYTES, IN_BYTES_OF_ONE = (size * limits.KIB * limits.KIB for size in (8, 16, 1))
"""Limits of the outgoing queue and of messages that wait to be parsed."""
_MOST_FAULTS, _FAULTS_PER_SECOND = 8.0, 1 / 60


class _Relay:
    """What another relay may still send. `slack`: by how much it may exceed that."""

    def __init__(self, now: float, slack: float = 1 + SLACK) -> None:
        self.batches = Bucket(BATCHES_AT_ONCE * slack, BATCHES_PER_SECOND * slack, now)
        self.groups = Bucket(GROUPS_AT_ONCE * slack, GROUPS_PER_SECOND * slack, now)
        self.bytes = Bucket(BYTES_AT_ONCE * slack, BYTES_PER_SECOND * slack, now)
        self.faults = Bucket(_MOST_FAULTS, _FAULTS_PER_SECOND, now)
        self.shut_out_until = float("-inf")
        self.heard = now


@dataclass
class Tally:
    """Counts since the start."""

    groups_in: int = 0
    """New and valid ones."""
    groups_out: int = 0
    batches_in: int = 0
    batches_out: int = 0
    refused: Refusals = field(default_factory=Refusals)
    """Refused messages, and groups that were refused without the author's fault."""


class Federation:
    """One relay's part in a backbone.

    Args:
        exchange: the source of what it gives and the target of what it takes.
        admission: of this relay's key to the private swarm of these `members`.
    """

    def __init__(
        self,
        exchange: Exchange,
        signer: Signer,
        network: bytes,
        now: Now,
        *,
        members: Members | None = None,
        admission: bytes = b"",
    ) -> None:
        self.key = signer.key
        self.tally = Tally()
        self._exchange = exchange
        self._signer = signer
        self._network = network
        self._members = members
        self._admission = admission
        self._mine = _Relay(now.monotonic, slack=1.0)
        self._relays: OrderedDict[bytes, _Relay] = OrderedDict()
        """Relays with a verified signature, the latest heard at the end."""
        self._unknown = _Relay(now.monotonic)
        self._out: Waiting[m.Sourced] = Waiting(IDENTITY_BYTES, OUT_BYTES)
        self._in: Waiting[bytes] = Waiting(IN_BYTES_OF_ONE, IN_BYTES)
        exchange.passes_on = self._pass_on

    @property
    def lost_out(self) -> int:
        """Groups that waited too long to be sent: the backbone was away or slow, or authors published more."""
        return self._out.lost

    @property
    def lost_in(self) -> int:
        """Messages that arrived faster than they could be parsed."""
        return self._in.lost

    @property
    def waiting_bytes(self) -> int:
        return self._out.size + self._in.size

    def relays(self, now: Now) -> int:
        """How many others were heard recently."""
        return sum(now.monotonic - relay.heard < SILENT_SECONDS for relay in self._relays.values())

    # -- giving ---------------------------------------------------------------------------------------------

    def _pass_on(self, group: Opened[GroupBody], tag: bytes) -> None:
        if group.body.home in (b"", self.key):
            self._out.put(group.body.key, m.Sourced(envelope=group.envelope, tag=tag), len(group.envelope))

    def due(self, now: Now) -> list[bytes]:
        """Messages for the others, within the budget."""
        mine, at = self._mine, now.monotonic
        room = min(limits.MAX_BATCH, int(mine.groups.level(at)))
        if not self._out or room < 1 or mine.batches.level(at) < 1 or mine.bytes.level(at) < limits.MAX_FRAME:
            return []
        groups: list[m.Sourced] = []
        while self._out and len(groups) < room:
            groups.append(self._out.take()[1])
        messages = seal_batch(self._signer, self._network, groups, self._corrected(now), self._admission)
        mine.groups.take(len(groups), at)
        mine.batches.take(len(messages), at, slack=limits.MAX_BATCH)
        mine.bytes.take(sum(map(len, messages)), at, slack=BYTES_AT_ONCE)
        self.tally.groups_out += len(groups)
        self.tally.batches_out += len(messages)
        return messages

    # -- taking ---------------------------------------------------------------------------------------------

    def arrived(self, relay: bytes, message: bytes, now: Now) -> None:
        """A message arrived in the name of this relay; it waits for `receive` if size and rate allow."""
        try:
            self._let_in(relay, message, now)
        except Refused as refused:
            self.tally.refused.add(refused.reason)

    def receive(self, now: Now) -> None:
        """Handle the message whose turn it is, if there is one."""
        if not self._in:
            return
        name, message = self._in.take()
        try:
            self._open(name or message[:KEY_BYTES], message if name else message[KEY_BYTES:], now)
        except Refused as refused:
            self.tally.refused.add(refused.reason)

    @property
    def next(self) -> bool:
        """Whether a message waits."""
        return bool(self._in)

    def _let_in(self, relay: bytes, message: bytes, now: Now) -> None:
        if relay == self.key:
            raise Refused(Reason.OWN_ECHO)
        if len(relay) != KEY_BYTES:
            raise Refused(Reason.MALFORMED)
        if len(message) > limits.MAX_FRAME:
            raise Refused(Reason.OVERSIZE)
        known = self._relays.get(relay)
        budget = known or self._unknown
        if relay in self._exchange.blocked or now.monotonic < budget.shut_out_until:
            raise Refused(Reason.SHUT_OUT)
        # Both together: otherwise a message above the rate would also cost bytes.
        if budget.bytes.level(now.monotonic) < len(message) or not budget.batches.take(1, now.monotonic):
            raise Refused(Reason.TOO_OFTEN)
        budget.bytes.take(len(message), now.monotonic)
        # All names without a signature are one source, because they are free.
        waits = message if known else relay + message
        self._in.put(relay if known else b"", waits, len(waits))

    def _open(self, name: bytes, message: bytes, now: Now) -> None:
        if name in self._exchange.blocked:
            raise Refused(Reason.SHUT_OUT)
        # Until the signature is verified, anybody may have sent it, so the named relay is not to blame.
        body = open_batch(message, name, self._network, self._members, self._corrected(now))
        relay = self._known(name, now)
        try:
            groups = codec.unpack_sourced(body.batch)
        except Refused as refused:
            self._charge(relay, refused.reason, now)
            raise
        if not relay.groups.take(len(groups), now.monotonic):
            # Not charged: waiting messages are handled together, and anybody on NATS can replay them.
            raise Refused(Reason.TOO_OFTEN)
        self.tally.batches_in += 1
        for group in groups:
            try:
                self._exchange.take_federated(name, group, now)
                self.tally.groups_in += 1
            except Refused as refused:
                self.tally.refused.add(refused.reason)
                self._charge(relay, refused.reason, now)
            if now.monotonic < relay.shut_out_until:
                return

    def _known(self, name: bytes, now: Now) -> _Relay:
        """The record of a relay with a verified signature. Raises Refused (BUSY) if too many others are heard."""
        relay = self._relays.pop(name, None)
        if relay is None:
            oldest = next(iter(self._relays), None)
            if len(self._relays) >= MOST_RELAYS and oldest is not None:
                if now.monotonic - self._relays[oldest].heard < SILENT_SECONDS:
                    raise Refused(Reason.BUSY)
                del self._relays[oldest]
            relay = _Relay(now.monotonic)
        relay.heard = now.monotonic
        self._relays[name] = relay
        return relay

    def _charge(self, relay: _Relay, reason: Reason, now: Now) -> None:
        if kind_of(reason) == "invalid" and not relay.faults.take(1, now.monotonic):
            relay.shut_out_until = now.monotonic + SHUT_OUT_SECONDS

    def _corrected(self, now: Now) -> float:
        return now.unix + self._exchange.clock.offset
