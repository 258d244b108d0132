"""Which of the questions that a dataset makes are set: none without a right answer, and frequent answers less often.

Where one answer is right too often, saying it always earns more than thinking. So a level may name, for such answers,
the share of their questions that is kept (`keep` in tasks.toml); for a question that is left out the next one under the
same seed is taken. Everything follows from the seed, so every node sets the same. Pure. Left out: making questions
(examiner.py), finding the shares (tests/bench/tasks/cheapest.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from sapo_desktop.core.hashing import digest

MOST_DRAWS = 1000
"""Questions drawn under one seed before it counts as one without a question."""
COPIED = "copied"
"""Stands in `keep` for every answer that is a number or a variable of the question."""
_SEED = 2**63 - 1


def draw_seed(seed: int, draw: int) -> int:
    """The dataset's seed (63 bits) for this draw (0, 1, ..) under a question's seed; the first is that seed itself."""
    return seed if draw == 0 else _hashed(b"sapo/draw/1", seed, draw)


def is_set(seed: int, draw: int, question: str, right: Collection[str], keep: Mapping[str, float]) -> bool:
    """Whether the question of this draw is set. `right`: its right answers in canonical form."""
    if not right:
        return False
    share = min(keep.get(answer, 1.0) for answer in right)
    if COPIED in keep and is_copied(question, right):
        share = min(share, keep[COPIED])
    return share >= 1.0 or _hashed(b"sapo/keep/1", seed, draw) < share * _SEED


def is_copied(question: str, right: Collection[str]) -> bool:
    """Whether a right answer is a number or a single letter that the question names."""
    return not set(right).isdisjoint(re.findall(r"\d+|\b[P-Z]\b", question))


def _hashed(label: bytes, seed: int, draw: int) -> int:
    return int.from_bytes(digest(label, seed.to_bytes(8, "big"), draw.to_bytes(8, "big"))[:8], "big") & _SEED
