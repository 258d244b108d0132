"""What the pool keeps and drops, and that its counts agree."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.swarm.pool.pool import IDENTITY_BYTES, LIFETIME, Entry, Path, Pool, fair_share
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, Opened
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from tests.swarm.peers import ALICE, BOB, group_body

CAROL = b"c" * 32
LINK = Path(b"l" * 32, b"l" * 32, b"")


def received(author: bytes = BOB.key, size: int = 100, **changes: object) -> Opened[GroupBody]:
    """A group as if its signature had been checked; the bytes differ wherever the body does."""
    body = group_body(Signer(b"x" * 32), key=author, **changes)
    return Opened(body, repr((author, changes)).encode().ljust(size, b"."))


def added(pool: Pool, group: Opened[GroupBody], now: float = 0.0, path: Path = LINK) -> Reason | Entry:
    try:
        return pool.add(group, path, now)
    except Refused as refused:
        return refused.reason


def test_a_group_is_kept_once_whatever_way_it_comes() -> None:
    pool = Pool(ALICE.key)
    entry = added(pool, received())
    assert isinstance(entry, Entry) and list(pool) == [entry]
    assert added(pool, received(), path=Path(b"m" * 32, b"r" * 32, b"tag")) is Reason.DUPLICATE
    assert pool.take([entry.name]) == [entry] and len(pool) == 0 == pool.bytes
    assert added(pool, received()) is Reason.DUPLICATE, "a drawn group does not come back"


def test_the_first_body_under_a_name_stays() -> None:
    pool = Pool(ALICE.key)
    added(pool, received())
    assert added(pool, received(answers=[Answer(text="another")])) is Reason.SECOND_BODY
    assert len(pool) == 1


def test_one_instance_of_an_author_is_listened_to_in_a_slot_the_first_that_is_seen() -> None:
    """The instance is the author's free choice, and no part of the question."""
    pool = Pool(ALICE.key)
    for number in range(16):
        reason = added(pool, received(instance=bytes([number]) * 16))
        assert isinstance(reason, Entry) if number == 0 else reason is Reason.OTHER_INSTANCE
    assert added(pool, received(instance=b"2" * 16, index=1)) is Reason.OTHER_INSTANCE
    assert isinstance(added(pool, received(instance=b"2" * 16, slot=2_833_332)), Entry), "in another slot it may be"
    assert isinstance(added(pool, received(CAROL, instance=b"2" * 16)), Entry)
    pool.expire(LIFETIME + 1)
    assert not pool._instances


def test_a_group_under_our_own_key_is_an_echo() -> None:
    assert added(Pool(ALICE.key), received(ALICE.key)) is Reason.OWN_ECHO


def test_groups_grow_too_old_to_be_drawn() -> None:
    pool = Pool(ALICE.key)
    added(pool, received(index=0), now=0.0)
    added(pool, received(index=1), now=100.0)
    assert pool.expire(LIFETIME + 50) == 1
    assert [entry.name.index for entry in pool] == [1]


def test_one_identity_holds_no_more_than_its_share() -> None:
    pool = Pool(ALICE.key)
    for index in range(64):
        added(pool, received(index=index, size=5000))
    assert pool.bytes <= IDENTITY_BYTES
    assert max(entry.name.index for entry in pool) == 63, "its newest are kept"


def test_large_groups_of_an_identity_push_out_as_many_small_ones_as_need_be() -> None:
    pool = Pool(ALICE.key)
    for index in range(40):
        added(pool, received(index=index, size=200))
    for index in range(40, 64):
        assert isinstance(added(pool, received(index=index, size=24_000)), Entry)
        assert pool.bytes <= IDENTITY_BYTES


def path(link: bytes, relay: bytes, tag: bytes = b"") -> Path:
    return Path(link * 32, relay * 32, tag)


@pytest.mark.parametrize(
    ("honest", "hostile"),
    [
        (path(b"l", b"r", b"crowd"), lambda author: path(b"l", b"r", b"flood")),
        (path(b"l", b"f"), lambda author: path(b"l", b"m")),
        (path(b"h", b"h"), lambda author: Path(b"x" * 32, author, author[-2:])),
    ],
    ids=["a tag", "a relay", "a link that claims many relays"],
)
def test_a_full_pool_pushes_out_the_one_that_holds_most(honest: Path, hostile: Callable[[bytes], Path]) -> None:
    pool = Pool(ALICE.key, most_bytes=1_000_000)
    authors = [n.to_bytes(32, "big") for n in range(1, 101)]
    for author in authors:
        added(pool, received(author, size=4000), path=honest)
    for number in range(1000, 2500):
        author = number.to_bytes(32, "big")
        added(pool, received(author, size=4000), path=hostile(author))
        assert pool.bytes <= 1_000_000
    assert {entry.name.author for entry in pool if entry.path == honest} == set(authors)


@pytest.mark.parametrize(
    ("held", "budget", "share"),
    [([10, 20, 30], 60, float("inf")), ([10, 20, 30], 50, 20.0), ([10, 100, 100], 110, 50.0), ([90], 30, 30.0)],
)
def test_water_filling(held: list[int], budget: int, share: float) -> None:
    assert fair_share(held, budget) == share


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 8), st.integers(1, 6000), st.integers(0, 9000)),
        max_size=80,
    )
)
def test_the_books_balance(steps: list[tuple[int, int, int, int, int]]) -> None:
    pool = Pool(ALICE.key, most_bytes=40_000)
    now = 0.0
    for author, tag, index, size, wait in steps:
        now += wait / 10
        path = Path(b"l" * 32, b"r" * 32, bytes([tag]))
        added(pool, received(bytes([author + 1]) * 32, size=size, index=index), now, path)
        if index == 8:
            pool.take([entry.name for entry in list(pool)[::2]])
        entries = list(pool)
        assert pool.bytes == sum(entry.size for entry in entries) <= 40_000
        assert sum(map(len, pool._by_identity.values())) == len(entries)
        assert sum(pool._bytes_of.values()) == pool.bytes
    pool.expire(now + LIFETIME + 1)
    assert (len(pool), pool.bytes, len(pool._seen), len(pool._bytes_of)) == (0, 0, 0, 0)


def test_the_largest_group_fits() -> None:
    assert isinstance(added(Pool(ALICE.key), received(size=limits.MAX_GROUP)), Entry)


def test_many_links_with_a_group_each_lose_no_more_than_need_be() -> None:
    """Where a link's share is less than a group, all hold too much: not all of them may go for it."""
    pool = Pool(ALICE.key, 200 * 1000)
    paths = [Path(number.to_bytes(32, "big"), number.to_bytes(32, "big"), b"") for number in range(300)]
    for number, path in enumerate(paths):
        added(pool, received(number.to_bytes(32, "big"), size=400), path=path)
        assert pool.bytes <= 200 * 1000
        assert pool.bytes > 180 * 1000 or number < 200
