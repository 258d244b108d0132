"""The loss of GRPO as pure functions of tensors.

Sources: GRPO's clipped ratio (arXiv 2402.03300, eq. 3), DAPO's higher upper clip and token-level mean (2503.14476, eq.
8 and 12), truncated importance sampling for a sampler that is not the trainer (min(C, p_trainer / p_sampler),
detached). Advantages are given; `learning/` forms groups and weights external answers. Left out: a KL term (the paper
has none), sequence-level ratios, length penalties, entropy bonuses, a shaped weight for unlikely external tokens
(LUFFY, 2504.14945).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Clip:
    """The ratio pi / pi_old counts within [1 - low, 1 + high]."""

    low: float = 0.2
    high: float = 0.28


@dataclass(frozen=True)
class PolicyLoss:
    """Loss of one micro-batch; the losses of all micro-batches add up to the batch's loss."""

    loss: Tensor
    """Scalar, differentiable: the sum over the given tokens, divided by the whole batch's token count."""
    clipped: int
    """Number of clipped tokens."""


def policy_loss(
    logprobs: Tensor,
    old: Tensor,
    advantages: Tensor,
    batch_tokens: int,
    clip: Clip,
    weights: Tensor | None = None,
) -> PolicyLoss:
    """Return -1/batch_tokens sum_t w_t min(r_t A_t, clip(r_t) A_t), r_t = exp(logp_t - old_t).

    All tensors are [N], one entry per answer token of the micro-batch: `logprobs` under the policy being trained (the
    only one differentiated), `old` from before the step, `advantages` of the token's answer, `weights` from
    `importance_weights` and `reach`. `batch_tokens` counts the answer tokens of the whole batch, so the gradient does
    not depend on the split into micro-batches.
    """
    ratio = torch.exp(logprobs - old)
    free = ratio * advantages
    held = ratio.clamp(1 - clip.low, 1 + clip.high) * advantages
    # The minimum, not the clipped value: a step that moved too far in the wrong direction can still be reversed.
    gain = torch.minimum(free, held)
    if weights is not None:
        gain = gain * weights
    # `held < free`: the clip removed gain, and with it the gradient.
    return PolicyLoss(-gain.sum() / batch_tokens, int((held < free).sum()))


def importance_weights(old: Tensor, sampler: Tensor, cap: float) -> Tensor:
    """Return min(cap, exp(old - sampler)) per token, detached: how much likelier the token is under the trainer."""
    return torch.exp(old - sampler).clamp(max=cap).detach()


def reach(old: Tensor, least: float) -> Tensor:
    """Return the weight per token [T] of one answer of a peer: 1 if our own policy gives each of them at least the
    probability `least` (learning/external.py), otherwise 0.

    The ratio to our own policy is 1 whatever a token's probability, so each step would raise a word that we never write
    as much as a likely one. All or nothing, because parts of such an answer do harm (docs/threats.md): tokens after the
    unlikely one in a planted word raise it in the end, and tokens before it teach the model to continue where the
    answer should come.
    """
    return torch.ones_like(old) if bool((old.exp() >= least).all()) else torch.zeros_like(old)
