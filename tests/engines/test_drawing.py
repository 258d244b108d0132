"""Drawing in numpy: the same tokens and log-probabilities as in torch, and the distribution that was asked for."""

import numpy as np
import pytest
import torch

from sapo_desktop.core.records import Sampling
from sapo_desktop.engines.drawing import draw_tokens, stream
from sapo_desktop.engines.torch.sampling import draw

CASES = [
    Sampling(),
    Sampling(temperature=0.6),
    Sampling(temperature=1.7),
    Sampling(greedy=True, temperature=0.8),
    Sampling(temperature=0.0),
]


@pytest.mark.parametrize("sampling", CASES)
@pytest.mark.parametrize("width", [3, 256, 257, 1000])
def test_tokens_and_logprobs_are_those_of_the_torch_engine(sampling: Sampling, width: int) -> None:
    random = np.random.default_rng(5)
    logits = (random.standard_normal((64, width)) * 4).astype(np.float32)
    uniform = random.random(64)
    theirs = draw(torch.from_numpy(logits.copy()), sampling, torch.from_numpy(uniform))
    ours = draw_tokens(logits.copy(), sampling, uniform)
    assert ours.tokens.tolist() == theirs.tokens.tolist()
    assert np.abs(ours.logprobs - theirs.logprobs.numpy()).max() < 1e-5


def test_the_ends_of_the_unit_interval_give_the_first_and_the_last_token() -> None:
    logits = np.zeros((2, 600), np.float32)
    drawn = draw_tokens(logits, Sampling(), np.array([0.0, 1 - 1e-16]))
    assert drawn.tokens.tolist() == [0, 599]


def test_a_token_without_weight_is_never_drawn() -> None:
    logits = np.array([[-np.inf, 0.0, -np.inf]] * 3, np.float32)
    assert draw_tokens(logits, Sampling(), np.array([0.0, 0.5, 0.999999])).tokens.tolist() == [1, 1, 1]


def test_draws_follow_the_distribution() -> None:
    """Chi-square over 20,000 draws against p = softmax(z / T) worked out by hand: z / T = ln(8, 4, 2, 1, 1)."""
    expected = np.array([8, 4, 2, 1, 1]) / 16
    count = 20_000
    logits = np.tile(np.log(expected * 16) * 1.5, (count, 1)).astype(np.float32)
    uniform = np.array([stream(3, row).random() for row in range(count)])
    drawn = draw_tokens(logits, Sampling(temperature=1.5), uniform)
    observed = np.bincount(drawn.tokens, minlength=5)
    chi_square = ((observed - count * expected) ** 2 / (count * expected)).sum()
    assert chi_square < 18.5  # four degrees of freedom: one in a thousand is above; the seed is fixed
    assert np.allclose(drawn.logprobs, np.log(expected)[drawn.tokens], atol=1e-5)
