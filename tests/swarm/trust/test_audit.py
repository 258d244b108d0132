"""Authors are asked for what they say they published; who cannot show it leaves the estimate and nothing else."""

from random import Random

import pytest

from sapo_desktop.swarm.giving import SHELF_BYTES
from sapo_desktop.swarm.pool.pool import IDENTITY_BYTES
from sapo_desktop.swarm.protocol import codec
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Answer
from sapo_desktop.swarm.protocol.messages import Exact, Sourced
from sapo_desktop.swarm.trust.audit import PATIENCE, SECONDS, Audit, Question, Spot, supplies
from tests.swarm.mesh import SLOT, Mesh, Peer
from tests.swarm.peers import ALICE, BOB, NETWORK, TASK, group, group_body

EXACT = Exact(author=ALICE.key, slot=SLOT, task=TASK, index=0)


def record(audit: Audit, chance: float, *supplied: bool) -> None:
    for one in supplied:
        audit.record(ALICE.key, chance, supplied=one)


def test_who_supplies_nothing_of_all_it_published_is_left_out_after_six_questions() -> None:
    """1, 1.95, 2.8525, 3.7099, 4.5244, 5.2982 groups missing."""
    audit = Audit()
    record(audit, 1.0, *[False] * 5)
    assert audit.excluded == frozenset()
    record(audit, 1.0, False)
    assert audit.excluded == {ALICE.key}
    record(audit, 1.0, True)
    assert audit.excluded == {ALICE.key}, "5.0333 are missing still"
    record(audit, 1.0, True)
    assert audit.excluded == frozenset(), "who supplies again is back"


def test_who_publishes_half_may_lack_half() -> None:
    """Missing .5 and variance .25 a question: after 16 nothing, 0.5 * 11.197 = 5.599 < 4 * sqrt(0.25 * 8.270)
    = 5.751; after 17 it is 5.819 > 5.786."""
    audit, rng = Audit(), Random(1)
    record(audit, 0.5, *[rng.random() < 0.5 for _ in range(2000)])
    assert audit.excluded == frozenset()
    audit = Audit()
    record(audit, 0.5, *[False] * 16)
    assert audit.excluded == frozenset()
    record(audit, 0.5, False)
    assert audit.excluded == {ALICE.key}


def test_a_flood_of_authors_is_bounded() -> None:
    audit = Audit()
    record(audit, 1.0, *[False] * 9)
    for n in range(2000):
        audit.record(n.to_bytes(32, "big"), 1.0, supplied=False)
    assert audit.excluded == frozenset() and len(audit._records) == 2000


def spot(*bodies: tuple[int, int, int]) -> Spot:
    """One that heard these slots, answered and published, at 0 s."""
    found = Spot()
    for slot, answered, published in bodies:
        body = group_body(slot=slot, answered=answered, published=published)
        found.heard(body, 0.0, Random(1))
    return found


def ask(found: Spot, now: float = 2 * SECONDS) -> Question | None:
    return found.next_question(ALICE.key, SLOT, now, Random(2))


def test_questions_are_about_this_slot_or_the_last_and_below_the_count() -> None:
    asked = {
        (question.exact.slot, question.exact.index, question.chance)
        for n in range(200)
        if (
            question := spot(
                (SLOT - 2, 64, 64), (SLOT - 1, 4, 2), (SLOT, 3, 1), (SLOT, 3, 3), (SLOT, 3, 2)
            ).next_question(ALICE.key, SLOT, 2 * SECONDS, Random(n))
        )
    }
    assert asked == {(SLOT - 1, index, 0.5) for index in range(4)} | {(SLOT, index, 1.0) for index in range(3)}


def test_one_question_at_a_time_and_an_unanswered_one_fails() -> None:
    found = spot((SLOT, 1, 1))
    assert ask(found, now=0.4 * SECONDS) is None, "not at once: nobody knows when"
    question = ask(found)
    assert question == Question(EXACT, 1.0)
    found.asked(b"t" * 16, question, 100.0, Random(3))
    assert ask(found, now=1000.0) is None and found.answered(b"u" * 16) is None
    assert found.given_up(100.0 + PATIENCE - 1) is None
    assert found.given_up(100.0 + PATIENCE) == question
    assert found.answered(b"t" * 16) is None and ask(found, now=1000.0) is not None
    assert Spot().next_question(ALICE.key, SLOT, 1e9, Random(1)) is None


@pytest.mark.parametrize(
    ("envelopes", "supplied"),
    [
        ([group(slot=SLOT)], True),
        ([], False),
        ([b"rubbish"], False),
        ([group(slot=SLOT, index=1)], False),
        ([group(BOB, slot=SLOT)], False),
        ([group(slot=SLOT)[:-1] + b"x"], False),
    ],
    ids=["it", "nothing", "rubbish", "another index", "another author", "forged"],
)
def test_only_the_group_itself_is_an_answer(envelopes: list[bytes], supplied: bool) -> None:
    assert supplies(EXACT, [Sourced(envelope=envelope) for envelope in envelopes], NETWORK) is supplied


def test_an_honest_author_stays_even_where_it_shares_more_than_a_peer_may_hold() -> None:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2)
    mesh.join(alice, bob)
    mesh.join(carol := Peer(3), bob)
    answers = [Answer(text="x" * 4000)] * 3
    for _ in range(20):
        while alice.next_index < 30:
            count = alice.next_index + 1
            alice.share(mesh.now, answers=answers, answered=count, published=count)
        mesh.wait(60)
    assert IDENTITY_BYTES < 30 * 12000 and SHELF_BYTES > 30 * 12000
    (one,) = bob.exchange.audit._records.values()
    assert one.missing == 0.0 and bob.exchange.audit.excluded == frozenset()
    assert not dict(alice.exchange.refusals) and carol.held() == []


def test_an_author_that_shows_only_its_best_leaves_the_estimate_and_nothing_else() -> None:
    """It claims 64 of 64, a new one each time, and has only those that it published."""
    mesh, liar, bob = Mesh(), Peer(1), Peer(2)
    wire = mesh.join(liar, bob)
    for _ in range(14):
        liar.share(mesh.now, answered=64, published=64)
        mesh.wait(60)
    assert bob.exchange.audit.excluded == {liar.signer.key}
    assert wire.ends[1][1].goodbye is None and not dict(bob.exchange.refusals)
    (fresh,) = liar.share(mesh.now)
    mesh.settle()
    assert fresh in bob.held()


def test_a_relay_is_not_blamed_for_what_authors_claim_through_it() -> None:
    mesh, liar, relay, bob = Mesh(), Peer(1), Peer(2), Peer(3)
    mesh.join(liar, relay)
    mesh.join(bob, relay)
    bob.exchange.want([TASK], 8)
    for _ in range(20):
        liar.share(mesh.now, answered=64, published=64)
        mesh.wait(60)
    assert bob.held() and not bob.exchange.audit._records


def test_an_audits_answer_is_not_drawn_from() -> None:
    mesh, author, bob = Mesh(), Peer(1), Peer(2)
    (_, mine), _ = mesh.join(bob, author).ends
    envelope = group(author.signer, slot=SLOT)
    question = Question(Exact(author=author.signer.key, slot=SLOT, task=TASK, index=0), 1.0)
    mine.spot.asked(b"t" * 16, question, 0.0, Random(1))
    mine.session._wants[b"t" * 16] = (1, 0.0)
    answer = m.Groups(ticket=b"t" * 16, batch=codec.pack_sourced([Sourced(envelope=envelope)]))
    bob.exchange.receive(mine, codec.encode(answer), mesh.now)
    assert bob.held() == [] and bob.exchange.audit._records[author.signer.key].missing == 0.0
