"""Who may connect, and the cost of a flood of sockets."""

import asyncio
import contextlib
import errno
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.swarm.sockets import door as door_module
from sapo_desktop.swarm.sockets.door import MOST_UNPROVEN, MOST_UNPROVEN_OF_ONE, Door
from sapo_desktop.worker.membership.index_book import IndexBook
from tests.swarm.sockets.nodes import Node, link_up, nodes, until


def peer(part: int, number: int = 0) -> tuple[str, int]:
    return f"20.0.{part}.1", 1000 + number


def nothing() -> None:
    pass


def test_of_one_part_of_the_internet_so_many_may_be_half_open() -> None:
    time = [0.0]
    door = Door(1000, clock=lambda: time[0])
    assert [door.enter(peer(1, number), nothing) for number in range(20)] == [True] * MOST_UNPROVEN_OF_ONE + [False] * 4
    assert door.enter(peer(2), nothing)
    door.leave(peer(1, 3))
    time[0] = door_module.PLACE_SECONDS - 1
    assert not door.enter(peer(1, 99), nothing), "who leaves without a proof leaves its place taken for a while"
    time[0] = door_module.PLACE_SECONDS
    assert door.enter(peer(1, 99), nothing)
    door.prove(peer(1, 99))
    assert door.enter(peer(1, 100), nothing), "who has proven a key is not counted"


def test_the_place_of_who_was_cut_off_stays_taken_whatever_key_it_proved() -> None:
    door = Door(1000, clock=lambda: 0.0)
    for number in range(MOST_UNPROVEN_OF_ONE):
        for cut_off in (False, True):
            assert door.enter(peer(1, number), nothing)
            door.prove(peer(1, number))
            if cut_off:
                door.distrust(peer(1, number))
            door.leave(peer(1, number))
    assert not door.enter(peer(1, 99), nothing) and door.enter(peer(2), nothing)
    assert len(door) == 1, "no descriptor is kept for it"


def test_at_home_one_part_has_no_share_where_that_is_allowed_and_all_together_have() -> None:
    door = Door(1000, at_home=True)
    came = [door.enter(("127.0.0.1", number), nothing) for number in range(100)]
    assert came == [True] * MOST_UNPROVEN + [False] * (100 - MOST_UNPROVEN)
    assert [Door(1000).enter(("127.0.0.1", 1), nothing)] == [True]
    strict = Door(1000)
    assert sum(strict.enter(("10.0.0.1", number), nothing) for number in range(100)) == MOST_UNPROVEN_OF_ONE


def test_where_all_places_are_taken_the_part_with_most_gives_its_oldest_up() -> None:
    door, ended = Door(1000), []
    for part in range(4):
        for number in range(MOST_UNPROVEN_OF_ONE):
            assert door.enter(peer(part, number), lambda one=(part, number): ended.append(one))  # type: ignore[misc]
    assert door.enter(peer(9), nothing)
    assert ended == [(0, 0)]
    # A part that has as many itself pushes nobody out.
    assert not door.enter(peer(0, 77), nothing)
    assert ended == [(0, 0)]
    # Its descriptor counts until it is closed.
    assert len(door) == MOST_UNPROVEN + 1
    door.leave(peer(0, 0))


def test_where_every_part_holds_one_place_a_newcomer_takes_that_of_the_slowest() -> None:
    time, ended = [0.0], []
    door = Door(1000, clock=lambda: time[0])
    for part in range(MOST_UNPROVEN):
        time[0] = part / 100
        assert door.enter(peer(part), lambda part=part: ended.append(part))  # type: ignore[misc]
    assert not door.enter(peer(99), nothing), "each has its seconds for the handshake"
    time[0] = door_module.SLOW_SECONDS
    assert not door.enter(peer(7, 1), nothing), "a part that has a place pushes nobody out"
    assert door.enter(peer(99), nothing) and ended == [0]
    assert not door.enter(peer(98), nothing), "the next one still has its time"


def test_all_connections_together_have_an_end_too() -> None:
    door = Door(3)
    for number in range(3):
        assert door.enter(peer(number), nothing)
        door.prove(peer(number))
    assert not door.enter(peer(7), nothing)
    door.leave(peer(1))
    assert door.enter(peer(7), nothing) and len(door) == 3


def test_where_no_connection_is_left_a_newcomer_takes_the_place_of_the_slowest_too() -> None:
    """One that says nothing would keep out everybody."""
    time, ended = [0.0], []
    door = Door(3, clock=lambda: time[0])
    for number in range(2):
        assert door.enter(peer(number), nothing)
        door.prove(peer(number))
    assert door.enter(peer(5), lambda: ended.append(5))
    assert not door.enter(peer(7), nothing)
    time[0] = door_module.SLOW_SECONDS
    assert door.enter(peer(7), nothing) and ended == [5]


def test_those_that_are_ended_and_not_closed_yet_have_an_end_too() -> None:
    time = [0.0]
    door = Door(MOST_UNPROVEN, clock=lambda: time[0])
    came = 0
    for part in range(4 * MOST_UNPROVEN):
        time[0] += door_module.SLOW_SECONDS
        came += door.enter(peer(part), nothing)
    assert came == len(door) == 2 * MOST_UNPROVEN


@contextlib.contextmanager
def knocking(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Sockets that connect and send nothing."""
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(count)]
        for one in made:
            one.setblocking(False)
        yield made


def hung_up(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


async def test_a_flood_of_silent_sockets_holds_so_many_descriptors_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module, "MOST_UNPROVEN", 8)
    async with nodes(2, at_home=True) as (alice, bob):
        await link_up(alice, bob)
        with knocking(bob.port, 60) as sockets:
            await until(lambda: sum(map(hung_up, sockets)) >= 52)
            assert len(bob.network._door) <= 9, "the link and eight"
            alice.share()
            await until(lambda: bob.held)
        await until(lambda: len(bob.network._door) == 1)


async def test_a_listener_outlives_that_there_are_no_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio.constants, "ACCEPT_RETRY_DELAY", 0.05)
    plain, failed = socket.socket.accept, []

    def accept(self: socket.socket) -> tuple[socket.socket, Any]:
        if len(failed) < 3:
            failed.append(1)
            raise OSError(errno.EMFILE, "Too many open files")
        return plain(self)

    monkeypatch.setattr(socket.socket, "accept", accept)
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # it would print each
    async with nodes(1) as (bob,):
        alice = Node(2)
        await link_up(alice, bob)
        await alice.network.close()
        assert len(failed) == 3


_FLOOD = """
import socket, sys
held = []
for _ in range(300):
    try:
        held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5))
    except OSError:
        pass
print("all are there", flush=True)
sys.stdin.read()
"""


@pytest.mark.allowed_skip("on Windows sockets take nothing from files")
@pytest.mark.skipif(sys.platform == "win32", reason="there sockets take nothing from files")
async def test_a_flood_of_sockets_leaves_the_index_book_its_descriptor(tmp_path: Path) -> None:
    import resource

    async def scene() -> None:
        async with nodes(1, most_links=8) as (node,):
            flood = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _FLOOD, str(node.port), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert flood.stdin is not None and flood.stdout is not None
            taking = asyncio.ensure_future(flood.stdout.readline())
            book = IndexBook(tmp_path / "book.json")
            while not taking.done():
                book.take(1, ["gcd/easy"])
                book.write()
                await asyncio.sleep(0.01)
            flood.stdin.close()
            await flood.wait()

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest.fileno() + 100, hard))
    try:
        await scene()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
