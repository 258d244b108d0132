"""One key on several links: all share one quota, and the peers at the other ends are informed.

It may be one node that is linked twice (both sides dialled), or an identity used by two nodes: a copied data folder, a
stolen key. The side that sees the links cannot tell which. So it reports how many there are, and the node compares:
more than its own links to that peer belong to somebody else. A connection that lost its peer stays open for up to two
minutes, so links count only if they carried something after the youngest was opened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from sapo_desktop.swarm.link import Link, Quota


def opened(link: Link, links: Iterable[Link], now: float) -> None:
    """`link` proved its key: from now on it shares a quota with earlier links of that key."""
    twins = _open(link.key, links)
    if len(twins) > 1:
        quota = next((twin.quota for twin in twins if twin.quota is not None), None) or Quota.fresh(now)
        for twin in twins:
            twin.quota = quota


def closed(link: Link, links: Iterable[Link]) -> None:
    """`link` is closed: a single remaining one gets its whole credit back."""
    left = _open(link.key, links)
    if len(left) == 1:
        left[0].quota = None


def tell(links: Iterable[Link], now: float) -> None:
    """Inform every peer whose count of links changed; peers for which it is too early are informed at a later call."""
    for twins in _by_key(links).values():
        count = _alive(twins)
        for link in twins:
            if link.twins_sent != count and link.session.tell_links(count, now):
                link.twins_sent = count


def doubled(links: Iterable[Link]) -> int:
    """Keys proven by several live links."""
    return sum(_alive(twins) > 1 for twins in _by_key(links).values())


def seen_elsewhere(links: Iterable[Link]) -> int:
    """Peers that report our own key on more links than we have to them."""
    return sum(max(link.twins_heard for link in own) > len(own) for own in _by_key(links).values())


def _by_key(links: Iterable[Link]) -> dict[bytes, list[Link]]:
    found: defaultdict[bytes, list[Link]] = defaultdict(list)
    for link in links:
        if link.session.is_open:
            found[link.key].append(link)
    return found


def _open(key: bytes, links: Iterable[Link]) -> list[Link]:
    return [link for link in links if link.session.is_open and link.key == key]


def _alive(twins: list[Link]) -> int:
    youngest = max(twins, key=lambda link: link.opened)
    return sum(link is youngest or link.heard > youngest.opened for link in twins)
