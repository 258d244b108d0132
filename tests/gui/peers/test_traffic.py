import msgspec

from sapo_desktop.gui.peers.traffic import LONGEST_GAP, LOOKS, Rate, Traffic
from sapo_desktop.worker.control.messages.swarm import LinkInfo
from tests.gui import scenes

_LINK = msgspec.structs.replace(scenes.links(1)[0], key="aa" * 32, bytes_in=1000, bytes_out=500)


def _link(**changes: object) -> LinkInfo:
    return msgspec.structs.replace(_LINK, **changes)


def test_a_rate_is_measured_over_the_last_few_looks() -> None:
    traffic = Traffic()
    for at in range(LOOKS + 3):
        # 100 bytes a second, but for a burst in the first look that has to be forgotten by now.
        (row,) = traffic.look([_link(bytes_in=1_000_000 + 300 * at if at else 0)], 3.0 * at)
    assert row.rate.incoming == 100.0


def test_the_total_adds_up_what_is_known() -> None:
    traffic = Traffic()
    traffic.look([_link()], 0.0)
    new = _link(key="bb" * 32)
    traffic.look([_link(bytes_in=1300), new], 3.0)
    assert traffic.total == Rate(100.0, 0.0)
    traffic.look([_link(bytes_in=1600), msgspec.structs.replace(new, bytes_in=1300)], 6.0)
    assert traffic.total == Rate(200.0, 0.0)


def test_a_link_that_counts_from_zero_again_is_another_one() -> None:
    traffic = Traffic()
    traffic.look([_link()], 0.0)
    (row,) = traffic.look([_link(bytes_in=3, bytes_out=0)], 3.0)
    assert row.rate == Rate(None, None)
    (row,) = traffic.look([_link(bytes_in=33, bytes_out=0)], 6.0)
    assert row.rate == Rate(10.0, 0.0)


def test_two_links_to_one_peer_are_told_apart() -> None:
    traffic = Traffic()
    traffic.look([_link(), _link(bytes_in=50)], 0.0)
    first, second = traffic.look([_link(bytes_in=1010), _link(bytes_in=150)], 10.0)
    assert (first.rate.incoming, second.rate.incoming) == (1.0, 10.0)
    assert first.name != second.name


def test_what_was_seen_before_a_long_gap_is_forgotten() -> None:
    traffic = Traffic()
    traffic.look([_link()], 0.0)
    (row,) = traffic.look([_link(bytes_in=9000)], LONGEST_GAP + 1)
    assert row.rate == Rate(None, None)


def test_refused_counts_by_kind() -> None:
    (row,) = Traffic().look([_link(refused={"invalid": {"malformed": 2, "oversize": 1}, "ignored": {}})], 0.0)
    assert (row.refused("invalid"), row.refused("ignored"), row.refused("unverifiable")) == (3, 0, 0)
