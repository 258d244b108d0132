"""The steps of entering the swarm, over real websockets."""

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.sockets import network
from sapo_desktop.worker.membership.entering import greet
from tests.swarm.sockets.nodes import nodes, until


async def test_who_asks_for_a_peer_that_blocked_this_node_is_linked_once_it_is_let_in() -> None:
    async with nodes(2) as (alice, bob):
        bob.network.exchange.blocked = frozenset({alice.signer.key})
        alice.network.dial(bob.address())
        await until(lambda: bob.address() in alice.network.kept._rests)
        assert alice.network.kept.partings[bob.address()].reason == "blocked"
        bob.network.exchange.blocked = frozenset()
        answered = await greet(alice.network, str(bob.address()) + "/", "")
        assert answered.address == str(bob.address()) and not alice.network.kept.partings
        await until(lambda: [link for link in alice.network.exchange.links if link.session.is_open])


async def test_a_peer_that_answers_and_then_refuses_the_key_is_said_to_refuse_it() -> None:
    async with nodes(2) as (alice, bob):
        bob.network.exchange.blocked = frozenset({alice.signer.key})
        with pytest.raises(UsageError, match="answers but does not accept a link: it refuses this node's key"):
            await greet(alice.network, str(bob.address()), "")


async def test_a_peer_that_proves_its_key_and_then_says_nothing_takes_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_ANSWER_SECONDS", 0.01)
    say = Session._say
    # No ping is answered.
    monkeypatch.setattr(Session, "_say", lambda self, one: None if isinstance(one, m.Pong) else say(self, one))
    async with nodes(2) as (alice, bob):
        with pytest.raises(
            UsageError, match="answers but does not accept a link: one of the two was silent for too long"
        ):
            await greet(alice.network, str(bob.address()), "")
