"""The checks of `doctor` on the node itself: whether it works, where it listens, its clock compared with its peers',
and which named peers can be reached. In silo nothing is sent for this, and the check says so."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.network.ranges import ip_of
from sapo_desktop.core.records import Check
from sapo_desktop.core.settings import Settings, listed
from sapo_desktop.core.why import (
    CardTaken,
    Failed,
    HeldBack,
    Metered,
    NotKept,
    OnBattery,
    OutOfHours,
    Paused,
    PausedAfterRound,
    ProgramRuns,
    TooHot,
    Why,
    in_english,
)
from sapo_desktop.swarm.clock import MANY_NETWORKS, WORTH_SAYING
from sapo_desktop.swarm.protocol.limits import MOST_CLOCK_ERROR
from sapo_desktop.system.checks import SET_CLOCK
from sapo_desktop.system.presence.watch import Presence
from sapo_desktop.worker.control.messages.facts import COMPUTING
from sapo_desktop.worker.control.messages.replies import PeerAnswered
from sapo_desktop.worker.control.messages.swarm import SwarmInfo
from sapo_desktop.worker.membership.settings import host_and_port

Dial = Callable[[str], Awaitable[PeerAnswered]]
_DIAL_SECONDS = 20.0
_ANOTHER_PORT = "To use another port: sapo-desktop settings set listen=HOST:PORT"
_NOTHING_SENT = "In silo: nothing was sent, and nobody was asked."


def computing(whys: Sequence[Why], here: Presence, now: float) -> Check:
    """Whether anything holds the node back. `whys`: the reason of its state, and what else forbids computing; `now`:
    Unix time."""
    held = [why for why in whys if isinstance(why, HeldBack | NotKept | Paused | PausedAfterRound | Failed)]
    if not held:
        return Check(COMPUTING, "good", "Nothing keeps the node from computing.")
    found, advice = " ".join(_found(why, here, now) for why in held), ". ".join(map(_against, held))
    return Check(COMPUTING, "bad" if isinstance(held[0], Failed) else "limited", found, advice)


def _found(why: Why, here: Presence, now: float) -> str:
    found = in_english(why, now)
    if isinstance(why, OnBattery) and here.battery:
        charge = "" if here.charge is None else f", {here.charge}%"
        found += f" ({here.battery}{charge})"
    return found if found.endswith((".", "!", "?")) else f"{found}."


def _against(why: Why) -> str:
    """What ends it."""
    match why:
        case NotKept():
            return "Follow that advice: the node continues automatically."
        case Paused() | PausedAfterRound():
            return "To continue: sapo-desktop resume"
        case Failed():
            return "Follow that advice, then let it continue: sapo-desktop run"
        case OnBattery(below=below) if below is not None:
            end = f"Plug the computer in: below {below}% the node always pauses"
        case OnBattery():
            end = "Plug the computer in, or let the node work on battery: sapo-desktop settings set on_battery=continue"
        case Metered():
            end = "To compute all the same: sapo-desktop settings set on_metered=continue"
        case OutOfHours():
            end = "For other hours: sapo-desktop settings set schedule HOURS"
        case TooHot():
            end = "It continues once it is cooler. For another limit: sapo-desktop settings set hottest=DEGREES"
        case ProgramRuns():
            end = "End that program, or remove it from the list: sapo-desktop settings set pause_for PROGRAMS"
        case CardTaken():
            end = "Close that program, or let the processor compute: sapo-desktop settings set device=cpu"
        case _:
            end = "To compute all the same: sapo-desktop settings set when_in_use=continue"
    return f"{end}; for an hour: sapo-desktop resume"


async def swarm_checks(settings: Settings, info: SwarmInfo, dial: Dial) -> list[Check]:
    """The node's part in the swarm. `dial`: raises SapoError if nobody answers; never called in silo."""
    found = [listening(settings, info), clock(info)]
    return [*found, await peers(settings, info, dial)]


def listening(settings: Settings, info: SwarmInfo) -> Check:
    """The port for peers."""
    name = "listening port"
    if not settings.listen:
        return Check(name, "good", "No port is set: this node dials others, and accepts no links.")
    if info.address:
        if any(not link.dialled for link in info.links):
            return Check(name, "good", f"Open at {info.address}, and others have linked to it.")
        return Check(
            name,
            "limited",
            f"Open at {info.address}; nobody has linked to it so far.",
            "If others should reach it from outside, let the firewall pass this port and have the router forward it.",
        )
    if info.state == "failed":
        return Check(name, "bad", str(info.reason), f"Follow that advice. {_ANOTHER_PORT}")
    try:
        host, port = host_and_port(settings.listen)
        if ip_of(host) is None:
            return Check(name, "good", f"{settings.listen} is closed now; its name is not resolved for this check.")
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except (SapoError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        return Check(
            name,
            "bad",
            f"{settings.listen} cannot be opened: {reason}.",
            f"End the program that uses the port. {_ANOTHER_PORT}",
        )
    return Check(name, "good", f"{settings.listen} is closed now, and can be opened.")


def clock(info: SwarmInfo) -> Check:
    """This computer's clock compared with those of the linked peers."""
    name = "clock by peers"
    if info.state == "silo":
        return Check(name, "good", _NOTHING_SENT)
    if info.clock_wrong:
        return Check(
            name,
            "bad",
            f"It differs from the peers' by more than {MOST_CLOCK_ERROR / 60:.0f} minutes: they refuse what this "
            "node shares.",
            SET_CLOCK,
        )
    if not info.links:
        return Check(name, "good", "No peer is linked to compare it with.")
    if info.clock_contradicting:
        return Check(
            name,
            "limited",
            f"Most networks that dial in report another time ({info.clock_contradicting} of them). This computer's own "
            f"clock stays in use until three quarters of at least {MANY_NETWORKS} networks agree.",
            "Compare this computer's clock with a time server. If it is right, you need not do anything.",
        )
    seconds = abs(info.clock_offset)
    if seconds >= WORTH_SAYING:
        return Check(
            name,
            "limited",
            f"It is {seconds / 60:,.0f} minutes off the peers'. The node allows for that, up to "
            f"{MOST_CLOCK_ERROR / 60:.0f} minutes.",
            SET_CLOCK,
        )
    return Check(name, "good", f"Within {max(1, round(seconds)):.0f} s of the peers'.")


async def peers(settings: Settings, info: SwarmInfo, dial: Dial) -> Check:
    """Whether the peers that the user named answer; all are dialled at once."""
    name = "peers"
    if info.state == "silo":
        return Check(name, "good", _NOTHING_SENT if settings.silo else str(info.reason))
    if info.state == "joining":
        again = "Ask again in a minute."
        return Check(name, "limited", "The node is still joining the swarm.", again)
    if info.state == "failed":
        advice = "Follow that advice, then: sapo-desktop silo on, and silo off"
        return Check(name, "bad", str(info.reason), advice)
    named = listed(settings.peers)
    if not named:
        if info.links:
            return Check(name, "good", f"None is named; {_linked(len(info.links))}.")
        return Check(
            name,
            "limited",
            "No peer is named, and none was found.",
            "Name one: sapo-desktop peers add URL, or search the local network: sapo-desktop settings set lan=true",
        )
    silent = [said for said in await asyncio.gather(*(_asked(address, dial) for address in named)) if said]
    found = f"{len(named) - len(silent)} of {len(named)} named ones answer; {_linked(len(info.links))}."
    if not silent:
        return Check(name, "good", found)
    bad = len(silent) == len(named) and not info.links
    advice = (
        "Check whether this computer is online and needs a proxy; else ask the peer's operator, or remove the peer: "
    )
    return Check(
        name, "bad" if bad else "limited", " ".join([found, *silent]), f"{advice}sapo-desktop peers remove URL"
    )


def _linked(count: int) -> str:
    return "1 is linked" if count == 1 else f"{count} are linked"


async def _asked(address: str, dial: Dial) -> str:
    """Why this peer is of no use; empty if it answers."""
    try:
        async with asyncio.timeout(_DIAL_SECONDS):
            await dial(address)
    except SapoError as error:
        return str(error)
    except TimeoutError:
        return f"{address} did not answer in {_DIAL_SECONDS:.0f} seconds."
    return ""
