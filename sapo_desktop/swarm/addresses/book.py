"""Addresses of nodes that opted in: who is dialled next, and what is told to others.

An address comes from a person (typed, an invite, the seed list), from the local network, or as a signed record from a
peer. Records of peers are cheap to make up, so they live a day, one per key and few per host; they stand in buckets
chosen with a local secret, so that nobody can aim at another's place; and none is passed on before we reached it
ourselves. Of one part of the internet at most one is linked to. Pure: times are arguments, dialling is network.py's.
"""

from __future__ import annotations

import hmac
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import Record
from sapo_desktop.swarm.addresses.address import Address, ip_of
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import Opened, PeerBody
from sapo_desktop.swarm.protocol.refusals import Reason, Refused

Source = Literal["typed", "seed", "lan", "peer"]
LIFETIME = 24 * 3600.0
_FUTURE = 600.0
_PER_HOST = 4
_BUCKETS, _PER_BUCKET = 64, 16
_MOST_ANCHORS = 4
_FIRST_WAIT, _LONGEST_WAIT = 30.0, 3600.0


@dataclass(frozen=True)
class Known:
    """One address and what came of it."""

    address: Address
    source: Source
    heard: float
    """Unix time of the record, or when it was typed."""
    envelope: bytes = b""
    """The signed record, to be passed on as it came."""
    relay: bool = False
    teller: bytes = b""
    """Which link told of it first."""
    reached: float | None = None
    """Unix time at which we last proved that its key answers there."""
    failures: int = 0
    tried: float = 0.0


class Anchor(Record, frozen=True):
    """What survives a restart: a link that held."""

    address: str
    reached: float
    strangers: bool = False
    """Whether only a peer's word stood for the address."""


class AddressBook:
    """Every address of one node. `secret`: 32 bytes that no peer knows."""

    def __init__(self, own_key: bytes, secret: bytes, *, private_allowed: bool = False) -> None:
        self._own_key = own_key
        self._secret = secret
        self._private_allowed = private_allowed
        self._known: dict[str, Known] = {}

    def __len__(self) -> int:
        return len(self._known)

    def add(self, address: Address, source: Source, unix_time: float) -> None:
        """Take in an address that a person, the seed list or the local network gave; our own is left out."""
        before = self._known.get(str(address))
        if address.key != self._own_key and (before is None or before.source == "peer"):
            self._known[str(address)] = Known(address, source, unix_time)

    def leave_lan(self, address: Address) -> None:
        """Forget an address that is gone from the local network; what came from elsewhere stays."""
        if self.is_on_lan(address):
            del self._known[str(address)]

    def is_on_lan(self, address: Address) -> bool:
        """Whether nothing but the local network told of this address."""
        one = self._known.get(str(address))
        return one is not None and one.source == "lan"

    def on_lan(self) -> list[Address]:
        """The addresses found on the local network."""
        return [one.address for one in self._known.values() if one.source == "lan"]

    def add_record(self, record: Opened[PeerBody], unix_time: float, teller: bytes = b"") -> None:
        """Take in a signed record from a peer. `teller`: what counts as one source of records (Link.source).

        Raises:
            Refused: BAD_BODY (no address, a port that no stranger may name, or another key), PRIVATE_ADDRESS, TOO_OLD,
                TOO_NEW, OWN_ECHO, POOL_FULL (its host or bucket has its share).
        """
        body = record.body
        address = self._named_by_a_stranger(body)
        if body.key == self._own_key:
            raise Refused(Reason.OWN_ECHO)
        if unix_time - body.time > LIFETIME:
            raise Refused(Reason.TOO_OLD)
        if body.time - unix_time > _FUTURE:
            raise Refused(Reason.TOO_NEW)
        self._forget_record_of(body.key, body.time, but=str(address))
        before = self._known.get(str(address))
        if before is not None:  # what we know of it ourselves stays
            heard = body.time if before.source == "peer" else before.heard
            self._known[str(address)] = replace(before, heard=heard, envelope=record.envelope, relay=body.relay)
            return
        self._check_room(address)
        self._known[str(address)] = Known(address, "peer", body.time, record.envelope, body.relay, teller)

    def expire(self, unix_time: float) -> None:
        """Forget records older than a day."""
        self._known = {
            name: one for name, one in self._known.items() if one.source != "peer" or unix_time - one.heard <= LIFETIME
        }

    def next_to_dial(
        self,
        linked: Collection[Address],
        unix_time: float,
        rng: Random,
        *,
        lan: bool = True,
        keys: Collection[bytes] = (),
        taken: Collection[bytes | None] = (),
    ) -> Address | None:
        """An address worth a try: the typed ones first, then those reached before, then any. None where nothing is due.

        `lan`: whether it may be on the local network. `keys`: those of open links, over whichever connection.
        `taken`: parts of the internet that are linked to already. A name's part shows only when it is dialled.
        """
        due = [
            one
            for one in self._due(linked, unix_time, keys)
            if (lan or one.source != "lan")
            and (one.source in ("typed", "lan") or not self._is_within(one.address.host, taken))
        ]
        best = min(map(_preference, due), default=None)
        return _chosen((one.address for one in due if _preference(one) == best), rng)

    def next_to_visit(
        self,
        linked: Collection[Address],
        unix_time: float,
        rng: Random,
        *,
        keys: Collection[bytes],
        taken: Collection[bytes | None],
    ) -> Address | None:
        """An address in a part of the internet that is not `taken`, whether it was reached before or not; else as
        next_to_dial. None at home and none that a person named. Behind a proxy a name of the seed list is a part."""
        due = [
            one.address
            for one in self._due(linked, unix_time, keys)
            if one.source in ("seed", "peer") and self._visited_part(one) not in {None, *taken}
        ]
        return _chosen(due, rng)

    def next_unproven(self, linked: Collection[Address], unix_time: float, rng: Random) -> Address | None:
        """An address that a peer told of and nobody here has reached yet, due for a try."""
        due = [one.address for one in self._due(linked, unix_time) if one.source == "peer" and one.reached is None]
        return rng.choice(sorted(due, key=str)) if due else None

    def is_strangers(self, address: Address) -> bool:
        """Whether only a peer's word stands for this address, and private ranges are not allowed."""
        one = self._known.get(str(address))
        return not self._private_allowed and (one is None or one.source == "peer")

    def part(self, host: str) -> bytes | None:
        """The part of the internet (IPv4 /16, IPv6 /32) that an IP address is in, of which one is linked to; None
        where there is no such limit: at home, where that is allowed. Names that nobody looked up are one part."""
        if self._is_at_home(host):
            return None
        ip = ip_of(host)
        return b"names" if ip is None else _neighbourhood(host)

    def forget(self, name: str) -> None:
        """A person no longer names this address."""
        self._known.pop(name, None)

    def tried(self, address: Address, unix_time: float, *, reached: bool | None) -> None:
        """Take note of what came of dialling, whoever it was that answered to the address's key. None: nothing is
        known of it, for it was not dialled past the proxy."""
        one = self._known.get(str(address))
        if one is None:
            return
        if reached:
            self._known[str(address)] = replace(one, reached=unix_time, failures=0, tried=unix_time)
        else:
            self._known[str(address)] = replace(one, failures=one.failures + (reached is False), tried=unix_time)

    def to_pass_on(self, rng: Random, unix_time: float) -> list[bytes]:
        """Up to 16 records of nodes that we reached ourselves within the last day."""
        reached = [
            one.envelope
            for one in self._known.values()
            if one.envelope and one.reached is not None and unix_time - one.reached <= LIFETIME
        ]
        return rng.sample(sorted(reached), min(limits.MAX_RECORDS, len(reached)))

    def anchors(self, linked: Collection[Address] = ()) -> list[Anchor]:
        """Addresses to begin with after a restart: of open links, the longest held first as `linked` gives them, then
        the latest reached. On the local network they will be others, and typed ones the settings say."""
        places = {str(address): place for place, address in enumerate(linked)}
        reached = [(name, one) for name, one in self._known.items() if one.reached and one.source in ("seed", "peer")]
        reached.sort(key=lambda item: (places.get(item[0], len(places)), -(item[1].reached or 0)))
        return [
            Anchor(address=str(one.address), reached=one.reached or 0.0, strangers=one.source == "peer")
            for _, one in reached[:_MOST_ANCHORS]
        ]

    def restore(self, anchors: Iterable[Anchor], unix_time: float) -> None:
        """Take in what `anchors` gave before the restart; what cannot be read is left out."""
        for anchor in anchors:
            try:
                address = Address.parse(anchor.address)
            except UsageError:
                continue  # written by a version with other addresses
            source: Source = "peer" if anchor.strangers else "seed"
            self._known.setdefault(str(address), Known(address, source, unix_time, reached=anchor.reached))

    def _named_by_a_stranger(self, body: PeerBody) -> Address:
        try:
            address = Address.parse(body.address)
        except UsageError as error:
            raise Refused(Reason.BAD_BODY, str(error)) from error
        if address.key != body.key:
            raise Refused(Reason.BAD_BODY, "a record is for the signer's own key")
        if not self._private_allowed and (not address.is_public or not address.tls):
            raise Refused(Reason.PRIVATE_ADDRESS, "a stranger may name public wss:// addresses only")
        if not address.is_at_free_port:
            raise Refused(Reason.BAD_BODY, "a stranger may not name a well-known port")
        return address

    def _due(self, linked: Collection[Address], unix_time: float, keys: Collection[bytes] = ()) -> list[Known]:
        """Whom to try: no address that is linked to, no key that is, and none that failed just before. An address
        without a key stands for whoever answers there."""
        busy = {str(address) for address in linked}
        anybody = {address.url for address in linked if address.key is None}
        return [
            one
            for name, one in self._known.items()
            if name not in busy
            and one.address.url not in anybody
            and one.address.key not in keys
            and unix_time >= one.tried + _wait(one.failures)
        ]

    def _forget_record_of(self, key: bytes, time: int, but: str) -> None:
        """One record a key: an older one of another address goes. Refused DUPLICATE where this one is not newer."""
        for name, one in list(self._known.items()):
            if one.source == "peer" and one.address.key == key:
                if one.heard >= time:
                    raise Refused(Reason.DUPLICATE)
                if name != but:
                    del self._known[name]

    def _is_at_home(self, host: str) -> bool:
        """Whether the host is private and such ones were allowed: the limits per part of the internet are void."""
        return self._private_allowed and not Address(host, 0).is_public

    def _visited_part(self, one: Known) -> bytes | None:
        host = one.address.host
        return host.encode() if one.source == "seed" and ip_of(host) is None else self.part(host)

    def _is_within(self, host: str, parts: Collection[bytes | None]) -> bool:
        return ip_of(host) is not None and self.part(host) in parts

    def _check_room(self, address: Address) -> None:
        if self._is_at_home(address.host):
            return
        peers = [one for one in self._known.values() if one.source == "peer"]
        if sum(one.address.host == address.host for one in peers) >= _PER_HOST:
            raise Refused(Reason.POOL_FULL, "its host has its share")
        buckets: defaultdict[int, list[Known]] = defaultdict(list)
        for one in peers:
            buckets[self._bucket(one.address.host)].append(one)
        full = buckets[self._bucket(address.host)]
        if len(full) >= _PER_BUCKET:
            unproven = [one for one in full if one.reached is None]
            if not unproven:
                raise Refused(Reason.POOL_FULL, "its bucket holds nodes that were reached")
            # By what we know: times in records are their signers' choice, and so are keys and hosts.
            told = Counter(one.teller for one in unproven)
            first = next(one for one in unproven if told[one.teller] == max(told.values()))
            del self._known[str(first.address)]

    def _bucket(self, host: str) -> int:
        return hmac.digest(self._secret, _neighbourhood(host), "sha256")[0] % _BUCKETS


def _neighbourhood(host: str) -> bytes:
    """IPv4 /16, IPv6 /32, or a name's last two labels: what one attacker easily has much of. Names choose a bucket
    only; which part of the internet they lead to shows when they are dialled."""
    ip = ip_of(host)
    if ip is None:
        return ".".join(host.lower().split(".")[-2:]).encode("ascii", "replace")
    return bytes([ip.version]) + ip.packed[: 2 if ip.version == 4 else 4]


def _chosen(addresses: Iterable[Address], rng: Random) -> Address | None:
    """Of the parts of the internet alike, then of the addresses in one: many addresses in few parts are cheap."""
    parts: defaultdict[bytes, list[Address]] = defaultdict(list)
    for address in addresses:
        parts[_neighbourhood(address.host)].append(address)
    return rng.choice(sorted(parts[rng.choice(sorted(parts))], key=str)) if parts else None


def _preference(one: Known) -> tuple[bool, bool, int]:
    return one.source not in ("typed", "lan"), one.reached is None, one.failures


def _wait(failures: int) -> float:
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(failures - 1, 20)) if failures else 0.0
