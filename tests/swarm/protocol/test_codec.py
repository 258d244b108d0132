"""Frames and batches, hostile ones too."""

import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.swarm.protocol import codec, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from tests.swarm.peers import group


def reason(act: Callable[[], Any]) -> Reason:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value.reason


def test_types_are_kept_apart_by_name() -> None:
    names = {kind.__struct_config__.tag for kind in get_args(m.Any)}
    assert {"hello", "auth", "catalogue_req", "peers_req", "publish", "goodbye"} <= names
    assert len(names) == len(get_args(m.Any))


ID = bytes(range(32))
MESSAGES: list[m.Any] = [
    m.Hello(versions=[1, 2], network=ID, key=ID, nonce=ID, time=2**40, catalogue=ID, previous=ID, program="x"),
    m.Auth(signature=bytes(64)),
    m.CatalogueReq(),
    m.Catalogue(tasks=[ID] * limits.MAX_CATALOGUE),
    m.Credit(links=1, ms_per_group=2**53),
    m.Publish(batch=b"batch"),
    m.Want(ticket=bytes(16), tasks=[ID] * limits.MAX_WANTED_TASKS, held=bytes(limits.MAX_FILTER)),
    m.Groups(ticket=bytes(16), batch=b""),
    m.PeersReq(),
    m.Peers(records=[bytes(limits.KIB)] * limits.MAX_RECORDS),
    m.Stats(envelope=b"claim"),
    m.Ping(number=1),
    m.Pong(number=1),
    m.Goodbye(reason="x" * 200, retry_after=600),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_survives_its_frame(message: m.Any) -> None:
    assert codec.decode(codec.encode(message)) == message


def test_every_message_was_tried() -> None:
    assert {type(message) for message in MESSAGES} == set(get_args(m.Any))


@given(st.binary(max_size=2000))
def test_any_bytes_are_a_message_or_refused(frame: bytes) -> None:
    try:
        codec.decode(frame)
    except Refused as refused:
        assert refused.reason in {Reason.NOT_A_MESSAGE, Reason.UNKNOWN_MESSAGE, Reason.MALFORMED}


def test_depth_and_size_are_bounded() -> None:
    assert reason(lambda: codec.decode(bytes(limits.MAX_FRAME + 1))) is Reason.OVERSIZE
    deep = b"\x82\xa4type\xa4ping\xa1x" + b"\x91" * 60_000 + b"\xc0"
    assert reason(lambda: codec.decode(deep)) is Reason.NOT_A_MESSAGE


def test_a_frame_that_claims_a_billion_elements_costs_nothing() -> None:
    frame = b"\x82\xa4type\xa9catalogue\xa5tasks\xdd\x3b\x9a\xca\x00"
    tracemalloc.start()
    try:
        assert reason(lambda: codec.decode(frame)) is Reason.NOT_A_MESSAGE
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_batches_come_back() -> None:
    envelopes = [group(index=index) for index in range(16)]
    assert codec.unpack_published(codec.pack_published(envelopes)) == envelopes
    sourced = [m.Sourced(envelope=envelope, tag=b"t") for envelope in envelopes]
    assert codec.unpack_sourced(codec.pack_sourced(sourced)) == sourced
    assert codec.unpack_sourced(codec.pack_sourced([])) == []


def packed(value: Any) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(value))


@pytest.mark.parametrize(
    "batch",
    [
        b"",
        b"rubbish",
        packed([b"x"])[:-1],
        packed([b"x"]) + b"y",
        packed([b"x"]) + packed([b"x"]),
        packed([]),
        packed([b"x"] * 17),
        packed([bytes(limits.MAX_GROUP + 1)]),
        packed(["text"]),
        packed({"a": 1}),
        packed(bytes(limits.MAX_UNPACKED)),
        zlib.compress(bytes(2**26))[: limits.MAX_FRAME],
    ],
    ids=["empty", "rubbish", "cut", "trailing", "two", "none", "many", "large", "text", "map", "oversize", "bomb"],
)
def test_a_batch_that_is_none(batch: bytes) -> None:
    assert reason(lambda: codec.unpack_published(batch)) is Reason.BAD_BATCH


def test_a_bomb_stays_small() -> None:
    bomb = zlib.compress(bytes(60 * 2**20))
    assert len(bomb) <= limits.MAX_FRAME
    tracemalloc.start()
    try:
        assert reason(lambda: codec.unpack_published(bomb)) is Reason.BAD_BATCH
        assert tracemalloc.get_traced_memory()[1] < 4 * limits.MAX_UNPACKED
    finally:
        tracemalloc.stop()
