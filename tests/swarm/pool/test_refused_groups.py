"""Refused groups stay to be looked at: the newest, bounded in number, by author, and in text."""

from sapo_desktop.swarm.pool.refused_groups import LONGEST_TEXT, MOST, MOST_OF_ONE, RefusedGroups
from sapo_desktop.swarm.protocol.envelope import Answer
from sapo_desktop.swarm.protocol.refusals import Reason
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import ALICE, BOB, group, group_body

OTHER_TASK = b"o" * 32


def test_only_reasons_that_say_something_of_the_group_count() -> None:
    seen = RefusedGroups()
    for reason in (Reason.DUPLICATE, Reason.POOL_FULL, Reason.TOO_OLD, Reason.FLOODING):
        seen.add(reason, ALICE.key, group_body())
    assert seen.newest(10) == []


def test_who_floods_pushes_out_nobody_but_himself() -> None:
    seen = RefusedGroups()
    seen.add(Reason.UNFIT, BOB.key, group_body(BOB))
    for index in range(1000):
        seen.add(Reason.UNFIT, ALICE.key, group_body(answers=[Answer(text=str(index))]))
    found = seen.newest(1000)
    assert len(found) == MOST_OF_ONE + 1 and found[-1].author == BOB.key
    assert found[0].answers == ("999",)


def test_there_are_only_so_many_and_the_newest_come_first() -> None:
    seen = RefusedGroups()
    for number in range(MOST + 40):
        seen.add(Reason.UNFIT, number.to_bytes(32, "big"), None)
    found = [int.from_bytes(group.author, "big") for group in seen.newest(MOST + 40)]
    assert found == list(range(MOST + 39, 39, -1))
    assert seen.newest(2) == seen.newest(MOST)[:2]


def test_long_texts_are_cut() -> None:
    seen = RefusedGroups()
    seen.add(Reason.UNFIT, ALICE.key, group_body(answers=[Answer(text="x" * 4096)] * 16))
    (group,) = seen.newest(1)
    assert {len(text) for text in group.answers} == {LONGEST_TEXT}


def test_an_exchange_remembers_what_it_did_not_let_into_its_pool() -> None:
    mesh, here, there = Mesh(), Peer(1), Peer(2)
    (_, link), _ = mesh.join(there, here).ends
    link.session.publish([group(there.signer, task=OTHER_TASK), group(there.signer)], mesh.now.monotonic)
    mesh.settle()
    (refused,) = here.exchange.refused_groups.newest(10)
    assert (refused.reason, refused.author, refused.task) == (Reason.UNKNOWN_TASK, there.signer.key, OTHER_TASK)
    assert refused.answers == ("<answer>4</answer>",) and len(here.held()) == 1
