"""The order of links while there is more work than time."""

import asyncio
from collections import Counter

from sapo_desktop.swarm.sockets.fair_queue import FairQueue, Turns


async def never() -> None:
    """A link that does not end."""
    await asyncio.Event().wait()


def busy() -> Turns[str]:
    """A queue whose time is used up."""
    turns: Turns[str] = Turns(0.0, share=0.5, at_once=1.0)
    turns.spent(2.0, 0.0)
    return turns


def taken(turns: Turns[str], count: int) -> list[str | None]:
    """Who is next, each with something to do for a hundredth of a second, once there is time."""
    found = []
    for _ in range(count):
        now = 1000.0
        found.append(turns.next(now))
        turns.spent(0.01, now)
    return found


def test_while_there_is_time_nobody_waits() -> None:
    turns: Turns[str] = Turns(0.0, share=0.5, at_once=1.0)
    assert turns.is_free(0.0)
    turns.spent(1.5, 0.0)
    assert not turns.is_free(0.0) and turns.next(0.0) is None
    assert turns.seconds_to_wait(0.0) == 1.0
    assert turns.is_free(1.1)


def test_who_comes_while_others_wait_stands_in_line() -> None:
    turns = busy()
    turns.wait("first", b"a", is_new=False)
    assert not turns.is_free(1000.0)
    assert taken(turns, 1) == ["first"]
    assert turns.is_free(1000.0)


def test_parts_of_the_internet_take_turns_however_many_wait_in_one() -> None:
    turns = busy()
    for number in range(50):
        turns.wait(f"flood {number}", b"flood", is_new=False)
    for name in ("one", "two"):
        for number in range(3):
            turns.wait(f"{name} {number}", name.encode(), is_new=False)
    first = taken(turns, 9)
    assert Counter(str(one).split()[0] for one in first) == {"flood": 3, "one": 3, "two": 3}
    assert first[0] == "flood 0" and first[3] == "flood 1", "within one part as they came"


def test_identities_with_a_history_come_first_and_newcomers_get_a_quarter() -> None:
    turns = busy()
    for number in range(40):
        turns.wait("new", number.to_bytes(1, "big"), is_new=True)
        turns.wait("known", b"one place", is_new=False)
    assert Counter(taken(turns, 40)) == {"known": 30, "new": 10}
    assert Counter(taken(turns, 40)) == {"known": 10, "new": 30}, "what one class leaves is the other's"
    assert turns.next(1000.0) is None


async def test_a_gate_lets_everybody_go_on_in_the_end() -> None:
    async def scene() -> list[bool]:
        gate = FairQueue()
        gate.spent(1e6)
        running = asyncio.create_task(gate.run())
        waiting = [asyncio.create_task(gate.turn(b"", never, is_new=False)) for _ in range(3)]
        await asyncio.sleep(0)
        before = [task.done() for task in waiting]
        running.cancel()
        assert await asyncio.gather(*waiting) == [True] * 3
        assert await gate.turn(b"", never, is_new=True)
        return before

    assert await scene() == [False] * 3


async def test_a_gate_gives_turns_as_time_comes_back() -> None:
    gate = FairQueue()
    gate.spent(2.005)
    running = asyncio.create_task(gate.run())
    async with asyncio.timeout(20):
        turns = await asyncio.gather(*(gate.turn(bytes([number]), never, is_new=True) for number in range(5)))
    assert turns == [True] * 5
    running.cancel()


async def test_whose_link_ends_waits_no_longer_and_holds_up_nobody() -> None:
    async def at_once() -> None:
        pass

    gate = FairQueue()
    gate.spent(2.005)
    running = asyncio.create_task(gate.run())
    async with asyncio.timeout(20):
        assert not await gate.turn(b"a", at_once, is_new=True)
        assert await gate.turn(b"b", never, is_new=True)
    running.cancel()
