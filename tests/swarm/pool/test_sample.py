"""A WANT is answered by a sample that is fair on every level, without looking at everything."""

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.swarm import giving as serve
from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.pool.pool import Entry, Path, Pool
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope
from sapo_desktop.swarm.protocol.messages import Want
from sapo_desktop.swarm.protocol.signing import Signer
from tests.swarm.peers import NETWORK, group

SIGNERS = [Signer(bytes([n]) * 32) for n in range(1, 7)]
TASKS = [bytes([n]) * 32 for n in range(4)]
_SEALED: dict[tuple[int, int, int], bytes] = {}


def add(pool: Pool, author: int, task: int, index: int, tag: int, relay: int = 0) -> None:
    key = (author, task, index)
    if key not in _SEALED:
        _SEALED[key] = group(SIGNERS[author], task=TASKS[task], index=index)
    opened = open_envelope(_SEALED[key], GroupBody, NETWORK)
    pool.add(opened, Path(b"l" * 32, bytes([relay // 2, relay]) * 16, bytes([tag // 2, tag])), 0.0)


def assert_fair(chosen: list[Entry], wanted: list[Entry], levels: list[Callable[[Entry], bytes]]) -> None:
    """A peer that gives less than another by more than one has given all it has; so on every level."""
    if not levels:
        return
    given, has = (Counter(map(levels[0], entries)) for entries in (chosen, wanted))
    for name, count in has.items():
        assert given[name] == count or given[name] >= max(given.values(), default=0) - 1
        inside = [[entry for entry in entries if levels[0](entry) == name] for entries in (chosen, wanted)]
        assert_fair(inside[0], inside[1], levels[1:])


places = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 5))


@given(
    st.dictionaries(places, st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=40),
    st.integers(0, 2**32),
    st.integers(1, 16),
    st.sets(st.sampled_from(TASKS)),
    st.integers(0, 10),
)
def test_relays_tags_and_authors_take_turns(
    held: dict[tuple[int, int, int], tuple[int, int]], seed: int, n: int, tasks: set[bytes], reported: int
) -> None:
    pool = Pool(b"")
    for (author, task, index), (tag, relay) in held.items():
        add(pool, author, task, index, tag, relay)
    digests, ticket = [entry.digest for entry in pool][:reported], bytes(16)
    want = Want(ticket=ticket, n=n, tasks=sorted(tasks), held=held_filter.build(digests, ticket))
    wanted = [e for e in pool if e.name.task in tasks and not held_filter.holds(want.held, e.digest, ticket)]
    chosen = serve.sample(pool, want, Random(seed))
    assert len(chosen) == len(set(chosen)) == min(n, len(wanted)) and set(chosen) <= set(wanted)
    assert_fair(chosen, wanted, [lambda e: e.path.relay, lambda e: e.path.tag, lambda e: e.name.author])
    pool.take([entry.name for entry in pool])
    assert serve.sample(pool, want, Random(seed)) == [] and not pool.relays


def test_each_group_is_as_likely_as_any_other_of_its_author() -> None:
    pool, rng = Pool(b""), Random(1)
    for author in range(2):
        for index in range(2 + 2 * author):
            add(pool, author, 0, index, author)
    want = Want(ticket=bytes(16), tasks=[TASKS[0]], n=1)
    drawn = Counter(entry.name for _ in range(1200) for entry in serve.sample(pool, want, rng))
    for author, groups in ((0, 2), (1, 4)):
        counts = [count for name, count in drawn.items() if name.author == SIGNERS[author].key]
        assert len(counts) == groups and all(abs(count - 600 / groups) < 90 for count in counts)


def test_a_rare_task_does_not_cost_a_walk_through_everything() -> None:
    pool = Pool(b"")
    for author in range(6):
        for index in range(40):
            add(pool, author, 0, index, author)
    add(pool, 0, 1, 0, 0)
    looked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve, "_LOOKED_AT_OF_ONE", 50)
        patch.setattr(serve, "_MOST_LOOKED_AT", 50)
        patch.setattr(held_filter, "holds", lambda bits, digest, ticket: looked.append(digest))
        serve.sample(pool, Want(ticket=bytes(16), tasks=TASKS[:2]), Random(1))
        assert len(looked) == 16, "as many as were asked for"
        looked.clear()
        patch.setattr(held_filter, "holds", lambda bits, digest, ticket: looked.append(digest) or True)
        serve.sample(pool, Want(ticket=bytes(16), tasks=TASKS[:2]), Random(1))
        assert len(looked) == 50


def test_a_relay_that_names_many_tags_leaves_the_others_their_turns() -> None:
    pool = Pool(b"")
    for index in range(32):
        add(pool, 0, 0, index, tag=index, relay=1)
    add(pool, 1, 0, 0, tag=0, relay=2)
    add(pool, 2, 0, 0, tag=0, relay=3)
    found = serve.sample(pool, Want(ticket=bytes(16), tasks=[TASKS[0]], n=4), Random(1))
    assert {entry.path.relay[1] for entry in found[:3]} == {1, 2, 3}


def test_a_filter_that_hides_everything_does_not_cost_a_hash_of_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(b"")
    for author in range(6):
        for index in range(6):
            add(pool, author, 0, index, 0)
    monkeypatch.setattr(serve, "_MOST_HELD", 8)
    monkeypatch.setattr(serve, "_HELD_OF_ONE", 4)
    asked: list[bytes] = []
    monkeypatch.setattr(held_filter, "holds", lambda bits, digest, ticket: asked.append(digest) or True)
    want = Want(ticket=bytes(16), n=16, tasks=[TASKS[0]], held=b"\xff" * 64)
    assert serve.sample(pool, want, Random(1)) == []
    assert len(asked) == 8
