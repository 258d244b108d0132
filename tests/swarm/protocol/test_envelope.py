"""Signed bodies: which are accepted, and who is charged for the others."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, StatsBody, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import OF_THE_AUTHOR, Reason, Refused
from tests.swarm.peers import ALICE, BOB, NETWORK, group, group_body


def opened(envelope: bytes) -> GroupBody:
    return open_envelope(envelope, GroupBody, NETWORK).body


def signed(content: bytes, label: str = "group", network: bytes = NETWORK) -> bytes:
    """An envelope around any bytes, properly signed by Alice."""
    return msgspec.msgpack.encode([1, content, ALICE.sign(label, network, content)])


def reason(envelope: bytes) -> Reason:
    with pytest.raises(Refused) as refused:
        opened(envelope)
    return refused.value.reason


def test_a_sealed_body_opens_as_it_was() -> None:
    body = group_body(answers=[Answer(text="2 + 2\n= 4 <answer>4</answer>"), Answer(text="5", kind="human")])
    assert opened(seal(ALICE, body)) == body


def test_unknown_fields_of_a_body_are_kept_under_the_signature_and_ignored() -> None:
    content = msgspec.to_builtins(group_body(), builtin_types=(bytes,)) | {"mood": "good"}
    assert opened(signed(msgspec.msgpack.encode(content))) == group_body()


def test_no_bit_of_an_envelope_can_be_changed() -> None:
    envelope = group()
    for place in range(len(envelope)):
        changed = bytearray(envelope)
        changed[place] ^= 1
        with pytest.raises(Refused) as refused:
            opened(bytes(changed))
        assert refused.value.reason not in OF_THE_AUTHOR, "nobody but its author may be charged for a body"


def test_nobody_can_make_a_second_envelope_of_somebodys_body() -> None:
    """Its bytes would differ, and its author be charged with a second body under one name."""
    version, content, signature = msgspec.msgpack.decode(group())
    forms = [
        b"\xdc\x00\x03" + group()[1:],  # the array in three bytes
        b"\x93\xcc\x01" + group()[2:],  # the version in two
        b"\x93\x01\xc5" + len(content).to_bytes(2, "big") + content + b"\xc4\x40" + signature,
        b"\x93\x01\xc4" + bytes([len(content) % 256]) + content + b"\xc5\x00\x40" + signature,
    ]
    assert version == 1
    for form in forms:
        if form == group():
            continue
        with pytest.raises(Refused) as refused:
            opened(form)
        assert refused.value.reason is Reason.MALFORMED and refused.value.author is None


def test_a_signature_is_for_one_kind_of_body_and_one_network() -> None:
    content = msgspec.msgpack.encode(group_body())
    assert reason(signed(content, label="stats")) is Reason.BAD_SIGNATURE
    assert reason(signed(content, network=b"o" * 32)) is Reason.BAD_SIGNATURE
    stats = StatsBody(network=NETWORK, key=ALICE.key, time=1)
    assert reason(signed(msgspec.msgpack.encode(stats), label="group")) is Reason.BAD_BODY
    elsewhere = group_body(network=b"o" * 32)
    assert reason(signed(msgspec.msgpack.encode(elsewhere))) is Reason.OTHER_NETWORK


def test_nobody_signs_for_another_key() -> None:
    content = msgspec.msgpack.encode(group_body(BOB))
    assert reason(signed(content)) is Reason.BAD_SIGNATURE


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"task": b"short"}, Reason.BAD_BODY),
        ({"slot": -1}, Reason.BAD_BODY),
        ({"index": 64}, Reason.BAD_BODY),
        ({"answers": []}, Reason.BAD_BODY),
        ({"answers": [Answer(text="x")] * 17}, Reason.BAD_BODY),
        ({"label": "<script>"}, Reason.BAD_BODY),
        ({"label": "x\n"}, Reason.BAD_BODY),
        ({"home": b"h"}, Reason.BAD_BODY),
        ({"answers": [Answer(text="x" * 4097)]}, Reason.BAD_TEXT),
        ({"answers": [Answer(text="é" * 2049)]}, Reason.BAD_TEXT),
        ({"answers": [Answer(text="\x1b[2J")]}, Reason.BAD_TEXT),
        ({"answers": [Answer(text="abc\u202ecba")]}, Reason.BAD_TEXT),
    ],
)
def test_a_signed_body_that_breaks_the_rules_is_its_authors_fault(changes: dict[str, object], expected: Reason) -> None:
    with pytest.raises(Refused) as refused:
        opened(signed(msgspec.msgpack.encode(group_body(**changes))))
    assert (refused.value.reason, refused.value.author) == (expected, ALICE.key)
    assert expected in OF_THE_AUTHOR
    with pytest.raises(ValueError, match="No peer would take"):
        seal(ALICE, group_body(**changes))


def test_an_answer_may_have_lines_and_tabs() -> None:
    body = group_body(answers=[Answer(text="1\n2\t3 ü ∧")])
    assert opened(seal(ALICE, body)) == body


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(noise: bytes) -> None:
    assert reason(noise) is Reason.MALFORMED


@given(st.binary(max_size=300))
def test_any_signed_bytes_are_refused(noise: bytes) -> None:
    assert reason(signed(noise)) in {Reason.MALFORMED, Reason.BAD_SIGNATURE}
