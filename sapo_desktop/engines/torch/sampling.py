"""Drawing tokens: each sequence has its own stream of uniform numbers, so who shares its batch changes
nothing.

A token is drawn by inverting the cumulative distribution at the sequence's next uniform number.
Log-probabilities are those at the temperature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sapo_desktop.core.records import Sampling
from sapo_desktop.engines.drawing import stream

BLOCK_BYTES = 64 * 1024 * 1024
"""Most that drawing takes beside the logits themselves."""
_BYTES_A_LOGIT = 28
"""Held at once while a row is inverted: three copies in float32, two in float64."""


@dataclass(frozen=True)
class Drawn:
    """One token per sequence."""

    tokens: Tensor
    """[B] int64."""
    logprobs: Tensor
    """[B] float32, log p at the temperature."""


def uniforms(seed: int, rows: list[int], count: int) -> Tensor:
    """Return [len(rows), count] float64 in [0, 1): the stream of sequence `row` under `seed`, on the CPU."""
    return torch.from_numpy(np.stack([stream(seed, row).random(count) for row in rows]))


def draw(logits: Tensor, sampling: Sampling, uniform: Tensor) -> Drawn:
    """Draw one token per row: logits [B, V], uniform [B] in [0, 1).

    In blocks of rows: inverting holds several copies of a block, some in float64, which for a whole batch
    over a large vocabulary would be more memory than the cache.
    """
    rows = max(1, BLOCK_BYTES // (_BYTES_A_LOGIT * logits.shape[-1]))
    blocks = zip(torch.split(logits, rows), torch.split(uniform, rows), strict=True)
    drawn = [_draw_block(block, sampling, numbers) for block, numbers in blocks]
    if len(drawn) == 1:
        return drawn[0]
    return Drawn(torch.cat([d.tokens for d in drawn]), torch.cat([d.logprobs for d in drawn]))


def _draw_block(logits: Tensor, sampling: Sampling, uniform: Tensor) -> Drawn:
    greedy = sampling.greedy or sampling.temperature <= 0
    temperature = sampling.temperature if sampling.temperature > 0 else 1.0
    logprobs = torch.log_softmax(logits.float() / temperature, -1)
    tokens = logits.argmax(-1) if greedy else _invert(logprobs.exp(), uniform)
    return Drawn(tokens, logprobs.gather(1, tokens.unsqueeze(1)).squeeze(1))


def _invert(weights: Tensor, uniform: Tensor) -> Tensor:
    """Return the first token whose cumulative weight exceeds uniform times the total; float64, so that rare
    tokens of a large vocabulary keep their share. Apple's graphics have no float64: there the processor does it."""
    exact = weights.cpu() if weights.device.type == "mps" else weights
    cumulative = exact.double().cumsum(-1)
    goal = uniform.to(cumulative.device)[:, None] * cumulative[:, -1:]
    tokens = torch.searchsorted(cumulative, goal, right=True).squeeze(1)
    return tokens.clamp(max=weights.shape[-1] - 1).to(weights.device)
