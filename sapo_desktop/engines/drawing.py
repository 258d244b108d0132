"""Drawing tokens in numpy by the rules of `sampling.py`: other sequences of a batch have no influence.

Each sequence has its own stream of uniform numbers. A token is drawn by inverting the cumulative distribution at the
next number, so this and the torch engine draw the same tokens from the same seed and logits. Log-probabilities are
those at the temperature, which the trainer compares with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from sapo_desktop.core.records import Sampling

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ids = NDArray[np.int64]

_AT_ONCE = 2**17
"""Logits processed at once, in whole rows, so that repeated reads stay in the processor's cache."""


@dataclass(frozen=True)
class DrawnTokens:
    """One token per sequence."""

    tokens: Ids
    """[B]."""
    logprobs: Floats
    """[B], log p at the temperature."""


def stream(seed: int, row: int) -> np.random.Generator:
    """The uniform numbers of sequence `row` under `seed`."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, row])))


def draw_tokens(logits: Floats, sampling: Sampling, uniform: Doubles) -> DrawnTokens:
    """Draw one token per row: logits [B, V] (overwritten), uniform [B] in [0, 1)."""
    rows = max(1, _AT_ONCE // logits.shape[1])
    drawn = [_draw(logits[at : at + rows], sampling, uniform[at : at + rows]) for at in range(0, len(logits), rows)]
    if len(drawn) == 1:
        return drawn[0]
    return DrawnTokens(np.concatenate([one.tokens for one in drawn]), np.concatenate([one.logprobs for one in drawn]))


def _draw(logits: Floats, sampling: Sampling, uniform: Doubles) -> DrawnTokens:
    greedy = sampling.greedy or sampling.temperature <= 0
    if sampling.temperature > 0 and sampling.temperature != 1:
        logits /= np.float32(sampling.temperature)
    rows = np.arange(len(logits))
    best = logits.argmax(1)
    logits -= logits[rows, best][:, None]
    weights = np.exp(logits)
    sums = _sums(weights)
    norms = np.log(sums.sum(1))
    tokens = best if greedy else _invert(weights, sums, uniform)
    return DrawnTokens(tokens, (logits[rows, tokens] - norms).astype(np.float32))


def _block(width: int) -> int:
    """Block length for the cumulative sum, which runs over blocks and then within one. The power of two near the
    square root of the vocabulary makes both equally short."""
    return 1 << (width.bit_length() // 2)


def _sums(weights: Floats) -> Doubles:
    """The sum of each block of weights [B, V]; the last block may be shorter. In float64, so that rare tokens of a
    large vocabulary keep their share."""
    count, width = weights.shape
    block = _block(width)
    whole = width // block
    sums = np.zeros((count, math.ceil(width / block)))
    # A view; reshape would copy a vocabulary that is not a multiple of the block length.
    blocks = as_strided(
        weights, (count, whole, block), (weights.strides[0], block * weights.itemsize, weights.itemsize)
    )
    blocks.sum(2, dtype=np.float64, out=sums[:, :whole])
    if whole < sums.shape[1]:
        weights[:, whole * block :].sum(1, dtype=np.float64, out=sums[:, whole])
    return sums


def _invert(weights: Floats, sums: Doubles, uniform: Doubles) -> Ids:
    """The first token of each row whose cumulative weight exceeds uniform times the row's sum; `sums`: of its
    blocks."""
    count, width = weights.shape
    size = _block(width)
    cumulative = sums.cumsum(1)
    goal = uniform * cumulative[:, -1]
    block = np.minimum((cumulative <= goal[:, None]).sum(1), sums.shape[1] - 1)
    rows = np.arange(count)
    start = cumulative[rows, block] - sums[rows, block]
    places = np.minimum(block[:, None] * size + np.arange(size), width - 1)
    inside = weights[rows[:, None], places].cumsum(1, dtype=np.float64) + start[:, None]
    ahead = (inside <= goal[:, None]).sum(1)
    found: Ids = np.minimum(block * size + ahead, width - 1).astype(np.int64)
    return found
