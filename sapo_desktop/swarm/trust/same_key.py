"""One key on several links: all of them are served from one quota, and whoever is at the other ends is told.

It may be one node that is linked twice (both sides dialled), or an identity that two nodes use: a copied data folder, a
stolen key. The side that sees the links cannot tell which. So it says how many there are, and the node that is told
compares: more than it has to that peer itself are somebody else's. A connection that lost its peer stays open for up
to two minutes; so links count only once something came over them after the youngest was opened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from sapo_desktop.swarm.link import Link, Quota


def opened(link: Link, links: Iterable[Link], now: float) -> None:
    """`link` proved its key: from now on it shares a quota with those that did so before."""
    twins = _open(link.key, links)
    if len(twins) > 1:
        quota = next((twin.quota for twin in twins if twin.quota is not None), None) or Quota.fresh(now)
        for twin in twins:
            twin.quota = quota


def closed(link: Link, links: Iterable[Link]) -> None:
    """`link` is gone: one that is left alone has its whole credit again."""
    left = _open(link.key, links)
    if len(left) == 1:
        left[0].quota = None


def tell(links: Iterable[Link], now: float) -> None:
    """Tell every peer whose count of links changed; at the next call those to whom it was not yet time."""
    for twins in _by_key(links).values():
        count = _alive(twins)
        for link in twins:
            if link.twins_told != count and link.session.tell_links(count, now):
                link.twins_told = count


def doubled(links: Iterable[Link]) -> int:
    """Keys that several live links prove."""
    return sum(_alive(twins) > 1 for twins in _by_key(links).values())


def seen_elsewhere(links: Iterable[Link]) -> int:
    """Peers that say they see our own key on more links than we have to them."""
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
