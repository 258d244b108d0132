"""The loss of GRPO as pure functions: tensors in, a record of tensors out.

Sources: GRPO's clipped ratio (arXiv 2402.03300, eq. 3), DAPO's higher upper clip and
token-level mean (2503.14476, eq. 8 and 12), truncated importance sampling for a sampler that is not the
trainer (min(C, p_trainer / p_sampler), detached). Advantages come in finished: groups, and what external
answers may weigh, are `learning/`'s business. Left out: a KL term (the paper has none), sequence-level
ratios, length penalties, entropy bonuses, a shaped weight for unlikely external tokens (LUFFY, 2504.14945).
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
    """Loss of one micro-batch; micro-batches of one batch add up to the batch's loss."""

    loss: Tensor
    """Scalar, differentiable: sum over the tokens given, divided by the whole batch's token count."""
    clipped: int
    """Tokens at which the clip acted."""


def policy_loss(
    logprobs: Tensor,
    old: Tensor,
    advantages: Tensor,
    batch_tokens: int,
    clip: Clip,
    weights: Tensor | None = None,
) -> PolicyLoss:
    """Return -1/batch_tokens sum_t w_t min(r_t A_t, clip(r_t) A_t), r_t = exp(logp_t - old_t).

    All tensors are [N], one entry per answer token of the micro-batch: `logprobs` under the policy being
    trained (the only one differentiated), `old` before the step, `advantages` of the token's answer,
    `weights` from `importance_weights` and `reach`. `batch_tokens` counts the answer tokens of the whole batch, so how
    it is cut into micro-batches leaves the gradient equal.
    """
    ratio = torch.exp(logprobs - old)
    free = ratio * advantages
    held = ratio.clamp(1 - clip.low, 1 + clip.high) * advantages
    # The minimum, not the clipped value: where a step already moved too far the wrong way it may still come back.
    gain = torch.minimum(free, held)
    if weights is not None:
        gain = gain * weights
    # `held < free` where the clip took gain away, and so the gradient.
    return PolicyLoss(-gain.sum() / batch_tokens, int((held < free).sum()))


def importance_weights(old: Tensor, sampler: Tensor, cap: float) -> Tensor:
    """Return min(cap, exp(old - sampler)) per token, detached: how much likelier the trainer finds the
    token."""
    return torch.exp(old - sampler).clamp(max=cap).detach()


def reach(old: Tensor, least: float) -> Tensor:
    """Return the weight per token [T] of one answer of a peer: 1 if our own policy gives each of them the probability
    `least` (learning/external.py) or more, else 0.

    The ratio to our own policy is 1 whatever a token's probability, so each step would lift a word that we never write
    as much as one that we might have written. All or nothing, for parts of such an answer do harm
    (docs/threats.md): what follows the unlikely token in a planted word lifts it in the end, and what stands before
    it lifts going on where the answer should come.
    """
    return torch.ones_like(old) if bool((old.exp() >= least).all()) else torch.zeros_like(old)
