"""What a node or a relay shows about its links on the control channel, and about its part in the swarm."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.link import VISITS, Link
from sapo_desktop.swarm.protocol.envelope import StatsBody
from sapo_desktop.swarm.protocol.events import Closed
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.trust import same_key
from sapo_desktop.worker.control.messages.swarm import Claim, LinkInfo, SwarmInfo
from sapo_desktop.worker.membership.joining import Linked
from sapo_desktop.worker.membership.member import Counts, Member
from sapo_desktop.worker.membership.private import how_to_be_admitted

DRAWS_ONLY = sentence(
    "This node uses others' answers and shares none of its own: sharing needs your consent.",
    in_terminal="sapo-desktop run --share",
)
SHOWN_ON_LAN = sentence(
    "This node is visible on the local network, under a name that changes each time, and looks for others there."
)
LOOKS_ON_LAN = sentence(
    "This node looks for others on the local network but is not visible there. To be visible, it "
    "must listen at an IPv4 address of this network, or at 0.0.0.0:8765.",
    in_terminal="sapo-desktop settings set listen 0.0.0.0:8765",
)
ONE_SOURCE = sentence(
    "There is only one link, so a single peer decides which answers this node learns from. Add another peer."
)
_MOST, _FEWEST_DRAWN = 0.5, 16
"""A source with this share is named, once so many groups were drawn recently."""
ANYWHERE = ("0.0.0.0", "[::]")
"""Addresses that mean "all addresses of this computer" and cannot be dialled."""
SESSION_IDENTITY = sentence(
    "This computer has no keyring that stores secrets, so the identity is lost when this node "
    "stops. Set a passphrase to keep it.",
    in_terminal="sapo-desktop identity protect",
)
USED_TWICE = sentence(
    "This node's identity is used in two places at once, and both share one quota. Give one of them its own.",
    in_terminal="sapo-desktop identity new",
)
_SHUT_OUT = sentence("it banned this node for a while, after messages that broke its rules; this node will try again")
_PARTINGS = (
    ("another network", sentence("it is in another swarm; to enter a private one, ask its founder for an invite")),
    ("this is my own key", sentence("it is this node itself; remove its address")),
    (
        "not the key that this address belongs to",
        sentence("its key is not the one that the address names; ask for the address again"),
    ),
    (
        "not a member of this private swarm",
        sentence("it is not admitted to this private swarm, or this node is not; ask its founder"),
    ),
    ("going away", sentence("it is stopping or restarting; this node will try again")),
    ("no room for another link", sentence("it is full; this node will try again")),
    ("busy", sentence("it is busy; this node will try again")),
    ("blocked", sentence("it refuses this node's key; ask its operator, or remove its address")),
    ("still shut out", _SHUT_OUT),
    ("no common version", sentence("it uses another version of the protocol; update the older of the two")),
    ("shut out", _SHUT_OUT),
    ("too many faults", _SHUT_OUT),
    ("making room for others", sentence("it made room for others; this node will try again")),
    ("silent for too long", sentence("one of the two was silent for too long; this node will try again")),
    (
        "the admission to this private swarm has ended",
        sentence("an admission to this private swarm has ended; ask its founder for a new one"),
    ),
    ("linked already", sentence("the two are linked already")),
    ("handshake: bad_signature", sentence("it does not have the key that it claims; ask its operator")),
    ("handshake: too slow", sentence("the handshake took too long; this node will try again")),
    ("handshake: ", sentence("the two programs do not understand each other; update the older one")),
)
"""How failed greetings end: the beginning of the message of the side that hangs up, and its meaning."""
_BLOCKED_HERE = sentence("this node blocks its key; unblock it, or remove its address")
_NO_REASON = sentence("it closed the link without a known reason; this node will try again")


def linked_info(linked: Linked, *, kept: str, address: str, member: Member | None) -> SwarmInfo:
    """The state of a joined swarm. `member`: None for a relay, which shares and draws nothing."""
    exchange, network = linked.network.exchange, linked.network
    counts, shares = (member.counts, member.draw_shares()) if member else (Counts(), {})
    one_source = member is not None and member.one_source
    links = [link for link in exchange.links if link.session.is_open]
    dialled = {link.dialled for link in links}
    partings = sent_away(network.kept.partings, dialled) | {str(at): why for at, why in network.proxy_faults.items()}
    parted = next(iter(partings.values()), "")
    now = time.monotonic()
    return SwarmInfo(
        state="linked" if links else "alone",
        reason=_ended(linked, time.time()) or _reason(linked, member, len(links), parted),
        parted=parted,
        partings=partings,
        silent={str(at): since for at, since in network.kept.silent.items() if at not in dialled},
        key=linked.signer.key.hex(),
        swarm=linked.members.swarm.hex() if linked.members else "",
        kept=kept,
        address=address,
        sharing=member is not None and member.sharing,
        links=[link_info(link, now, shares.get(link.source, 0.0), network.waiting(link)) for link in links],
        pool=len(exchange.pool if member else exchange.giving.shelf),
        published=counts.published,
        drawn=counts.drawn,
        taken=counts.taken,
        one_source=one_source,
        refused=exchange.refusals.by_kind(),
        other_questions=exchange.refusals.other_questions,
        clock_offset=exchange.clock.offset,
        clock_wrong=exchange.clock.is_wrong,
        clock_contradicting=exchange.clock.contradicting,
        notices=notices(exchange),
        warnings=warnings(links, shares, one_source=one_source, drawn=counts.drawn),
    )


def link_info(link: Link, now: float, share: float = 0.0, waiting: int = 0) -> LinkInfo:
    """One link as shown. `share`: its source's share of the recently drawn groups. `waiting`: its queued bytes."""
    latency = link.session.latency
    return LinkInfo(
        key=link.key.hex(),
        dialled=str(link.dialled) if link.dialled else "",
        program=link.hello.program if link.hello else "",
        seconds=max(0.0, now - link.opened),
        groups_in=link.traffic.groups_in,
        groups_out=link.traffic.groups_out,
        bytes_in=link.traffic.bytes_in,
        bytes_out=link.traffic.bytes_out,
        refused=link.refused.by_kind(),
        claim=_claim(link.claim) if link.claim else None,
        latency_ms=None if latency is None else 1000 * latency,
        waiting=waiting,
        unsent=len(link.unsent),
        draw_share=share,
        visit=link.visit,
    )


def warnings(links: Sequence[Link], shares: Mapping[bytes, float], *, one_source: bool, drawn: int) -> list[Text]:
    """Sentences about sources of most of what was drawn."""
    if one_source:
        return [ONE_SOURCE]
    if drawn < _FEWEST_DRAWN:
        return []
    keys = {link.source: link.key.hex()[:16] for link in links}
    # Visits bring groups of ever different peers.
    most = {source: share for source, share in shares.items() if share > _MOST and source != VISITS}
    return [_most_from(keys.get(source, ""), share) for source, share in most.items()]


def _most_from(key: str, share: float) -> Text:
    percent = round(100 * share)
    if key:
        return sentence(
            "{percent}% of the recently used groups came from one source ({key}). More peers would help.",
            percent=percent,
            key=key,
        )
    return sentence(
        "{percent}% of the recently used groups came from one source. More peers would help.", percent=percent
    )


def _claim(body: StatsBody) -> Claim:
    return Claim(round=body.round, reward=body.reward, label=body.label, used=body.used)


def notices(exchange: Exchange) -> list[Text]:
    """Remarks about links and identities, a sentence each."""
    said: list[Text] = []
    if seen := same_key.seen_elsewhere(exchange.links):
        one = sentence("{warning} (1 peer reports this)", warning=USED_TWICE)
        more = sentence("{warning} ({count} peers report this)", warning=USED_TWICE, count=seen)
        said.append(one if seen == 1 else more)
    if doubled := same_key.doubled(exchange.links):
        one = sentence(
            "1 peer has several links to this node, or shares an identity with another node. Each key "
            "has one quota, so you need not do anything."
        )
        more = sentence(
            "{count} peers have several links to this node, or share an identity with another node. Each "
            "key has one quota, so you need not do anything.",
            count=doubled,
        )
        said.append(one if doubled == 1 else more)
    if networks := exchange.clock.contradicting:
        one = sentence(
            "The clock of 1 network that links to this node differs from this computer's, which stays in use."
        )
        more = sentence(
            "The clocks of {count} networks that link to this node differ from this computer's, which stays in use.",
            count=networks,
        )
        said.append(one if networks == 1 else more)
    return said


def parting_words(reason: str) -> Text:
    """Why a peer and this node parted before they were linked. `reason`: the message; a peer's own words are never
    repeated, because they would look like this program's advice."""
    return next((words for begin, words in _PARTINGS if reason.startswith(begin)), _NO_REASON)


def sent_away(partings: Mapping[Address, Closed], dialled: Collection[Address | None]) -> dict[str, Text]:
    """Why peers that this node dials sent it away, by address, except those being `dialled` now."""
    return {
        str(address): takes_no_link(address, goodbye) for address, goodbye in partings.items() if address not in dialled
    }


def takes_no_link(address: Address, goodbye: Closed) -> Text:
    """The error for a peer that answers but accepts no link."""
    blocked_here = goodbye.reason.startswith("blocked") and not goodbye.by_peer
    why = _BLOCKED_HERE if blocked_here else parting_words(goodbye.reason)
    where = address.url.rstrip("/")
    return sentence("{address} answers but does not accept a link: {reason}.", address=where, reason=why)


def listening_at(address: str) -> Text:
    """The address to give to others, so that they link to this node."""
    for host in ANYWHERE:
        if f"//{host}:" in address:
            return sentence(
                "Listening. Others reach this node by this computer's name or address in place of {host}: {address}",
                host=host,
                address=address,
            )
    return sentence("Listening. Others reach this node at {address}", address=address)


def _ended(linked: Linked, unix_time: float) -> Text:
    """Why peers of the private swarm no longer talk to us; empty while they do, or in the public one."""
    if linked.members is None:
        return ""
    try:
        linked.members.check(linked.signer.key, linked.admission, unix_time)
    except Refused as refused:
        return sentence(
            "No longer in the private swarm: {reason}. {advice}",
            reason=refused.detail,
            advice=how_to_be_admitted(linked.signer.key),
        )
    return ""


def _reason(linked: Linked, member: Member | None, links: int, parted: Text) -> Text:
    if linked.network.exchange.clock.is_wrong:
        return sentence(
            "The peers' clocks differ from this one by more than twenty minutes. Check this computer's clock."
        )
    if member is None:
        return sentence("Relaying for 1 peer.") if links == 1 else sentence("Relaying for {count} peers.", count=links)
    if links == 0 and parted:
        return sentence("{parted} Training continues alone.", parted=parted)
    if links == 0:
        return nobody(linked.links.named, lan=linked.network.lan_is_open)
    counted = sentence("Linked to 1 peer.") if links == 1 else sentence("Linked to {count} peers.", count=links)
    return counted if member.sharing else joined([counted, DRAWS_ONLY])


def nobody(named: Collection[Address], *, lan: bool) -> Text:
    """Why there is no link. `named`: addresses whose links are kept."""
    if named:
        first, *others = sorted(address.url.rstrip("/") for address in named)
        if others:
            return sentence(
                "No peer is linked: {address} and {count} other addresses do not answer. Training continues alone.",
                in_terminal="sapo-desktop peers test {address}",
                address=first,
                count=len(others),
            )
        return sentence(
            "No peer is linked: {address} does not answer. Training continues alone.",
            in_terminal="sapo-desktop peers test {address}",
            address=first,
        )
    if lan:
        return sentence(
            "No peer is linked, and no other node was found on the local network so far. Training "
            "continues alone. You can add the address of a peer.",
            in_terminal="sapo-desktop peers add URL",
        )
    return sentence(
        "No peer is linked, so training continues alone. Add the address of a peer, or look for "
        "others on the local network.",
        in_terminal="sapo-desktop peers add URL, or sapo-desktop settings set lan on",
    )
