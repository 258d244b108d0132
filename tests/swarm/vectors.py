"""The protocol's test vectors, for peers in other languages.

    python -m tests.swarm.vectors        writes tests/swarm/vectors.json

Written by our code and compared with it by test_vectors.py, so a change of the protocol cannot go unnoticed; a few of
them are worked out there by hand as well.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from sapo_desktop.core.hashing import digest
from sapo_desktop.core.network.invite import Invite
from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.protocol import codec, handshake
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, seal
from sapo_desktop.swarm.protocol.signing import Signer, signed_bytes
from sapo_desktop.swarm.trust import asking
from sapo_desktop.swarm.trust.admission import admit, network_of
from sapo_desktop.tasks.questions import draw_seed, question_hash, question_seed

FILE = Path(__file__).with_name("vectors.json")
SEEDS = {"client": bytes(range(32)), "server": bytes(range(32, 64)), "founder": b"\x07" * 32}
CLIENT, SERVER, FOUNDER = map(Signer, SEEDS.values())
NETWORK, TASK, CATALOGUE = b"\x01" * 32, b"\x02" * 32, b"\x03" * 32
SLOT = 2_833_333
ENDS = 1_800_000_000


def hello(signer: Signer, nonce: bytes) -> m.Hello:
    return m.Hello(versions=[1], network=NETWORK, key=signer.key, nonce=nonce, time=1_700_000_000, catalogue=CATALOGUE)


def body() -> GroupBody:
    return GroupBody(
        network=NETWORK,
        key=CLIENT.key,
        instance=b"\x04" * 16,
        task=TASK,
        slot=SLOT,
        index=3,
        question=question_hash("What is 2 + 2?"),
        label="tests/1",
        answers=[Answer(text="2 + 2 = 4 <answer>4</answer>", tokens=9)],
    )


def invite() -> Invite:
    peers = (f"wss://relay.example:8765#{SERVER.key.hex()}", "wss://[2001:db8::1]:443")
    return Invite(FOUNDER.key.hex(), peers, admit(FOUNDER, CLIENT.key, ENDS).hex())


def vectors() -> dict[str, Any]:
    """Every vector, bytes in hex."""
    hellos = hello(CLIENT, b"\x05" * 32), hello(SERVER, b"\x06" * 32)
    seed = question_seed(network=NETWORK, key=CLIENT.key, slot=SLOT, task=TASK, index=3)
    envelope = seal(CLIENT, body())
    ticket = bytes(range(16))
    held = [digest(bytes([n])) for n in range(5)]
    return {
        "keys": {name: {"seed": one.hex(), "public": Signer(one).key.hex()} for name, one in SEEDS.items()},
        "digest": {"fields": [b"ab".hex(), b"".hex()], "sha256": digest(b"ab", b"").hex()},
        "question": {
            "network": NETWORK.hex(),
            "key": CLIENT.key.hex(),
            "slot": SLOT,
            "task": TASK.hex(),
            "index": 3,
            "seed": seed,
            "draw_1": draw_seed(seed, 1),
            "text": "What is 2 + 2?",
            "hash": question_hash("What is 2 + 2?").hex(),
        },
        "frames": {
            "ping": codec.encode(m.Ping(number=7)).hex(),
            "want": codec.encode(m.Want(ticket=ticket, n=4, tasks=[TASK])).hex(),
            "credit": codec.encode(m.Credit(links=2)).hex(),
            "goodbye": codec.encode(m.Goodbye(reason="going away", retry_after=30)).hex(),
        },
        "handshake": {
            role: {
                "hello": codec.encode(said).hex(),
                "transcript": handshake.transcript(role, *hellos, handshake.NO_TLS).hex(),
                "signature": handshake.prove(signer, role, *hellos, handshake.NO_TLS).hex(),
            }
            for role, signer, said in zip(("client", "server"), (CLIENT, SERVER), hellos, strict=True)
        },
        "ask": {
            "label": "anna",
            "nonce": hellos[0].nonce.hex(),
            "content": asking.content(CLIENT.key, hellos[0].nonce, "anna", handshake.NO_TLS).hex(),
            "signature": CLIENT.sign(
                asking.LABEL, NETWORK, asking.content(CLIENT.key, hellos[0].nonce, "anna", handshake.NO_TLS)
            ).hex(),
        },
        "group": {
            "signed": signed_bytes("group", NETWORK, b"body").hex(),
            "envelope": envelope.hex(),
            "digest": digest_of(envelope),
        },
        "admission": {
            "swarm": FOUNDER.key.hex(),
            "network": network_of(FOUNDER.key).hex(),
            "member": CLIENT.key.hex(),
            "ends": ENDS,
            "admission": admit(FOUNDER, CLIENT.key, ENDS).hex(),
            "without_end": admit(FOUNDER, CLIENT.key).hex(),
            "invite": str(invite()),
        },
        "held_filter": {
            "ticket": ticket.hex(),
            "digests": [one.hex() for one in held],
            "bits": held_filter.build(held, ticket).hex(),
        },
    }


def digest_of(envelope: bytes) -> str:
    return hashlib.sha256(envelope).hexdigest()


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1) + "\n", encoding="utf-8")
