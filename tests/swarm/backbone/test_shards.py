"""Which relay hears which: spread evenly, changing by slot and hour."""

from collections import Counter

from sapo_desktop.swarm.backbone.shards import SHARDS, heard_by, shard_of
from sapo_desktop.swarm.protocol.limits import SLOT_SECONDS

RELAYS = [bytes([number]) * 32 for number in range(100)]
NOW = 1_800_000_000.0
HOUR = 3600


def test_a_relay_sends_in_another_shard_each_slot() -> None:
    sent = [shard_of(RELAYS[0], NOW + slot * SLOT_SECONDS) for slot in range(300)]
    assert len(set(sent)) > 150 and max(Counter(sent).values()) < 10
    assert shard_of(RELAYS[0], NOW + 1) == shard_of(RELAYS[0], NOW) != shard_of(RELAYS[1], NOW)


def test_a_quarter_of_the_shards_hears_a_quarter_of_the_relays_and_in_a_day_all_of_them() -> None:
    met: Counter[bytes] = Counter()
    for hour in range(24):
        heard = heard_by(b"k" * 32, SHARDS // 4, NOW + hour * HOUR)
        assert len(heard) == SHARDS // 4
        for slot in range(6):
            now = NOW + hour * HOUR + slot * SLOT_SECONDS
            met.update(relay for relay in RELAYS if shard_of(relay, now) in heard)
    assert len(met) == len(RELAYS)
    assert abs(sum(met.values()) / (24 * 6 * len(RELAYS)) - 0.25) < 0.02


def test_each_listens_to_others_and_to_all_where_it_may() -> None:
    assert heard_by(RELAYS[0], SHARDS, NOW) == frozenset(range(SHARDS))
    one, other, later = (
        heard_by(relay, 16, now) for relay, now in ((RELAYS[0], NOW), (RELAYS[1], NOW), (RELAYS[0], NOW + HOUR))
    )
    assert one != other and one != later and one == heard_by(RELAYS[0], 16, NOW + 1)
