"""What a peer sends, and what it does not read, costs a limited amount and delays nobody else."""

import asyncio

import pytest

from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.sockets import network, wire
from sapo_desktop.swarm.sockets.network import now
from tests.swarm.sockets.nodes import knock, link_up, nodes, until


async def test_what_has_to_wait_for_its_turn_arrives_all_the_same_and_who_goes_leaves_nothing() -> None:
    async with nodes(2) as (alice, bob):
        bob.network._gate.spent(2.05)  # all that was saved up, and a tenth of a second's waiting more
        async with knock(bob) as stranger:
            await stranger.send(bytes(100))
            await until(lambda: len(bob.network._gate._turns) or not bob.network._wires)
        await link_up(alice, bob)
        envelope = alice.share()
        await until(lambda: bob.held)
        assert bob.held == [envelope]
        await until(lambda: len(bob.network._wires) == 1)


async def test_what_waits_has_one_ceiling_and_the_largest_ends_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(wire, "CUT_OFF_BYTES", 2**30)  # which would end it earlier
    async with nodes(4, most_memory=300_000) as (host, *others):
        for other in others:
            other.network.dial(host.address(host.signer.key))
        await until(lambda: sum(link.session.is_open for link in host.network.exchange.links) == 3)
        links = {link.key: link for link in host.network.exchange.links}
        wires = host.network._wires
        for other, frames in zip(others, (1, 3, 9), strict=True):
            monkeypatch.setattr(wires[links[other.signer.key]], "_asleep", None)  # nothing is sent
            wires[links[other.signer.key]].put([bytes(30_000)] * frames)
        assert sum(one.memory for one in wires.values()) >= 390_000
        await until(lambda: len(host.network.exchange.links) < 3)
        left = {link.key for link in host.network.exchange.links}
        assert {others[0].signer.key, others[1].signer.key} <= left and others[2].signer.key not in left


async def test_bytes_that_arrived_and_wait_to_be_read_count_as_memory() -> None:
    async with nodes(1) as (node,), knock(node) as stranger:
        await until(lambda: node.network._wires)
        (held,) = node.network._wires.values()
        before, go_on = held.memory, asyncio.Event()

        async def later(part: bytes, gone: object, *, is_new: bool) -> bool:
            return await go_on.wait()

        node.network._gate.turn = later  # type: ignore[method-assign]
        for _ in range(3):
            await stranger.send(bytes(1000))
        await until(lambda: held.memory - before >= 2000)
        go_on.set()


async def test_who_does_not_read_is_cut_off_and_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async with nodes(2) as (alice, bob):
        await link_up(alice, bob)
        (link,) = bob.network.exchange.links
        bob.network._wires[link].put([bytes(limits.MAX_FRAME)] * 5)
        await until(lambda: not bob.network.exchange.links)
        assert link not in bob.network._wires


async def test_all_that_is_sent_and_received_goes_through_the_caps() -> None:
    async with nodes(2) as (first, second):
        first.network.upload.rate = second.network.download.rate = 10**6
        second.network.dial(first.address())
        envelope = first.share()
        await until(lambda: envelope in second.held)
        assert len(envelope) < second.network.download.passed <= first.network.upload.passed


async def test_under_a_download_limit_strangers_starve_nobody_and_a_node_leaves_at_once() -> None:
    async with nodes(2) as (first, second):
        first.network.download.rate = 20_000
        strangers = [await knock(first) for _ in range(10)]
        for stranger in strangers:
            await stranger.send(bytes(60_000))
        second.network.dial(first.address())
        envelope = second.share()
        await until(lambda: envelope in first.held)
        for link in second.network.exchange.links:  # what waits for room is not waited for
            second.network._wires[link].put([bytes(60_000)] * 10)
        await asyncio.sleep(0.1)
        await asyncio.wait_for(first.network.close(), 5)
        assert not first.network.exchange.links


async def test_a_relay_with_too_much_to_do_tells_its_peers_and_a_newcomer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    async with nodes(3, paces=True) as (relay, early, late):
        load = relay.network.load
        assert load is not None
        busy = iter([False, True])

        def look(*seen: float, **more: float) -> bool:
            load.share, load.is_paced = 0.25, True
            return next(busy, False)

        await link_up(early, relay)
        (link,) = early.network.exchange.links
        assert link.session.groups_together == 1
        monkeypatch.setattr(load, "look", look)
        await until(lambda: link.session.groups_together == 2)
        assert link.session.credit(now().monotonic)[0] <= limits.FIRST_GROUPS / 4
        late.network.dial(relay.address(relay.signer.key))
        await until(lambda: any(link.session.groups_together == 2 for link in late.network.exchange.links))


async def test_who_does_not_heed_it_is_read_when_it_may_send_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with nodes(2) as (alice, bob):
        await link_up(alice, bob)
        (theirs,) = bob.network.exchange.links
        waits = iter([0.2, 0.2, 0.0])
        asked: list[float] = []

        def overdue(at: float) -> float:
            asked.append(at)
            return next(waits, 0.0)

        monkeypatch.setattr(theirs.session, "overdue", overdue)
        for index in range(3):
            alice.share(index)
            await until(lambda: len(bob.held) == index + 1)  # noqa: B023 - awaited at once
        assert len(asked) >= 3 and asked[1] - asked[0] >= 0.2 and asked[2] - asked[1] >= 0.2


async def test_who_is_not_read_for_long_hears_that_the_link_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = 1.5  # less, and a busy computer takes the link for idle
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(network, "_LONGEST_WAIT", network._LONGEST_WAIT / limits.IDLE_SECONDS * idle)
    monkeypatch.setattr(limits, "IDLE_SECONDS", idle)
    async with nodes(2) as (alice, bob):
        await link_up(alice, bob)
        (ours,), (theirs,) = alice.network.exchange.links, bob.network.exchange.links
        monkeypatch.setattr(theirs.session, "overdue", lambda at: 1000.0)
        for index in range(2):
            alice.share(index)
        await until(lambda: len(bob.held) == 1)
        heard = ours.heard
        await until(lambda: len(bob.held) == 2)
        assert ours.heard > heard
