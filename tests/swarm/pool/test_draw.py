"""The bounded sample: fair down the path, capped, repeatable."""

from collections import Counter
from collections.abc import Set
from random import Random

import pytest

from sapo_desktop.swarm.pool.draw import draw
from sapo_desktop.swarm.pool.pool import Entry, Name, Path

TASK = b"t" * 32


def entry(
    author: int, *, link: int = 0, relay: int = 0, tag: int = 0, slot: int = 0, index: int = 0, lan: bool = False
) -> Entry:
    key = author.to_bytes(32, "big")
    path = Path(bytes([link]) * 32, bytes([relay]) * 32, bytes([tag]), lan)
    return Entry(Name(key, slot, TASK, index), path, b"", key, 0.0)


def authors(entries: list[Entry], n: int, rng: Random, new: Set[int] = frozenset()) -> list[int]:
    known = {author.to_bytes(32, "big") for author in new}
    drawn = draw(entries, n, {TASK}, known.__contains__, rng)
    return [int.from_bytes(name.author, "big") for name in drawn.names]


def test_other_tasks_are_not_drawn_and_nothing_twice() -> None:
    entries = [entry(author) for author in range(1, 5)]
    assert draw(entries, 4, {b"o" * 32}, lambda key: False, Random(1)).names == []
    assert sorted(authors(entries, 9, Random(1))) == [1, 2, 3, 4]


def test_the_same_pool_and_seed_draw_the_same() -> None:
    entries = [entry(author, tag=author % 3) for author in range(1, 30)]
    assert authors(entries, 6, Random(7)) == authors(entries[::-1], 6, Random(7))


def test_a_thousand_groups_are_one_identity_and_a_thousand_identities_one_tag() -> None:
    honest = [entry(author, tag=author) for author in range(1, 10)]
    loud = [entry(100, tag=100, index=index, slot=index) for index in range(200)]
    many = [entry(author, tag=200) for author in range(1000, 1200)]
    rng = Random(1)
    drawn = Counter(authors(honest + loud + many, 1, rng)[0] for _ in range(550))
    assert drawn[100] == pytest.approx(50, abs=20)
    assert sum(count for author, count in drawn.items() if author >= 1000) == pytest.approx(50, abs=20)


def test_no_link_gives_more_than_half_unless_it_is_the_only_one() -> None:
    busy = [entry(author, link=1, tag=author) for author in range(1, 50)]
    quiet = [entry(author, link=2) for author in range(100, 104)]
    drawn = authors(busy + quiet, 6, Random(3))
    assert sum(author < 100 for author in drawn) == 3
    assert len(authors(busy + quiet[:1], 6, Random(3))) == 4, "own groups stand in for the rest"
    alone = draw(busy, 6, {TASK}, lambda key: False, Random(3))
    assert len(alone.names) == 6 and alone.one_source
    assert not draw(busy + quiet, 6, {TASK}, lambda key: False, Random(3)).one_source
    beside = draw(busy, 6, {TASK}, lambda key: False, Random(3), linked=[bytes([2]) * 32])
    assert len(beside.names) == 3 and not beside.one_source, "the other link has nothing just now"
    assert not draw(busy, 3, {TASK}, lambda key: False, Random(3), linked=[bytes([2]) * 32], before=busy[:3]).names
    assert not draw([], 6, {TASK}, lambda key: False, Random(3), linked=[bytes([2]) * 32]).one_source


def test_newcomers_share_a_quarter_while_others_have_enough() -> None:
    known = [entry(author) for author in range(1, 9)]
    new = [entry(author) for author in range(100, 200)]
    for seed in range(20):
        drawn = authors(known + new, 8, Random(seed), new=set(range(100, 200)))
        assert len(drawn) == 8 and sum(author >= 100 for author in drawn) <= 2
    assert len(authors(new, 8, Random(1), new=set(range(100, 200)))) == 8


def test_what_came_over_the_local_network_has_a_cap_that_holds() -> None:
    near = [entry(author, link=author % 7, lan=True) for author in range(1, 60)]
    far = [entry(author, link=100 + author % 7) for author in range(100, 160)]
    for few, seed in ((far, 1), (far[:1], 2)):
        drawn = draw(near + few, 8, {TASK}, lambda key: False, Random(seed), most_lan=3)
        from_near = sum(int.from_bytes(name.author, "big") < 100 for name in drawn.names)
        assert (len(drawn.names), from_near) == ((8, 3) if few is far else (4, 3))
    assert len(draw(near, 8, {TASK}, lambda key: False, Random(3), most_lan=0).names) == 0
    assert len(draw(near, 8, {TASK}, lambda key: False, Random(3)).names) == 8


def test_the_newest_of_an_identity_comes_first() -> None:
    entries = [entry(1, slot=slot) for slot in (3, 9, 5)]
    drawn = draw(entries, 2, {TASK}, lambda key: False, Random(1))
    assert [name.slot for name in drawn.names] == [9, 5]
