"""The vectors of docs/protocol.md: as written, and worked out without our code where that is short."""

import hashlib
import json
from typing import Any

import msgspec
from nacl.signing import SigningKey, VerifyKey

from sapo_desktop.swarm.protocol import codec
from tests.swarm.vectors import FILE, vectors

STORED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def test_our_code_makes_what_is_written() -> None:
    assert vectors() == STORED


def test_keys_are_those_of_ed25519() -> None:
    for pair in STORED["keys"]:
        assert bytes(SigningKey(bytes.fromhex(pair["seed"])).verify_key).hex() == pair["public"]
    # RFC 8032 has no seed of zeros; this is the well-known key of one.
    assert STORED["keys"][1]["public"] == "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"


def test_a_seed_by_hand() -> None:
    question = STORED["question"]
    fields = [
        b"sapo/q/1",
        bytes.fromhex(question["network"]),
        bytes.fromhex(question["key"]),
        question["slot"].to_bytes(8, "big"),
        bytes.fromhex(question["task"]),
        question["index"].to_bytes(8, "big"),
    ]
    written_out = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    first = int.from_bytes(hashlib.sha256(written_out).digest()[:8], "big")
    assert question["seed"] == first & (2**63 - 1)


def test_an_envelope_by_hand() -> None:
    version, body, signature = msgspec.msgpack.decode(bytes.fromhex(STORED["group"]["envelope"]))
    fields = msgspec.msgpack.decode(body)
    assert (version, fields["type"], fields["answers"][0]["text"]) == (1, "group", "2 + 2 = 4 <answer>4</answer>")
    VerifyKey(fields["key"]).verify(b"sapo/1/group\0" + fields["network"] + body, signature)


def test_an_admission_by_hand() -> None:
    told = STORED["admission"]
    swarm, member, admission = (bytes.fromhex(told[name]) for name in ("swarm", "member", "admission"))
    fields = [b"sapo/network/1", b"private", swarm]
    network = hashlib.sha256(b"".join(len(field).to_bytes(4, "big") + field for field in fields)).digest()
    assert network.hex() == told["network"]
    end = told["ends"].to_bytes(8, "big")
    assert admission[:8] == end and bytes.fromhex(told["without_end"])[:8] == bytes(8)
    VerifyKey(swarm).verify(b"sapo/1/admission\0" + network + member + end, admission[8:])


def test_an_invite_by_hand() -> None:
    told = STORED["admission"]
    server = f"&peer=wss://relay.example:8765%23{bytes(SigningKey(bytes(range(32, 64))).verify_key).hex()}"
    assert told["invite"] == (
        f"sapo://join?swarm={told['swarm']}{server}&peer=wss://[2001:db8::1]:443&admission={told['admission']}"
    )


def test_frames_are_plain_maps() -> None:
    frames = {name: bytes.fromhex(frame) for name, frame in STORED["frames"].items()}
    assert msgspec.msgpack.decode(frames["ping"]) == {"type": "ping", "number": 7}
    assert all(type(codec.decode(frame)).__name__.lower() == name for name, frame in frames.items())
