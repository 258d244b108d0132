"""The tasks that peers know: compared by their catalogues' names, and requested if a name is new."""

import pytest

from sapo_desktop.swarm.catalogues import Catalogues, catalogue_id
from sapo_desktop.swarm.protocol import codec
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import TASK

OTHER, OLD = b"o" * 32, b"x" * 32


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[type[m.Message]]:
    """What is said in a mesh, by type."""
    said: list[type[m.Message]] = []
    plain = codec.encode

    def encode(message: m.Any) -> bytes:
        said.append(type(message))
        return plain(message)

    monkeypatch.setattr(codec, "encode", encode)
    return said


def wanted(mesh: Mesh, peer: Peer, monkeypatch: pytest.MonkeyPatch) -> list[set[bytes]]:
    """The tasks of each WANT that this peer says from now on."""
    said: list[set[bytes]] = []
    for link in peer.exchange.links:
        plain = link.session.want

        def want(message: m.Want, now: float, plain=plain) -> bool:  # type: ignore[no-untyped-def]
            said.append(set(message.tasks))
            return plain(message, now)  # type: ignore[no-any-return]

        monkeypatch.setattr(link.session, "want", want)
    return said


def test_the_same_catalogue_is_not_asked_for(asked: list[type[m.Message]]) -> None:
    Mesh().join(Peer(1), Peer(2))
    assert m.CatalogueReq not in asked


def test_an_unknown_catalogue_is_asked_for_once_and_then_known(asked: list[type[m.Message]]) -> None:
    mesh, alice = Mesh(), Peer(1)
    wire = mesh.join(alice, Peer(2, tasks=[TASK, OTHER]))
    assert asked.count(m.CatalogueReq) == 2, "each side asks the other"
    (_, link), _ = wire.ends
    assert link.tasks == {TASK, OTHER}
    mesh.join(alice, Peer(3, tasks=[OTHER, TASK]))
    assert asked.count(m.CatalogueReq) == 3, "the third has to ask for hers, she knows his"
    assert not dict(alice.exchange.refusals)


def test_only_tasks_that_both_have_are_asked_for_and_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, alice, bob = Mesh(), Peer(1, tasks=[TASK, OTHER]), Peer(2)
    mesh.join(alice, bob)
    alice.exchange.want([TASK, OTHER], 8)
    said = wanted(mesh, alice, monkeypatch)
    alice.share(mesh.now, 1, task=OTHER)
    alice.share(mesh.now, 1)
    mesh.wait(10)
    assert said and all(tasks == {TASK} for tasks in said)
    assert len(bob.held()) == 1 and not dict(bob.exchange.refusals)


def test_who_has_no_task_of_ours_is_asked_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2, tasks=[OTHER])
    mesh.join(alice, bob)
    alice.exchange.want([TASK], 8)
    said = wanted(mesh, alice, monkeypatch)
    mesh.wait(60)
    assert said == []


def test_ids_from_before_a_change_are_understood(asked: list[type[m.Message]], monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, new, old = Mesh(), Peer(1, tasks=[TASK], before=[OLD]), Peer(2, tasks=[OLD])
    wire = mesh.join(new, old)
    (_, at_new), (_, at_old) = wire.ends
    assert at_new.tasks == {OLD}, "our own catalogue before: nothing to ask"
    assert at_old.tasks == {TASK, OLD}, "it asked, and understands that its own is accepted there"
    assert asked.count(m.CatalogueReq) == 1
    new.exchange.want([TASK, OLD], 8)
    said = wanted(mesh, new, monkeypatch)
    mesh.wait(10)
    assert said and all(tasks == {OLD} for tasks in said)


def test_who_answers_with_another_catalogue_than_it_named_is_charged_and_teaches_nothing() -> None:
    mesh, alice, liar = Mesh(), Peer(1), Peer(2, tasks=[OTHER])
    liar.me = type(liar.me)(**(vars(liar.me) | {"tasks": (TASK,)}))
    wire = mesh.join(alice, liar)
    (_, link), _ = wire.ends
    assert link.tasks is None
    assert dict(alice.exchange.refusals) == {Reason.MALFORMED: 1}
    assert Catalogues([TASK]).known_to(catalogue_id([OTHER]), None) is None


def test_who_never_answers_is_asked_for_everything_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2, tasks=[TASK, OTHER])
    wire = mesh.join(alice, bob)
    (_, link), _ = wire.ends
    link.tasks, link.catalogue_due = None, mesh.now.monotonic + 10
    alice.exchange.want([TASK], 8)
    said = wanted(mesh, alice, monkeypatch)
    mesh.wait(5)
    assert said == []
    mesh.wait(20)
    assert said and said[0] == {TASK}


def test_catalogues_that_peers_name_are_bounded() -> None:
    known = Catalogues([TASK])
    for number in range(100):
        task = number.to_bytes(32, "big")
        assert known.learn(catalogue_id([task]), [task])
    assert known.known_to(catalogue_id([bytes(32)]), None) is None
    assert known.known_to(catalogue_id([(99).to_bytes(32, "big")]), None) is not None
    assert known.known_to(known.name, None) == {TASK}


def test_links_that_know_the_same_share_one_set_of_ids() -> None:
    known = Catalogues([TASK])
    other, more = catalogue_id([OTHER]), catalogue_id([OLD])
    assert known.learn(other, [OTHER]) and known.learn(more, [OLD])
    assert known.known_to(other, None) is known.known_to(other, None)
    both = known.known_to(other, more)
    assert both == {OTHER, OLD} and known.known_to(other, more) is both
