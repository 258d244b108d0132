"""A WANT is answered by the same sample as if everything had been looked at, without looking at everything."""

import hashlib
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.pool import sample as serve
from sapo_desktop.swarm.pool.pool import Entry, Path, Pool
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope
from sapo_desktop.swarm.protocol.messages import Exact, Want
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


def naive(pool: Pool, want: Want) -> list[Entry]:
    """docs/protocol.md, read word for word."""

    def rank(name: bytes) -> bytes:
        return hashlib.blake2b(name, digest_size=16, key=want.ticket).digest()

    def turns(queues: list[list[Entry]]) -> list[Entry]:
        return [queue[turn] for turn in range(999) for queue in queues if turn < len(queue)]

    wanted = [e for e in pool if e.name.task in want.tasks and not held_filter.holds(want.held, e.digest, want.ticket)]

    def of(entries: list[Entry], levels: list[Callable[[Entry], bytes]]) -> list[Entry]:
        if not levels:
            return sorted(entries, key=lambda e: rank(e.digest))
        names = sorted({levels[0](e) for e in entries}, key=lambda name: (rank(name[:1]), rank(name)))
        return turns([of([e for e in entries if levels[0](e) == name], levels[1:]) for name in names])

    return of(wanted, [lambda e: e.path.relay, lambda e: e.path.tag, lambda e: e.name.author])[: want.n]


places = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 5))


@given(
    st.dictionaries(places, st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=40),
    st.binary(min_size=16, max_size=16),
    st.integers(1, 16),
    st.sets(st.sampled_from(TASKS)),
    st.integers(0, 10),
)
def test_as_documented(
    held: dict[tuple[int, int, int], tuple[int, int]], ticket: bytes, n: int, tasks: set[bytes], told: int
) -> None:
    pool = Pool(b"")
    for (author, task, index), (tag, relay) in held.items():
        add(pool, author, task, index, tag, relay)
    digests = [entry.digest for entry in pool][:told]
    want = Want(ticket=ticket, n=n, tasks=sorted(tasks), held=held_filter.build(digests, ticket))
    assert serve.sample(pool, want) == naive(pool, want)
    pool.take([entry.name for entry in pool])
    assert serve.sample(pool, want) == [] and not pool.relays


def test_an_exact_one_is_found_under_its_author_alone() -> None:
    pool = Pool(b"")
    for author in range(3):
        add(pool, author, 0, 4, 0)
    slot = next(iter(pool)).name.slot
    exact = Exact(author=SIGNERS[1].key, slot=slot, task=TASKS[0], index=4)
    (found,) = serve.sample(pool, Want(ticket=bytes(16), exact=exact))
    assert found.name.author == SIGNERS[1].key
    other = Exact(author=SIGNERS[1].key, slot=slot, task=TASKS[0], index=5)
    assert serve.sample(pool, Want(ticket=bytes(16), exact=other)) == []


def test_a_rare_task_does_not_cost_a_walk_through_everything() -> None:
    pool = Pool(b"")
    for author in range(6):
        for index in range(40):
            add(pool, author, 0, index, author)
    add(pool, 0, 1, 0, 0)
    walk = serve._Walk(Want(ticket=bytes(16), tasks=[TASKS[1]]), {TASKS[1]}, 50)
    walk.relay(pool.under(bytes(32)))
    assert -41 <= walk._looks <= 0  # the last author may go beyond


def test_a_relay_that_names_many_tags_leaves_the_others_their_turns() -> None:
    pool = Pool(b"")
    for index in range(32):
        add(pool, 0, 0, index, tag=index, relay=1)
    add(pool, 1, 0, 0, tag=0, relay=2)
    add(pool, 2, 0, 0, tag=0, relay=3)
    found = serve.sample(pool, Want(ticket=bytes(16), tasks=[TASKS[0]], n=4))
    assert {entry.path.relay[1] for entry in found[:3]} == {1, 2, 3}
