"""Drawing tokens in numpy, by the rules of `sampling.py`: who shares a batch with a sequence changes nothing.

Each sequence has its own stream of uniform numbers, and a token is drawn by inverting the cumulative distribution
at the next of them; so under one seed this and the torch engine draw the same tokens from the same logits.
Log-probabilities are those of the whole distribution at the temperature, whatever top-p, top-k and min-p cut away:
the ones that the trainer compares with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapo_desktop.core.records import Sampling

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ids = NDArray[np.int64]

_BLOCK = 256
"""Cumulative sums are made of blocks of so many words first: a vocabulary of 150,000 is read, not copied."""


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
    """Draw one token per row: logits [B, V], which are overwritten, uniform [B] in [0, 1)."""
    greedy = sampling.greedy or sampling.temperature <= 0
    if sampling.temperature > 0 and sampling.temperature != 1:
        logits /= np.float32(sampling.temperature)
    rows = np.arange(len(logits))
    best = logits.argmax(1)
    logits -= logits[rows, best][:, None]
    likeliest = best if greedy else None
    weights = np.exp(logits)
    norms = np.log(weights.sum(1, dtype=np.float64))
    if likeliest is None:
        _cut(weights, sampling)
        likeliest = _invert(weights, uniform)
    return DrawnTokens(likeliest, (logits[rows, likeliest] - norms).astype(np.float32))


def _cut(weights: Floats, sampling: Sampling) -> None:
    """Set the weights [B, V] of what top-k, min-p and top-p exclude to 0; the likeliest token, of weight 1, stays."""
    if 0 < sampling.top_k < weights.shape[1]:
        least = np.partition(weights, -sampling.top_k, axis=1)[:, -sampling.top_k]
        weights[weights < least[:, None]] = 0
    if sampling.min_p > 0:
        weights[weights < np.float32(sampling.min_p)] = 0
    if sampling.top_p < 1:
        for row in weights:
            _cut_to_mass(row, sampling.top_p)


def _cut_to_mass(weights: Floats, top_p: float) -> None:
    """Keep the likeliest of one row [V] until they hold `top_p` of its mass."""
    order = np.argsort(-weights, kind="stable")
    share = np.cumsum(weights[order], dtype=np.float64)
    before = share - weights[order]
    beyond = before >= top_p * share[-1]
    beyond[0] = False
    weights[order[beyond]] = 0


def _invert(weights: Floats, uniform: Doubles) -> Ids:
    """The first token of each row whose cumulative weight exceeds uniform times the row's sum; in float64, so that
    rare tokens of a large vocabulary keep their share."""
    count, width = weights.shape
    blocks = math.ceil(width / _BLOCK)
    sums = np.add.reduceat(weights, np.arange(blocks) * _BLOCK, axis=1, dtype=np.float64)
    cumulative = sums.cumsum(1)
    goal = uniform * cumulative[:, -1]
    block = np.minimum((cumulative <= goal[:, None]).sum(1), blocks - 1)
    rows = np.arange(count)
    start = cumulative[rows, block] - sums[rows, block]
    places = np.minimum(block[:, None] * _BLOCK + np.arange(_BLOCK), width - 1)
    inside = np.take_along_axis(weights, places, 1).cumsum(1, dtype=np.float64) + start[:, None]
    ahead = (inside <= goal[:, None]).sum(1)
    found: Ids = np.minimum(block * _BLOCK + ahead, width - 1).astype(np.int64)
    return found
