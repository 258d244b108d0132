"""Keys as NATS writes them."""

import base64
import binascii

import pytest
from nacl.signing import VerifyKey

from sapo_desktop.swarm.sockets.nkey import UserKey


def written(prefix: bytes, content: bytes) -> str:
    raw = prefix + content
    return base64.b32encode(raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")).decode().rstrip("=")


def written_seed(secret: bytes, kind: int = 20 << 3) -> str:
    return written(bytes([18 << 3 | kind >> 5, (kind & 31) << 3]), secret)


def test_a_users_seed_is_read_and_signs_what_the_server_asks_for() -> None:
    seed = written_seed(b"s" * 32)
    key = UserKey(seed)
    assert seed.startswith("SU") and len(seed) == 58 and key.public.startswith("U") and len(key.public) == 56
    public = base64.b32decode(key.public)[1:33]
    VerifyKey(public).verify(b"nonce", base64.b64decode(key.sign("nonce")))
    assert seed not in repr(key)


@pytest.mark.parametrize(
    "seed",
    [
        "",
        "SU",
        "su1!",
        written_seed(b"s" * 31),
        written_seed(b"s" * 32).replace("ONZ", "ONY", 1),
        written_seed(b"s" * 32, kind=0),  # an account's
        UserKey(written_seed(b"s" * 32)).public,
    ],
)
def test_what_is_no_users_seed_is_refused(seed: str) -> None:
    with pytest.raises(ValueError, match="not "):
        UserKey(seed)
