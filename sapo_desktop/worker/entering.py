"""The steps by which a node and a relay enter the swarm: key, task ids, port, seeds, announcement.

Each does one thing with what it is given; in which order is the caller's (swarm_side.py, relay.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.address import Address
from sapo_desktop.swarm.announcement import Announcement
from sapo_desktop.swarm.certificate import self_signed
from sapo_desktop.swarm.seeds import read_seeds
from sapo_desktop.system import identity
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.tasks.catalogue import TaskKey
from sapo_desktop.worker.examiner import Examiner
from sapo_desktop.worker.joining import PUBLIC_SWARM, Linked
from sapo_desktop.worker.private_swarm import announced
from sapo_desktop.worker.swarm_settings import host_and_port, keys_of

PASSPHRASE = "SAPO_PASSPHRASE"
"""Environment variable that opens a protected identity where nobody is there to type it."""
_IDS_AT_ONCE = 4


def keeper(folder: DataFolder, name: identity.Name = "identity") -> identity.Keeper:
    """Where a secret key of this folder is kept."""
    return identity.Keeper(folder.node_id(), folder.control / name.replace(" ", "-"), name)


def load_or_create(keeper: identity.Keeper, passphrase: str | None) -> identity.Identity:
    """The kept identity, else a new one: in the keyring, else behind the passphrase, else for this session."""
    found = keeper.load(passphrase)
    if found is None:
        keyring = identity.usable_keyring()
        found = keeper.create(passphrase if keyring is None else None)
    return found


async def task_ids(examiner: Examiner, tasks: Sequence[TaskKey], show: Callable[[str], None]) -> dict[TaskKey, bytes]:
    """Ids of all these tasks: kept ones, and the rest made a few at a time."""
    unknown = [task for task in tasks if task not in examiner.known_ids]
    for start in range(0, len(unknown), _IDS_AT_ONCE):
        show(f"Joining the swarm: {start} of {len(unknown)} tasks compared")
        await examiner.task_ids(unknown[start : start + _IDS_AT_ONCE])
    return {task: examiner.known_ids[task] for task in tasks}


async def listen_at(linked: Linked, where: str, tls: tuple[Path, Path] | None, folder: Path) -> Address:
    """Listen at HOST:PORT, over TLS with these files or a certificate of our own.

    Raises:
        UsageError: there is no listening there, and why.
    """
    host, port = host_and_port(where)
    try:
        return await linked.listen(host, port, tls or self_signed(folder))
    except OSError as error:
        raise UsageError(f"Cannot listen at {where}: {error.strerror or error}. Name another one.") from error


def announcement(linked: Linked, address: str, *, relay: bool = False) -> Announcement | None:
    """What tells others this address under our key; None where there is none to be told."""
    if not address:
        return None
    signer, network = linked.signer, linked.network_id
    return Announcement(signer, network, announced(address, signer.key), relay=relay, admission=linked.admission)


def begin_with_seeds(linked: Linked, settings: Settings, path: Path) -> None:
    """Take in the seed list of the public swarm, where the settings let it; another swarm has no seeds of ours."""
    if settings.use_seed_list and linked.network_id == PUBLIC_SWARM:
        linked.links.seed(read_seeds(path))


def block(linked: Linked, blocked: str) -> None:
    """Have nothing to do with these keys from now on."""
    exchange = linked.network.exchange
    exchange.blocked = keys_of(blocked)
    for link in list(exchange.links):
        if link.key in exchange.blocked:
            link.goodbye = link.session.close("blocked", retry_after=86400)
