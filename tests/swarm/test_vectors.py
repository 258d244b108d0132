"""The vectors of docs/protocol.md: from our code, and where that is short, computed without it."""

import hashlib
import json
from typing import Any

import msgspec
import pytest
from nacl.signing import SigningKey, VerifyKey

from sapo_desktop.swarm.protocol import codec
from tests.swarm.vectors import FILE, vectors

STORED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def test_our_code_makes_what_is_written() -> None:
    assert vectors() == STORED


def test_keys_are_those_of_ed25519() -> None:
    for pair in STORED["keys"].values():
        assert bytes(SigningKey(bytes.fromhex(pair["seed"])).verify_key).hex() == pair["public"]


def digest(*fields: bytes) -> bytes:
    return hashlib.sha256(b"".join(len(field).to_bytes(4, "big") + field for field in fields)).digest()


def first8(*fields: bytes) -> int:
    return int.from_bytes(digest(*fields)[:8], "big") & (2**63 - 1)


def test_seeds_by_hand() -> None:
    question = STORED["question"]
    network, key, task = (bytes.fromhex(question[name]) for name in ("network", "key", "task"))
    slot, index, seed = (question[name].to_bytes(8, "big") for name in ("slot", "index", "seed"))
    assert question["seed"] == first8(b"sapo/q/1", network, key, slot, task, index)
    assert question["draw_1"] == first8(b"sapo/draw/1", seed, (1).to_bytes(8, "big"))


@pytest.mark.parametrize("role", ["client", "server"])
def test_a_handshake_by_hand(role: str) -> None:
    vector = STORED["handshake"]
    client, server = (msgspec.msgpack.decode(bytes.fromhex(vector[name]["hello"])) for name in ("client", "server"))
    transcript = digest(
        b"sapo/auth/1",
        role.encode(),
        client["key"],
        server["key"],
        client["nonce"],
        server["nonce"],
        client["network"],
        b"1",
        b"1",
        bytes(32),
    )
    assert transcript.hex() == vector[role]["transcript"]
    key = bytes.fromhex(STORED["keys"][role]["public"])
    VerifyKey(key).verify(b"sapo/1/auth\0" + client["network"] + transcript, bytes.fromhex(vector[role]["signature"]))


def test_a_request_to_join_by_hand() -> None:
    vector, key = STORED["ask"], bytes.fromhex(STORED["keys"]["client"]["public"])
    content = digest(b"sapo/ask/1", key, bytes.fromhex(vector["nonce"]), vector["label"].encode(), bytes(32))
    assert content.hex() == vector["content"]
    network = bytes.fromhex(STORED["question"]["network"])
    VerifyKey(key).verify(b"sapo/1/ask\0" + network + content, bytes.fromhex(vector["signature"]))


def test_an_envelope_by_hand() -> None:
    version, body, signature = msgspec.msgpack.decode(bytes.fromhex(STORED["group"]["envelope"]))
    fields = msgspec.msgpack.decode(body)
    assert (version, fields["type"], fields["answers"][0]["text"]) == (1, "group", "2 + 2 = 4 <answer>4</answer>")
    VerifyKey(fields["key"]).verify(b"sapo/1/group\0" + fields["network"] + body, signature)


def test_an_admission_by_hand() -> None:
    vector = STORED["admission"]
    swarm, member, admission = (bytes.fromhex(vector[name]) for name in ("swarm", "member", "admission"))
    network = digest(b"sapo/network/1", b"private", swarm)
    assert network.hex() == vector["network"]
    end = vector["ends"].to_bytes(8, "big")
    assert admission[:8] == end and bytes.fromhex(vector["without_end"])[:8] == bytes(8)
    VerifyKey(swarm).verify(b"sapo/1/admission\0" + network + member + end, admission[8:])


def test_an_invite_by_hand() -> None:
    vector = STORED["admission"]
    server = f"&peer=wss://relay.example:8765%23{STORED['keys']['server']['public']}"
    assert vector["invite"] == (
        f"sapo://join?swarm={vector['swarm']}{server}&peer=wss://[2001:db8::1]:443&admission={vector['admission']}"
    )


def test_frames_are_plain_maps() -> None:
    frames = {name: bytes.fromhex(frame) for name, frame in STORED["frames"].items()}
    assert msgspec.msgpack.decode(frames["ping"]) == {"type": "ping", "number": 7}
    assert all(type(codec.decode(frame)).__name__.lower() == name for name, frame in frames.items())
