"""The loss, against values worked out by hand."""

import math

import pytest
import torch

from sapo_desktop.engines.torch.grpo import Clip, importance_weights, policy_loss, reach

CLIP = Clip(0.2, 0.28)


def test_at_ratio_one_the_loss_is_minus_the_mean_advantage() -> None:
    logprobs = torch.tensor([-1.0, -2.0, -0.5], requires_grad=True)
    advantages = torch.tensor([1.0, 1.0, -2.0])
    result = policy_loss(logprobs, logprobs.detach(), advantages, 3, CLIP)
    result.loss.backward()
    # r = 1 everywhere: -(1 + 1 - 2) / 3 = 0; d loss / d logp_t = -r A_t / 3.
    assert result.loss.item() == pytest.approx(0.0, abs=1e-7)
    assert logprobs.grad.tolist() == pytest.approx([-1 / 3, -1 / 3, 2 / 3])
    assert result.clipped == 0


def test_the_clip_holds_gains_back_and_lets_corrections_through() -> None:
    # Ratios 1.5, 1.5, 0.5, 0.5 with advantages +1, -1, +1, -1:
    #   min(1.5, 1.28) = 1.28 (held), min(-1.5, -1.28) = -1.5 (free),
    #   min(0.5, 0.8) = 0.5 (free), min(-0.5, -0.8) = -0.8 (held).
    # loss = -(1.28 - 1.5 + 0.5 - 0.8) / 4 = 0.13
    old = torch.full((4,), -1.0)
    logprobs = (old + torch.tensor([1.5, 1.5, 0.5, 0.5]).log()).requires_grad_()
    result = policy_loss(logprobs, old, torch.tensor([1.0, -1.0, 1.0, -1.0]), 4, CLIP)
    result.loss.backward()
    assert result.loss.item() == pytest.approx(0.13, abs=1e-6)
    assert result.clipped == 2
    # Held tokens have no gradient; free ones -r A / 4.
    assert logprobs.grad.tolist() == pytest.approx([0.0, 0.375, -0.125, 0.0], abs=1e-6)


def test_the_upper_bound_is_the_wider_one() -> None:
    old = torch.zeros(2)
    logprobs = torch.tensor([math.log(1.27), math.log(1.29)])
    assert policy_loss(logprobs, old, torch.ones(2), 2, CLIP).clipped == 1


def test_the_normaliser_is_the_whole_batch() -> None:
    logprobs, advantages = torch.tensor([-1.0, -1.0]), torch.tensor([3.0, 1.0])
    whole = policy_loss(logprobs, logprobs, advantages, 2, CLIP).loss
    halves = [
        policy_loss(logprobs[i : i + 1], logprobs[i : i + 1], advantages[i : i + 1], 2, CLIP).loss for i in (0, 1)
    ]
    assert whole.item() == pytest.approx(-2.0)
    assert sum(h.item() for h in halves) == pytest.approx(-2.0)


def test_importance_weights_are_truncated_and_detached() -> None:
    old = torch.tensor([-1.0, -1.0, -1.0], requires_grad=True)
    sampler = torch.tensor([-1.0, -1.0 - math.log(5), -1.0 + math.log(4)])
    weights = importance_weights(old, sampler, 2.0)
    assert weights.tolist() == pytest.approx([1.0, 2.0, 0.25])
    assert not weights.requires_grad


def test_importance_weights_scale_each_token() -> None:
    logprobs = torch.tensor([-1.0, -1.0])
    result = policy_loss(logprobs, logprobs, torch.tensor([1.0, 2.0]), 2, CLIP, torch.tensor([2.0, 0.5]))
    assert result.loss.item() == pytest.approx(-(2 * 1 + 0.5 * 2) / 2, abs=1e-6)


def test_a_peers_answer_with_a_token_that_we_would_hardly_write_counts_nothing() -> None:
    assert reach(torch.tensor([0.5, 0.00101, 0.9]).log(), 1e-3).tolist() == [1.0, 1.0, 1.0]
    assert reach(torch.tensor([0.5, 0.00099, 0.9, 1.0]).log(), 1e-3).tolist() == [0.0] * 4
    assert reach(torch.tensor([]), 1e-3).tolist() == []
