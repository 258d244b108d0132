"""Where seeds come from, and which of the questions drawn under them are used.

With these rules, everybody can recreate anybody's question. Pure functions of their arguments. Field widths are part of
the protocol: every field is preceded by its length as four bytes, big endian; slot and index are eight bytes, big
endian, unsigned; keys, network and task ids are 32 bytes.

Questions without a right answer are never used, and frequent answers less often: otherwise always giving the most
frequent answer would earn more than thinking. A level may state, for such answers, the share of their questions to keep
(`keep` in tasks.toml). A dropped question is replaced by the next one under the same seed. Left out: making the
question itself (examiner.py), finding the shares (tests/bench/tasks/cheapest.py).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.hashing import digest

SHARED_INDICES = range(64)
"""Indices of groups that are published; each is used once per key, instance, slot and task."""
FIRST_OWN_INDEX = 64
"""Questions for own training only start here."""
SILO_NETWORK = bytes(32)
"""Replaces the network id without a network."""

_LABEL = b"sapo/q/1"
_LARGEST = 2**64 - 1


def silo_key(seed: int) -> bytes:
    """Replaces the node's public key in silo, so that `--seed` repeats a run (32 bytes)."""
    return digest(b"silo", str(seed).encode("ascii"))


def question_seed(*, network: bytes, key: bytes, slot: int, task: bytes, index: int) -> int:
    """The seed (0 to 2**63 - 1) of one question. Raises TaskError for fields of the wrong width."""
    for name, value in (("network", network), ("key", key), ("task id", task)):
        if len(value) != 32:
            raise TaskError(f"A question needs a {name} of 32 bytes, not {len(value)}.")
    for name, number in (("slot", slot), ("index", index)):
        if not 0 <= number <= _LARGEST:
            raise TaskError(f"A question's {name} must lie between 0 and 2**64 - 1, not {number}.")
    hashed = digest(_LABEL, network, key, slot.to_bytes(8, "big"), task, index.to_bytes(8, "big"))
    return int.from_bytes(hashed[:8], "big") & (2**63 - 1)


def question_hash(text: str) -> bytes:
    """8 bytes that reveal a peer with another version of the library."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]


MOST_DRAWS = 1000
"""Questions drawn under one seed before it counts as having none."""
COPIED = "copied"
"""Stands in `keep` for every answer that is a number, a variable or a line of the question."""
_SEED = 2**63 - 1


def draw_seed(seed: int, draw: int) -> int:
    """The dataset's seed (63 bits) for this draw (0, 1, ..) under a question's seed; draw 0 uses that seed itself."""
    return seed if draw == 0 else _hashed(b"sapo/draw/1", seed, draw)


def is_set(seed: int, draw: int, question: str, right: Collection[str], keep: Mapping[str, float]) -> bool:
    """Whether the question of this draw is used. `right`: its right answers in canonical form."""
    if not right:
        return False
    share = min(keep.get(answer, 1.0) for answer in right)
    if COPIED in keep and is_copied(question, right):
        share = min(share, keep[COPIED])
    return share >= 1.0 or _hashed(b"sapo/keep/1", seed, draw) < share * _SEED


def is_copied(question: str, right: Collection[str]) -> bool:
    """Whether a right answer is a number, a single letter or a line of the question."""
    return not set(right).isdisjoint([*re.findall(r"\d+|\b[P-Z]\b", question), *map(str.strip, question.split("\n"))])


def _hashed(label: bytes, seed: int, draw: int) -> int:
    return int.from_bytes(digest(label, seed.to_bytes(8, "big"), draw.to_bytes(8, "big"))[:8], "big") & _SEED
