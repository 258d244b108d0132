"""What waits has bounds, and the oldest goes first where they are reached."""

from sapo_desktop.swarm.backbone.waiting import Waiting


def everything(waiting: Waiting[bytes]) -> list[tuple[bytes, bytes]]:
    found = []
    while waiting:
        found.append(waiting.take())
    return found


def test_sources_take_turns() -> None:
    waiting: Waiting[bytes] = Waiting(100, 100)
    for source, item in ((b"a", b"1"), (b"a", b"2"), (b"a", b"3"), (b"b", b"4")):
        waiting.put(source, item)
    assert everything(waiting) == [(b"a", b"1"), (b"b", b"4"), (b"a", b"2"), (b"a", b"3")]
    assert (waiting.size, waiting.lost) == (0, 0)


def test_who_sends_too_much_loses_its_own_oldest() -> None:
    waiting: Waiting[bytes] = Waiting(2, 100)
    for number in range(5):
        waiting.put(b"a", str(number).encode())
    waiting.put(b"b", b"x")
    assert everything(waiting) == [(b"a", b"3"), (b"b", b"x"), (b"a", b"4")]
    assert waiting.lost == 3


def test_where_all_are_too_much_each_loses_in_its_turn() -> None:
    waiting: Waiting[bytes] = Waiting(10, 4)
    for item in (b"1", b"2", b"3"):
        for source in (b"a", b"b"):
            waiting.put(source, source + item)
    assert everything(waiting) == [(b"a", b"a3"), (b"b", b"b3")]
    assert waiting.lost == 4 and waiting.size == 0
