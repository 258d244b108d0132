"""Makes a node a member of a swarm: its key, its links, and what comes and goes through them.

Put together from what is given: the settings, the catalogue, an examiner for external work and the engine's tokenizer.
Left out: the round (learning/round.py uses the member), the identity's keeping (system/identity.py), the settings.
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
"""Links of a node that is no relay, both ways together."""
PUBLIC_SWARM = digest(b"sapo/network/1", b"public")
"""The network id of the open swarm (32 bytes)."""


@dataclass(frozen=True)
class Identified:
    """Who joins what: all that a relay needs too.

    `ids`: task id by local key, of every task in the catalogue; `previous`: the ids before the last change, which are
    still accepted. `folder`: private, for certificate, index book and
    what is remembered of peers. `book_secret`: 32 bytes that no peer knows. `members`: of a private swarm, with the
    `admission` of this identity's key; None: the public swarm. `proxy`: as the setting
    says it. `rotation`: what shows which key this one was, or nothing.
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

    @property
    def network(self) -> bytes:
        """The network id of the swarm."""
        return self.members.network if self.members else PUBLIC_SWARM

    @property
    def known_tasks(self) -> dict[TaskKey, bytes]:
        """The ids that peers are told and take groups under; in the public swarm none of an own task."""
        own = frozenset() if self.members else self.catalogue.own
        return {task: identity for task, identity in self.ids.items() if family_of(task) not in own}

    @property
    def memory(self) -> Path:
        """Where what is known of peers lies: a file for each swarm, so that nobody is dialled in another one's name."""
        name = f"peers-{self.network.hex()[:16]}.json" if self.members else "peers.json"
        return self.folder / name


@dataclass(frozen=True, kw_only=True)
class Joining(Identified):
    """What else a node brings along. `yardstick`: see Intake."""

    yardstick: Callable[[], Yardstick]
    instance: bytes = bytes(16)
    label: str = ""


@dataclass(frozen=True)
class Linked:
    """The sockets of a node or relay, with what keeps and finds links."""

    network: Network
    links: Links
    signer: Signer
    network_id: bytes
    members: Members | None = None
    admission: bytes = b""

    async def listen(self, host: str, port: int, tls: tuple[Path, Path] | None) -> Address:
        """Take links too; over TLS with the certificate and key of these files. Returns the address to be dialled.

        Raises:
            OSError: the port cannot be had.
            UsageError: the files cannot be used.
        """
        context, certificate = (None, NO_TLS) if tls is None else server_context(*tls)
        found = await self.network.listen(host, port, tls=context, certificate=certificate)
        return Address(host, found, tls=context is not None, key=self.signer.key)

    def tell_claims(self, about: claims.About, at: Now) -> None:
        """Tell peers what this one says of itself, and each how often its groups were used or handed on."""
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
    """Sockets, pool and address book of an identity, linked to nobody yet. Called where an event loop runs. `share`:
    seconds of work for peers in each second. `relays`: it draws nothing, and tells its peers to send less where they
    send more than it can take."""
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
    )
    memory = Memory.read(identified.memory)
    # Draws and tickets must not be foreseen by those who fill the pool.
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
    """Become a member; nobody is linked to yet. `own` sets our questions, `external` works on what others sent."""
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
    """Local keys by task id; by those of the catalogue before too, where the task is still there. What the library
    makes of it otherwise now shows by the question's hash."""
    tasks = identified.known_tasks
    before = {identity: task for task, identity in identified.previous.items() if task in tasks}
    return before | {identity: task for task, identity in tasks.items()}


def group_check(catalogue: Catalogue, keys: Mapping[bytes, TaskKey]) -> Callable[[GroupBody], None]:
    """What our catalogue says about a group before it enters the pool: Refused UNKNOWN_TASK, UNUSED_TASK, BAD_TEXT."""

    found = {identity: (task, *catalogue.find(task)) for identity, task in keys.items()}

    def check(body: GroupBody) -> None:
        if body.task not in found:
            raise Refused(Reason.UNKNOWN_TASK)
        task, family, level = found[body.task]
        if not level.shared:
            raise Refused(Reason.UNUSED_TASK, task)
        if not all(belongs(answer.text, family.grammar) for answer in body.answers):
            raise Refused(Reason.BAD_TEXT, "signs that no answer to this task needs")

    return check
