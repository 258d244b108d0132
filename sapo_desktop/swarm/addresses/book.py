"""Addresses of nodes that opted in: which one is dialled next, and which are passed on.

An address comes from a person (typed, an invite, the seed list), from the local network, or as a signed record from a
peer. Peers' records are cheap to forge, so they live one day, one per key and few per host. Their buckets depend on a
local secret, so nobody can aim at another's place, and none is passed on before we reached it ourselves. At most one
peer per network is linked. Pure: times are arguments, and network.py dials.
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
    """One address and its history."""

    address: Address
    source: Source
    heard: float
    """Unix time of the record, or when it was typed."""
    envelope: bytes = b""
    """The signed record, unchanged, to be passed on."""
    relay: bool = False
    teller: bytes = b""
    """The link from which it was first heard."""
    reached: float | None = None
    """Unix time at which its key was last proven there."""
    failures: int = 0
    tried: float = 0.0


class Anchor(Record, frozen=True):
    """What survives a restart: a link that lasted."""

    address: str
    reached: float
    strangers: bool = False
    """Whether the address was known only from peers."""


class AddressBook:
    """All addresses that a node knows. `secret`: 32 bytes that no peer knows."""

    def __init__(self, own_key: bytes, secret: bytes, *, private_allowed: bool = False) -> None:
        self._own_key = own_key
        self._secret = secret
        self._private_allowed = private_allowed
        self._known: dict[str, Known] = {}

    def __len__(self) -> int:
        return len(self._known)

    def add(self, address: Address, source: Source, unix_time: float) -> None:
        """Add an address from a person, the seed list or the local network; our own is ignored."""
        before = self._known.get(str(address))
        if address.key != self._own_key and (before is None or before.source == "peer"):
            self._known[str(address)] = Known(address, source, unix_time)

    def leave_lan(self, address: Address) -> None:
        """Forget an address that left the local network, unless it is also known from elsewhere."""
        if self.is_on_lan(address):
            del self._known[str(address)]

    def is_on_lan(self, address: Address) -> bool:
        """Whether the address is only known from the local network."""
        one = self._known.get(str(address))
        return one is not None and one.source == "lan"

    def on_lan(self) -> list[Address]:
        """The addresses found on the local network."""
        return [one.address for one in self._known.values() if one.source == "lan"]

    def add_record(self, record: Opened[PeerBody], unix_time: float, teller: bytes = b"") -> None:
        """Add a signed record from a peer. `teller`: what counts as one source of records (Link.source).

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
        if before is not None:  # our own knowledge of it stays
            heard = body.time if before.source == "peer" else before.heard
            self._known[str(address)] = replace(before, heard=heard, envelope=record.envelope, relay=body.relay)
            return
        self._check_room(address)
        self._known[str(address)] = Known(address, "peer", body.time, record.envelope, body.relay, teller)

    def expire(self, unix_time: float) -> None:
        """Forget records that are older than a day."""
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
        """The next address to try: first typed ones, then those reached before, then any. None if nothing is due.

        `lan`: whether it may be on the local network. `keys`: those of open links. `taken`: networks with a link. The
        network behind a name is only known when it is dialled.
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
        """An address in a network that is not `taken`, whether or not it was reached before; otherwise as
        next_to_dial. Never a local one or one that a person named. Behind a proxy, each name of the seed list counts
        as a network."""
        due = [
            one.address
            for one in self._due(linked, unix_time, keys)
            if one.source in ("seed", "peer") and self._visited_part(one) not in {None, *taken}
        ]
        return _chosen(due, rng)

    def next_unproven(self, linked: Collection[Address], unix_time: float, rng: Random) -> Address | None:
        """A peer's address that was not reached yet and is due for a try."""
        due = [one.address for one in self._due(linked, unix_time) if one.source == "peer" and one.reached is None]
        return rng.choice(sorted(due, key=str)) if due else None

    def is_strangers(self, address: Address) -> bool:
        """Whether the address is only known from peers and private ranges are not allowed."""
        one = self._known.get(str(address))
        return not self._private_allowed and (one is None or one.source == "peer")

    def part(self, host: str) -> bytes | None:
        """The network (IPv4 /16, IPv6 /32) of an IP address, of which one is linked; None without such a limit, for
        local addresses if those are allowed. All unresolved names are one network."""
        if self._is_at_home(host):
            return None
        ip = ip_of(host)
        return b"names" if ip is None else _neighbourhood(host)

    def forget(self, name: str) -> None:
        """A person no longer names this address."""
        self._known.pop(name, None)

    def tried(self, address: Address, unix_time: float, *, reached: bool | None) -> None:
        """Record the result of dialling, no matter who answered with the address's key. None: unknown, because the
        proxy did not reach it."""
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
        """Addresses to start from after a restart: open links, in the order of `linked` (longest first), then the
        latest reached. Local ones will change, and typed ones are in the settings."""
        places = {str(address): place for place, address in enumerate(linked)}
        reached = [(name, one) for name, one in self._known.items() if one.reached and one.source in ("seed", "peer")]
        reached.sort(key=lambda item: (places.get(item[0], len(places)), -(item[1].reached or 0)))
        return [
            Anchor(address=str(one.address), reached=one.reached or 0.0, strangers=one.source == "peer")
            for _, one in reached[:_MOST_ANCHORS]
        ]

    def restore(self, anchors: Iterable[Anchor], unix_time: float) -> None:
        """Load what `anchors` returned before the restart; invalid entries are left out."""
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
        """The candidates: no address or key with a link, and none that failed recently. An address without a key
        stands for any peer there."""
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
        """One record per key: an older one with another address is removed. Refused DUPLICATE if this one is not
        newer."""
        for name, one in list(self._known.items()):
            if one.source == "peer" and one.address.key == key:
                if one.heard >= time:
                    raise Refused(Reason.DUPLICATE)
                if name != but:
                    del self._known[name]

    def _is_at_home(self, host: str) -> bool:
        """Whether the host is private and such hosts are allowed, so that the limits per network do not apply."""
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
            # By what we know ourselves, because signers choose the times in records, and also keys and hosts.
            by_teller = Counter(one.teller for one in unproven)
            first = next(one for one in unproven if by_teller[one.teller] == max(by_teller.values()))
            del self._known[str(first.address)]

    def _bucket(self, host: str) -> int:
        return hmac.digest(self._secret, _neighbourhood(host), "sha256")[0] % _BUCKETS


def _neighbourhood(host: str) -> bytes:
    """IPv4 /16, IPv6 /32, or a name's last two labels: what one attacker can easily own. Names only choose a bucket;
    their network is known when they are dialled."""
    ip = ip_of(host)
    if ip is None:
        return ".".join(host.lower().split(".")[-2:]).encode("ascii", "replace")
    return bytes([ip.version]) + ip.packed[: 2 if ip.version == 4 else 4]


def _chosen(addresses: Iterable[Address], rng: Random) -> Address | None:
    """Choose a network uniformly, then an address in it: many addresses in few networks are cheap."""
    parts: defaultdict[bytes, list[Address]] = defaultdict(list)
    for address in addresses:
        parts[_neighbourhood(address.host)].append(address)
    return rng.choice(sorted(parts[rng.choice(sorted(parts))], key=str)) if parts else None


def _preference(one: Known) -> tuple[bool, bool, int]:
    return one.source not in ("typed", "lan"), one.reached is None, one.failures


def _wait(failures: int) -> float:
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(failures - 1, 20)) if failures else 0.0
