"""The steps by which a node and a relay enter the swarm: task ids, port, local network, announcement, seeds.

Each does one thing with its arguments; the caller decides the order (side.py, relay.py).
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.swarm.addresses.address import Address, read_seeds
from sapo_desktop.swarm.addresses.announcement import Announcement
from sapo_desktop.swarm.protocol.events import Closed
from sapo_desktop.swarm.sockets.certificate import self_signed
from sapo_desktop.swarm.sockets.network import Network
from sapo_desktop.tasks.catalogue import TaskKey
from sapo_desktop.worker.control.messages.replies import PeerAnswered
from sapo_desktop.worker.hosts.examiner import Examiner
from sapo_desktop.worker.membership.joining import PUBLIC_SWARM, Joined, Linked
from sapo_desktop.worker.membership.private import announced
from sapo_desktop.worker.membership.settings import addresses, host_and_port, place_on_lan
from sapo_desktop.worker.membership.view import LOOKS_ON_LAN, SHOWN_ON_LAN, takes_no_link
from sapo_desktop.worker.showing import Notify

_IDS_AT_ONCE = 4


async def task_ids(examiner: Examiner, tasks: Sequence[TaskKey], show: Callable[[Text], None]) -> dict[TaskKey, bytes]:
    """Ids of all these tasks: stored ones, and the rest computed a few at a time."""
    unknown = [task for task in tasks if task not in examiner.known_ids]
    for start in range(0, len(unknown), _IDS_AT_ONCE):
        count = len(unknown)
        show(sentence("Joining the swarm: {done} of {count} tasks compared", done=start, count=count))
        await examiner.task_ids(unknown[start : start + _IDS_AT_ONCE])
    return {task: examiner.known_ids[task] for task in tasks}


async def greet(network: Network, text: str, invited: str) -> PeerAnswered:
    """Dial an address once; one of the list `invited` only on the public internet. If it answers, and its link is to be
    kept, that link is dialled at once.

    Raises:
        UsageError: nobody answers, or the peer accepts no link.
    """
    address, began = Address.parse(text), time.monotonic()
    strangers = address in addresses(invited)
    link = await network.link(address, named_by_stranger=strangers, only_greet=True)
    if link is None and (fault := network.proxy_faults.get(address)):
        raise UsageError(fault)
    if link is None:
        raise UsageError(
            "{address} does not answer{through}. Check whether the address is right, and whether a node "
            "or relay runs there and can be reached from here.",
            address=address.url.rstrip("/"),
            through=network.proxy_words(address),
        )
    # The latency shows that it answered over the link: a peer that only proves its key has not accepted ours.
    if link.hello is None or link.goodbye is None or link.goodbye.by_peer or link.session.latency is None:
        raise UsageError(takes_no_link(address, link.goodbye or Closed("", 0, False)))
    milliseconds = 1000 * (time.monotonic() - began)
    network.kept.dial_now(address)
    key = link.key.hex()
    return PeerAnswered(key=key, program=link.hello.program, milliseconds=milliseconds, address=str(address))


async def listen_at(linked: Linked, where: str, tls: tuple[Path, Path] | None, folder: Path) -> Address:
    """Listen at HOST:PORT, over TLS with these files or our own certificate.

    Raises:
        UsageError: listening there is impossible, and why.
    """
    host, port = host_and_port(where)
    try:
        return await linked.listen(host, port, tls or self_signed(folder))
    except OSError as error:
        raise cannot_listen(where, error) from error


def check_port(where: str) -> None:
    """Open a HOST:PORT, or a PORT of the loopback address, and close it again. Raises UsageError with the reason if
    that fails."""
    host, port = host_and_port(where if ":" in where else f"127.0.0.1:{where}")
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        raise cannot_listen(where, error) from error


def cannot_listen(where: str, error: OSError) -> UsageError:
    """The error for a HOST:PORT that is in use or not of this computer."""
    message = sentence(
        "Cannot listen at {address}: {error}. Choose another address.",
        address=where,
        error=error.strerror or str(error),
    )
    return UsageError(message)


async def look_on_lan(
    joined: Joined, listens: str, port: int, folder: Path, notify: Notify, stack: contextlib.AsyncExitStack
) -> None:
    """Find nodes on the local network until the stack closes; if that is impossible, the swarm works without.

    `listens`: the setting; `port`: the one that was opened for it. If it is empty, a port is opened at local addresses
    only: two nodes that only search would never meet.
    """
    from sapo_desktop.swarm.addresses.lan import Lan  # the import of zeroconf takes half a second, and few need it

    at, shown = place_on_lan(listens, port)
    if not at:
        notify(
            "warning",
            sentence(
                "This computer is on no local network, so no nodes are looked for there. Add a peer by its address.",
                in_terminal="sapo-desktop peers add URL",
            ),
        )
        return
    if not listens:
        at, shown = await _listen_at_home(joined, at, folder)
    lan = Lan(at, shown, joined.links.found_on_lan, joined.links.lost_on_lan)
    stack.push_async_callback(lan.stop)
    try:
        await lan.start()
    except OSError as error:
        notify(
            "warning",
            sentence(
                "Cannot look for nodes on the local network: {error}. Enter the address of a peer.",
                in_terminal="sapo-desktop peers add URL",
                error=str(error),
            ),
        )
        return
    joined.network.lan_is_open = True
    notify("info", LOOKS_ON_LAN if shown is None else SHOWN_ON_LAN)


async def _listen_at_home(linked: Linked, hosts: Sequence[str], folder: Path) -> tuple[list[str], int | None]:
    """Listen at one port of these addresses; returns those where that worked, and the port."""
    opened: list[str] = []
    port = 0
    for host in hosts:
        with contextlib.suppress(OSError):  # a port that is free at one address may be in use at another
            port = (await linked.listen(host, port, self_signed(folder))).port
            opened.append(host)
    return (opened, port) if opened else (list(hosts), None)


def announcement(linked: Linked, address: str, *, relay: bool = False) -> Announcement | None:
    """Announces this address under our key; None if there is none to announce."""
    if not address:
        return None
    signer, network = linked.signer, linked.network_id
    return Announcement(signer, network, announced(address, signer.key), relay=relay, admission=linked.admission)


def begin_with_seeds(linked: Linked, path: Path) -> None:
    """Add the seed list of the public swarm; other swarms have none."""
    if linked.network_id == PUBLIC_SWARM:
        linked.links.seed(read_seeds(path))


def ban(linked: Linked, keys: frozenset[bytes]) -> None:
    """From now on refuse these as peers, as authors, and as relays of others' groups."""
    exchange = linked.network.exchange
    exchange.shut_out(keys)
    for link in list(exchange.links):
        if link.key in exchange.blocked:
            link.goodbye = link.session.close("blocked", retry_after=86400)
