"""Makes a node a member of a swarm: its key, its links, and the traffic over them.

Built from the settings, the catalogue, an examiner for external work and the engine's tokenizer. Left out: the round
(learning/round.py uses the member), storing the identity (system/identity.py), the settings.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import sapo_desktop
from sapo_desktop.core.hashing import digest
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.book import AddressBook
from sapo_desktop.swarm.addresses.links import FOUND_LINKS, Links
from sapo_desktop.swarm.addresses.memory import Memory
from sapo_desktop.swarm.catalogues import Catalogues
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.protocol.envelope import GroupBody
from sapo_desktop.swarm.protocol.handshake import NO_TLS, Me
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.certificate import server_context
from sapo_desktop.swarm.sockets.door import MOST_UNPROVEN
from sapo_desktop.swarm.sockets.fair_queue import SHARE
from sapo_desktop.swarm.sockets.network import Network
from sapo_desktop.swarm.trust import claims
from sapo_desktop.swarm.trust.admission import Members
from sapo_desktop.swarm.trust.asking import Porch
from sapo_desktop.swarm.trust.standing import Standing
from sapo_desktop.system.network import room_for_sockets
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey, family_of
from sapo_desktop.tasks.charset import belongs
from sapo_desktop.tasks.identity import examiner_fingerprint
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.examiner import Examiner
from sapo_desktop.worker.membership.external import Intake, Yardstick
from sapo_desktop.worker.membership.index_book import IndexBook
from sapo_desktop.worker.membership.member import Member
from sapo_desktop.worker.membership.publishing import Membership

LEAF_LINKS = 256
"""Links of a node that is no relay, both directions together."""
PUBLIC_SWARM = digest(b"sapo/network/1", b"public")
"""The network id of the public swarm (32 bytes)."""


@dataclass(frozen=True)
class Identified:
    """Which identity joins which swarm: everything that a relay needs, too.

    `ids`: task id by local key, of every task in the catalogue. `previous`: the ids before the last change, which are
    still accepted. `folder`: private, for certificate, index book and memory of peers. `book_secret`: 32 bytes that no
    peer knows. `members`: of a private swarm, with the `admission` of this identity's key; None: the public swarm.
    `proxy`: as in the setting. `rotation`: the proof of the previous key, or empty.
    """

    seed: bytes
    folder: Path
    catalogue: Catalogue
    ids: Mapping[TaskKey, bytes]
    book_secret: bytes
    private_addresses: bool = False
    members: Members | None = None
    admission: bytes = b""
    proxy: str = ""
    rotation: bytes = b""
    previous: Mapping[TaskKey, bytes] = field(default_factory=dict)
    porch: Porch | None = None
    """Takes requests to join this private swarm, where it was founded here."""

    @property
    def network(self) -> bytes:
        """The network id of the swarm."""
        return self.members.network if self.members else PUBLIC_SWARM

    @property
    def known_tasks(self) -> dict[TaskKey, bytes]:
        """The ids that peers get and under which groups are accepted; in the public swarm none of an own task."""
        own = frozenset() if self.members else self.catalogue.own
        return {task: identity for task, identity in self.ids.items() if family_of(task) not in own}

    @property
    def memory(self) -> Path:
        """The file with what is known of peers: one per swarm, so that nobody is dialled for another swarm."""
        name = f"peers-{self.network.hex()[:16]}.json" if self.members else "peers.json"
        return self.folder / name


@dataclass(frozen=True, kw_only=True)
class Joining(Identified):
    """What a node needs in addition. `yardstick`: see Intake."""

    yardstick: Callable[[], Yardstick]
    instance: bytes = bytes(16)
    label: str = ""


@dataclass(frozen=True)
class Linked:
    """The sockets of a node or relay, and the parts that keep and find links."""

    network: Network
    links: Links
    signer: Signer
    network_id: bytes
    members: Members | None = None
    admission: bytes = b""

    async def listen(self, host: str, port: int, tls: tuple[Path, Path] | None) -> Address:
        """Accept links as well; over TLS with the certificate and key of these files. Returns the address for others.

        Raises:
            OSError: the port is not available.
            UsageError: the files cannot be used.
        """
        context, certificate = (None, NO_TLS) if tls is None else server_context(*tls)
        found = await self.network.listen(host, port, tls=context, certificate=certificate)
        return Address(host, found, tls=context is not None, key=self.signer.key)

    def tell_claims(self, about: claims.About, at: Now) -> None:
        """Send peers this node's statistics, and each how often its groups were used or forwarded."""
        exchange = self.network.exchange
        claims.tell(exchange.links, exchange, self.signer, self.network_id, self.admission, about, at)

    async def close(self) -> None:
        """Say goodbye and end every link."""
        await self.links.close()
        await self.network.close()


@dataclass(frozen=True, kw_only=True)
class Joined(Linked):
    """A member with its links."""

    member: Member


def link_up(
    identified: Identified,
    *,
    most_links: int = LEAF_LINKS,
    found_links: int = FOUND_LINKS,
    share: float = SHARE,
    relays: bool = False,
) -> Linked:
    """Sockets, pool and address book of an identity, without links yet. Call it inside an event loop. `share`:
    seconds of work for peers per second. `relays`: it draws nothing, and slows peers down that send more than it can
    handle."""
    signer = Signer(identified.seed)
    tasks = identified.known_tasks.values()
    catalogues = Catalogues(tasks, identified.previous.values())
    me = Me(
        signer=signer,
        network=identified.network,
        tasks=tuple(sorted(tasks)),
        catalogue=catalogues.name,
        previous=catalogues.previous,
        examiner=examiner_fingerprint(version("reasoning_gym")),
        program=f"sapo-desktop/{sapo_desktop.__version__}",
        admission=identified.admission,
        rotation=identified.rotation,
        members=identified.members,
        porch=identified.porch,
    )
    memory = Memory.read(identified.memory)
    # Peers that fill the pool must not predict draws and tickets.
    exchange = Exchange(
        signer.key,
        identified.network,
        group_check(identified.catalogue, _keys(identified)),
        Standing(memory.known_since()),
        random.SystemRandom(),
        members=identified.members,
        catalogues=catalogues,
        draws=not relays,
    )
    book = AddressBook(signer.key, identified.book_secret, private_allowed=identified.private_addresses)
    sockets = room_for_sockets(most_links + MOST_UNPROVEN)
    network = Network(
        exchange,
        me,
        most_links=max(1, sockets - MOST_UNPROVEN),
        proxy=identified.proxy,
        at_home=identified.private_addresses,
        share=share,
        paces=relays,
    )
    links = Links(
        network,
        book,
        identified.network,
        identified.memory,
        memory,
        found_links=found_links,
        members=identified.members,
    )
    network.heard = links.heard
    return Linked(network, links, signer, identified.network, identified.members, identified.admission)


def join(joining: Joining, own: Examiner, external: Examiner, encoder: Engine) -> Joined:
    """Become a member, without links yet. `own` makes our questions, `external` handles what others sent."""
    linked = link_up(joining)
    exchange = linked.network.exchange
    intake = Intake(
        external,
        encoder,
        joining.catalogue,
        _keys(joining),
        joining.network,
        exchange.refusals,
        joining.yardstick,
    )
    membership = Membership(
        signer=linked.signer,
        network=joining.network,
        instance=joining.instance,
        ids=joining.ids,
        label=joining.label,
        admission=joining.admission,
        previous=joining.previous,
    )
    book = IndexBook(joining.folder / "question-indices.json")
    member = Member(membership, linked.network, own, intake, book, joining.catalogue)
    return Joined(**vars(linked), member=member)


def _keys(identified: Identified) -> dict[bytes, TaskKey]:
    """Local keys by task id, including the previous catalogue's ids if the task still exists. If the library now
    makes different questions, their hash shows it."""
    tasks = identified.known_tasks
    before = {identity: task for task, identity in identified.previous.items() if task in tasks}
    return before | {identity: task for task, identity in tasks.items()}


def group_check(catalogue: Catalogue, keys: Mapping[bytes, TaskKey]) -> Callable[[GroupBody], None]:
    """The check of a group against our catalogue before it enters the pool: Refused UNKNOWN_TASK, UNUSED_TASK,
    BAD_TEXT."""

    found = {identity: (task, *catalogue.find(task)) for identity, task in keys.items()}

    def check(body: GroupBody) -> None:
        if body.task not in found:
            raise Refused(Reason.UNKNOWN_TASK)
        task, family, level = found[body.task]
        if not level.shared:
            raise Refused(Reason.UNUSED_TASK, task)
        if not all(belongs(answer.text, family.grammar) for answer in body.answers):
            raise Refused(Reason.BAD_TEXT, "characters that no answer to this task needs")

    return check
