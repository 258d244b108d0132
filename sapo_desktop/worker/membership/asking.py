"""Being admitted to a private swarm: the founder's node takes requests, a newcomer's asks until it is answered."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

import sapo_desktop
from sapo_desktop.core.errors import IdentityError, PassphraseNeeded, UsageError
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol.events import Closed
from sapo_desktop.swarm.protocol.handshake import Me
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.asking import ask_to_join
from sapo_desktop.swarm.trust import asking
from sapo_desktop.swarm.trust.admission import Members
from sapo_desktop.swarm.trust.asking import Asker, Porch
from sapo_desktop.worker.control.messages.swarm import JoinRequest, SwarmState
from sapo_desktop.worker.membership.identity import OwnIdentity
from sapo_desktop.worker.membership.private import how_to_be_admitted
from sapo_desktop.worker.membership.settings import addresses
from sapo_desktop.worker.showing import Notify

_TELL_SECONDS = 600.0
"""Between two notices of newcomers, however many come."""
_ELSEWHERE_SECONDS = 300.0
"""Between two tries where nobody takes requests, or nobody answers."""
_KEY_SHOWN = 16


def founders_porch(notify: Notify, clock: Callable[[], float] = time.monotonic) -> Porch:
    """Takes requests, and notifies a person of newcomers, but not of each one in a crowd."""
    noticed = float("-inf")

    def came(asker: Asker) -> None:
        nonlocal noticed
        if clock() >= noticed + _TELL_SECONDS:
            noticed = clock()
            notify(
                "info",
                sentence(
                    "{label} (key {key}) asks to join your private swarm. Compare the key with the person, then answer "
                    "on the page Peers.",
                    in_terminal="sapo-desktop peers requests",
                    label=asker.label or sentence("Somebody"),
                    key=asker.key.hex()[:_KEY_SHOWN],
                ),
            )

    return Porch(came)


def shown(porch: Porch) -> list[JoinRequest]:
    """Who waits, as the control channel carries it."""
    now = time.monotonic()
    return [JoinRequest(key=one.key.hex(), label=one.label, seconds=now - one.since) for one in porch.waiting(now)]


async def is_founder(identity: OwnIdentity, swarm: str) -> bool:
    """Whether this folder has the admission key of this private swarm. Of one behind a passphrase that is assumed:
    admitting somebody requires opening it."""
    try:
        held = await identity.admission_key(None, create=False)
    except PassphraseNeeded:
        return True
    except (UsageError, IdentityError):
        return False
    return Signer(held.seed).key.hex() == swarm


class Ask(Protocol):
    """Asks once at an address."""

    def __call__(
        self, me: Me, address: Address, label: str, *, proxy: str, named_by_stranger: bool
    ) -> Awaitable[Closed | None]: ...


async def be_admitted(
    settings: Settings,
    signer: Signer,
    show: Callable[[SwarmState, Text], None],
    ask: Ask | None = None,
    rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> bytes:
    """Ask at the addresses of the private swarm of these settings, again and again; returns the admission. `rest`:
    waits so many seconds.

    Raises:
        UsageError: the founder refused, or there is no address to ask at.
    """
    members = Members(bytes.fromhex(settings.swarm))
    program = f"sapo-desktop/{sapo_desktop.__version__}"
    me = Me(signer=signer, network=members.network, tasks=(), catalogue=bytes(32), program=program, members=members)
    invited, places = addresses(settings.invited), addresses(settings.peers)
    if not places:
        raise UsageError(how_to_be_admitted(signer.key))
    while True:
        heard = set()
        for place in places:
            goodbye = await (ask or ask_to_join)(
                me, place, settings.label, proxy=settings.proxy, named_by_stranger=place in invited
            )
            if goodbye is None or not goodbye.by_peer:
                continue
            heard.add(goodbye.reason)
            if goodbye.reason == asking.ADMITTED and _admits(members, signer.key, goodbye.admission):
                return goodbye.admission
        if asking.REFUSED in heard:
            raise UsageError("The founder of this private swarm did not admit this node.")
        await rest(_show(heard, signer.key, show) * random.uniform(1, 1.3))


def _show(heard: set[str], key: bytes, show: Callable[[SwarmState, Text], None]) -> float:
    """Say how it stands; returns after how many seconds to ask again."""
    if asking.WAITING in heard:
        said = sentence(
            "This node asked to join the private swarm, and waits for the founder's answer. Tell the founder its key: "
            "{key}",
            key=key.hex()[:_KEY_SHOWN],
        )
        show("joining", said)
        return asking.AGAIN_SECONDS
    if asking.FULL in heard:
        show("joining", sentence("Too many ask to join this private swarm at once. This node asks again."))
        return asking.AGAIN_SECONDS
    reason = sentence("nobody who can admit this node answers now.") if not heard else how_to_be_admitted(key)
    show("failed", sentence("The swarm cannot be joined: {reason} Training continues alone.", reason=reason))
    return _ELSEWHERE_SECONDS


def _admits(members: Members, key: bytes, admission: bytes) -> bool:
    try:
        members.check(key, admission, time.time())
    except Refused:
        return False
    return True
