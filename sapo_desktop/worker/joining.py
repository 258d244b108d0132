"""Makes a node a member of a swarm: its key, its links, and what comes and goes through them.

Put together from what is given: the settings, the catalogue, an examiner for foreign work and the engine's tokenizer.
Left out: the round (worker/round.py uses the member), the identity's keeping (system/identity.py), the settings.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sapo_desktop
from sapo_desktop.core.hashing import digest
from sapo_desktop.swarm.address import Address
from sapo_desktop.swarm.certificate import self_signed, server_context
from sapo_desktop.swarm.envelope import GroupBody
from sapo_desktop.swarm.events import Event
from sapo_desktop.swarm.exchange import Exchange, Link
from sapo_desktop.swarm.handshake import NO_TLS
from sapo_desktop.swarm.network import Network
from sapo_desktop.swarm.refusals import Reason, Refused
from sapo_desktop.swarm.session import Me
from sapo_desktop.swarm.signing import Signer
from sapo_desktop.swarm.standing import Standing
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey
from sapo_desktop.tasks.charset import belongs
from sapo_desktop.worker.foreign import Encoder, Examiner, Intake
from sapo_desktop.worker.index_book import IndexBook
from sapo_desktop.worker.member import Member, Membership

PUBLIC_SWARM = digest(b"sapo/network/1", b"public")
"""The network id of the open swarm (32 bytes)."""
Heard = Callable[[Link, Event], None]


@dataclass(frozen=True)
class Joining:
    """What a node brings along.

    `ids`: task id by local key, of every task in the catalogue. `folder`: private, for certificate and index book.
    """

    seed: bytes
    instance: bytes
    folder: Path
    catalogue: Catalogue
    ids: Mapping[TaskKey, bytes]
    network: bytes = PUBLIC_SWARM
    label: str = ""
    lengths: Mapping[TaskKey, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Joined:
    """A member with its links."""

    member: Member
    network: Network
    key: bytes

    async def listen(self, host: str, port: int, folder: Path | None) -> Address:
        """Take links too; with a folder over TLS with the certificate that lies there, or is made there.

        Raises:
            OSError: the port cannot be had.
        """
        context, certificate = (None, NO_TLS) if folder is None else server_context(*self_signed(folder))
        found = await self.network.listen(host, port, tls=context, certificate=certificate)
        return Address(host, found, tls=context is not None, key=self.key)

    def dial(self, addresses: Sequence[Address]) -> None:
        """Keep links to these peers."""
        for address in addresses:
            self.network.dial(address)

    async def close(self) -> None:
        """Say goodbye and end every link."""
        await self.network.close()


def join(joining: Joining, examiner: Examiner, encoder: Encoder, heard: Heard) -> Joined:
    """Become a member; nobody is linked to yet. Must be called where an event loop runs."""
    signer = Signer(joining.seed)
    shared = sorted(joining.ids.values())
    me = Me(
        signer=signer,
        network=joining.network,
        tasks=tuple(shared),
        catalogue=digest(*shared),
        program=f"sapo-desktop/{sapo_desktop.__version__}",
    )
    keys = {identity: task for task, identity in joining.ids.items()}
    # Draws and tickets must not be foreseen by those who fill the pool.
    exchange = Exchange(
        signer.key, joining.network, group_check(joining.catalogue, keys), Standing(), random.SystemRandom()
    )
    network = Network(exchange, me, heard)
    intake = Intake(examiner, encoder, joining.catalogue, keys, joining.network, exchange.refusals, joining.lengths)
    membership = Membership(signer, joining.network, joining.instance, joining.ids, joining.label)
    book = IndexBook(joining.folder / "question-indices.json")
    return Joined(Member(membership, network, examiner, intake, book, joining.catalogue), network, signer.key)


def group_check(catalogue: Catalogue, keys: Mapping[bytes, TaskKey]) -> Callable[[GroupBody], None]:
    """What our catalogue says about a group before it enters the pool: Refused UNKNOWN_TASK, UNUSED_TASK, BAD_TEXT."""

    def check(body: GroupBody) -> None:
        task = keys.get(body.task)
        if task is None:
            raise Refused(Reason.UNKNOWN_TASK)
        family, level = catalogue.find(task)
        if not level.shared:
            raise Refused(Reason.UNUSED_TASK, task)
        if not all(belongs(answer.text, family.grammar) for answer in body.answers):
            raise Refused(Reason.BAD_TEXT, "signs that no answer to this task needs")

    return check
